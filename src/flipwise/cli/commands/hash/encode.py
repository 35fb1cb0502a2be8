"""`flipwise hash encode`."""

from __future__ import annotations

import click

from flipwise.cli.inputs import input_argument


@click.command("encode")
@click.argument("model", type=click.Path(dir_okay=False))
@input_argument("vectors")
@click.option("-o", "--output", type=click.Path(dir_okay=False), required=True,
              help="Where the codes go: .safetensors (with bit length and order), or .npy (packed bytes).")  # fmt: skip
@click.option("--threads", type=click.IntRange(min=1), help="Use at most so many threads.")
@click.option("-q", "--quiet", is_flag=True, help="No notes.")
def command(model: str, vectors: str, output: str, threads: int | None, quiet: bool) -> None:
    """Turn the rows of VECTORS into codes by a fitted MODEL.

    \b
    Examples:
      $ flipwise hash encode model.safetensors queries.npy -o queries.safetensors
      $ flipwise hash encode model.safetensors vectors.npy -o packed.npy
    """
    import numpy as np

    from flipwise import hashing
    from flipwise.cli.arrays import read_array
    from flipwise.errors import InvalidFile
    from flipwise.kernels.jit import threads as limited_threads

    fitted = hashing.load(model)
    if isinstance(fitted, hashing.Codes):
        raise InvalidFile(f"{model}: holds codes, not a model. Give what `flipwise hash fit` wrote.")
    with limited_threads(threads):
        codes = fitted.encode(read_array(vectors))
    if output.endswith(".npy"):
        np.save(output, codes.packed)
    else:
        hashing.save(codes, output)
    if not quiet:
        click.echo(f"{output}: {len(codes):,} codes of {codes.n_bits} bits", err=True)
