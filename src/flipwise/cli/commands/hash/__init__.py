"""`flipwise hash`: a group of its own, one file a command."""

from __future__ import annotations

import click

from flipwise.cli.app import LazyGroup


@click.command(
    "hash",
    cls=LazyGroup,
    package="flipwise.cli.commands.hash",
    table={
        "fit": "learn codes from vectors, with or without labels",
        "encode": "vectors to codes, by a fitted model",
        "search": "the nearest codes of each query",
        "evaluate": "MAP, precision and recall of codes",
        "recommend": "bits and oversampling for a wanted recall",
        "export": "codes in the form a search engine reads",
    },
)
def command() -> None:
    """Learn binary codes of vectors, search with them, judge them, hand them to a search engine.

    Vectors come as .npy, .npz or text files. Models and codes are safetensors files: arrays, nothing that can run.

    \b
    From vectors to neighbours:
      flipwise hash fit vectors.npy --bits 64 -o model.safetensors
      flipwise hash encode model.safetensors vectors.npy -o database.safetensors
      flipwise hash encode model.safetensors queries.npy -o queries.safetensors
      flipwise hash search database.safetensors queries.safetensors -k 10
    """
