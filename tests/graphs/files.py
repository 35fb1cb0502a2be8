"""What the tests of readers share: a file with a text, and the matrix of a graph."""

from __future__ import annotations

from pathlib import Path

from flipwise import Graph

TRIANGLE = [[0, 1, 1], [1, 0, 1], [1, 1, 0]]


def written(folder: Path, text: str | bytes, name: str = "g.txt") -> Path:
    """A file with this content."""
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def dense(graph: Graph) -> list[list[float]]:
    """The adjacency matrix."""
    return graph.to_scipy().toarray().tolist()
