"""The data of the studies: generated for the quick scale, real files for the full one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from flipwise.datasets import generators, remote
from flipwise.datasets.local import local_graph, project_incidence
from flipwise.errors import FlipwiseError
from flipwise.experiments.cells import Skip
from flipwise.experiments.study import Instance, Plan
from flipwise.graphs.graph import Graph

NO_DATA = (
    "the full scale needs real data: set FLIPWISE_DATA to their folder, or pass data=... "
    "(flipwise.datasets.remote fetches the public ones)"
)


def file_instance(plan: Plan, name: str, relative: str, load: Callable[[Path], Any]) -> Instance:
    """An instance in a file of the data folder; without folder or file its cells are skipped with the reason."""
    path = None if plan.data is None else plan.data / relative

    def loaded() -> Any:
        if path is None or not path.is_file():
            raise Skip(NO_DATA if path is None else f"{path.name} is not in the data folder")
        return load(path)

    return Instance(name, loaded, (path,) if path is not None and path.is_file() else ())


def real_graph(plan: Plan, name: str) -> Instance:
    """A packed graph or projected incidence of the data folder; the paper's own graphs are downloaded otherwise."""
    suffix = "bip" if name == "imdb-actors-1999" else "ug"
    packed = None if plan.data is None else plan.data / f"graphs/{name}.{suffix}.xz"
    if name in remote.LAW_GRAPHS and (packed is None or not packed.is_file()):
        return Instance(name, _tried_once(lambda: remote.law_graph(name)))
    return file_instance(plan, name, f"graphs/{name}.{suffix}.xz", lambda path: local_graph(name, path.parent.parent))


def _tried_once(load: Callable[[], Any]) -> Callable[[], Any]:
    """A download that failed is not tried again for every cell; its error is."""
    failed: list[FlipwiseError] = []

    def loaded() -> Any:
        if failed:
            raise failed[0]
        try:
            return load()
        except FlipwiseError as error:
            failed.append(error)
            raise

    return loaded


def rmat(n: int, arcs: int, seed: int = 0) -> Instance:
    """A generated power-law graph."""
    return Instance(f"R-MAT {n:,} nodes, {arcs:,} arcs", lambda: generators.rmat_graph(n, arcs, seed))


def collaboration(n: int, groups: int, seed: int = 0) -> Instance:
    """A generated collaboration graph, the kind of dblp and hollywood: everyone in a group knows everyone in it."""
    return Instance(f"collaboration {n:,} nodes", lambda: collaboration_graph(n, groups, seed))


def collaboration_graph(n: int, groups: int, seed: int = 0) -> Graph:
    """Groups of power-law size whose members are drawn by popularity, projected on the members."""
    rng = np.random.default_rng(seed)
    sizes = np.minimum(2 + np.floor(2.0 * rng.pareto(1.6, groups)).astype(np.int64), 120)
    popularity = rng.pareto(1.5, n) + 0.3
    members = [np.unique(group) for group in _drawn(rng, popularity / popularity.sum(), sizes)]
    starts = np.concatenate([[0], np.cumsum([group.size for group in members])]).astype(np.int64)
    return project_incidence((starts, np.concatenate(members).astype(np.int64)), n)


def _drawn(rng: np.random.Generator, share: np.ndarray[Any, Any], sizes: np.ndarray[Any, Any]) -> list[Any]:
    everyone = rng.choice(share.size, size=int(sizes.sum()), p=share)
    return np.split(everyone, np.cumsum(sizes)[:-1])
