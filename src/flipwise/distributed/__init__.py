"""Past one machine: graphs in shards, rows in blocks and restarts on a Dask cluster that the user passes in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flipwise.lazy import lazy_names

if TYPE_CHECKING:
    from flipwise.distributed.codes import CodeShards as CodeShards
    from flipwise.distributed.crew import ClusterLost as ClusterLost
    from flipwise.distributed.descent import descend_subgraph as descend_subgraph
    from flipwise.distributed.graph import ShardedGraph as ShardedGraph
    from flipwise.distributed.hashing import encode_rows as encode_rows
    from flipwise.distributed.hashing import fit_hasher as fit_hasher
    from flipwise.distributed.loads import load_bound as load_bound
    from flipwise.distributed.qubo import solve_model as solve_model
    from flipwise.distributed.sharding import shard_graph as shard_graph

_HOMES = {
    "ClusterLost": "crew",
    "CodeShards": "codes",
    "ShardedGraph": "graph",
    "descend_subgraph": "descent",
    "encode_rows": "hashing",
    "fit_hasher": "hashing",
    "load_bound": "loads",
    "shard_graph": "sharding",
    "solve_model": "qubo",
}

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
