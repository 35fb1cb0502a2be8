"""What the searches of one call hand on to each other, and what a run that was killed needs to know of them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from flipwise.densest.bounds import CoreLoads, SubgraphBounds
from flipwise.densest.record import CallRecord
from flipwise.engine.run import Run
from flipwise.foundation.arrays import Ints


@dataclass(eq=False)
class Sweep:
    """What the searches of one call, one for each k and the largest first, hand on to each other."""

    rng: np.random.Generator | None = None
    """The random numbers of all of them; None: each takes those of its run."""
    given: list[Ints] = field(default_factory=list)
    """Sets of nodes to begin from: the user's, then the one found for the k before."""
    loads: CoreLoads | None = None
    bounds: dict[int, SubgraphBounds] = field(default_factory=dict)
    """What has been proven for each k."""
    record: CallRecord | None = None
    """What a checkpoint needs to know of finished k."""

    def loads_for(self, k: int) -> CoreLoads | None:
        """The loads of a larger k, where their core has enough nodes for this one."""
        return None if self.loads is None or self.loads.core.graph.n < k else self.loads


@dataclass
class Searches:
    """The finished searches of one k: none, one, or two when the first core turned out too small."""

    rng: np.random.Generator
    finished: int = 0
    weight: float = 0.0
    """E of the best set at the end of the first, ..."""
    wider_cap: float | None = None
    """... and the cap of the wider core that it called for, if any."""

    @classmethod
    def resumed(cls, run: Run, rng: np.random.Generator) -> Searches | None:
        """Those of an earlier run, if there was one; `rng` goes on where it was."""
        before = run.resume(cls)
        if before is None:
            return None
        rng.bit_generator.state = before.rng.bit_generator.state
        return replace(before, rng=rng)
