"""`flipwise report`."""

from __future__ import annotations

import click


@click.command("report")
@click.argument("store", type=click.Path(dir_okay=False))
@click.option("-o", "--output", default="flipwise-report", show_default=True,
              help="A .html, .md or .csv file, or a folder that gets all three.")  # fmt: skip
@click.option("--compare", type=click.Path(dir_okay=False), help="Another store, the 'before' of a comparison.")
@click.option("--title", default="Flipwise: the studies", show_default=True, help="The heading.")
def command(store: str, output: str, compare: str | None, title: str) -> None:
    """Turn stored results of `flipwise reproduce` into a page; nothing is run.

    \b
    Examples:
      $ flipwise report results.sqlite -o report.html
      $ flipwise report results.sqlite --compare results.sqlite -o comparison.html
    """
    from flipwise.report import render

    for path in render(store, output, compare=compare, title=title):
        click.echo(str(path))
