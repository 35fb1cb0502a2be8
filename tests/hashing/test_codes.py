"""The code object: packing, orders, padding."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipwise.foundation.errors import InvalidInput
from flipwise.hashing import Codes


@given(st.integers(1, 70), st.integers(0, 5), st.sampled_from(["big", "little"]), st.integers(0, 2**31))
def test_signs_survive_packing(n_bits: int, n: int, order: str, seed: int) -> None:
    """Packing and unpacking gives back the signs, for any length and order."""
    signs = np.where(np.random.default_rng(seed).random((n, n_bits)) < 0.5, -1, 1)
    codes = Codes.from_signs(signs, order)  # type: ignore[arg-type]
    assert np.array_equal(codes.signs(), signs)
    assert codes.with_order("big") == codes == codes.with_order("little")
    assert codes.packed.nbytes == n * ((n_bits + 7) // 8)


def test_zero_is_plus_one() -> None:
    """sgn(0) = 1, as in the paper."""
    assert Codes.from_signs([[0.0, -0.5]]).signs().tolist() == [[1, -1]]


def test_big_order_is_packbits() -> None:
    """The default order is that of numpy.packbits."""
    bits = np.random.default_rng(0).random((4, 20)) < 0.5
    assert np.array_equal(Codes.from_bits(bits).packed, np.packbits(bits, axis=1))


@pytest.mark.parametrize(
    "make",
    [
        lambda: Codes(np.zeros((2, 2), dtype=np.uint8), 8),
        lambda: Codes(np.zeros((2, 1)), 8),  # type: ignore[arg-type]
        lambda: Codes(np.full((1, 1), 255, dtype=np.uint8), 4),
        lambda: Codes(np.zeros((1, 1), dtype=np.uint8), 8, "middle"),  # type: ignore[arg-type]
        lambda: Codes.from_bits([[2, 0]]),
        lambda: Codes.from_signs([1.0, 2.0]),
        lambda: Codes.from_signs([[np.nan]]),
        lambda: Codes(np.zeros((1, 1), dtype=np.uint8), 0),
    ],
)
def test_wrong_codes_are_refused(make) -> None:  # type: ignore[no-untyped-def]
    """Wrong widths, types, padding, orders and values raise before any work."""
    with pytest.raises(InvalidInput):
        make()


def test_rows_can_be_taken() -> None:
    """Indexing keeps the number of bits; one row stays a row."""
    codes = Codes.from_signs(np.eye(5) - 0.5)
    assert len(codes[1:3]) == 2 and len(codes[0]) == 1 and codes[0].n_bits == 5
    assert repr(codes) == "Codes(n=5, n_bits=5, bit_order='big')"
