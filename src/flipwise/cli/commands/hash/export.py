"""`flipwise hash export`."""

from __future__ import annotations

import click

ENGINES = (
    "faiss",
    "faiss-lsh",
    "usearch",
    "pgvector",
    "elasticsearch",
    "vespa",
    "ubinary",
    "binary",
    "float",
    "qdrant",
    "weaviate",
)


@click.command("export")
@click.argument("codes", type=click.Path(dir_okay=False))
@click.option("--to", "engine", type=click.Choice(ENGINES), required=True, help="Who is going to read them.")
@click.option("-o", "--output", type=click.Path(dir_okay=False, allow_dash=True), required=True,
              help="A .npy file for arrays; lines of text otherwise (- is stdout).")  # fmt: skip
def command(codes: str, engine: str, output: str) -> None:
    """Write CODES in the form a search engine or vector store reads.

    \b
    Examples:
      $ flipwise hash export database.safetensors --to faiss -o faiss.npy
      $ flipwise hash export database.safetensors --to pgvector -o bits.txt
    """
    import numpy as np

    from flipwise.cli.arrays import read_codes
    from flipwise.cli.inputs import write_lines
    from flipwise.hashing.codes import export_codes

    exported = export_codes(read_codes(codes), engine)
    if not isinstance(exported, np.ndarray):
        write_lines(output, exported)
    elif output.endswith(".npy"):
        np.save(output, exported)
    else:
        write_lines(output, (" ".join(map(str, row)) for row in exported.tolist()))
