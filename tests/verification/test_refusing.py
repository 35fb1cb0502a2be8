"""What a check is made of refuses what is not there, and never an integer that is."""

from __future__ import annotations

from typing import Any

import pytest

from flipwise import InvalidCertificate
from flipwise.verification.refusing import claim, listed, whole


def test_a_claim_that_holds_says_nothing() -> None:
    """One that does not is the reason of the refusal."""
    claim(True, "no reason")
    with pytest.raises(InvalidCertificate, match="the certificate is refused: two is not one"):
        claim(False, "two is not one")


@pytest.mark.parametrize("value", [True, 1.0, "1", None, [1]])
def test_only_integers_are_whole(value: Any) -> None:
    """Truth values and floats that look like one are not."""
    with pytest.raises(InvalidCertificate, match="is no integer"):
        whole(value)


def test_ends_of_a_range_belong_to_it() -> None:
    """What lies beyond is refused; integers have any length."""
    assert (whole(0, 0, 5), whole(5, 0, 5), whole(10**400)) == (0, 5, 10**400)
    for value in (-1, 6):
        with pytest.raises(InvalidCertificate, match="is out of range"):
            whole(value, 0, 5)


def test_a_list_has_its_length() -> None:
    """A tuple is no list of a certificate."""
    assert listed([1, 2], 2) == [1, 2]
    for value in ([1], (1, 2), "ab"):
        with pytest.raises(InvalidCertificate):
            listed(value, 2)
