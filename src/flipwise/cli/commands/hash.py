"""`flipwise hash`: a group of commands that learn, use and judge binary codes of vectors."""

from __future__ import annotations

import time
from contextlib import ExitStack
from typing import Any

import click

from flipwise.cli.app import LazyGroup
from flipwise.cli.cluster import connected, no_folder
from flipwise.cli.exits import OK, exit_code
from flipwise.cli.inputs import read_array, read_codes, read_labels, read_vectors
from flipwise.cli.options import (
    checkpoint_option,
    cluster_option,
    input_argument,
    json_option,
    output_options,
    run_options,
    threads_option,
)
from flipwise.cli.outputs import check_outputs, write_lines, write_npy
from flipwise.cli.terminal import print_facts, print_json, print_table
from flipwise.foundation.interrupts import guarded_interrupts

SUPERVISED = ("SDH", "FSDH", "FastHash")
UNSUPERVISED = ("ITQ", "ARE", "SADH")
ADDITIVE = "AdditiveQuantizer"
ENGINES = (
    *("faiss", "faiss-lsh", "usearch", "pgvector", "elasticsearch", "vespa"),
    *("ubinary", "binary", "float", "qdrant", "weaviate"),
)


@click.command(
    "hash",
    cls=LazyGroup,
    table={
        "fit": ("hash", "learn codes from vectors, with or without labels"),
        "encode": ("hash", "vectors to codes, by a fitted model"),
        "search": ("hash", "the nearest codes of each query"),
        "evaluate": ("hash", "MAP, precision and recall of codes"),
        "recommend": ("hash_recommend", "bits and oversampling for a wanted recall"),
        "export": ("hash", "codes in the form a search engine reads"),
    },
)
def hash() -> None:
    """Learn binary codes of vectors, search with them, judge them, hand them to a search engine.

    Vectors come as .npy, .npz, Parquet or text files. Models and codes are safetensors files: arrays, nothing that can
    run.

    \b
    From vectors to neighbours:
      flipwise hash fit vectors.npy --bits 64 -o model.safetensors
      flipwise hash encode model.safetensors vectors.npy -o database.safetensors
      flipwise hash encode model.safetensors queries.npy -o queries.safetensors
      flipwise hash search database.safetensors queries.safetensors -k 10
    """


@click.command("fit")
@input_argument("vectors", folders=True)
@click.option("-y", "--labels", type=click.Path(dir_okay=False), help="Labels: an integer an item, or a 0/1 matrix.")
@click.option("--bits", type=click.IntRange(min=1), default=64, show_default=True, help="Length of a code.")
@click.option("--estimator", "--loss", "loss",
              type=click.Choice([*SUPERVISED, *UNSUPERVISED, ADDITIVE], case_sensitive=False),
              help="Default: SDH with labels, ITQ without.")  # fmt: skip
