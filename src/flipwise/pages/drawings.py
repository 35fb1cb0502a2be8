"""Drawings of answers with matplotlib (the `plot` extra): a found subgraph, the bits of codes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from flipwise.engine.plot import BLUE, GREY, RED, import_pyplot
from flipwise.foundation.arrays import Floats
from flipwise.foundation.errors import InvalidInput
from flipwise.graphs.selection import induced_subgraph
from flipwise.pages.network import LETTERS, circle_order

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from flipwise.densest.result import DensestSubgraph
    from flipwise.graphs.graph import Graph
    from flipwise.hashing.codes import Codes

NODE_LINK_NODES = 150
"""Subgraphs of at most so many nodes are also drawn with their names."""


def plot_subgraph(graph: Graph, nodes: Sequence[int] | np.ndarray[Any, Any] | DensestSubgraph) -> Figure:
    """The adjacency blocks of a found subgraph and, where it is small, its nodes with their names.

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
    figure: Figure = import_pyplot().figure(
        figsize=(11.0 if small else 5.2, 5.6 if small else 5.0), layout="constrained"
    )
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
        names = chosen.tolist() if graph.names is None else [graph.names[i] for i in chosen.tolist()]
        _node_link(axes[0, 1], induced_subgraph(graph, chosen), names)
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


def _node_link(axes: Axes, inner: Graph, names: Sequence[Any]) -> None:
    """Nodes on a circle with their names, neighbours near each other, edges as lines."""
    order = circle_order(inner)
    angles = np.empty(inner.n)
    angles[order] = 2.0 * np.pi * np.arange(inner.n) / inner.n
    places = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    rows = np.repeat(np.arange(inner.n), inner.degrees)
    once = rows < inner.indices
    from matplotlib.collections import LineCollection

    segments = np.stack([places[rows[once]], places[inner.indices[once]]], axis=1)
    opacity = float(np.clip(10.0 / np.sqrt(1 + len(segments)), 0.08, 0.6))
    axes.add_collection(LineCollection(list(segments), colors=GREY, linewidths=0.6, alpha=opacity))
    axes.scatter(places[:, 0], places[:, 1], s=18, c=inner.degrees, cmap="viridis", zorder=3)
    size = min(8.0, 500.0 / inner.n)
    for i, name in enumerate(names):
        left = np.cos(angles[i]) < -1e-9
        turn = np.degrees(angles[i]) + (180.0 if left else 0.0)
        x, y = 1.05 * places[i]
        text = str(name) if len(str(name)) <= LETTERS else f"{str(name)[: LETTERS - 1]}…"
        side = "right" if left else "left"
        axes.text(
            x, y, text.replace("$", r"\$"), rotation=turn, rotation_mode="anchor", ha=side, va="center", fontsize=size
        )
    longest = min(LETTERS, max(len(str(name)) for name in names))
    room = 1.08 / (1.0 - 0.003 * size * longest)  # so wide is a letter beside the circle
    axes.set(xlim=(-room, room), ylim=(-room, room))
    axes.set_aspect("equal")
    axes.axis("off")
