"""Drawings of subgraphs and codes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from flipwise.foundation.errors import InvalidInput
from flipwise.graphs.planted import planted_subgraph
from flipwise.hashing.codes import Codes

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

from flipwise.pages.drawings import bit_correlation, plot_codes, plot_subgraph  # noqa: E402


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    matplotlib.pyplot.close("all")


@pytest.mark.parametrize(("k", "pictures"), [(1, 4), (30, 4), (200, 2)])
def test_a_subgraph_is_drawn(k: int, pictures: int) -> None:
    """A small one with a node-link picture, a large one without; the density stands above."""
    graph, _ = planted_subgraph(300, 20, mean_degree=13.0, seed=0)
    nodes = np.arange(k)
    figure = plot_subgraph(graph, nodes)
    assert len(figure.axes) == pictures
    inside = graph.to_scipy()[nodes][:, nodes].sum()
    assert f"density {inside / k:.4g}" in figure.axes[0].get_title()
    figure.canvas.draw()


def test_wrong_nodes_are_refused() -> None:
    """Numbers outside the graph, and nothing at all."""
    graph, _ = planted_subgraph(10, 3, mean_degree=4.0, seed=0)
    for nodes in ([], [10], [-1], [0.5]):
        with pytest.raises(InvalidInput, match="nodes"):
            plot_subgraph(graph, nodes)


def test_codes_are_drawn() -> None:
    """Balance and correlation, a bar for each bit."""
    codes = Codes.from_signs(np.random.default_rng(0).standard_normal((50, 16)))
    figure = plot_codes(codes)
    assert len(figure.axes[0].patches) == 16
    figure.canvas.draw()


def test_correlation_agrees_with_numpy_and_is_zero_for_constant_bits() -> None:
    """The oracle is numpy.corrcoef."""
    signs = np.sign(np.random.default_rng(0).standard_normal((80, 5)))
    np.testing.assert_allclose(bit_correlation(signs), np.corrcoef(signs.T), atol=1e-12)
    signs[:, 2] = 1.0
    assert not bit_correlation(signs)[2].any()
