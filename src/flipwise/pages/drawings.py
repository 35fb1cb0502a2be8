"""Drawings of answers with matplotlib (the `plot` extra): a found subgraph, the bits of codes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from flipwise.engine.plot import BLUE, GREY, RED, import_pyplot
from flipwise.foundation.arrays import Floats
from flipwise.foundation.errors import InvalidInput

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from flipwise.densest.result import DensestSubgraph
    from flipwise.graphs.graph import Graph
    from flipwise.hashing.codes import Codes

NODE_LINK_NODES = 150
"""Subgraphs of at most so many nodes also get a node-link picture."""


def plot_subgraph(graph: Graph, nodes: Sequence[int] | np.ndarray[Any, Any] | DensestSubgraph) -> Figure:
    """The adjacency blocks of a found subgraph and, where it is small, a node-link picture.

    Nodes are ordered by reverse Cuthill-McKee inside the subgraph, so that blocks show; the strip below the matrix has
    each node's neighbours inside as a share of k - 1.

    Parameters
    ----------
    graph
        The graph.
    nodes
        The result of `densest_subgraph`, or the numbers of the chosen nodes.
    """
    given: Any = getattr(nodes, "indices", nodes)
    chosen = np.unique(np.asarray(given))
    if not chosen.size or chosen.dtype.kind not in "iu" or chosen[0] < 0 or chosen[-1] >= graph.n:
        raise InvalidInput(f"`nodes` must be node numbers from 0 to {graph.n - 1}, got {str(given)[:80]}.")
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    inside = graph.to_scipy()[chosen][:, chosen]
    order = reverse_cuthill_mckee(inside.tocsr(), symmetric_mode=True)
    matrix = inside[order][:, order].toarray() != 0
    small = chosen.size <= NODE_LINK_NODES
    figure: Figure = import_pyplot().figure(figsize=(9.6 if small else 5.2, 5.0), layout="constrained")
    axes = figure.subplots(2, 2 if small else 1, squeeze=False, gridspec_kw={"height_ratios": [12, 1]})
    from matplotlib.colors import ListedColormap

    axes[0, 0].imshow(matrix, cmap=ListedColormap(["#ffffff", BLUE]), interpolation="nearest", aspect="auto")
    weight = float(inside.sum())
    axes[0, 0].set_title(f"{chosen.size} nodes, density {weight / chosen.size:.4g}", fontsize=10)
    axes[0, 0].set_xticks([])
    axes[0, 0].set_yticks([])
    share = matrix.sum(axis=0) / max(1, chosen.size - 1)
    axes[1, 0].bar(np.arange(chosen.size), share, width=1.0, color=BLUE)
    axes[1, 0].set(xlim=(-0.5, chosen.size - 0.5), ylim=(0, 1), xticks=[], yticks=[0, 1])
    axes[1, 0].set_xlabel("neighbours inside, as a share of k - 1", fontsize=9)
    if small:
        _node_link(axes[0, 1], matrix)
        axes[1, 1].axis("off")
    return figure


def plot_codes(codes: Codes) -> Figure:
    """How balanced the bits are and how they correlate: the mean of each bit, and the matrix of correlations."""
    signs = codes.signs().astype(np.float64)
    means = signs.mean(axis=0)
    figure: Figure = import_pyplot().figure(figsize=(9.6, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.bar(np.arange(means.size), means, width=1.0, color=np.where(np.abs(means) > 0.5, RED, BLUE))
    left.axhline(0.0, color=GREY, linewidth=1)
    left.set(ylim=(-1, 1), xlabel="bit", ylabel="mean of the signs", title="Balance (0: as many ones as zeros)")
    shown = right.imshow(bit_correlation(signs), cmap="RdBu_r", vmin=-1, vmax=1, interpolation="nearest")
    right.set(title="Correlation of the bits", xlabel="bit", ylabel="bit")
    figure.colorbar(shown, ax=right, shrink=0.8)
    return figure


def bit_correlation(signs: Floats) -> Floats:
    """The correlation matrix of the columns; a constant bit has correlation 0 with the others."""
    centred = signs - signs.mean(axis=0)
    scale = np.sqrt((centred**2).mean(axis=0))
    scaled = np.divide(centred, scale, out=np.zeros_like(centred), where=scale > 0)
    return np.asarray(scaled.T @ scaled / len(signs))


def _node_link(axes: Axes, matrix: np.ndarray[Any, Any]) -> None:
    """Nodes by a spectral layout, spread out by a few rounds of repulsion."""
    places = _layout(matrix)
    rows, columns = np.nonzero(np.triu(matrix, 1))
    from matplotlib.collections import LineCollection

    segments = np.stack([places[rows], places[columns]], axis=1)
    opacity = float(np.clip(40.0 / np.sqrt(1 + len(segments)) / 4, 0.04, 0.6))
    axes.add_collection(LineCollection(list(segments), colors=GREY, linewidths=0.6, alpha=opacity))
    axes.scatter(places[:, 0], places[:, 1], s=18, c=matrix.sum(axis=0), cmap="viridis", zorder=3)
    axes.set_aspect("equal")
    axes.autoscale_view()
    axes.axis("off")


def _layout(matrix: np.ndarray[Any, Any]) -> Floats:
    """A place for each node: the first eigenvectors of the Laplacian, then joined nodes attract and all repel."""
    n = len(matrix)
    if n == 1:
        return np.zeros((1, 2))
    weights = matrix.astype(np.float64)
    laplacian = np.diag(weights.sum(axis=0)) - weights
    vectors = np.linalg.eigh(laplacian)[1][:, 1:3]
    places = np.zeros((n, 2))
    places[:, : vectors.shape[1]] = vectors
    places += 1e-3 * np.random.default_rng(0).standard_normal((n, 2))
    places /= np.abs(places).max()
    ideal = 1.5 / np.sqrt(n)
    for step in np.linspace(0.1, 0.01, 60):
        offsets = places[:, None] - places[None]
        distances = np.maximum(np.sqrt((offsets**2).sum(axis=2)), 1e-6)
        forces = (offsets / distances[..., None] ** 2 * ideal**2).sum(axis=1)
        forces -= (weights[..., None] * offsets * distances[..., None] / ideal).sum(axis=1) / n
        lengths = np.maximum(np.sqrt((forces**2).sum(axis=1, keepdims=True)), 1e-9)
        places += forces / lengths * np.minimum(lengths, step)
    return places
