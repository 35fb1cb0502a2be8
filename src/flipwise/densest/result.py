"""The answers of `densest_subgraph`: a `Result` that speaks of nodes and densities, and a profile over several k."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from flipwise.densest.bounds import SubgraphBounds
from flipwise.densest.certifying import certificate_of
from flipwise.densest.whole import GraphInMemory, WholeGraph
from flipwise.engine.limits import Status
from flipwise.engine.result import Result
from flipwise.foundation.arrays import Floats, Ints
from flipwise.foundation.errors import InvalidInput
from flipwise.foundation.tables import html_table
from flipwise.graphs.convert import as_graph
from flipwise.graphs.graph import Graph
from flipwise.graphs.selection import induced_subgraph, node_table


@dataclass
class DensestSubgraph(Result):
    """k nodes, how dense they are, and how dense any k nodes can be at most.

    Everything a `Result` has is here too: `x` is the 0/1 vector of the nodes, `value` their density.

    Attributes
    ----------
    nodes
        The chosen nodes: the graph's own labels where it has names, otherwise their numbers, ascending.
    density
        `x'Wx / k`, twice the weight of the edges inside divided by k: the average degree inside. Also `value`.
    edge_density
        The weight inside divided by the k(k-1)/2 pairs; 0 for k = 1.
    pairs_joined
        The share of the pairs that an edge joins, whatever it weighs; the same without weights.
    bound
        No k nodes have a density above this. None when nothing was proven (`bound="none"`).
    bound_method
        Which bound won: "clique", "order", "loads", "pairs", "spectral", "semidefinite", "branching",
        "bipartite", "other k"; "exact" where all sets were compared, "flow" for sets of any size.
    bounds
        Every bound that was computed, as densities.
    conditions
        What the set had to be beside dense, in words; empty without conditions.
    evaluations
        The sets whose degrees were added up from scratch; exchanges follow from these.

    Examples
    --------
    >>> import networkx as nx, flipwise
    >>> result = flipwise.densest_subgraph(nx.lollipop_graph(5, 10), 5, seed=0)
    >>> sorted(result.nodes), result.density, result.optimal
    ([0, 1, 2, 3, 4], 4.0, True)
    """

    k: int = 0
    edge_density: float = 0.0
    pairs_joined: float = 0.0
    bound_method: str | None = None
    bounds: dict[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    conditions: str = ""
    labels: list[Any] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        self.notes = tuple(self.notes)  # a file holds a list

    @classmethod
    def of(cls, result: Result, graph: WholeGraph, k: int, proven: Mapping[int, SubgraphBounds]) -> DensestSubgraph:
        """A result of the engine in terms of nodes and densities; the weight is added up anew, and rounded once."""
        own = {f.name: getattr(result, f.name) for f in fields(result)}
        own.update(bound=None, variables="binary")
        described = cls(**own, notes=graph.notes)
        described.value = described.describe(graph) / k
        if described.pool is not None:
            densities = 0.0 - described.pool.values / k
            described.pool = replace(described.pool, values=np.array([described.value, *densities[1:]]))
        bounds = proven.get(k)
        if bounds is not None:
            described.note_bounds(bounds, exhausted=result.optimal and result.method == "exact")
            if isinstance(graph, GraphInMemory) and described.bound is not None and bounds.known:
                described.certificate = certificate_of(graph.graph, bounds, described.bound)
        if described.status is Status.OPTIMAL and not described.optimal:  # to the last digit, where weights are rounded
            described.status = Status.LOCAL_OPTIMUM
        return described

    @classmethod
    def of_any_size(cls, result: Result, graph: WholeGraph) -> DensestSubgraph:
        """A result about the density of a set of any size, which a flow has proven."""
        described = cls.of(result, graph, int(np.count_nonzero(result.x > 0)), {})
        if result.bound is not None:
            described.bound, described.bound_method = max(0.0 - result.bound, described.value), result.method
            described.bounds = {result.method: described.bound}
        if described.optimal and described.status is not Status.INTERRUPTED:
            described.status = Status.OPTIMAL
        return described

    @classmethod
    def with_conditions(
        cls, result: Result, graph: WholeGraph, bounds: Mapping[str, float], words: str
    ) -> DensestSubgraph:
        """A result about the density of a set that keeps conditions, node weights included."""
        described = cls.of(result, graph, int(np.count_nonzero(result.x > 0)), {})
        described.value, described.conditions = 0.0 - result.value, words
        if bounds and result.bound is not None:
            described.bounds = {name: max(density, described.value) for name, density in bounds.items()}
            described.bound_method = min(bounds, key=lambda name: bounds[name])
            described.bound = described.bounds[described.bound_method]
        if described.optimal and described.status is not Status.INTERRUPTED:
            described.status = Status.OPTIMAL
        elif described.status is Status.OPTIMAL:
            described.status = Status.LOCAL_OPTIMUM
        return described

    def describe(self, graph: WholeGraph) -> float:
        """Say what the nodes are like in the graph; returns x'Wx, added up anew, and rounded once."""
        nodes = self.indices
        inner, k = graph.subgraph(nodes), int(nodes.size)
        weight = graph.inner_weight(nodes) if inner.weights is None else math.fsum(inner.weights)
        weight += 0.0  # not -0.0
        self.k = k
        self.edge_density = weight / (k * (k - 1)) if k > 1 else 0.0
        self.pairs_joined = inner.n_arcs / (k * (k - 1)) if k > 1 else 0.0
        self.labels = None if graph.names is None else [graph.names[int(i)] for i in nodes]
        return weight

    def note_bounds(self, bounds: SubgraphBounds, *, exhausted: bool = False) -> None:
        """Take over what is proven; `exhausted` says that a method has compared all sets."""
        if bounds.known:
            self.bounds = bounds.densities()
            self.bound_method, best = bounds.best
            self.bound = max(bounds.density(best), self.value)  # above what was found, also by rounding
        if exhausted or "exact" in bounds.known:
            self.bound, self.bound_method = self.value, "exact"
        if self.certificate is not None and self.certificate.kind != self.bound_method:
            self.certificate = None
        if self.optimal and self.status is not Status.INTERRUPTED:
            self.status = Status.OPTIMAL

    @property
    def density(self) -> float:
        """The density, `value` by its own name."""
        return self.value

    @property
    def indices(self) -> Ints:
        """The numbers of the chosen nodes, ascending."""
        return np.flatnonzero(self.x > 0)

    @property
    def nodes(self) -> list[Any]:
        """The chosen nodes by their own labels."""
        return [int(i) for i in self.indices] if self.labels is None else list(self.labels)

    def table(self, graph: Any) -> dict[str, list[Any]]:
        """A row for each node: its name, degree and weight inside, and core number in the graph that was searched."""
        return node_table(self._checked_graph(graph), self.indices)

    def subgraph(self, graph: Any) -> Graph:
        """The chosen nodes of the graph that was searched as a graph of their own, to be written or drawn."""
        return induced_subgraph(self._checked_graph(graph), self.indices)

    def _checked_graph(self, graph: Any) -> Graph:
        """The graph that was searched, which a result does not hold; another one is refused by its size."""
        simple = as_graph(graph)
        if simple.n != self.x.size:
            raise InvalidInput(f"`graph` must be the one that was searched, of {self.x.size:,} nodes, got {simple!r}.")
        return simple

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
        wanted = self.conditions or ("any size" if self._minimises_density else f"{self.k:,} nodes")
        return f"densest subgraph of {self.x.size:,} nodes: {wanted}"

    def offers_bound(self) -> bool:
        """Whether a bound can be asked for."""
        return True

    def may_close_gap(self) -> bool:
        """Whether `bound="best"` goes further than what was proven."""
        return False

    def search_further(self) -> str:
        """What to try where a method has come to its own end."""
        return "`effort=5` or a `time_limit` searches longer and proves more"

    def in_unit(self, minimised: float) -> float:
        """What the search has minimised, in the unit of `value`."""
        return -minimised if self._minimises_density else -minimised / self.k

    def other_answers(self) -> str:
        """How others that are as good are found."""
        return "`several=3` finds further dense sets"

    @property
    def _minimises_density(self) -> bool:
        """Whether the search has minimised minus the density, not -x'Wx."""
        return self._problem_words.get("objective", "") in ("DensityObjective", "ConditionedDensity")

    def facts(self) -> list[tuple[str, str]]:
        """What a reader wants to know, as names and texts."""
        bound = [(name, f"{text[:-1]}, by {self.bound_method})") for name, text in self.bound_facts()]
        return [
            ("method", self.method),
            ("nodes", f"{self.k} of {self.x.size}"),
            *([("conditions", self.conditions)] if self.conditions else []),
            ("density", f"{self.density:.10g} (x'Wx / k)"),
            *bound,
            ("edge density", f"{self.edge_density:.6g}"),
            ("status", self.message),
            ("seconds", f"{self.seconds:.3f}"),
            *(("note", note) for note in self.notes),
        ]


