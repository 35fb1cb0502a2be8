"""The answers of `densest_block` and `densest_directed_subgraph`: rows and columns, or sources and targets."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from flipwise.densest.twosided import TwoSided, block_density
from flipwise.engine.limits import Status
from flipwise.engine.result import Result
from flipwise.foundation.arrays import Ints
from flipwise.graphs.digraph import ArcMatrix


@dataclass
class DenseBlock(Result):
    """Some rows and some columns of a matrix, how dense they are together, and how dense any can be at most.

    Everything a `Result` has is here too: `x` is the 0/1 vector of the rows, then of the columns, `value` the density.

    Attributes
    ----------
    rows, columns
        The chosen rows and columns: by their names, otherwise their numbers, ascending.
    shape
        How many rows, and how many columns.
    weight
        What they weigh together: the sum of the entries where they meet.
    density
        `weight / sqrt(rows * columns)`, also `value`. A full block of a rows and b columns has sqrt(a b).
    filled
        The share of the pairs of a row and a column that have an entry.
    bound
        No block (of these sizes, where they were given) has a density above this. None when nothing was proven.
    bound_method
        Which bound won: "flow" for blocks of any size; "complete", "rows", "columns", "loads", "exact" for given ones.
    bounds
        Every bound that was computed, as densities.

    Examples
    --------
    >>> import numpy as np, flipwise
    >>> block = flipwise.densest_block(np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1]]))
    >>> block.rows, block.columns, block.density, block.optimal
    ([0, 1], [0, 1], 2.0, True)
    """

    shape: tuple[int, int] = (0, 0)
    weight: float = 0.0
    filled: float = 0.0
    bound_method: str | None = None
    bounds: dict[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    row_labels: list[Any] = field(default_factory=list, repr=False)
    column_labels: list[Any] = field(default_factory=list, repr=False)

    def __post_init__(self) -> None:
        self.notes, self.shape = tuple(self.notes), tuple(self.shape)  # type: ignore[assignment]  # a file holds lists

    @classmethod
    def of(
        cls, result: Result, sides: TwoSided, arcs: ArcMatrix, bounds: dict[str, float], *, by_density: bool
    ) -> DenseBlock:
        """A result of the engine in terms of rows and columns; `bounds` are weights, for given sizes."""
        block = sides.block(np.flatnonzero(result.x > 0))
        rows, columns = block.rows, block.columns
        inside = np.zeros(sides.columns, dtype=bool)
        inside[columns] = True
        pairs = max(1, rows.size * columns.size)
        entries = sum(
            int(np.count_nonzero(inside[arcs.matrix.indices[arcs.matrix.indptr[i] : arcs.matrix.indptr[i + 1]]]))
            for i in rows.tolist()
        )
        own = {f.name: getattr(result, f.name) for f in fields(result)}
        own.update(value=block.density, variables="binary", bound=None)
        described = cls(
            **own,
            shape=(rows.size, columns.size),
            weight=block.weight,
            filled=entries / pairs,
            notes=arcs.notes,
            row_labels=_names_of(arcs.rows, rows),
            column_labels=_names_of(arcs.columns, columns),
        )
        if by_density:
            if result.bound is not None:
                described.bound, described.bound_method = max(0.0 - result.bound, block.density), result.method
                described.bounds = {result.method: described.bound}
        elif bounds:
            described._take_over(bounds)
        if described.optimal and described.status is not Status.INTERRUPTED:
            described.status = Status.OPTIMAL
        elif described.status is Status.OPTIMAL:
            described.status = Status.LOCAL_OPTIMUM
        return described

    def _take_over(self, bounds: dict[str, float]) -> None:
        """Bounds on the weight of blocks of this shape, as densities."""
        densities = {}
        for name, most in bounds.items():
            met = most <= self.weight
            densities[name] = self.value if met else np.nextafter(block_density(most, *self.shape), np.inf)
        self.bounds = {name: float(bound) for name, bound in densities.items()}
        self.bound_method = min(bounds, key=lambda name: bounds[name])
        self.bound = self.bounds[self.bound_method]

    @property
    def density(self) -> float:
        """The density, `value` by its own name."""
        return self.value

    @property
    def rows(self) -> list[Any]:
        """The chosen rows by their own names."""
        return list(self.row_labels)

    @property
    def columns(self) -> list[Any]:
        """The chosen columns by their own names."""
        return list(self.column_labels)

    @property
    def measure(self) -> str:
        """What `value` is called."""
        return "density"

    @property
    def is_maximum(self) -> bool:
        """Whether more is better."""
        return True

    def subject(self) -> str:
        """What was solved."""
        first, second = self.sides
        a, b = ("any number of",) * 2 if self.method == "flow" else (f"{count:,}" for count in self.shape)
        return f"dense block: {a} {first} and {b} {second} with the most weight (weight / sqrt({first} * {second}))"

    def in_unit(self, minimised: float) -> float:
        """What the search has minimised, in the unit of `value`."""
        return -minimised if self.method == "flow" else block_density(-minimised, *self.shape)

    def offers_bound(self) -> bool:
        """Whether a bound can be asked for."""
        return True

    def may_close_gap(self) -> bool:
        """Whether `bound="best"` goes further than what was proven."""
        return False

    def search_further(self) -> str:
        """What to try where a method has come to its own end."""
        return (
            "`effort=5` or a `time_limit` searches longer" if self.method != "flow" else "More time, for what is open"
        )

    def other_answers(self) -> None:
        """There is no way to ask for several blocks."""

    def facts(self) -> list[tuple[str, str]]:
        """What a reader wants to know, as names and texts."""
        bound = [(name, f"{text[:-1]}, by {self.bound_method})") for name, text in self.bound_facts()]
        first, second = self.sides
        return [
            ("method", self.method),
            (first, f"{self.shape[0]}"),
            (second, f"{self.shape[1]}"),
            ("density", f"{self.density:.10g} (weight / sqrt({first} * {second}))"),
            *bound,
            ("weight", f"{self.weight:.10g}"),
            ("filled", f"{100 * self.filled:.4g} % of the pairs"),
            ("status", self.message),
            ("seconds", f"{self.seconds:.3f}"),
            *(("note", note) for note in self.notes),
        ]

    @property
    def sides(self) -> tuple[str, str]:
        """What the two sets are called."""
        return "rows", "columns"


@dataclass
class DirectedSubgraph(DenseBlock):
    """Two sets of nodes of a directed graph with many arcs from one to the other; they may have nodes in common.

    A `DenseBlock` of the matrix of the arcs: its rows are `sources`, its columns `targets`.

    Examples
    --------
    >>> import flipwise
    >>> found = flipwise.densest_directed_subgraph((4, [[0, 2], [0, 3], [1, 2], [1, 3], [2, 0]]))
    >>> found.sources, found.targets, found.density, found.optimal
    ([0, 1], [2, 3], 2.0, True)
    """

    @property
    def sources(self) -> list[Any]:
        """The nodes whose arcs are counted."""
        return self.rows

    @property
    def targets(self) -> list[Any]:
        """The nodes to which these arcs lead."""
        return self.columns

    @property
    def sides(self) -> tuple[str, str]:
        """What the two sets are called."""
        return "sources", "targets"


def _names_of(names: Any, chosen: Ints) -> list[Any]:
    """The names of some rows, their numbers where they have none."""
    return chosen.tolist() if names is None else [names[i] for i in chosen.tolist()]
