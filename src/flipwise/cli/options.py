"""Options that mean the same in every command."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click

from flipwise.cli.inputs import GRAPH_FORMATS, Reading

F = TypeVar("F", bound=Callable[..., Any])

if TYPE_CHECKING:
    _Time = click.ParamType[float]
    _Numbers = click.ParamType[tuple[int, ...]]
else:  # not generic in click 8.1
    _Time = _Numbers = click.ParamType


Bounds = click.Choice(["auto", "best", "quick", "sdp", "spectral", "simple", "none"])
"""What to prove about a quadratic."""


class Seconds(_Time):
    """A time: `30`, `30s`, `2m`, `1.5h`."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        text = str(value).strip().lower()
        unit = {"s": 1.0, "m": 60.0, "h": 3600.0}.get(text[-1:])
        try:
            seconds = float(text[:-1]) * unit if unit else float(text)
        except ValueError:
            seconds = -1.0
        if not 0.0 <= seconds < float("inf"):
            self.fail(f"must be a time such as 30, 30s, 2m or 1h, got {value!r}.", param, ctx)
        return seconds


class CountList(_Numbers):
    """Positive integers: `200`, `200,400,800` or `10:100:10` (from, to, step)."""

    name = "k[,k...]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        if isinstance(value, tuple):
            return value
        found: list[int] = []
        try:
            for part in str(value).split(","):
                ends = [int(end.replace("_", "")) for end in part.split(":")]
                if len(ends) > 3:
                    raise ValueError
                step = ends[2] if len(ends) == 3 else 1
                found.extend(range(ends[0], ends[1] + 1, step) if len(ends) > 1 else ends)
        except ValueError:
            found = []
        if not found or min(found) < 1:
            self.fail(f"must be positive integers such as 200 or 200,400 or 10:100:10, got {value!r}.", param, ctx)
        return tuple(found)


class CountRange(_Numbers):
    """How many ones: `10`, `5:10`, `:10` (at most), `5:` (at least)."""

    name = "k|from:to"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            ends = [int(end.replace("_", "")) if end.strip() else None for end in str(value).split(":")]
        except ValueError:
            ends = []
        given = [end for end in ends if end is not None]
        if len(ends) not in (1, 2) or not given or min(given) < 0 or given != sorted(given):
            self.fail(f"must be a number such as 10, or a range such as 5:10, :10 or 5:, got {value!r}.", param, ctx)
        return ends[0] if len(ends) == 1 else (ends[0], ends[1])


class Share(_Time):
    """A share: `0.01` or `1%`."""

    name = "share"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        text = str(value).strip()
        try:
            share = float(text[:-1]) / 100.0 if text.endswith("%") else float(text)
        except ValueError:
            share = -1.0
        if not 0.0 <= share < float("inf"):
            self.fail(f"must be a share such as 0.01 or 1%, got {value!r}.", param, ctx)
        return share


