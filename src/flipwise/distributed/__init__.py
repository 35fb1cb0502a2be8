"""Past one machine: graphs in shards, rows in blocks and restarts on a Dask cluster that the user passes in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flipwise.foundation.lazy import lazy_names

if TYPE_CHECKING:
    from flipwise.distributed.crew import ClusterLost as ClusterLost
    from flipwise.distributed.graph import ShardedGraph as ShardedGraph
    from flipwise.distributed.hashing import encode_rows as encode_rows
    from flipwise.distributed.hashing import fit_hasher as fit_hasher
    from flipwise.distributed.qubo import solve_model as solve_model
    from flipwise.distributed.rows import CodeShards as CodeShards
    from flipwise.distributed.shards import shard_graph as shard_graph
    from flipwise.distributed.subgraph import descend_subgraph as descend_subgraph
    from flipwise.distributed.subgraph import load_bound as load_bound

_HOMES = {
    "ClusterLost": "crew",
    "CodeShards": "rows",
    "ShardedGraph": "graph",
    "descend_subgraph": "subgraph",
    "encode_rows": "hashing",
    "fit_hasher": "hashing",
    "load_bound": "subgraph",
    "shard_graph": "shards",
    "solve_model": "qubo",
}

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
