"""`flipwise hash recommend`: how many bits, and how much oversampling, a wanted recall needs."""

from __future__ import annotations

from dataclasses import asdict
from typing import Literal

import click

from flipwise.cli.commands.hash import ADDITIVE, UNSUPERVISED, estimator_with, power_of
from flipwise.cli.inputs import read_vectors
from flipwise.cli.options import CountList, input_argument, json_option, run_options
from flipwise.cli.terminal import print_json

Scored = Literal["asymmetric", "hamming"]


@click.command("recommend")
@input_argument("vectors")
@click.option("--recall", type=click.FloatRange(0, 1, min_open=True), default=0.9, show_default=True,
              help="Wanted share of the true nearest neighbours.")  # fmt: skip
@click.option("--bits", type=CountList(), default="64,128,256,512", show_default=True, help="Lengths to try.")
@click.option("-k", type=click.IntRange(min=1), default=10, show_default=True, help="Neighbours for each query.")
@click.option("--rows", type=click.IntRange(min=1), help="Rows of the collection. Default: those of VECTORS.")
@click.option("--scoring", type=click.Choice(["asymmetric", "hamming"]), default="asymmetric", show_default=True,
              help="Float queries against codes, or codes against codes.")  # fmt: skip
@click.option("--estimator", type=click.Choice([*UNSUPERVISED, ADDITIVE], case_sensitive=False), default="ITQ",
              show_default=True, help="What makes the codes.")  # fmt: skip
@click.option("--whitening", help="For ITQ: a power from 0 to 0.5, or auto (default: by recall on a sample).")
@run_options
@json_option
def recommend(
    vectors: str, recall: float, bits: tuple[int, ...], k: int, rows: int | None, scoring: Scored,
    estimator: str, whitening: str | None, seed: int, time_limit: float | None, threads: int | None, as_json: bool,
) -> None:  # fmt: skip
    """Say how many bits, and how many candidates to re-rank, your own VECTORS need for a wanted recall.

    What is found among some thousand rows is extrapolated to all rows, or to --rows, with a band.

    \b
    Examples:
      $ flipwise hash recommend vectors.npy --recall 0.8 -k 5 --bits 16,32,64
      $ flipwise hash recommend vectors.npy --recall 0.8 -k 5 --bits 32 --rows 1000000 --scoring hamming
    """
    from flipwise import hashing
    from flipwise.kernels.jit import threads as limited_threads

    options = {"whitening": "auto" if whitening is None and estimator == "ITQ" else power_of(whitening)}
    model = estimator_with(getattr(hashing, estimator)(), options)
    with limited_threads(threads):
        advice = hashing.recommend(
            read_vectors(vectors), k=k, target=recall, rows=rows, bits=bits, scoring=scoring, estimator=model,
            random_state=seed, time_limit=time_limit,
        )  # fmt: skip
    if as_json:
        print_json(asdict(advice))
    else:
        click.echo(str(advice))