class PoolSize(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """How many answers: `10`, or `optima`."""

    name = "n|optima"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | str:
        if str(value) == "optima":
            return "optima"
        if not str(value).isdecimal() or int(value) < 1:
            self.fail(f"must be a number of answers such as 10, or optima, got {value!r}.", param, ctx)
        return int(value)


class FixedValue(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """The value of one variable: `name=1`."""

    name = "name=value"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, int]:
        variable, _, number = str(value).rpartition("=")
        if not variable or not number.removeprefix("-").isdecimal():
            self.fail(f"must be a variable and its value such as x3=1, got {value!r}.", param, ctx)
        return variable, int(number)


fixed_option = click.option(
    "--fix", "fixed", type=FixedValue(), multiple=True, metavar="NAME=VALUE", help="A variable that has this value."
)


def fixed_values(given: tuple[tuple[str, int], ...], labels: Any) -> dict[Any, int] | None:
    """What `--fix` says, by the labels of a model, or by numbers where it has none."""
    names = None if labels is None else {str(label): label for label in labels}
    fixed: dict[Any, int] = {}
    for name, value in given:
        known = names.get(name) if names is not None else int(name) if name.isdecimal() else None
        if known is None:
            raise click.UsageError(f"--fix {name}={value}: there is no variable {name!r}.")
        fixed[known] = value
    return fixed or None


def fixed_sides(given: tuple[tuple[str, int], ...], names: Any) -> dict[Any, int] | None:
    """The same for the two sides of a cut, which are 0 and 1 here and -1 and +1 in the functions."""
    for name, value in given:
        if value not in (0, 1):
            raise click.UsageError(f"--fix {name}={value}: the sides are 0 and 1.")
    fixed = fixed_values(given, names)
    return None if fixed is None else {node: 2 * side - 1 for node, side in fixed.items()}


def _joined_options(*options: Callable[[F], F]) -> Callable[[F], F]:
    """One decorator for several options, in the order in which the help lists them."""

    def decorate(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of a table.")
threads_option = click.option("--threads", type=click.IntRange(min=1), help="Use at most so many threads.")
run_options = _joined_options(
    click.option(
        "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="The same seed gives the same answer."
    ),
    click.option("--time-limit", type=Seconds(), help="Stop after so long (30, 2m, 1h) and give the best so far."),
    threads_option,
)


def gathered(name: str, make: Callable[..., Any], *options: Callable[[F], F]) -> Callable[[F], F]:
    """One decorator for several options, which the command gets as one argument `name`: `make` of their values.

    Commands with several such groups are wrapped once, whatever their number.
    """

    def decorate(function: F) -> F:
        command: Any = function
        if not hasattr(function, "groups"):

            @wraps(function)
            def command(**given: Any) -> Any:
                for group, (made_of, making) in command.groups.items():
                    given[group] = making(**{option: given.pop(option) for option in made_of})
                return function(**given)

            command.groups = {}
        before = len(getattr(command, "__click_params__", ()))
        command = _joined_options(*options)(command)
        command.groups[name] = [option.name for option in command.__click_params__[before:]], make
        return command  # type: ignore[no-any-return]

    return decorate


stop_options = gathered(
    "limits",
    dict,
    click.option("--target", type=float, help="Stop at a value at least this good."),
    click.option("--gap", type=Share(), help="Stop when proven to be within this share of the best (0.01 or 1%)."),
    click.option("--patience", type=click.IntRange(min=1), help="Stop after so many iterations without a gain."),
    click.option("--max-evaluations", type=click.IntRange(min=1), help="Stop after so many evaluations."),
)
"""The limits beside the time; the first that is reached ends the run."""


def _wanted_answers(pool: int | str | None, distance: int | None) -> dict[str, Any]:
    """How many answers are wanted, and how far apart."""
    if distance is not None and pool is None:
        raise click.UsageError("--distance is that of the answers of a pool: give --pool, too.")
    return {"pool": pool, "distance": 1 if distance is None else distance}


def _pool_options(size: Any, pool: str, distance: str) -> Callable[[F], F]:
    """How many answers, and how far apart."""
    return gathered(
        "answers",
        _wanted_answers,
        click.option("--pool", type=size, help=pool),
        click.option("--distance", type=click.IntRange(min=1), help=distance),
    )


pool_options = _pool_options(
    PoolSize(),
    "So many distinct good answers; optima: all of a small problem.",
    "In how many places answers of a pool differ.",
)
pool_of_sets_options = _pool_options(
    click.IntRange(min=1),
    "With one -k: so many distinct dense sets, which may share nodes.",
    "In how many nodes sets of a pool differ; one for another is two.",
)

explain_option = click.option(
    "--explain", "explained", is_flag=True, help="Say what was solved, what is proven and what to try next."
)
checkpoint_option = click.option(
    "--checkpoint",
    type=click.Path(dir_okay=False),
    help="Save the run there once a minute; go on from there if the file exists. Deleted at the end.",
)
certificate_option = click.option(
    "--certificate",
    type=click.Path(dir_okay=False),
    help="Write the proof of the bound there, for `flipwise verify`.",
)
cluster_option = click.option(
    "--cluster",
    metavar="local:N|ADDRESS",
    help="Work on N new local processes, or on the Dask cluster at tcp://...",
)
output_options = _joined_options(
    json_option,
    click.option("-q", "--quiet", is_flag=True, help="No progress, no notes."),
    click.option("-v", "--verbose", is_flag=True, help="Log the run to standard error."),
)
graph_options = gathered(
    "reading",
    Reading,
    click.option(
        "--format",
        "file_format",
        type=click.Choice(GRAPH_FORMATS),
        help="The format of FILE, found by itself as a rule.",
    ),
    click.option(
        "--symmetrise",
        type=click.Choice(["max", "sum", "error"]),
        default="max",
        show_default=True,
        help="Several arcs between two nodes become one edge with this weight.",
    ),
    click.option("--unweighted", is_flag=True, help="Ignore weights and further columns."),
    click.option("--names", is_flag=True, help="Edge lists: nodes have names, also where they look like numbers."),
    click.option("--header/--no-header", default=None, help="Edge lists: the first line has column names, or an edge."),
    click.option("--columns", metavar="A,B[,W]", help="CSV, Parquet: the columns of the two ends and of the weight."),
)

"""How a graph is read."""


def input_argument(name: str = "file", *, folders: bool = False) -> Callable[[F], F]:
    """The file to read; `-` is standard input. (Whether it exists is the reader's business: it may be a base name.)"""
    return click.argument(name, type=click.Path(dir_okay=folders, allow_dash=True))


def answer_file(what: str) -> Callable[[F], F]:
    """-o FILE for the answer itself."""
    return click.option(
        "-o", "--output", type=click.Path(dir_okay=False, allow_dash=True), help=f"Write {what} there (- is stdout)."
    )
