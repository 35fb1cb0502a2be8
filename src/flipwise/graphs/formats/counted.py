"""What text formats share that begin with a header of counts and number their nodes from 1: rudy, MatrixMarket, METIS.

No count makes us believe in more than the file can hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

from flipwise.foundation.errors import InvalidFile
from flipwise.graphs.formats.edgelist import numbered_arcs
from flipwise.graphs.graph import ArcBlock, Graph, GraphBuilder, KeptBlocks, Symmetrise
from flipwise.graphs.names import shifted_by
from flipwise.graphs.streams import TextPiece, lines

ISOLATED_NODES = 1 << 24
"""Nodes a text file may announce beyond what its size explains (128 MiB of row starts)."""


def next_header(path: Path, pieces: Iterator[TextPiece], comment: bytes) -> tuple[int, str]:
    """The first line that is neither blank nor a comment: its number and its text."""
    number = 0
    for data, before in pieces:
        number = before
        for line in BytesIO(data):
            number += 1
            text = line.strip()
            if text and not text.startswith(comment):
                return number, text[:200].decode(errors="replace")
    raise InvalidFile(f"{path}, line {number + 1}: the file ends before its header of counts.")


def whole_numbers(path: Path, line: int, text: str, fewest: int, most: int, meaning: str) -> list[int]:
    """The counts of a header line, `fewest` to `most` of them, the first of which is the number of nodes."""
    words = text.split()
    if not fewest <= len(words) <= most or not all(w.isascii() and w.isdigit() and len(w) <= 18 for w in words):
        raise InvalidFile(f"{path}, line {line}: expected whole numbers '{meaning}', found '{text[:60]}'.")
    numbers = [int(word) for word in words]
    if numbers[0] > ISOLATED_NODES and numbers[0] > 64 * path.stat().st_size:
        raise InvalidFile(
            f"{path}, line {line}: announces {numbers[0]:,} nodes, more than a file of this size can hold."
        )
    return numbers


def read_entries(
    path: Path,
    *,
    header: int,
    n: int,
    announced: int,
    noun: str,
    has_weights: bool,
    use_weights: bool,
    symmetrise: Symmetrise,
    max_bytes: int | None,
) -> Graph:
    """The graph of the lines `i j [w]` behind line `header`, which must be as many as it announces."""

    def parse() -> Iterator[ArcBlock]:
        extra = has_weights and not use_weights
        pieces = lines(path, max_bytes, skip=header)
        arcs = numbered_arcs(path, pieces, weighted=use_weights, ignore_extra=extra, lowest=1, highest=n)
        return map(shifted_by(1, n), arcs)

    builder, kept = GraphBuilder(n, weighted=use_weights, symmetrise=symmetrise, what=str(path)), KeptBlocks()
    for block in parse():
        builder.count(block)
        kept.add(block)
    if builder.arcs != announced:
        raise InvalidFile(f"{path}: the header announces {announced:,} {noun}, the file holds {builder.arcs:,}.")
    for block in kept.drain() if kept.complete else parse():
        builder.store(block)
    return builder.graph()
