"""Bytes of files: packed ones found by content, limits, and lines across blocks."""

from __future__ import annotations

import bz2
import gzip
import lzma
from pathlib import Path

import numpy as np
import pytest

from flipwise import InvalidFile, read_graph
from flipwise.graphs.streams import plain_suffix
from tests.graphs.files import TRIANGLE, dense, written


def _zstd(data: bytes) -> bytes:
    return pytest.importorskip("zstandard").ZstdCompressor().compress(data)  # type: ignore[no-any-return]


PACKERS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": _zstd}


@pytest.mark.parametrize("kind", PACKERS)
def test_compression_by_content(tmp_path: Path, kind: str) -> None:
    """Packed files are recognised without their suffix, also as several streams in a row."""
    pack = PACKERS[kind]
    path = written(tmp_path, pack(b"0 1\n1 2\n") + pack(b"2 0\n"))
    assert dense(read_graph(path)) == TRIANGLE


@pytest.mark.parametrize("kind", PACKERS)
def test_truncated_compression(tmp_path: Path, kind: str) -> None:
    """A packed file cut anywhere is refused, never read in part."""
    rng = np.random.default_rng(0)
    whole = PACKERS[kind]("".join(f"{a} {b}\n" for a, b in rng.integers(0, 50, (300, 2))).encode())
    for size in range(8, len(whole) - 1, max(1, len(whole) // 40)):
        with pytest.raises(InvalidFile, match=r"g\.txt"):
            read_graph(written(tmp_path, whole[:size]))


@pytest.mark.parametrize("kind", ["xz", "zst"])
def test_bombs(tmp_path: Path, kind: str) -> None:
    """A small file that unpacks to very much is refused, unless that was asked for."""
    path = written(tmp_path, PACKERS[kind](b"#" * 99 + b"\n" + b"0 1\n" * (18 << 20)))
    with pytest.raises(InvalidFile, match="larger `max_bytes`"):
        read_graph(path)


def test_bomb_limit_can_be_moved(tmp_path: Path) -> None:
    """`max_bytes` is the limit, both ways."""
    path = written(tmp_path, gzip.compress(b"0 1\n" * 1000))
    assert read_graph(path, max_bytes=4000).n_edges == 1
    with pytest.raises(InvalidFile, match="more than 3,999 bytes"):
        read_graph(path, max_bytes=3999)


def test_endless_line(tmp_path: Path) -> None:
    """A file without line ends is not gathered whole."""
    with pytest.raises(InvalidFile, match="longer than"):
        read_graph(written(tmp_path, b"1" * (9 << 20)))


def test_line_numbers_across_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Line numbers count from the start of the file, not of the block."""
    monkeypatch.setattr("flipwise.graphs.streams.BLOCK_BYTES", 100)
    path = written(tmp_path, "0 1\n" * 500 + "oops 1\n" + "0 1\n" * 500)
    with pytest.raises(InvalidFile, match="line 501, byte 1 "):
        read_graph(path)
    assert read_graph(written(tmp_path, "10 11\n" * 5 + "12 345\n" * 50)).n_edges == 2


def test_the_suffix_below_that_of_a_compression() -> None:
    """Lower-case, with or without a compression."""
    assert plain_suffix(Path("a/B.MTX.gz")) == ".mtx" and plain_suffix(Path("b.txt")) == ".txt"
    assert plain_suffix(Path("c.zst")) == ""
