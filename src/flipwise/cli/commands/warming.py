"""`flipwise warm-up`: compile the kernels before they are needed."""

from __future__ import annotations

import sys

import click

import flipwise
from flipwise.cli.options import json_option
from flipwise.cli.terminal import console, print_json


@click.command("warm-up")
@click.argument(
    "job", type=click.Choice(["minimize", "qubo", "maxcut", "bisect", "subgraph", "hash", "files"]), required=False
)
@json_option
def warm_up(job: str | None, as_json: bool) -> None:
    """Compile what JOB needs, or everything, so that no first run waits for a compiler.

    Machine code is kept in a cache on disk: once is enough for a machine (and a version of flipwise). Everything takes
    a few minutes, one job less; what is in the cache already takes no time.

    \b
    Examples:
      $ flipwise warm-up files
      $ flipwise warm-up qubo --json
    """
    from flipwise.kernels.compile_time import compile_seconds, compiled_count

    if sys.stderr.isatty() and not as_json:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        columns = TextColumn("compiling"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
        with Progress(*columns, console=console(err=True), transient=True) as bar:
            task = bar.add_task("compiling", total=None)
            flipwise.warm_up(job, callback=lambda done, parts: bar.update(task, completed=done, total=parts))
    else:
        flipwise.warm_up(job)
    made, seconds = compiled_count(), compile_seconds()
    if as_json:
        print_json({"job": job, "compiled": made, "seconds": round(seconds, 3)})
    else:
        what = "everything" if job is None else job
        click.echo(f"{what} is compiled: {made} specialisations made, the rest loaded, in {seconds:.1f} s")
