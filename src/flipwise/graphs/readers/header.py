"""Header lines of counts, and the promise that no count makes us believe in more than the file can hold."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from flipwise.errors import InvalidFile
from flipwise.graphs.streams import Piece

ISOLATED_NODES = 1 << 24
"""Nodes a text file may announce beyond what its size explains (128 MiB of row starts)."""


def next_header(path: Path, piece: Piece, pieces: Iterator[Piece], comment: bytes) -> tuple[int, str]:
    """The first line that is neither blank nor a comment: its number and its text."""
    while True:
        rest, before = piece
        while rest:
            line, _, rest = rest.partition(b"\n")
            before += 1
            text = line.strip()
            if text and not text.startswith(comment):
                return before, text[:200].decode(errors="replace")
        following = next(pieces, None)
        if following is None:
            raise InvalidFile(f"{path}, line {before + 1}: the file ends before its header of counts.")
        piece = following


def whole_numbers(path: Path, line: int, text: str, fewest: int, most: int, meaning: str) -> list[int]:
    """The numbers of a header line."""
    words = text.split()
    if not fewest <= len(words) <= most or not all(w.isascii() and w.isdigit() and len(w) <= 18 for w in words):
        raise InvalidFile(f"{path}, line {line}: expected whole numbers '{meaning}', found '{text[:60]}'.")
    numbers = [int(word) for word in words]
    if numbers[0] > ISOLATED_NODES and numbers[0] > 64 * path.stat().st_size:
        raise InvalidFile(
            f"{path}, line {line}: announces {numbers[0]:,} nodes, more than a file of this size can hold."
        )
    return numbers
