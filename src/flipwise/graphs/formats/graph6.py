"""graph6 and sparse6, the one-line formats of small graphs: six bits a character, nodes 0 to n - 1, no weights."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from flipwise.foundation.errors import InvalidFile, InvalidInput
from flipwise.graphs.graph import ArcBlock, Graph, Symmetrise, build_graph
from flipwise.graphs.names import SPARSE_FACTOR, SPARSE_NODES
from flipwise.graphs.streams import blocks


def read_graph6(
    path: Path, *, symmetrise: Symmetrise = "max", weighted: bool | None = None, max_bytes: int | None = None
) -> Graph:
    """The graph of a graph6 or sparse6 file, which must be the only one in it."""
    if weighted:
        raise InvalidInput(f"`weighted` is True, but {path} (graph6) has no weights.")
    line = b"".join(blocks(path, max_bytes)).rstrip(b"\r\n")
    for head in (b">>graph6<<", b">>sparse6<<"):
        line = line.removeprefix(head)
    if b"\n" in line:
        raise InvalidFile(f"{path}: holds several graphs, a line each; a file with several is not read.")
    sparse = line.startswith(b":")
    codes = np.frombuffer(line[sparse:], dtype=np.uint8).astype(np.int64) - 63
    if not codes.size or (codes < 0).any() or (codes > 63).any():
        raise InvalidFile(f"{path}: graph6 has characters from '?' to '~' only, at least one.")
    n, codes = _read_size(path, codes)
    bits = ((codes[:, None] >> np.arange(5, -1, -1)) & 1).ravel()
    arcs = _sparse_arcs(path, n, bits) if sparse else _dense_arcs(path, n, bits)
    return build_graph(n, [arcs], symmetrise=symmetrise, what=str(path))


def _read_size(path: Path, codes: npt.NDArray[np.int64]) -> tuple[int, npt.NDArray[np.int64]]:
    """The number of nodes, and the codes behind it: one code, or `~` and three, or `~~` and six."""
    skipped, digits = (0, 1) if codes[0] < 63 else (2, 6) if codes[1:2].tolist() == [63] else (1, 3)
    if codes.size < skipped + digits:
        raise InvalidFile(f"{path}: ends inside the number of nodes.")
    n = 0
    for code in codes[skipped : skipped + digits].tolist():
        n = 64 * n + code
    return n, codes[skipped + digits :]


def _dense_arcs(path: Path, n: int, bits: npt.NDArray[np.int64]) -> ArcBlock:
    """graph6: the upper triangle, column after column."""
    pairs = n * (n - 1) // 2
    if not pairs <= bits.size < pairs + 6 or bits[pairs:].any():
        raise InvalidFile(f"{path}: a graph6 file of {n:,} nodes has {-(-pairs // 6):,} characters for its edges.")
    place = np.flatnonzero(bits)
    column = ((1 + np.sqrt(8.0 * place + 1)) / 2).astype(np.int64)
    column -= column * (column - 1) // 2 > place  # rounding of the root
    column += column * (column + 1) // 2 <= place
    return ArcBlock(place - column * (column - 1) // 2, column)


def _sparse_arcs(path: Path, n: int, bits: npt.NDArray[np.int64]) -> ArcBlock:
    """sparse6: a bit that goes to the next node, and a number that is an edge to it, or the node to go to."""
    if n > SPARSE_NODES + SPARSE_FACTOR * bits.size:
        raise InvalidFile(f"{path}: announces {n:,} nodes for {bits.size // 6:,} characters.")
    width = max(1, (n - 1).bit_length())
    count = bits.size // (width + 1)
    rows = bits[: count * (width + 1)].reshape(count, width + 1)
    numbers = (rows[:, 1:] << np.arange(width - 1, -1, -1)).sum(axis=1)
    node = 0
    edges: list[tuple[int, int]] = []
    for step, number in zip(rows[:, 0].tolist(), numbers.tolist()):
        node += step
        if node >= n or number >= n:
            break  # padding
        if number > node:
            node = number
        else:
            edges.append((number, node))
    ends = np.array(edges, dtype=np.int64).reshape(-1, 2)
    return ArcBlock(ends[:, 0], ends[:, 1])