@click.option("--metric", type=click.Choice(["cosine", "inner", "euclidean"]), help="For AdditiveQuantizer.")
@click.option("--optimizer", help="How codes are searched for: dpcd, an estimator's own, or a method of the library.")
@click.option("--hash-function", type=click.Choice(["linear", "rbf", "trees"]), help="What hashes unseen vectors.")
@click.option("--whitening", help="For ITQ: a power from 0 to 0.5, or auto (by recall on a sample).")
@click.option("-o", "--output", type=click.Path(dir_okay=False), required=True, help="Where the model goes.")
@run_options
@checkpoint_option
@click.option("--codes", type=click.Path(file_okay=False), help="With --cluster: a folder for the codes, in shards.")
@cluster_option
@output_options
def fit(
    vectors: str, labels: str | None, bits: int, loss: str | None, optimizer: str | None, hash_function: str | None,
    whitening: str | None, metric: str | None, output: str, seed: int, time_limit: float | None,
    threads: int | None, checkpoint: str | None, codes: str | None, cluster: str | None, as_json: bool, quiet: bool,
    verbose: bool,
) -> int:  # fmt: skip
    """Learn a hash function for the rows of VECTORS.

    A time limit or Ctrl-C ends the search for codes; the hash function is then fitted to the codes found so far.
    With --cluster VECTORS may be a folder of Parquet files, with the labels of SDH and FSDH in the column `label`.

    \b
    Examples:
      $ flipwise hash fit vectors.npy --bits 32 -o model.safetensors
      $ flipwise hash fit vectors.npy -y labels.npy --loss SDH --bits 32 -o model.safetensors --json
      $ flipwise hash fit vectors.npy --estimator ITQ --whitening auto --bits 32 -o model.safetensors
      $ flipwise hash fit vectors.npy --estimator AdditiveQuantizer --bits 32 -o model.safetensors
      $ flipwise hash fit vectors.npy --loss ARE --bits 32 --time-limit 2 --checkpoint run.npz -o model.safetensors -v
      $ flipwise hash fit vectors.npy --bits 32 -o model.safetensors --cluster local:2
    """
    from flipwise import hashing
    from flipwise.kernels.jit import threads as limited_threads

    chosen = loss or ("SDH" if labels else "ITQ")
    if cluster:
        if chosen == ADDITIVE:
            raise click.UsageError(f"{ADDITIVE} learns from a sample on one machine: leave --cluster out.")
        if any(option is not None for option in (time_limit, threads, checkpoint)):
            raise click.UsageError(
                "--time-limit, --threads and --checkpoint are for one machine: with --cluster workers fit to the end."
            )
    else:
        _check_on_one_machine(chosen, labels, codes)
    check_outputs([vectors, labels], {"-o": output, "--checkpoint": checkpoint})
    y = None if labels is None or chosen not in SUPERVISED else read_labels(labels)
    options = {
        "optimizer": optimizer, "hash_function": hash_function, "whitening": power_of(whitening), "metric": metric,
        "checkpoint": checkpoint,
    }  # fmt: skip
    if chosen == ADDITIVE:
        model = hashing.AdditiveQuantizer(_whole_bytes(bits), random_state=seed, time_limit=time_limit)
    else:
        model = getattr(hashing, chosen)(n_bits=bits, random_state=seed, time_limit=time_limit, verbose=verbose)
    model = estimator_with(model, options)
    facts: dict[str, Any] = {"loss": chosen, "bits": bits}
    started = time.perf_counter()
    with ExitStack() as stack:
        if cluster:
            from flipwise.distributed import fit_hasher

            with connected(cluster) as client:
                fit_hasher(model, vectors, y, client=client, codes=codes)
        else:
            no_folder(vectors)
            X = read_vectors(vectors)
            if y is not None and len(y) != len(X):
                raise click.UsageError(f"{labels} has {len(y):,} labels, {vectors} {len(X):,} vectors.")
            facts["items"] = len(X)
            if verbose:
                click.echo(f"{chosen}, {bits} bits, of {X.shape[0]:,} vectors with {X.shape[1]:,} features", err=True)
            stack.enter_context(guarded_interrupts())  # Ctrl-C after the search still writes the model
            with limited_threads(threads):
                model.fit(X, y)
        hashing.save(model, output)
        facts |= {"features": model.n_features_in_, "seconds": round(time.perf_counter() - started, 3)}
        if as_json:
            print_json({**facts, "model": output})
        elif not quiet:
            print_facts(f"Model in {output}", [(name, str(value)) for name, value in facts.items()])
    return OK if cluster or chosen == ADDITIVE else exit_code(model.result_)


def _whole_bytes(bits: int) -> int:
    """The bytes of so many bits, which must be whole."""
    if bits % 8:
        raise click.UsageError(f"--bits must be a multiple of 8 for {ADDITIVE}, got {bits}.")
    return bits // 8


def power_of(whitening: str | None) -> float | str | None:
    """What --whitening stands for."""
    if whitening is None or whitening == "auto":
        return whitening
    try:
        power = float(whitening)
    except ValueError:
        power = -1.0
    if not 0.0 <= power <= 0.5:
        raise click.UsageError(f"--whitening must be auto or a number from 0 to 0.5, got {whitening}.")
    return power


def estimator_with(model: Any, options: dict[str, Any]) -> Any:
    """The estimator with the options that were given; one that it does not have or know is refused before any work."""
    from flipwise.hashing.estimators.base import check_optimizer

    known = model.get_params(deep=False)
    for name, value in options.items():
        if value is not None and name not in known:
            raise click.UsageError(f"--{name.replace('_', '-')} is not for {type(model).__name__}.")
    model.set_params(**{name: value for name, value in options.items() if value is not None})
    if "optimizer" in known:
        check_optimizer(model.optimizer, model._optimizers)
    return model


def _check_on_one_machine(loss: str, labels: str | None, codes: str | None) -> None:
    """Refuse what only a cluster does, and a supervised loss without labels."""
    if codes:
        raise click.UsageError("--codes needs --cluster; elsewhere `flipwise hash encode` writes codes.")
    if loss in SUPERVISED and labels is None:
        others = ", ".join([*UNSUPERVISED, ADDITIVE])
        raise click.UsageError(f"--loss {loss} learns from labels: pass -y LABELS, or use {others}.")


