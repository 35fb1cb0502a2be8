"""ITQ: other optimisers, whitening, its codes and its hash function, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("sklearn")

from flipwise.foundation.errors import InvalidInput
from flipwise.hashing import ITQ


@pytest.mark.parametrize("optimizer", ["sgm", "dcc"])
def test_itq_by_a_method_of_the_library(digits: Any, optimizer: str) -> None:
    """The B-step is linear in B, so every method that solves it exactly gives ITQ's own codes."""
    X = digits[0][:200]
    given = ITQ(8, optimizer=optimizer, rounds=3, random_state=0).fit(X)
    assert given.codes_ == ITQ(8, optimizer="itq", rounds=3, random_state=0).fit(X).codes_


def test_whitening_is_chosen_by_recall(digits: Any) -> None:
    """`whitening="auto"` takes one of the powers and is at least as good as plain ITQ on the sample it looked at."""
    X = digits[0]
    auto = ITQ(16, whitening="auto", random_state=0).fit(X)
    assert 0.0 <= auto.whitening_ <= 0.4
    assert auto.score(X) >= ITQ(16, random_state=0).fit(X).score(X) - 0.05


def test_codes_are_those_of_the_hash_function(digits: Any) -> None:
    """The learned codes are what the rotation gives, as in the original."""
    X = digits[0]
    model = ITQ(16, random_state=0).fit(X)
    assert (model.codes_.bits() == model.encode(X).bits()).mean() > 0.9999


def test_bad_input_is_named(digits: Any) -> None:
    """Wrong parameters: an error that says so."""
    for wrong in (ITQ(whitening=0.7), ITQ(whitening="all"), ITQ(n_components=0)):
        with pytest.raises(InvalidInput):
            wrong.fit(digits[0])


def test_whitening_is_not_chosen_when_time_is_up(digits: Any) -> None:
    """Of the powers only the first is looked at: the codes are still to be learned."""
    assert ITQ(16, whitening="auto", random_state=0, time_limit=1e-9).fit(digits[0]).whitening_ == 0.0
