"""What a command writes: one JSON object for machines, a table for people, progress on a terminal only."""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.console import Console

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
Tell = Callable[[str], None]
"""Show one short line about how a run stands."""


def console(err: bool = False) -> Console:
    """Standard output (or error) as rich sees it: 80 columns where it is no terminal, NO_COLOR respected."""
    from rich.console import Console

    return Console(stderr=err, highlight=False, soft_wrap=False)


def print_json(record: dict[str, Any]) -> None:
    """One JSON object on standard output; NumPy numbers and arrays become plain ones, NaN and inf null."""
    click.echo(json.dumps(_plain_value(record), indent=2, allow_nan=False))


def json_text(record: dict[str, Any]) -> str:
    """One JSON object for a file."""
    return json.dumps(_plain_value(record), indent=1, allow_nan=False) + "\n"


def printable(text: str) -> str:
    """The text with control characters spelled out: a name in a file must not move the cursor or change colours."""
    return _CONTROLS.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def result_record(result: Any) -> dict[str, Any]:
    """What every result has."""
    return {
        "value": result.value,
        "bound": result.bound,
        "gap": result.gap,
        "status": result.status.name.lower(),
        "message": result.message,
        "method": result.method,
        "seed": result.seed,
        "iterations": result.iterations,
        "seconds": round(result.seconds, 4),
        "peak_memory": result.peak_memory,
    }


def print_table(
    title: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    left: Sequence[str] = (),
    notes: Sequence[str] = (),
    err: bool = False,
) -> None:
    """A table with right-aligned columns except the first and those named in `left`."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(
        title=Text(printable(title)),
        title_style="bold",
        title_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        show_edge=False,
    )
    for index, name in enumerate(columns):
        table.add_column(name, justify="left" if index == 0 or name in left else "right", no_wrap=name not in left)
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    screen = console(err)
    screen.print(table)
    for note in notes:
        screen.print(printable(note), style="dim", markup=False)


def print_facts(title: str, facts: Sequence[tuple[str, str]], *, err: bool = False) -> None:
    """Names and values in two columns."""
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="cyan", no_wrap=True)
    grid.add_column()
    for name, value in facts:
        grid.add_row(Text(printable(name)), Text(printable(value)))
    screen = console(err)
    screen.print(Text(printable(title), style="bold"))
    screen.print(grid)


def print_answers(result: Any, *, explained: bool, err: bool = False) -> None:
    """The pool of a result, and its explanation, below the facts."""
    import flipwise

    if result.pool is not None:
        click.echo(f"\n{result.pool}", err=err)
    if explained:
        click.echo(f"\n{flipwise.explain(result)}", err=err)


def answers_record(result: Any, *, explained: bool) -> dict[str, Any]:
    """The same for JSON; nothing where nothing of it was asked for."""
    import flipwise

    record: dict[str, Any] = {}
    if result.pool is not None:
        record["pool"] = [{"value": value, "x": x} for x, value in result.pool]
        if hasattr(result, "parts"):  # of two sides, -1 and +1, the parts 0 and 1
            sides = result.pool.alike is None
            record["pool"] = [{"value": value, "parts": (x + 1) // 2 if sides else x} for x, value in result.pool]
    if explained:
        record["explanation"] = dict(flipwise.explain(result).lines)
    return record


@contextmanager
def progress(what: str, *, quiet: bool, time_limit: float | None = None) -> Iterator[Tell]:
    """A moving line on a terminal; elsewhere a plain line after 5, 10, 20, 40, ... seconds; nothing when quiet.

    Kernels that had to be compiled, which is done once on a machine, are told with the seconds that took.
    """
    if quiet:
        yield lambda line: None
        return
    from flipwise.kernels.compile_time import compile_seconds, compiled_count, told_of_compilation

    made, seconds = compiled_count(), compile_seconds()
    try:
        with (
            _progress_teller(what, time_limit) as tell,
            told_of_compilation(lambda name: tell(f"compiling once: {name}")),
        ):
            yield tell
    finally:
        if compiled_count() > made:
            click.echo(f"{what}  compiling once, {compile_seconds() - seconds:.0f} s", err=True)


@contextmanager
def _progress_teller(what: str, time_limit: float | None) -> Iterator[Tell]:
    """What shows the progress: a bar on a terminal, else a line now and then."""
    if sys.stderr.isatty():
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        columns: list[Any] = [SpinnerColumn(), TextColumn("{task.description}")]
        if time_limit:
            columns.append(BarColumn(bar_width=20))
        started = time.perf_counter()
        with Progress(*columns, TimeElapsedColumn(), console=console(err=True), transient=True) as bar:
            task = bar.add_task(what, total=time_limit)

            def move(line: str) -> None:
                bar.update(task, description=f"{what}  {line}"[:60], completed=time.perf_counter() - started)

            yield move
    else:
        yield _line_teller(what)


def _line_teller(what: str) -> Tell:
    """Progress as lines, each after twice the time of the one before."""
    started = time.perf_counter()
    due = 5.0

    def tell(line: str) -> None:
        nonlocal due
        seconds = time.perf_counter() - started
        if seconds >= due:
            click.echo(f"{what}  {line}  {seconds:.0f} s", err=True)
            due *= 2

    return tell


def percent(share: float | None) -> str:
    """A gap as people read it: three digits, "-" where unknown."""
    if share is None:
        return "-"
    if share == 0:
        return "0 %"
    return f"{100 * share:.3g} %" if share < 10 else "> 1000 %"


def number(value: float | None, digits: int = 7) -> str:
    """A number with as many digits as matter; "-" where unknown."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if float(value).is_integer() and abs(value) < 1e15 else f"{value:,.{digits}g}"


def size(count: float) -> str:
    """Bytes for people."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} TB"


def _plain_value(value: Any) -> Any:
    """A value as JSON can hold it: NaN and infinity are null."""
    if isinstance(value, dict):
        return {str(key): _plain_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain_value(item) for item in value]
    if hasattr(value, "tolist"):  # NumPy arrays and scalars
        return _plain_value(value.tolist())
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None
    return value
