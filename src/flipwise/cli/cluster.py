"""`--cluster`: where the work is done. Nothing is started unless it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import click


def no_folder(file: str) -> None:
    if Path(file).is_dir():
        raise click.UsageError(f"{file} is a folder: shards and folders of Parquet files need --cluster.")


@contextmanager
def connected(cluster: str) -> Iterator[Any]:
    """A client of the cluster that the option names; local processes end with the block."""
    try:
        import dask
        import distributed
    except ImportError:
        from flipwise.foundation.errors import MissingDependency

        raise MissingDependency("distributed", "distributed", "--cluster") from None
    with ExitStack() as stack:
        address: Any = cluster
        if cluster.startswith("local:"):
            workers = cluster.removeprefix("local:")
            if not workers.isdecimal() or int(workers) < 1:
                raise click.UsageError(
                    f"--cluster local:N needs a number of processes, such as local:2, got {cluster}."
                )
            # for this machine alone, and without pages that anybody could open
            pages: dict[str, list[str]] = {
                f"distributed.{role}.http.routes": [] for role in ("scheduler", "worker", "nanny")
            }
            stack.enter_context(dask.config.set(pages))
            options = {"host": "127.0.0.1", "dashboard_address": None, "threads_per_worker": 1, "silence_logs": 50}
            address = stack.enter_context(distributed.LocalCluster(n_workers=int(workers), **options))
        elif "://" not in cluster:
            raise click.UsageError(f"--cluster must be local:N or an address such as tcp://host:8786, got {cluster}.")
        try:
            client = stack.enter_context(distributed.Client(address, timeout=30))
        except OSError as error:
            raise click.UsageError(f"--cluster {cluster}: no scheduler answers there ({error}).") from None
        client.wait_for_workers(1, timeout=60)
        yield client


@contextmanager
def sharded(file: str, cluster: str, load: Callable[[], Any], checkpoint: str | None, symmetrise: str) -> Iterator[Any]:
    """The graph on a cluster: a folder of shards as it is, anything else cut into shards for local processes."""
    from tempfile import TemporaryDirectory

    from flipwise.distributed import ShardedGraph, shard_graph

    with connected(cluster) as client, TemporaryDirectory(prefix="flipwise-") as folder:
        shards = Path(file)
        if not (shards / "manifest.json").exists():
            if not cluster.startswith("local:"):
                raise click.UsageError(
                    f"--cluster {cluster}: FILE must be a folder of shards that every worker can read; "
                    "flipwise.distributed.shard_graph writes one."
                )
            source = file if shards.is_dir() else load()
            shards = shard_graph(source, Path(folder) / "shards", symmetrise=symmetrise, client=client)  # type: ignore[arg-type]
        kept = None if checkpoint is None else f"{checkpoint}.cluster"
        yield ShardedGraph(shards, client, checkpoint=kept)
        if kept is not None:
            Path(kept).unlink(missing_ok=True)