@click.command("encode")
@click.argument("model", type=click.Path(dir_okay=False))
@input_argument("vectors")
@click.option("-o", "--output", type=click.Path(dir_okay=False), required=True,
              help="Where the codes go: .safetensors (with bit length and order), or .npy (packed bytes).")  # fmt: skip
@threads_option
@click.option("-q", "--quiet", is_flag=True, help="No notes.")
def encode(model: str, vectors: str, output: str, threads: int | None, quiet: bool) -> None:
    """Turn the rows of VECTORS into codes by a fitted MODEL.

    The bytes of an AdditiveQuantizer go into an .npy file: only the model can score them.

    \b
    Examples:
      $ flipwise hash encode model.safetensors queries.npy -o queries.safetensors
      $ flipwise hash encode model.safetensors vectors.npy -o packed.npy
    """

    from flipwise import hashing
    from flipwise.foundation.errors import InvalidFile
    from flipwise.kernels.jit import threads as limited_threads

    check_outputs([model, vectors], {"-o": output})
    fitted = hashing.load(model)
    if isinstance(fitted, hashing.Codes):
        raise InvalidFile(f"{model}: holds codes, not a model. Give what `flipwise hash fit` wrote.")
    if isinstance(fitted, hashing.AdditiveQuantizer) and not output.endswith(".npy"):
        raise click.UsageError(f"-o must end in .npy for the bytes of an {ADDITIVE}, got {output}.")
    X = _vectors_for(fitted, model, vectors)
    with limited_threads(threads):
        codes = fitted.encode(X)
    packed = codes.packed if isinstance(codes, hashing.Codes) else codes
    if output.endswith(".npy"):
        write_npy(output, packed)
    else:
        hashing.save(codes, output)
    if not quiet:
        bits = codes.n_bits if isinstance(codes, hashing.Codes) else 8 * packed.shape[1]
        click.echo(f"{output}: {len(codes):,} codes of {bits} bits", err=True)


def _vectors_for(fitted: Any, model: str, vectors: str) -> Any:
    """The vectors of a file, with as many features as the model was fitted to."""
    from flipwise.foundation.errors import InvalidFile

    X = read_vectors(vectors)
    if X.shape[1] != fitted.n_features_in_:
        raise InvalidFile(f"{vectors}: has {X.shape[1]:,} features, {model} was fitted to {fitted.n_features_in_:,}.")
    return X


@click.command("search")
@click.argument("database", type=click.Path(dir_okay=False))
@click.argument("queries", type=click.Path(dir_okay=False))
@click.option("-k", type=click.IntRange(min=1), default=10, show_default=True, help="Neighbours for each query.")
@click.option("-m", "--model", type=click.Path(dir_okay=False),
              help="Score codes against float vectors as QUERIES, by the model that made them.")  # fmt: skip
@click.option("-o", "--output", type=click.Path(dir_okay=False, allow_dash=True), help="Write a line a query there.")
@threads_option
@json_option
def search(
    database: str, queries: str, k: int, model: str | None, output: str | None, threads: int | None, as_json: bool
) -> None:  # fmt: skip
    """Find the k codes of DATABASE nearest to each of QUERIES, by Hamming distance, ties by number.

    A model in the place of DATABASE stands for the codes of its training data. With --model QUERIES are vectors, and
    codes have scores, the best first: more is found than by Hamming distance, and an AdditiveQuantizer
    knows nothing else.

    \b
    Examples:
      $ flipwise hash search database.safetensors queries.safetensors -k 5
      $ flipwise hash search database.safetensors queries.safetensors -k 5 -o neighbours.tsv
      $ flipwise hash search model.safetensors queries.safetensors -k 3 --json
      $ flipwise hash search database.safetensors queries.npy --model model.safetensors -k 5
    """
    check_outputs([database, queries, model], {"-o": output})
    from flipwise.hashing.search import hamming_search
    from flipwise.kernels.jit import threads as limited_threads

    with limited_threads(threads):
        if model is None:
            found = hamming_search(read_codes(queries), read_codes(database), k)
        else:
            found = _best_by_score(model, database, queries, k)
    if output:
        write_lines(output, ("\t".join(map(str, row)) for row in found.ids.tolist()))
    if as_json:
        print_json({"k": k, "ids": found.ids, "distances" if model is None else "scores": found.values})
    elif not output:
        most = 20
        rows = [
            (str(query), " ".join(map(str, ids)), " ".join(f"{value:g}" for value in distances))
            for query, ids, distances in zip(range(most), found.ids.tolist(), found.values.tolist())
        ]
        more = len(found.ids) - most
        notes = [f"and {more:,} more queries: use --json or -o"] if more > 0 else []
        values = "distances" if model is None else "scores"
        print_table("Nearest codes", ("query", "items", values), rows, left=("items", values), notes=notes)


