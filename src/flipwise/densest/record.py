"""What a call of `densest_subgraph` writes into its checkpoint for itself, beside the states of its runs.

Every k has a part of the file. This one says which call it is, so that another one is refused before any work, and
holds what the finished k have left: their bounds, and the loads that the next k begins from.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from flipwise.densest.bounds import CoreLoads, SubgraphBounds
from flipwise.densest.core import Core
from flipwise.densest.whole import WholeGraph
from flipwise.engine.checkpoint import Checkpoint
from flipwise.engine.states import check_array, flattened, rebuilt
from flipwise.foundation.arrays import Floats, Ints
from flipwise.foundation.errors import InvalidFile, InvalidInput

PART = "call"
"""Its name; that of one k is k=..."""


@dataclass
class Finished:
    """What is written: the call, and what its finished k have left."""

    call: dict[str, Any]
    bounds: dict[str, Any] = field(default_factory=dict)
    """For each finished k the bounds on E(S) by name."""
    nodes: npt.NDArray[np.int64] | None = None
    """The core of the last of them, ..."""
    loads: Floats | None = None
    """... the loads of its nodes, ..."""
    cap: float = -1.0
    """... and what ties a node outside to it, at most."""


class CallRecord:
    """The part of one call in its checkpoint; a checkpoint of another call is refused."""

    def __init__(
        self, checkpoint: Checkpoint, graph: WholeGraph, ks: list[int], given: list[Ints], **more: Any
    ) -> None:
        start = [zlib.crc32(nodes.tobytes()) for nodes in given]
        call = {"nodes": graph.n, "arcs": graph.n_arcs, "k": ks, "start": start, **more}
        self.checkpoint = checkpoint
        held = checkpoint.load(PART)
        self.finished = Finished(call) if held is None else rebuilt(Finished, held)
        there = self.finished.call
        differing = [name for name in call if there.get(name) != call[name]]
        wrong = None
        if differing:
            wrong = f"its {differing[0]} is {there.get(differing[0])!r}, this run's is {call[differing[0]]!r}"
        elif not set(checkpoint.parts) <= {PART, *(f"k={k}" for k in ks)}:
            wrong = "it holds no dense subgraphs"
        if wrong is not None:
            raise InvalidInput(
                f"`checkpoint`: {checkpoint.path} belongs to another run: {wrong}. Delete it or choose another file."
            )
        self._write()

    def bounds(self, graph: WholeGraph) -> dict[int, SubgraphBounds]:
        """What was proven for the finished k."""
        proven: dict[int, SubgraphBounds] = {}
        for k, known in self.finished.bounds.items():
            bounds = proven[int(k)] = SubgraphBounds(int(k), graph.unit)
            bounds.known = {str(name): float(value) for name, value in known.items()}
        return proven

    def loads(self, graph: WholeGraph) -> CoreLoads | None:
        """The loads that the last finished k left for the next."""
        nodes, loads = self.finished.nodes, self.finished.loads
        if nodes is None or loads is None:
            return None
        check_array("loads", loads, (nodes.size,))
        if nodes.size == 0 or nodes[0] < 0 or nodes[-1] >= graph.n or np.diff(nodes).min(initial=1) < 1:
            raise InvalidFile(f"{self.checkpoint.path}: the checkpoint's nodes are none of this graph.")
        return CoreLoads(Core(graph.subgraph(nodes), nodes, self.finished.cap), loads)

    def add(self, bounds: SubgraphBounds, loads: CoreLoads | None) -> None:
        """A k is finished; the file says so as soon as its own part says it."""
        kept = {**self.finished.bounds, str(bounds.k): dict(bounds.known)}
        self.finished = Finished(self.finished.call, kept)
        if loads is not None:
            core = loads.core
            self.finished.nodes, self.finished.loads = core.nodes.astype(np.int64), loads.loads
            self.finished.cap = core.cap
        self._write()

    def end(self) -> None:
        """The call is over."""
        self.checkpoint.end(PART)

    def _write(self) -> None:
        """Hand it to the checkpoint, which writes it with the next state of a run."""
        self.checkpoint.put(PART, flattened(self.finished))
