"""Packed graphs from the data folder."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from flipwise import InvalidFile, InvalidInput
from flipwise_studies.data.local import local_graph, local_graphs, project_incidence, read_packed_graph


def test_every_small_graph_is_what_the_folder_loads(data_folder: Path) -> None:
    """Our unpacking agrees with the loader that comes with the data."""
    spec = importlib.util.spec_from_file_location("load_ug", data_folder / "load_ug.py")
    assert spec is not None and spec.loader is not None
    loader = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loader)
    for name in local_graphs(data_folder):
        path = data_folder / "graphs" / f"{name}.ug.xz"
        if path.stat().st_size < 200_000:
            header, low, high = loader.load_ug(path)
            graph = read_packed_graph(path)
            rows = np.repeat(np.arange(graph.n), graph.degrees)
            upper = rows < graph.indices
            assert graph.n == header["n"]
            assert np.array_equal(rows[upper], low) and np.array_equal(graph.indices[upper], high)


def test_actors(data_folder: Path) -> None:
    """The projection of films onto actors has its known size."""
    graph = local_graph("imdb-actors-1999", data_folder)
    assert (graph.n, graph.n_edges) == (392_400, 15_038_083)


@pytest.mark.kernels
def test_projection_is_the_product() -> None:
    """Columns are joined exactly where B'B is not zero."""
    B = sp.csr_array((np.random.default_rng(0).random((15, 12)) < 0.2).astype(float))
    graph = project_incidence((B.indptr.astype(np.int64), B.indices.astype(np.int64)), 12)
    expected = ((B.T @ B).toarray() > 0) & ~np.eye(12, dtype=bool)
    assert np.array_equal(graph.to_scipy().toarray() > 0, expected)


def test_refusals(tmp_path: Path, data_folder: Path) -> None:
    """Unknown names, missing folders and files that are not packed graphs."""
    with pytest.raises(InvalidInput, match="FLIPWISE_DATA"):
        local_graph("power", tmp_path / "nowhere")
    with pytest.raises(InvalidInput, match="nothing"):
        local_graph("nothing", data_folder)
    (tmp_path / "x.ug.xz").write_bytes(b"no xz")
    with pytest.raises(InvalidFile, match=r"x\.ug\.xz"):
        read_packed_graph(tmp_path / "x.ug.xz")