def _best_by_score(model: str, database: str, queries: str, k: int) -> Any:
    """The codes that score best for float queries."""
    from flipwise import hashing
    from flipwise.foundation.errors import InvalidFile
    from flipwise.hashing.search import asymmetric_search

    fitted = hashing.load(model)
    if isinstance(fitted, hashing.Codes):
        raise InvalidFile(f"{model}: holds codes, not a model. Give what `flipwise hash fit` wrote.")
    asked = _vectors_for(fitted, model, queries)
    if isinstance(fitted, hashing.AdditiveQuantizer):
        return fitted.search(asked, read_array(database), k)
    return asymmetric_search(fitted.decision_function(asked), read_codes(database), k)


@click.command("evaluate")
@click.argument("database", type=click.Path(dir_okay=False))
@click.argument("queries", type=click.Path(dir_okay=False))
@click.option("-y", "--labels", required=True, type=click.Path(dir_okay=False), help="Labels of the database.")
@click.option("-z", "--query-labels", required=True, type=click.Path(dir_okay=False), help="Labels of the queries.")
@click.option("--at", type=click.IntRange(min=1), default=100, show_default=True, help="Precision and recall at N.")
@click.option("--radius", type=click.IntRange(min=0), default=2, show_default=True, help="Precision within a radius.")
@threads_option
@json_option
def evaluate(
    database: str, queries: str, labels: str, query_labels: str, at: int, radius: int, threads: int | None,
    as_json: bool,
) -> None:  # fmt: skip
    """Judge codes by retrieval: an item is relevant when it shares a label with the query.

    With a model as DATABASE the learned training codes are ranked (protocol "learned B"); with codes from
    `encode`, hashed ones ("h(X)"). The two give different figures; say which you quote.

    \b
    Examples:
      $ flipwise hash evaluate database.safetensors queries.safetensors -y labels.npy -z query_labels.npy
      $ flipwise hash evaluate model.safetensors queries.safetensors -y labels.npy -z query_labels.npy --json
    """
    from flipwise import hashing
    from flipwise.kernels.jit import threads as limited_threads

    asked, stored = read_codes(queries), read_codes(database)
    given = (asked, stored, read_labels(query_labels, len(asked)), read_labels(labels, len(stored)))
    at = min(at, len(stored))
    with limited_threads(threads):
        record = {
            "MAP": hashing.mean_average_precision(*given),
            f"precision@{at}": hashing.precision_at(*given, at),
            f"recall@{at}": hashing.recall_at(*given, at),
            f"precision within {radius}": hashing.precision_within_radius(*given, radius),
        }
    if as_json:
        print_json({"bits": stored.n_bits, "queries": len(asked), "database": len(stored), **record})
    else:
        title = f"{len(asked):,} queries against {len(stored):,} codes of {stored.n_bits} bits"
        print_facts(title, [(name, f"{value:.4f}") for name, value in record.items()])


@click.command("export")
@click.argument("codes", type=click.Path(dir_okay=False))
@click.option("--to", "engine", type=click.Choice(ENGINES), required=True, help="Who is going to read them.")
@click.option("-o", "--output", type=click.Path(dir_okay=False, allow_dash=True), required=True,
              help="A .npy file for arrays; lines of text otherwise (- is stdout).")  # fmt: skip
def export(codes: str, engine: str, output: str) -> None:
    """Write CODES in the form a search engine or vector store reads.

    \b
    Examples:
      $ flipwise hash export database.safetensors --to faiss -o faiss.npy
      $ flipwise hash export database.safetensors --to pgvector -o bits.txt
    """
    import numpy as np

    check_outputs([codes], {"-o": output})
    from flipwise.hashing.formats import export_codes

    exported = export_codes(read_codes(codes), engine)
    if not isinstance(exported, np.ndarray):
        write_lines(output, exported)
    elif output.endswith(".npy"):
        write_npy(output, exported)
    else:
        write_lines(output, (" ".join(map(str, row)) for row in exported.tolist()))
