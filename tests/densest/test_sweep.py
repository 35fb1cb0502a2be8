"""What searches hand on: loads where their core is large enough."""

from __future__ import annotations

import numpy as np

from flipwise.densest.bounds import CoreLoads
from flipwise.densest.core import whole_core
from flipwise.densest.sweep import Sweep
from flipwise.graphs.convert import as_graph


def test_loads_serve_a_smaller_k_while_their_core_has_enough_nodes() -> None:
    """None before the first search, and none for more nodes than the core has."""
    core = whole_core(as_graph((4, [[0, 1], [1, 2]])))
    assert Sweep().loads_for(2) is None
    sweep = Sweep(loads=CoreLoads(core, np.ones(4)))
    assert sweep.loads_for(4) is sweep.loads and sweep.loads_for(5) is None
