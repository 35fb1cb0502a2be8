"""The load bound on shards: node loads are exchanged, arcs and their shares stay where they are.

For any split of every edge between its ends, k nodes hold at most the k largest loads (see `certify.loads`). Here the
split is a mean of splits, each of which gives every edge to its less loaded end: Frank-Wolfe for the balanced loads
(Danisch, Chan and Sozio 2017). A mean of splits is a split, so the bound holds after any number of passes, whoever
computed which rows in which order; a pass is a function of the loads alone, and a worker that dies costs one pass.
It converges more slowly than the balancing of one machine, whose shares need memory for every arc. Peeled nodes carry
at most the cap. Sent are 8 bytes a pass for each node that is left: down to each worker, up once.
"""

from __future__ import annotations

import math

import numpy as np

from flipwise.arrays import Floats, Ints
from flipwise.certify.loads import top_sum
from flipwise.distributed.graph import ShardedGraph
from flipwise.distributed.shards import read_degrees
from flipwise.errors import InvalidInput

_EPS = float(np.finfo(np.float64).eps)


def load_bound(graph: ShardedGraph, nodes: Ints, passes: int = 100) -> float:
    """No set of as many nodes as `nodes` has a density above this; the denser `nodes` are, the less work it is.

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
    ...     2.0 <= flipwise.distributed.load_bound(graph, [0, 1, 2]) < 2.1
    True
    """
    chosen = np.unique(np.asarray(nodes, dtype=np.int64))
    if chosen.size == 0 or chosen[0] < 0 or chosen[-1] >= graph.n or passes < 1:
        raise InvalidInput(f"`nodes` must hold numbers from 0 to {graph.n - 1}, `passes` must be at least 1.")
    k = chosen.size
    # The k largest loads are half the density on average, at least: below that a load hardly matters.
    cap = max(0.0, math.floor(graph.inner_weight(chosen) / k / 2.0) - 1.0)
    left = graph.peeled(cap)
    loads = np.concatenate(left.ask("halves"))
    most = float(read_degrees(graph.folder).max(initial=0))
    slack = 4.0 * _EPS * (graph.manifest.largest_degree + passes + 2.0)
    best = math.inf
    for t in range(passes + 1):
        best = min(best, top_sum(loads * (1.0 + slack) + slack * most, k, graph.rounded_cap(cap)))
        if t < passes:
            taken: Floats = np.concatenate(left.ask("loads", loads))
            loads = loads + (taken - loads) * (2.0 / (t + 3.0))
    if graph.integral:
        best = math.floor(best)
    return math.nextafter(2.0 * best / k, math.inf)
