"""Bounds ask for the memory of what they are about to allocate: that much suffices, and less is refused."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from flipwise import NotEnoughMemory, Quadratic
from flipwise.bounds.sdp import random_rows
from flipwise.densest.bounds import positive_edges, split_in_halves
from flipwise.densest.core import whole_core
from flipwise.foundation import checks
from flipwise.graphs.convert import as_graph
from flipwise.model.forms import homogeneous

DENSE = np.ones((9, 9))
EDGES = [[i, j] for i in range(9) for j in range(i)]


def dense_form(c: list[float] | None) -> Callable[[], int]:
    """The bytes of the matrix that a dense form writes out."""
    return lambda: homogeneous(Quadratic(DENSE, c)).part.nbytes


def rows() -> int:
    """The bytes of the rows of a relaxation, and as many for what normalising them takes."""
    return 2 * random_rows(20, None, np.random.default_rng(0)).nbytes


def edges(weight: float | None) -> Callable[[], int]:
    """The bytes of the ends and shares of all edges, and of the weights where there are any."""
    given = EDGES if weight is None else [[*each, weight] for each in EDGES]

    def work() -> int:
        shares = split_in_halves(9, positive_edges(whole_core(as_graph((9, given)))))
        arrays = [shares.first, shares.second, shares.share, *([] if weight is None else [shares.weight])]
        return sum(each.nbytes for each in arrays)

    return work


CASES = {
    "form": dense_form(None),
    "lifted form": dense_form([1.0] * 9),
    "rows": rows,
    "edges": edges(None),
    "weights": edges(0.5),
}


@pytest.mark.parametrize("name", CASES)
def test_as_much_as_is_allocated(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The size of the arrays is enough; one byte less is refused."""
    work = CASES[name]
    needed = work()
    monkeypatch.setattr(checks, "SMALL", 0)
    monkeypatch.setenv("FLIPWISE_MEMORY", str(needed))
    assert work() == needed
    monkeypatch.setenv("FLIPWISE_MEMORY", str(needed - 1))
    with pytest.raises(NotEnoughMemory):
        work()
