"""`flipwise hash recommend`."""

from __future__ import annotations

import click

from flipwise.cli.inputs import input_argument
from flipwise.cli.options import Counts, run_options


@click.command("recommend")
@input_argument("vectors")
@click.option("--recall", type=click.FloatRange(0, 1, min_open=True), default=0.9, show_default=True,
              help="Wanted share of the true nearest neighbours.")  # fmt: skip
@click.option("--bits", type=Counts(), default="64,128,256,512", show_default=True, help="Lengths to try.")
@click.option("-k", type=click.IntRange(min=1), default=10, show_default=True, help="Neighbours for each query.")
@run_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of a table.")
def command(
    vectors: str, recall: float, bits: tuple[int, ...], k: int, seed: int, time_limit: float | None,
    threads: int | None, as_json: bool,
) -> None:  # fmt: skip
    """Say how many bits, and how many candidates to re-rank, your own VECTORS need for a wanted recall.

    \b
    Examples:
      $ flipwise hash recommend vectors.npy --recall 0.8 -k 5 --bits 16,32,64
    """
    from flipwise import hashing
    from flipwise.cli.arrays import read_array
    from flipwise.kernels.jit import threads as limited_threads

    with limited_threads(threads), hashing.fitting(time_limit=time_limit):
        advice = hashing.recommend(read_array(vectors), k=k, target=recall, bits=bits, random_state=seed)
    if as_json:
        from dataclasses import asdict

        from flipwise.cli.terminal import print_json

        print_json(asdict(advice))
    else:
        click.echo(str(advice))
