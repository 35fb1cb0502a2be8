"""The conditions of `flipwise subgraph`: which sets of nodes count, as options and as what the function takes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click

from flipwise.cli.options import CountList, gathered
from flipwise.foundation.errors import InvalidFile, InvalidInput


class AskedConditions(NamedTuple):
    """What was asked of the set beside k, as it was typed."""

    at_least: tuple[int, ...] | None
    at_most: tuple[int, ...] | None
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    connected: bool
    node_weights: str | None
    several: int | None
    overlap: float

    @property
    def are_any(self) -> bool:
        """Whether there is anything beside k."""
        return any(self)

    @property
    def searches(self) -> int:
        """How many sets are looked for, but for `several`."""
        return max(1, len(self.at_least or ()), len(self.at_most or ()))

    def keywords(self, graph: Any) -> dict[str, Any]:
        """The same as the function takes it, with nodes as the graph calls them."""
        if not self.are_any:
            return {}
        named = Named(graph.n, graph.names, "node of the graph")
        weights = None if self.node_weights is None else _weights_in(self.node_weights, named)
        return {
            "at_least": _one_or_more(self.at_least),
            "at_most": _one_or_more(self.at_most),
            "include": named.all_of(self.include, "--include") or None,
            "exclude": named.all_of(self.exclude, "--exclude") or None,
            "connected": self.connected,
            "node_weights": weights,
            "several": self.several,
            "overlap": self.overlap,
        }


class Named:
    """The nodes of a graph, or the variables of a model, by the text of their names."""

    def __init__(self, n: int, names: Sequence[Any] | None, kind: str) -> None:
        self.n, self.kind = n, kind
        self.members = None if names is None else {str(name): name for name in names}

    def __contains__(self, text: str) -> bool:
        if self.members is None:
            return text.isascii() and text.isdigit() and int(text) < self.n
        return text in self.members

    def one(self, text: str, what: str) -> Any:
        """One of them."""
        if text not in self:
            raise InvalidInput(f"{what}: {text!r} is no {self.kind}.")
        return int(text) if self.members is None else self.members[text]

    def all_of(self, texts: Iterable[str], what: str) -> list[Any]:
        """Those of `a,b` and `c`; a name that has a comma itself stays one."""
        parts = [part for text in texts for part in ([text] if text in self else text.split(","))]
        return [self.one(part.strip(), what) for part in parts]


def _weights_in(path: str, named: Named) -> dict[Any, float]:
    """A node and its weight on each line."""
    weights: dict[Any, float] = {}
    for number, line in enumerate(Path(path).read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, _, value = line.replace("\t", " ").strip().rpartition(" ")
        try:
            weights[named.one(name.strip(), path)] = float(value)
        except ValueError as error:
            if isinstance(error, InvalidInput):
                raise
            raise InvalidFile(f"{path}, line {number}: must be a node and its weight, got {line!r}.") from None
    return weights


def _one_or_more(sizes: tuple[int, ...] | None) -> int | list[int] | None:
    """A number, a list of them, or nothing."""
    return None if sizes is None else sizes[0] if len(sizes) == 1 else list(sizes)


condition_options = gathered(
    "asked",
    AskedConditions,
    click.option("--at-least", type=CountList(), help="Instead of -k: at least so many nodes; several as with -k."),
    click.option("--at-most", type=CountList(), help="Instead of -k: at most so many nodes."),
    click.option("--include", multiple=True, metavar="A,B", help="Nodes that must be in the set."),
    click.option("--exclude", multiple=True, metavar="A,B", help="Nodes that must not be in it."),
    click.option("--connected", is_flag=True, help="The set has to be one piece."),
    click.option("--node-weights", type=click.Path(dir_okay=False, exists=True),
                 help="A file with a node and what it weighs itself on each line."),
    click.option("--several", type=click.IntRange(min=1), help="So many sets, one after another."),
    click.option("--overlap", type=click.FloatRange(0.0, 1.0), default=0.0, show_default=True,
                 help="The share of a set's nodes that may be in the sets before it."),
)  # fmt: skip
"""Which sets count."""
