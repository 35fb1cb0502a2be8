"""Without a time limit a proof ends with its work, so that it proves the same in every run."""

from __future__ import annotations

import numpy as np
import pytest

import flipwise
from flipwise.bounds import choice, closing
from flipwise.bounds.parts import Allowance
from tests.reference import random_symmetric


def test_work_and_seconds_both_end_it() -> None:
    """Whichever is used up first."""
    assert not Allowance().is_over
    assert Allowance(lambda: 0.0).is_over
    allowed = Allowance(lambda: 1.0, 1.0)
    allowed.spend(0.5)
    assert not allowed.is_over
    allowed.spend(0.5)
    assert allowed.is_over


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_a_proof_that_stays_open_is_the_same_in_every_run(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound and the nodes, also where the clock runs a thousand times as fast."""
    rng = np.random.default_rng(5)
    if kind == "dense":
        A = np.rint(10.0 * random_symmetric(rng, 90))
    else:
        n = 13  # a torus with diagonals: six neighbours each
        steps = [np.roll(np.arange(n * n).reshape(n, n), 1, axis) for axis in (0, 1)]
        A = np.zeros((n * n, n * n))
        for to in [*steps, np.roll(steps[0], 1, 1)]:
            A[np.arange(n * n), to.reshape(-1)] = rng.integers(-9, 10, n * n)
        A = A + A.T
    monkeypatch.setattr(choice, "USUAL_WORK", 0.2)

    def solved() -> flipwise.Result:
        return flipwise.minimize(A, bound="auto", seed=0, effort=0.05)

    first, again = solved(), solved()
    real = closing.working_time
    monkeypatch.setattr(closing, "working_time", lambda: 1000.0 * real())
    hurried = solved()
    assert first.bound == again.bound == hurried.bound and first.info["nodes"] == again.info["nodes"]
    assert np.array_equal(first.x, again.x) and np.array_equal(first.x, hurried.x)
