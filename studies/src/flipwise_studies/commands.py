"""`flipwise reproduce` and `flipwise report`: the studies run into a store, the store made into a page.

The two are entry points of the group `flipwise.commands`.
"""

from __future__ import annotations

import click

from flipwise.cli.exits import INTERRUPTED, OK
from flipwise.cli.options import Seconds, json_option, threads_option
from flipwise.cli.terminal import print_facts, print_json


@click.command("reproduce")
@click.option("--quick/--full", default=True, show_default=True, help="Generated data and minutes, or real data.")
@click.option("--only", help="Studies, methods, or both, separated by commas.")
@click.option("--store", type=click.Path(dir_okay=False), default="flipwise-results.sqlite", show_default=True,
              help="Where results are kept; a killed run continues there.")  # fmt: skip
@click.option("--data", type=click.Path(file_okay=False), help="Folder with real data (default: FLIPWISE_DATA).")
@click.option(
    "--report", "out", default="flipwise-report", show_default=True, help="Folder or .html file; '' for none."
)
@click.option("--retry", is_flag=True, help="Run failed and skipped cells again.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Added to every cell's seed.")
@click.option("--time-limit", type=Seconds(), help="For each cell (30, 2m); by default each study has its own.")
@threads_option
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Studies at the same time.")
@json_option
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
def reproduce(
    quick: bool, only: str | None, store: str, data: str | None, out: str, retry: bool, seed: int,
    time_limit: float | None, threads: int | None, jobs: int, as_json: bool, quiet: bool,
) -> int:  # fmt: skip
    """Run the paper's experiments, store every result, and render a report.

    Safe to kill: finished cells are kept and not run again. On a machine with few cores --jobs 2 is the quickest: most
    studies use one core. Each cell then has half of the threads.

    \b
    Examples:
      $ flipwise reproduce --only convergence --store results.sqlite --report report.html
      $ flipwise reproduce --only compression,itq --time-limit 5 --seed 1 --report ''
      $ flipwise reproduce --only convergence,momentum,sgm,dpcd-plain --jobs 2 --report ''
    """
    from flipwise_studies import render
    from flipwise_studies import reproduce as run_studies

    try:
        summary = run_studies(
            quick=quick, only=only, store=store, data=data, seed=seed, time_limit=time_limit, threads=threads,
            jobs=jobs, retry=retry, callback=None if quiet else lambda progress: click.echo(str(progress), err=True),
        )  # fmt: skip
    except KeyboardInterrupt:
        click.echo(f"Interrupted. Finished cells are in {store}; the same command goes on from there.", err=True)
        return INTERRUPTED
    pages = [str(path) for path in render(store, out)] if out else []
    if as_json:
        counts = {"done": summary.done, "failed": summary.failed, "skipped": summary.skipped}
        print_json({"store": str(summary.store), **counts, "report": pages})
    else:
        cells = f"{summary.done} done, {summary.failed} failed, {summary.skipped} skipped"
        facts = [("cells", cells), ("store", str(summary.store)), ("report", "\n".join(pages) or "none")]
        print_facts("Studies", facts)
    return OK


@click.command("report")
@click.argument("store", type=click.Path(dir_okay=False))
@click.option("-o", "--output", default="flipwise-report", show_default=True,
              help="A .html, .md or .csv file, or a folder that gets all three.")  # fmt: skip
@click.option("--compare", type=click.Path(dir_okay=False), help="Another store, the 'before' of a comparison.")
@click.option("--title", default="Flipwise: the studies", show_default=True, help="The heading.")
def report(store: str, output: str, compare: str | None, title: str) -> None:
    """Turn stored results of `flipwise reproduce` into a page; nothing is run.

    \b
    Examples:
      $ flipwise report results.sqlite -o report.html
      $ flipwise report results.sqlite --compare results.sqlite -o comparison.html
    """
    from flipwise_studies import render

    for path in render(store, output, compare=compare, title=title):
        click.echo(str(path))
