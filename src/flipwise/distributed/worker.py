"""What workers do: answer questions about a set of nodes for their part of a sharded graph.

Every answer is a function of (part, set), and the set of (start, flips so far). A worker keeps the mask of the set and
the degrees of its own rows into it, numbered by the step. When it is one step behind it applies the newest flips; when
it knows nothing (it was restarted, or took over another's part) it says so and is told everything: losing a worker
costs time, never the answer. The rows of flipped nodes are read from storage, whosever they are, not sent.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from flipwise.densest.whole import GraphInMemory
from flipwise.distributed.shards import Shard, joined, open_shard, owners, read_degrees, read_manifest
from flipwise.foundation.arrays import Ints
from flipwise.kernels import peeling as core_kernels
from flipwise.kernels import shards as kernels
from flipwise.kernels.jit import threads

KEPT_SETS = 8
"""Sets a worker remembers; an older one is rebuilt when it is asked for again."""


class GraphPart(NamedTuple):
    """The shards from `first` to before `last`: what one worker looks after."""

    folder: str
    first: int
    last: int


class Start(NamedTuple):
    """A set to begin with: the nodes of degree above `cap`, or these nodes. `positive`: negative weights count as 0."""

    positive: bool
    cap: float | None = None
    nodes: Ints | None = None


class Message(NamedTuple):
    """Which set, at which step; `flips` are the newest (None: sent before), `history` all of them (None: not sent)."""

    run: str
    step: int
    start: Start | None
    flips: Ints | None
    history: Ints | None


@dataclass
class _Known:
    """The mask of a set over all nodes and the degrees of a part's own rows into it."""

    part: GraphPart
    positive: bool
    step: int
    mask: npt.NDArray[np.uint8]
    degrees: npt.NDArray[Any]
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def folder(self) -> Path:
        return Path(self.part.folder)

    @property
    def shards(self) -> list[Shard]:
        return [open_shard(self.folder, s) for s in range(self.part.first, self.part.last)]

    @property
    def first(self) -> int:
        return read_manifest(self.folder).starts[self.part.first]

    def at(self, shard: Shard) -> slice:
        """Where the rows of a shard are among the own ones."""
        return slice(shard.first - self.first, shard.first - self.first + shard.size)

    @property
    def own(self) -> npt.NDArray[np.uint8]:
        """The own part of the mask."""
        return self.mask[self.first : self.first + self.degrees.size]

    def recount(self) -> None:
        wanted = self.own if self.positive else np.ones(self.degrees.size, np.uint8)  # peeling skips what is gone
        for shard in self.shards:
            at = self.at(shard)
            kernels.row_degrees(*shard[1:], self.mask, wanted[at], self.positive, self.degrees[at])

    def flip(self, nodes: Ints) -> None:
        """Toggle nodes; the degrees follow from the rows of the toggled nodes, in storage order."""
        self.mask[nodes] ^= 1
        for s, which in owners(self.folder, nodes):
            shard = open_shard(self.folder, s)
            signs = self.mask[nodes[which]].astype(np.int64) * 2 - 1
            kernels.toggle_rows(
                *shard[1:], nodes[which] - shard.first, signs, self.first, self.positive, self.degrees
            )  # fmt: skip


_known: OrderedDict[tuple[str, GraphPart], _Known] = OrderedDict()
_table = threading.Lock()


def answer(part: GraphPart, message: Message, question: str, argument: Any = None) -> Any:
    """The answer of a part to a question about a set; None when the worker does not know the set and must be told."""
    with threads(_own_threads()):
        known = _brought_up_to(part, message)
        if known is None:
            return None
        with known.lock:
            return _QUESTIONS[question](known, argument)


def _brought_up_to(part: GraphPart, message: Message) -> _Known | None:
    """What is known of a part at the step of the message; None where only the whole history leads there."""
    key = (message.run, part)
    with _table:
        known = _known.get(key)
        if known is not None:
            _known.move_to_end(key)
    if known is not None:
        with known.lock:
            if known.step == message.step:
                return known
            if known.step == message.step - 1 and message.flips is not None:
                known.step = -1  # should a shard be unreadable, nobody uses what is half flipped
                known.flip(message.flips)
                known.step = message.step
                return known
    if message.start is None:
        return None
    known = _build_part(part, message)
    with _table:
        _known[key] = known
        while len(_known) > KEPT_SETS:
            _known.popitem(last=False)
    return known


def _build_part(part: GraphPart, message: Message) -> _Known:
    """What is known of a part, from its shards and from what the message says happened so far."""
    folder, start = Path(part.folder), message.start
    assert start is not None
    manifest = read_manifest(folder)
    if start.cap is not None:
        mask = (read_degrees(folder) > start.cap).astype(np.uint8)
    else:
        mask = np.zeros(manifest.nodes, dtype=np.uint8)
        mask[start.nodes] = 1
    if message.history is not None:
        np.bitwise_xor.at(mask, message.history, 1)
    size = manifest.starts[part.last] - manifest.starts[part.first]
    degrees = np.zeros(size, dtype=np.float64 if manifest.weighted else np.int64)
    known = _Known(part, start.positive, message.step, mask, degrees)
    known.recount()
    return known


def _own_threads() -> int:
    """The threads that Dask gives to a task."""
    from distributed import get_worker

    try:
        return int(get_worker().state.nthreads)
    except ValueError:  # not on a worker
        return 1


# --- questions -------------------------------------------------------------------------------------------------------