class DensityProfile(Sequence[DensestSubgraph]):
    """The densities of a graph at several k, with their bounds: one `DensestSubgraph` for each k, ascending.

    Examples
    --------
    >>> import networkx as nx, flipwise
    >>> profile = flipwise.densest_subgraph(nx.lollipop_graph(5, 10), [3, 5], seed=0)
    >>> profile.ks, profile.densities, profile.bounds
    (array([3, 5]), array([2., 4.]), array([2., 4.]))
    """

    def __init__(self, results: Sequence[DensestSubgraph]) -> None:
        self.results = sorted(results, key=lambda result: result.k)

    @property
    def ks(self) -> Ints:
        """The sizes."""
        return np.array([result.k for result in self.results])

    @property
    def densities(self) -> Floats:
        """The density found at each size."""
        return np.array([result.density for result in self.results])

    @property
    def bounds(self) -> Floats:
        """The proven bound on the density at each size; NaN where none was computed."""
        return np.array([np.nan if result.bound is None else result.bound for result in self.results])

    @property
    def gaps(self) -> Floats:
        """|bound - density| / |density| at each size; NaN without a bound."""
        return np.array([np.nan if result.gap is None else result.gap for result in self.results])

    def explanation(self) -> list[tuple[str, str]]:
        """The lines of `flipwise.explain`."""
        proven = sum(result.optimal for result in self.results)
        loosest = max(self.results, key=lambda result: -1.0 if result.gap is None else result.gap)
        lines = dict(loosest.explanation())
        sizes = f"{len(self)} sizes from {self.ks[0]:,} to {self.ks[-1]:,}"
        rest = "" if proven == len(self) else f"; least is proven at k = {loosest.k:,}: {lines['Proven']}"
        return [
            ("Solved", f"densest subgraphs of {loosest.x.size:,} nodes: {sizes}"),
            ("Answer", f"densities from {self.densities.min():.6g} to {self.densities.max():.6g}"),
            ("Ended", f"at k = {loosest.k:,}: {lines['Ended']}"),
            ("Proven", f"optimal at {proven} of {len(self)} sizes{rest}"),
            ("Next", lines["Next"]),
        ]

    def _repr_html_(self) -> str:
        head, *rows = self._table_rows()
        return html_table("Densest subgraphs", head, rows)

    def __getitem__(self, index: Any) -> Any:
        return self.results[index]

    def __len__(self) -> int:
        return len(self.results)

    def __str__(self) -> str:
        return "\n".join(
            f"{k:>8}  {found:>12}  {bound:>12}  {gap:>9}  {by}" for k, found, bound, gap, by in self._table_rows()
        )

    def _table_rows(self) -> list[list[str]]:
        """The head of the table, and a row for each k."""
        rows = [["k", "density", "bound", "gap %", "proven by"]]
        for result in self.results:
            bound = "-" if result.bound is None else f"{result.bound:.6f}"
            gap = "-" if result.gap is None else f"{100 * result.gap:.4f}"
            rows.append([f"{result.k}", f"{result.density:.6f}", bound, gap, result.bound_method or "-"])
        return rows
