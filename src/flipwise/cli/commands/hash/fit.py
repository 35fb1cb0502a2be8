"""`flipwise hash fit`."""

from __future__ import annotations

import click

from flipwise.cli.cluster import cluster_option, no_folder
from flipwise.cli.inputs import input_argument
from flipwise.cli.options import output_options, run_options

SUPERVISED = ("SDH", "FSDH", "FastHash")
UNSUPERVISED = ("ITQ", "ARE", "SADH")


@click.command("fit")
@input_argument("vectors", folders=True)
@click.option("-y", "--labels", type=click.Path(dir_okay=False), help="Labels: an integer an item, or a 0/1 matrix.")
@click.option("--bits", type=click.IntRange(min=1), default=64, show_default=True, help="Length of a code.")
@click.option("--loss", type=click.Choice([*SUPERVISED, *UNSUPERVISED], case_sensitive=False),
              help="Default: SDH with labels, ITQ without.")  # fmt: skip
@click.option("-o", "--output", type=click.Path(dir_okay=False), required=True, help="Where the model goes.")
@run_options
@click.option("--codes", type=click.Path(file_okay=False), help="With --cluster: a folder for the codes, in shards.")
@cluster_option
@output_options
def command(
    vectors: str, labels: str | None, bits: int, loss: str | None, output: str, seed: int, time_limit: float | None,
    threads: int | None, codes: str | None, cluster: str | None, as_json: bool, quiet: bool, verbose: bool,
) -> None:  # fmt: skip
    """Learn a hash function for the rows of VECTORS.

    A time limit ends the search for codes; the hash function is then fitted to the codes found so far.
    With --cluster VECTORS may be a folder of Parquet files, with the labels of SDH and FSDH in the column `label`.

    \b
    Examples:
      $ flipwise hash fit vectors.npy --bits 32 -o model.safetensors
      $ flipwise hash fit vectors.npy -y labels.npy --loss SDH --bits 32 -o model.safetensors --json
      $ flipwise hash fit vectors.npy --loss ARE --bits 32 --time-limit 2 -o model.safetensors -v
      $ flipwise hash fit vectors.npy --bits 32 -o model.safetensors --cluster local:2
    """
    import time

    from flipwise import hashing
    from flipwise.cli.arrays import read_array, read_labels
    from flipwise.cli.terminal import print_facts, print_json
    from flipwise.kernels.jit import threads as limited_threads

    chosen = loss or ("SDH" if labels else "ITQ")
    if codes and not cluster:
        raise click.UsageError("--codes needs --cluster; elsewhere `flipwise hash encode` writes codes.")
    if cluster:
        from flipwise.cli.cluster import connected
        from flipwise.distributed import fit_hasher

        fresh = getattr(hashing, chosen)(n_bits=bits, random_state=seed)
        y = None if labels is None or chosen in UNSUPERVISED else read_labels(labels)
        with connected(cluster) as client:
            hashing.save(fit_hasher(fresh, vectors, y, client=client, codes=codes), output)
        if not quiet:
            print_facts(f"Model in {output}", [("loss", chosen), ("bits", str(bits))])
        return
    if chosen in SUPERVISED and labels is None:
        raise click.UsageError(f"--loss {chosen} learns from labels: pass -y LABELS, or use {', '.join(UNSUPERVISED)}.")
    no_folder(vectors)
    X = read_array(vectors)
    y = None if labels is None or chosen in UNSUPERVISED else read_labels(labels)
    model = getattr(hashing, chosen)(n_bits=bits, random_state=seed)
    started = time.perf_counter()
    if verbose:
        click.echo(f"{chosen}, {bits} bits, of {X.shape[0]:,} vectors with {X.shape[1]:,} features", err=True)
    with limited_threads(threads), hashing.fitting(time_limit=time_limit, verbose=verbose):
        model.fit(X, y)
    seconds = time.perf_counter() - started
    hashing.save(model, output)
    facts = {"loss": chosen, "bits": bits, "items": X.shape[0], "features": X.shape[1], "seconds": round(seconds, 3)}
    if as_json:
        print_json({**facts, "model": output})
    elif not quiet:
        print_facts(f"Model in {output}", [(name, str(value)) for name, value in facts.items()])
