"""Exports and their round trips."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipwise.foundation.errors import InvalidInput
from flipwise.hashing import Codes, export_codes, import_codes

NAMES = (
    "faiss", "faiss-lsh", "usearch", "pgvector", "elasticsearch", "vespa", "ubinary", "binary", "float",
    "qdrant", "weaviate",
)  # fmt: skip


@given(st.sampled_from(NAMES), st.integers(1, 40), st.integers(0, 2**31))
def test_every_format_round_trips(name: str, n_bits: int, seed: int) -> None:
    """What is exported is imported as the same codes."""
    codes = Codes.from_bits(np.random.default_rng(seed).random((3, n_bits)) < 0.5)
    assert import_codes(export_codes(codes, name), n_bits, name) == codes


@pytest.mark.parametrize("name", NAMES)
def test_order_of_the_source_does_not_matter(name: str) -> None:
    """Little-order codes export to the same data as their big-order twins (faiss keeps the order it is given)."""
    codes = Codes.from_bits(np.random.default_rng(1).random((3, 24)) < 0.5)
    if name != "faiss":
        one, other = export_codes(codes, name), export_codes(codes.with_order("little"), name)
        assert np.array_equal(np.asarray(one), np.asarray(other))


def test_documented_bytes() -> None:
    """The first bit is the most significant: 1000 0000 is -128 in Vespa, 0 in `binary`, 80 in hex."""
    codes = Codes.from_bits([[1, 0, 0, 0, 0, 0, 0, 0]])
    assert export_codes(codes, "vespa").tolist() == [[-128]]
    assert export_codes(codes, "binary").tolist() == [[0]]
    assert export_codes(codes, "ubinary").tolist() == [[128]]
    assert export_codes(codes, "elasticsearch") == ["80"]
    assert export_codes(codes, "faiss-lsh").tolist() == [[1]]
    assert export_codes(codes, "qdrant").tolist() == [[1, -1, -1, -1, -1, -1, -1, -1]]


def test_lsh_bytes_are_those_of_faiss() -> None:
    """`faiss-lsh` bytes equal what IndexLSH encodes itself."""
    faiss = pytest.importorskip("faiss")
    x = np.random.default_rng(0).standard_normal((5, 16)).astype(np.float32)
    index = faiss.IndexLSH(16, 16, False, False)
    assert np.array_equal(index.sa_encode(x), export_codes(Codes.from_signs(x), "faiss-lsh"))


def test_unknown_format_is_named() -> None:
    """A misspelt format gets a suggestion, wrong data a reason."""
    codes = Codes.from_bits([[1, 0]])
    with pytest.raises(InvalidInput, match="Did you mean"):
        export_codes(codes, "pgvektor")
    with pytest.raises(InvalidInput, match="characters"):
        import_codes(["012"], 3, "pgvector")
    with pytest.raises(InvalidInput, match="hex"):
        import_codes(["zz"], 8, "elasticsearch")
    with pytest.raises(InvalidInput, match="int8"):
        import_codes(np.zeros((1, 1)), 8, "vespa")
    with pytest.raises(InvalidInput, match="-1 and"):
        import_codes(np.zeros((1, 8)), 8, "float")
    with pytest.raises(InvalidInput, match="Codes"):
        export_codes(np.zeros((1, 1), dtype=np.uint8), "faiss")  # type: ignore[arg-type]


def test_usearch_finds_its_codes_by_hamming_distance() -> None:
    """An index of usearch takes the exported bytes, gives them back, and measures the distances that we do."""
    engine = pytest.importorskip("usearch.index", reason="usearch is not installed")
    codes = Codes.from_bits(np.random.default_rng(0).random((40, 24)) < 0.5)
    data = export_codes(codes, "usearch")
    index = engine.Index(ndim=24, dtype="b1", metric="hamming")
    index.add(np.arange(40), data)
    back = np.asarray(index.get(np.arange(40))).view(np.uint8).reshape(40, 3)
    assert import_codes(back, 24, "usearch") == codes
    found = index.search(data[7], 40, exact=True)
    ours = (codes.bits() != codes.bits()[7]).sum(axis=1)
    assert np.array_equal(np.asarray(found.distances), np.sort(ours))


def test_pgvector_reads_the_exported_text() -> None:
    """pgvector's own Bit type reads every code and writes the same text."""
    pgvector = pytest.importorskip("pgvector", reason="pgvector is not installed")
    codes = Codes.from_bits(np.random.default_rng(0).random((5, 13)) < 0.5)
    texts = export_codes(codes, "pgvector")
    bits = [pgvector.Bit(text) for text in texts]
    assert [bit.to_text() for bit in bits] == texts
    assert import_codes([bit.to_text() for bit in bits], 13, "pgvector") == codes
