"""`ShardedGraph`: a graph whose arcs stay with the workers, for `flipwise.densest_subgraph`.

Whole-graph work is done by the workers on their shards and is exact: degrees, peeling, one gradient. What comes back is
the core, the small part of the graph that can matter (about 3k + 1000 nodes; at most 30k + 50,000), which the same
search as on one machine goes through here. So the answer is the same as on one machine: to the bit where weights are
integers, up to the rounding of sums elsewhere.

The workers are asked about a `SharedSet`: a set of nodes that all of them know, of which only the flips are sent.
"""

from __future__ import annotations

import itertools
import math
import zlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from flipwise.densest.core import Core, caps_for_size, core_above, tightened
from flipwise.densest.subset import inner_weight
from flipwise.distributed.crew import AnswerJournal, Arrays, Crew, Traffic
from flipwise.distributed.shards import read_degrees, read_manifest, read_names
from flipwise.distributed.worker import GraphPart, Message, Start, answer, published_sets
from flipwise.foundation.arrays import Ints
from flipwise.foundation.errors import FlipwiseError
from flipwise.graphs.graph import Graph, index_type

GATHERED_ARCS = 4_000_000
"""What is left of the graph is fetched and peeled here as soon as it has no more arcs than this."""
EPS = float(np.finfo(np.float64).eps)


class ShardedGraph:
    """A folder of shards (see `shard_graph`) and the cluster that works on it.

    Parameters
    ----------
    folder
        The shards, under a path that this process and every worker can read.
    client
        A connected `dask.distributed.Client`.
    checkpoint
        A file for what the cluster has answered: a run that is repeated after a loss goes on from there.
    most_arcs
        The largest core, in arcs, that may be fetched into this process.

    Examples
    --------
    >>> import flipwise.distributed, tempfile
    >>> from distributed import Client, LocalCluster
    >>> edges = [[0, 1], [0, 2], [1, 2], [2, 3], [3, 4], [4, 5]]
    >>> with (
    ...     tempfile.TemporaryDirectory() as folder,
    ...     LocalCluster(n_workers=1, processes=False, dashboard_address=":0") as cluster,
    ...     Client(cluster) as client,
    ... ):
    ...     _ = flipwise.distributed.shard_graph((6, edges), folder, shards=2)
    ...     graph = flipwise.distributed.ShardedGraph(folder, client)
    ...     flipwise.densest_subgraph(graph, 3, seed=0).nodes
    [0, 1, 2]
    """

    def __init__(
        self, folder: str | Path, client: Any, *, checkpoint: str | Path | None = None, most_arcs: int = 400_000_000
    ) -> None:
        self.folder = Path(folder).resolve()
        self.manifest = read_manifest(self.folder)
        self.crew = Crew(client)
        self.most_arcs = most_arcs
        self.names: Sequence[Any] | None = read_names(self.folder)
        self.notes = tuple(self.manifest.notes)
        self.n, self.n_arcs = self.manifest.nodes, self.manifest.arcs
        self.weight_range, self.integral = self.manifest.weight_range, self.manifest.integral
        self.unit = 1.0 if self.integral else 0.0
        self._journal = AnswerJournal(None if checkpoint is None else Path(checkpoint), self.manifest.fingerprint)
        if checkpoint is not None:
            self.crew.kept = f"checkpoint `{checkpoint}`"
        shards = len(self.manifest.starts) - 1
        cuts = np.linspace(0, shards, min(shards, max(1, len(self.crew.workers))) + 1).astype(int).tolist()
        self.parts = [GraphPart(str(self.folder), a, b) for a, b in itertools.pairwise(cuts)]

    @property
    def traffic(self) -> dict[str, Traffic]:
        """How often and how long the workers were asked, by the name of the question."""
        return self.crew.traffic

    @property
    def n_edges(self) -> int:
        """Number of edges."""
        return self.n_arcs // 2

    @property
    def heaviest(self) -> float:
        """The largest positive degree."""
        return float(read_degrees(self.folder).max(initial=0))

    def core_of_size(self, size: int) -> Core:
        """A core of at least `size` nodes and not many more where the degrees allow."""
        failed = math.inf
        for cap in caps_for_size(read_degrees(self.folder), size, -1.0) if size < self.n else ():
            core = self.core_above(cap)
            if core.graph.n >= size:
                return self._core_with_safe_cap(tightened(core, failed, size))
            failed = cap
        return self.core_above(-1.0)

    def core_above(self, cap: float) -> Core:
        """What is left after nodes tied by at most `cap` are gone; everything for a cap below 0."""
        kept = self._journal.remembered(f"core-{cap}", lambda: self._fetch_peeled(cap))
        weights = kept["weights"] if self.manifest.weighted else None
        core = Core(Graph(kept["indptr"], kept["indices"], weights), kept["nodes"], -1.0)
        return core if cap < 0.0 else self._core_with_safe_cap(core_above(core, cap))

    def _core_with_safe_cap(self, core: Core) -> Core:
        """The core with a cap that holds in spite of rounding."""
        return replace(core, cap=self.rounded_cap(core.cap))

    def rounded_cap(self, cap: float) -> float:
        """A cap that holds although, with weights, sums of as many terms as a node has neighbours were rounded."""
        if not self.manifest.weighted:
            return cap
        return cap + 8.0 * EPS * self.manifest.largest_degree * self.heaviest

    def peeled(self, cap: float, enough: int = 0) -> tuple[SharedSet, int]:
        """(the set left when nodes tied by at most `cap` are gone, its arcs); or sooner, with at most `enough` arcs."""
        left = SharedSet(self.crew, self.parts, Start(True, cap=cap))
        while True:
            gone, arcs = zip(*left.ask("below", cap), strict=True)
            nodes = np.concatenate(gone)
            if sum(arcs) <= enough or nodes.size == 0:
                return left, sum(arcs)
            left.flip(nodes)

    def _fetch_peeled(self, cap: float) -> Arrays:
        """The subgraph above a cap, peeled on the workers until it is small enough to fetch."""
        left, arcs = self.peeled(cap, GATHERED_ARCS)
        if arcs > self.most_arcs:
            raise FlipwiseError(
                f"The part of the graph that can matter has {arcs:,} arcs, more than `most_arcs` = {self.most_arcs:,} "
                "allows here. Raise it if this process has the memory, or use flipwise.distributed.descend_subgraph "
                "and load_bound, which fetch nothing."
            )
        return self._fetch_induced(left)

    def _fetch_induced(self, members: SharedSet) -> Arrays:
        """The subgraph on a set."""
        nodes, counts, indices, weights = zip(*members.ask("induced"), strict=True)
        numbers = np.concatenate(nodes)
        fetched = np.searchsorted(numbers, np.concatenate(indices)).astype(indices[0].dtype)
        found: Arrays = {"nodes": numbers, "indptr": np.concatenate([[0], *counts]).cumsum(), "indices": fetched}
        return found | ({"weights": np.concatenate(weights)} if self.manifest.weighted else {})

    def nodes_above(self, nodes: Ints, least: float) -> Ints:
        """The nodes whose degree into the set is above `least`: one gradient, of which only these come back."""

        def compute() -> Arrays:
            return {"nodes": np.concatenate(self.shared_set(nodes).ask("above", least))}

        found: Ints = self._journal.remembered(f"above-{_name_of_set(nodes)}-{least}", compute)["nodes"]
        return found

    def published_sets(self, k: int) -> list[Ints]:
        """The sets of the published methods, found by one worker that reads all (few) shards."""

        def compute() -> Arrays:
            (found,) = self.crew.ask("published-sets", published_sets, [(str(self.folder), k)])
            return {str(i): nodes for i, nodes in enumerate(found)}

        return list(self._journal.remembered(f"published-{k}", compute).values())

    def inner_weight(self, nodes: Ints) -> float:
        """x'Wx of a set of nodes; the additions of one machine in their order where weights are not integers."""

        def compute() -> Arrays:
            if self.integral:
                return {"weight": sum(self.shared_set(nodes).ask("total"))}
            return {"weight": inner_weight(self.subgraph(nodes), np.arange(nodes.size))}

        return float(self._journal.remembered(f"weight-{_name_of_set(nodes)}", compute)["weight"])

    def subgraph(self, nodes: Ints) -> Graph:
        """The subgraph on some nodes, numbered in ascending order."""
        part = self._fetch_induced(self.shared_set(nodes))
        return Graph(part["indptr"], part["indices"], part.get("weights"))

    def shared_set(self, nodes: Ints) -> SharedSet:
        """A set of nodes that the workers are asked about."""
        return SharedSet(self.crew, self.parts, Start(False, nodes=np.sort(nodes)))


