"""Communities of a graph by modularity, with a matrix that is never written out.

    python examples/communities.py [OUTPUT FOLDER]

Two communities that maximise Newman's modularity minimise the quadratic  -x'Ax/(4m) + (d'x)^2/(8m^2),  x in {-1, +1}^n,
with A the adjacency matrix, d the degrees and m the number of edges: a sparse term plus a term of rank one, added up
by giving `Quadratic` a list of both. Splitting each community again, as long as the modularity grows, gives as many
communities as there are. The picture shows Zachary's karate club and the communities found.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
import scipy.sparse as sp

import flipwise


def split_gain(A: sp.csr_array, degrees: np.ndarray, m: float, inside: np.ndarray) -> tuple[np.ndarray, float]:
    """The best split of a community, and how much modularity it adds."""
    part = sp.csr_array(A[inside][:, inside])
    d = degrees[inside]
    within = np.asarray(part.sum(axis=1)).ravel()
    # the change of modularity is x'Bx/(4m) with B = A - dd'/(2m) - Diag(row sums), Newman, PNAS 103, 2006
    rows = within - d * d.sum() / (2 * m)
    sparse = sp.csr_array((sp.diags_array(rows) - part) / (4 * m))
    low_rank = flipwise.LowRank(d[:, None], np.array([1 / (8 * m * m)]))
    objective = flipwise.Quadratic([sparse, low_rank])
    result = flipwise.minimize(objective, method="portfolio", seed=0, max_iterations=10)
    return result.x > 0, -result.value


def communities(graph: nx.Graph) -> np.ndarray:
    """The community of each node."""
    A = sp.csr_array(nx.to_scipy_sparse_array(graph, weight=None, dtype=np.float64))
    degrees = np.asarray(A.sum(axis=1)).ravel()
    m = degrees.sum() / 2
    labels = np.zeros(A.shape[0], dtype=int)
    waiting = [0]
    while waiting:
        inside = np.flatnonzero(labels == waiting.pop())
        up, gain = split_gain(A, degrees, m, inside)
        if gain > 1e-9 and 0 < up.sum() < up.size:
            new = labels.max() + 1
            waiting += [int(labels[inside[0]]), new]
            labels[inside[up]] = new
    return labels


def main(folder: Path) -> None:
    """Find the communities of the karate club and draw them."""
    folder.mkdir(parents=True, exist_ok=True)
    graph = nx.karate_club_graph()
    labels = communities(graph)
    sets = [set(np.flatnonzero(labels == k).tolist()) for k in range(labels.max() + 1)]
    value = nx.community.modularity(graph, sets, weight=None)
    print(f"{len(sets)} communities, modularity {value:.4f}")
    where = nx.spring_layout(graph, seed=3)
    figure, axes = plt.subplots(figsize=(6.4, 4.8), layout="constrained")
    nx.draw_networkx_edges(graph, where, ax=axes, edge_color="#b0b0b0", width=0.8)
    nx.draw_networkx_nodes(graph, where, ax=axes, node_color=labels, cmap="tab10", vmin=0, vmax=9, node_size=170)
    nx.draw_networkx_labels(graph, where, ax=axes, font_size=7, font_color="white")
    axes.set_title(f"Karate club: {len(sets)} communities, modularity {value:.3f}")
    axes.set_axis_off()
    figure.savefig(folder / "communities.png", dpi=150)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path.cwd())
