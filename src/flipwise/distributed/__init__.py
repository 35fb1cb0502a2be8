"""Past one machine: graphs in shards, rows in blocks and restarts on a Dask cluster that the user passes in."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

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


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'flipwise.distributed' has no attribute {name!r}")
    return getattr(import_module(f"flipwise.distributed.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(_HOMES)
