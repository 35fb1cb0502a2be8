"""A search killed anywhere goes on to the same answer: descents, the portfolio, models and cuts."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flipwise
from flipwise.engine import resumption
from flipwise.engine.states import flattened
from tests.engine.killing import SPARSE, A, Killed, killer, resumed_after_kills


@pytest.mark.parametrize("variant", ["plain", "momentum", "adam", "adagrad"])
@pytest.mark.parametrize("constraint", [flipwise.Free(), flipwise.Cardinality(20)])
def test_a_run_killed_anywhere_goes_on_to_the_same_answer(variant: str, constraint: Any, tmp_path: Path) -> None:
    """Killed at several iterations in turn, the resumed run ends with the same point, value and count of iterations."""
    options = {"constraint": constraint, "seed": 3, "restarts": 6, "variant": variant, "max_iterations": 15}
    whole = flipwise.minimize(A, **options)
    path = tmp_path / "run.checkpoint"
    for iteration in (2, 5, 9, whole.iterations - 1):
        with pytest.raises(Killed):
            flipwise.minimize(A, checkpoint=path, every=0, callback=killer(iteration), **options)
    resumed = flipwise.minimize(A, checkpoint=path, every=0, **options)
    assert resumed.info["resumed"] is True
    assert np.array_equal(resumed.x, whole.x) and resumed.value == whole.value
    assert resumed.iterations == whole.iterations and resumed.status == whole.status
    assert not path.exists()  # the run is over


@pytest.mark.parametrize("after", [0, 1])
def test_a_signal_while_a_state_is_kept_leaves_a_whole_one(
    after: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the first state, or in the middle of one: the checkpoint is there, and the run goes on from it."""
    options = {"constraint": flipwise.Cardinality(20), "seed": 3, "restarts": 3}
    whole, path, kept = flipwise.minimize(A, **options), tmp_path / "run", 0

    def interrupted(state: Any, prefix: str = "") -> dict[str, Any]:
        nonlocal kept
        kept += prefix == "state.Descent."
        if prefix == "state.Descent." and kept == after + 1:
            raise KeyboardInterrupt
        return flattened(state, prefix)

    monkeypatch.setattr(resumption, "flattened", interrupted)
    broken_off = flipwise.minimize(A, checkpoint=path, **options)
    assert broken_off.status is flipwise.Status.INTERRUPTED
    resumed = flipwise.minimize(A, checkpoint=path, **options)
    assert resumed.info["resumed"] is True and np.array_equal(resumed.x, whole.x) and not path.exists()


def test_methods_without_a_state_of_their_own_resume_between_restarts(tmp_path: Path) -> None:
    """SGM keeps no state; its checkpoint is the last restart."""
    options = {"method": "sgm", "seed": 1, "restarts": 5}
    whole = flipwise.minimize(A, **options)
    path = tmp_path / "run"
    with pytest.raises(Killed):
        flipwise.minimize(A, checkpoint=path, every=0, callback=killer(whole.iterations - 1), **options)
    assert np.array_equal(flipwise.minimize(A, checkpoint=path, every=0, **options).x, whole.x)


def _cubic(x: np.ndarray) -> tuple[float, np.ndarray]:
    weights = np.arange(30) % 7 - 3.0
    return float(np.sum(weights * x**3) + (x.sum() - 4) ** 2), 3 * weights * x**2 + 2 * (x.sum() - 4)


@pytest.mark.parametrize(
    ("objective", "more"),
    [
        (A, {}),
        (SPARSE, {}),
        (A, {"constraint": flipwise.Cardinality(20)}),
        (SPARSE, {"constraint": flipwise.Cardinality(60)}),
        (_cubic, {"n_or_shape": 30}),
    ],
    ids=["dense", "sparse", "dense counted", "sparse counted", "smooth"],
)
def test_the_portfolio_goes_on_between_its_rounds(objective: Any, more: dict[str, Any], tmp_path: Path) -> None:
    """Killed in the descent, in rounds and in a second restart, every kind of population ends with the same point."""
    solve = partial(flipwise.minimize, objective, method="portfolio", seed=1, effort=5 / 30, restarts=2, **more)
    whole = solve()
    path = tmp_path / "run.checkpoint"
    kills = (2, *(k for k in (4, 7, 9) if 4 < k < whole.iterations - 1), whole.iterations - 1)
    resumed = resumed_after_kills(solve, path, kills)
    assert resumed.info["resumed"] and not path.exists()
    assert np.array_equal(resumed.x, whole.x) and resumed.value == whole.value
    assert resumed.iterations == whole.iterations and resumed.status is whole.status


@pytest.mark.parametrize("kind", ["qubo", "ising", "maxcut", "bisect"])
def test_models_and_cuts_resume_to_the_same_answer_and_proof(kind: str, tmp_path: Path) -> None:
    """`checkpoint` and `every` work in solve_qubo, solve_ising and maxcut; the bound comes with them."""
    solve = {
        "qubo": partial(flipwise.solve_qubo, A, seed=2, effort=6 / 30),
        "ising": partial(flipwise.solve_ising, np.zeros(50), A, seed=2, effort=6 / 30, count=20),
        "maxcut": partial(flipwise.maxcut, SPARSE, seed=2, effort=6 / 30),
        "bisect": partial(flipwise.bisect, SPARSE, seed=2, effort=8 / 30, bound="simple"),
    }[kind]
    whole = solve(callback=lambda progress: None)
    path = tmp_path / "run.checkpoint"
    resumed = resumed_after_kills(solve, path, (3, 6))
    assert np.array_equal(resumed.x, whole.x) and resumed.value == whole.value
    assert resumed.bound == whole.bound and resumed.bound is not None
    assert list(tmp_path.iterdir()) == []


def test_a_kill_during_the_proof_does_not_cost_the_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The search is over, the bound is not: the next call goes straight to the bound."""
    from flipwise.bounds import choice

    path = tmp_path / "run.checkpoint"
    whole = flipwise.solve_qubo(A, seed=2, effort=4 / 30)

    def killed(*_: object, **__: object) -> float:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(choice, "proven_bound", killed)
        with pytest.raises(Killed):
            flipwise.solve_qubo(A, seed=2, effort=4 / 30, checkpoint=path)
    assert path.exists()
    resumed = flipwise.solve_qubo(A, seed=2, effort=4 / 30, checkpoint=path)
    assert resumed.trace.records == []  # not one iteration more
    assert np.array_equal(resumed.x, whole.x) and resumed.bound == whole.bound
    assert resumed.iterations == whole.iterations and not path.exists()


def test_a_time_limit_leaves_a_checkpoint_to_go_on_from(tmp_path: Path) -> None:
    """A run that ran out of time continues with more."""
    path = tmp_path / "run.checkpoint"
    first = flipwise.minimize(A, seed=0, restarts=40, checkpoint=path, every=0, time_limit=0.02)
    assert first.status is flipwise.Status.TIME_LIMIT and path.exists()
    second = flipwise.minimize(A, seed=0, restarts=40, checkpoint=path, every=0)
    assert second.value == flipwise.minimize(A, seed=0, restarts=40).value
