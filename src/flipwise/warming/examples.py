"""The few variables and nodes on which jobs are run to compile their kernels."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import scipy.sparse as sp

Step = Callable[[], object]
"""A part of a job that meets some of its kernels, or some of the types that they are compiled for."""


def sparse_glass(n: int, degree: int) -> sp.csr_array:
    """A random graph with weights -1 and +1 of about this degree."""
    rng = np.random.default_rng(0)
    W = np.triu(rng.choice([-1.0, 1.0], (n, n)) * (rng.random((n, n)) < degree / n), 1)
    return sp.csr_array(W + W.T)


def glass(n: int) -> Any:
    """A full symmetric matrix."""
    A = np.random.default_rng(0).standard_normal((n, n))
    return A + A.T


def wide(A: sp.csr_array) -> sp.csr_array:
    """The same matrix with 64-bit indices, as scipy makes them for many entries."""
    return sp.csr_array((A.data, A.indices.astype(np.int64), A.indptr.astype(np.int64)), shape=A.shape)


def graphs() -> list[Any]:
    """A graph without and one with weights."""
    from flipwise.graphs.convert import as_graph

    edges = np.array([[i, j, 1.0 + (i * j) % 3] for i in range(40) for j in range(i) if (i * i + 3 * j) % 4])
    return [as_graph((40, edges[:, :2].astype(int))), as_graph((40, edges))]


def read_files(files: dict[str, bytes]) -> None:
    """Write the files and read a graph from the first."""
    from flipwise.graphs.read import read_graph

    with TemporaryDirectory() as folder:
        for name, content in files.items():
            Path(folder, name).write_bytes(content)
        read_graph(Path(folder, next(iter(files))))