def _name_of_set(nodes: Ints) -> str:
    """A name for a set of nodes in the journal."""
    return f"{zlib.crc32(np.sort(nodes).astype(np.int64).tobytes()):08x}-{nodes.size}"


class SharedSet:
    """A set of nodes that every worker knows: that of `start` with some nodes flipped since."""

    def __init__(self, crew: Crew, parts: list[GraphPart], start: Start) -> None:
        self.crew, self.parts, self.start = crew, parts, start
        self._run = uuid4().hex
        self._history: list[Ints] = []
        self._sent = False
        self._kind = index_type(read_manifest(Path(parts[0].folder)).nodes)

    def flip(self, nodes: Ints) -> None:
        """Toggle nodes; the workers hear of it with the next question."""
        self._history.append(nodes.astype(self._kind))
        self._sent = False

    def ask(self, question: str, argument: Any = None, arguments: Sequence[Any] | None = None) -> list[Any]:
        """The answer of each part; `arguments` are one for each part."""
        each = [argument] * len(self.parts) if arguments is None else list(arguments)
        start = None if self._history or self._sent else self.start
        flips = self._history[-1] if self._history and not self._sent else None
        message = Message(self._run, len(self._history), start, flips, None)
        answers = self.crew.ask(question, answer, [(p, message, question, a) for p, a in zip(self.parts, each)])
        lost = [i for i, got in enumerate(answers) if got is None]
        if lost:  # these workers are new to the set: tell them everything
            self.crew.look_around()
            history = np.concatenate(self._history) if self._history else None
            full = Message(self._run, len(self._history), self.start, None, history)
            tasks = [(self.parts[i], full, question, each[i]) for i in lost]
            for i, got in zip(lost, self.crew.ask(f"{question}-rebuilt", answer, tasks)):
                answers[i] = got
        self._sent = True
        return answers
