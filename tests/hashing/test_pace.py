"""A time limit and a log around any fit: it ends, it still hashes, and it is told once."""

from __future__ import annotations

import time

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="the hashing estimators need scikit-learn")

from flipwise import hashing
from flipwise.foundation.errors import InvalidInput
from flipwise.hashing.pace import fitting, out_of_time, seconds_left

RNG = np.random.default_rng(0)
X = RNG.standard_normal((300, 20))
Y = RNG.integers(0, 5, 300)
ESTIMATORS = [
    hashing.SDH(16),
    hashing.SDH(16, optimizer="mpec-epm"),
    hashing.FSDH(16),
    hashing.FastHash(16, hash_function="linear"),
    hashing.ITQ(16),
    hashing.ARE(16),
    hashing.ARE(16, optimizer="are"),
    hashing.SADH(16, optimizer="sadh"),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_no_time_still_gives_a_model(estimator: hashing.SDH) -> None:
    """With a limit of 0 seconds every estimator makes codes and a hash function."""
    with fitting(time_limit=0.0):
        estimator.fit(X, Y)
    assert len(estimator.codes_) == len(estimator.encode(X)) == 300


def test_a_limit_ends_the_rounds() -> None:
    """A fit with very many rounds ends soon after its limit."""
    started = time.perf_counter()
    with fitting(time_limit=0.3):
        hashing.ITQ(64, optimizer="itq", rounds=10**9, random_state=0).fit(RNG.standard_normal((2_000, 64)))
    assert time.perf_counter() - started < 60.0  # without the limit it would not end at all


def test_without_a_limit_nothing_changes() -> None:
    """The block without a limit gives the codes of a plain fit."""
    with fitting():
        inside = hashing.SDH(16, random_state=0).fit(X, Y).codes_
        assert seconds_left() is None and not out_of_time()
    assert np.array_equal(inside.packed, hashing.SDH(16, random_state=0).fit(X, Y).codes_.packed)


@pytest.mark.parametrize("estimator", ESTIMATORS[:1] + ESTIMATORS[4:], ids=str)
def test_the_log_has_a_row_for_a_round(estimator: hashing.SDH, capfd: pytest.CaptureFixture[str]) -> None:
    """Verbose fits write the columns of a run's log to standard error, each row once; others write nothing."""
    estimator.fit(X, Y)
    assert capfd.readouterr().err == ""
    with fitting(verbose=True):
        estimator.fit(X, Y)
    lines = capfd.readouterr().err.splitlines()
    assert any(line.split()[:2] == ["iter", "value"] for line in lines)
    rows = [line for line in lines if line.lstrip("* ")[:1].isdigit() and line.endswith("s")]
    assert rows and len(rows) == len(set(rows)) and max(map(len, rows)) <= 80


def test_bad_limits_are_refused() -> None:
    """A negative or infinite limit is named."""
    for wrong in (-1, float("inf"), "soon"):
        with pytest.raises(InvalidInput, match="`time_limit`"), fitting(time_limit=wrong):  # type: ignore[arg-type]
            pass