def _members_below(known: _Known, cap: float) -> tuple[Ints, int]:
    """Own members tied by at most `cap` to the set, and the number of arcs among own members and the set."""
    gone = np.flatnonzero(known.own.astype(bool) & (known.degrees <= cap)) + known.first
    if known.degrees.dtype.kind == "i":
        return gone, int(known.degrees[known.own > 0].sum())
    return gone, sum(int(_inner_counts(known, shard)[1].sum()) for shard in known.shards)


def _inner_counts(known: _Known, shard: Shard) -> tuple[Ints, Ints]:
    """The members in a shard, and how many arcs each has to others."""
    rows = np.flatnonzero(known.mask[shard.first : shard.first + shard.size])
    counts = np.zeros(shard.size, dtype=np.int64)
    core_kernels.alive_degrees(shard.indptr, shard.indices, np.ones(1, np.int64), rows, known.mask, counts)
    return rows, counts[rows]


def _induced_arcs(known: _Known, _: None) -> tuple[Ints, Ints, Ints, npt.NDArray[Any] | None]:
    """The subgraph on the set, own rows: (nodes, row lengths, neighbours by their numbers in the whole, weights)."""
    pieces = []
    label = np.arange(known.mask.size, dtype=known.shards[0].indices.dtype)
    for shard in known.shards:
        rows, counts = _inner_counts(known, shard)
        indptr = np.concatenate([[0], counts]).cumsum()
        indices = np.empty(int(indptr[-1]), dtype=shard.indices.dtype)
        weights = np.empty(0 if shard.weights.size == 1 else indices.size)
        core_kernels.induced_arcs(*shard[1:], rows, known.mask, label, indptr, indices, weights)
        pieces.append((rows + shard.first, counts, indices, weights))
    nodes, counts, indices, weights = (np.concatenate(each) for each in zip(*pieces, strict=True))
    return nodes, counts, indices, weights if read_manifest(known.folder).weighted else None


def _nodes_above(known: _Known, least: float) -> Ints:
    """Own nodes tied by more than `least` to the set."""
    return np.flatnonzero(known.degrees > least) + known.first


def _total_degree(known: _Known, _: None) -> float:
    """The degrees of own members, added up."""
    return float(known.degrees[known.own > 0].sum())


def _degree_range(known: _Known, _: None) -> tuple[float, float]:
    """The smallest and the largest degree of own nodes."""
    return float(known.degrees.min()), float(known.degrees.max())  # a part has at least one node


def _at_least(known: _Known, levels: npt.NDArray[np.float64]) -> Ints:
    """How many own degrees are at least each of some ascending levels."""
    ordered = np.sort(np.searchsorted(levels, known.degrees, side="right"))
    return known.degrees.size - np.searchsorted(ordered, np.arange(1, levels.size + 1))


def _sides_of_level(known: _Known, level: float) -> tuple[int, int, int]:
    """Own members below the level; own others above it, and at it."""
    inside, d = known.own.astype(bool), known.degrees
    below, above, at = inside & (d < level), ~inside & (d > level), ~inside & (d == level)
    return int(below.sum()), int(above.sum()), int(at.sum())


def _chosen_by_level(
    known: _Known, argument: tuple[float, int]
) -> tuple[Ints, npt.NDArray[Any], Ints, npt.NDArray[Any]]:
    """Own members below a level; own others above it, and the first `ties` at it; each with its degrees."""
    level, ties = argument
    inside, d = known.own.astype(bool), known.degrees
    out = np.flatnonzero(inside & (d < level))
    into = np.union1d(np.flatnonzero(~inside & (d > level)), np.flatnonzero(~inside & (d == level))[:ties])
    return out + known.first, d[out], into + known.first, d[into]


def _weakest_and_strongest(known: _Known, m: int) -> tuple[Ints, npt.NDArray[Any], Ints, npt.NDArray[Any]]:
    """The m own members of least degree and the m own others of largest degree, each with its degrees."""
    inside, d = known.own.astype(bool), known.degrees
    members, others = np.flatnonzero(inside), np.flatnonzero(~inside)
    out = members[np.argsort(d[members], kind="stable")[:m]]
    into = others[np.argpartition(-d[others], min(m, others.size) - 1)[:m]] if others.size else others
    return out + known.first, d[out], into + known.first, d[into]


def _assigned_loads(known: _Known, loads: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """What own members carry when every edge within the set goes to its less loaded end (`loads` of the members)."""
    spread = np.zeros(known.mask.size)
    spread[known.mask > 0] = loads
    taken = np.zeros(known.degrees.size)
    for shard in known.shards:
        kernels.row_loads(*shard[1:], known.mask, spread, shard.first, taken[known.at(shard)])
    return taken[known.own > 0]


def _halved_loads(known: _Known, _: None) -> npt.NDArray[np.float64]:
    """What own members carry when every edge within the set is split in halves."""
    return 0.5 * known.degrees[known.own > 0].astype(np.float64)


_QUESTIONS: dict[str, Callable[[_Known, Any], Any]] = {
    "below": _members_below,
    "induced": _induced_arcs,
    "above": _nodes_above,
    "total": _total_degree,
    "extremes": _degree_range,
    "at-least": _at_least,
    "sides": _sides_of_level,
    "chosen": _chosen_by_level,
    "weakest": _weakest_and_strongest,
    "loads": _assigned_loads,
    "halves": _halved_loads,
}


def published_sets(folder: str, k: int) -> list[Ints]:
    """The sets of the published methods, on one worker: only small graphs are asked for them."""
    with threads(_own_threads()):
        return GraphInMemory(joined(Path(folder))).published_sets(k)
