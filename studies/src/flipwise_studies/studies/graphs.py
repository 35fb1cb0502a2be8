"""The graphs of the studies: generated for the quick scale, real ones for the full scale."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from flipwise.foundation.errors import FlipwiseError
from flipwise.graphs.graph import Graph
from flipwise_studies.data import remote
from flipwise_studies.data.local import local_graph, project_incidence
from flipwise_studies.data.rmat import rmat_graph
from flipwise_studies.experiments.study import Instance, Plan, file_instance


def real_graph(plan: Plan, name: str) -> Instance:
    """A packed graph or projected incidence of the data folder; the paper's own graphs are downloaded otherwise."""
    packed = f"graphs/{name}.{'bip' if name == 'imdb-actors-1999' else 'ug'}.xz"
    if name in remote.LAW_GRAPHS and (plan.data is None or not (plan.data / packed).is_file()):
        return Instance(name, _tried_once(lambda: remote.law_graph(name)))
    return file_instance(plan, name, packed, lambda path: local_graph(name, path.parent.parent))


def _tried_once(load: Callable[[], Graph]) -> Callable[[], Graph]:
    """Load at most once without success: a download that failed is not tried again for every cell; its error is."""
    failed: list[FlipwiseError] = []

    def load_or_fail() -> Graph:
        if failed:
            raise failed[0]
        try:
            return load()
        except FlipwiseError as error:
            failed.append(error)
            raise

    return load_or_fail


def rmat(n: int, arcs: int) -> Instance:
    """A generated power-law graph."""
    return Instance(f"R-MAT {n:,} nodes, {arcs:,} arcs", lambda: rmat_graph(n, arcs, 0))


def collaboration(n: int, groups: int) -> Instance:
    """A generated collaboration graph, the kind of dblp and hollywood: everyone in a group knows everyone in it."""
    return Instance(f"collaboration {n:,} nodes", lambda: collaboration_graph(n, groups))


def collaboration_graph(n: int, groups: int, seed: int = 0) -> Graph:
    """Groups of power-law size whose members are drawn by popularity, projected on the members."""
    rng = np.random.default_rng(seed)
    sizes = np.minimum(2 + np.floor(2.0 * rng.pareto(1.6, groups)).astype(np.int64), 120)
    popularity = rng.pareto(1.5, n) + 0.3
    drawn = rng.choice(n, size=int(sizes.sum()), p=popularity / popularity.sum())
    members = [np.unique(group) for group in np.split(drawn, np.cumsum(sizes)[:-1])]
    starts = np.concatenate([[0], np.cumsum([group.size for group in members])]).astype(np.int64)
    return project_incidence((starts, np.concatenate(members).astype(np.int64)), n)
