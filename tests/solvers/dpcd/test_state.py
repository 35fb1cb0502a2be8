"""The state of a descent: everything comes back, wrong values are refused, a resumed run goes on with the same bits."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flipwise
from flipwise.engine.states import flattened, rebuilt
from flipwise.foundation.container import decode, encode
from flipwise.model.constraints import Constraint
from flipwise.solvers.dpcd import DPCD
from flipwise.solvers.dpcd.state import Descent
from flipwise.solvers.dpcd.steps import make_direction
from tests.reference import random_symmetric

A = random_symmetric(np.random.default_rng(1), 24)
VARIANTS = ["plain", "momentum", "adam", "adagrad"]


def _kept(variant: str = "plain") -> dict[str, Any]:
    """The state of a descent of four variables at its seventh iteration."""
    direction = make_direction(DPCD(variant=variant))  # type: ignore[arg-type]
    for scale in (1.0, 2.0):
        direction(scale * np.array([1.0, -2.0, 3.0, 0.5]))
    x, g = np.array([1.0, -1.0, -1.0, 1.0]), np.array([0.1, 0.2, -0.3, 0.4])
    rng = np.random.default_rng(8)
    rng.random(3)
    return flattened(Descent(x, 7, -2.5, g, 0.25, 4.0, False, rng, direction.memory))


def _taken(kept: dict[str, Any]) -> Descent:
    """The state as a resumed descent takes it."""
    state = rebuilt(Descent, kept)
    state.check((4,))
    return state


@pytest.mark.parametrize("variant", VARIANTS)
def test_everything_comes_back(variant: str) -> None:
    """x, k, f, g, both alphas, the generator and the direction's memory, also through a file."""
    kept = decode("checkpoint", encode("checkpoint", _kept(variant)), "memory")
    options = DPCD(variant=variant)  # type: ignore[arg-type]
    direction, state = make_direction(options), _taken(kept)
    direction.memory = state.memory
    assert (state.k, state.f, state.alpha1, state.alpha2) == (7, -2.5, 0.25, 4.0)
    assert state.x.tolist() == [1, -1, -1, 1]
    assert state.g.tolist() == [0.1, 0.2, -0.3, 0.4]
    assert state.rng.random() == np.random.default_rng(8).random(4)[3]
    other = make_direction(options)
    for scale in (1.0, 2.0):
        other(scale * np.array([1.0, -2.0, 3.0, 0.5]))
    assert set(direction.memory) == set(other.memory)
    assert direction(state.g).tolist() == other(state.g).tolist()


@pytest.mark.parametrize("alpha", [[0.0, 0.0], [0.0, 0.5], [0.5, 0.0], [10.0, 10.0]])
def test_every_alpha_of_a_run_is_taken(alpha: list[float]) -> None:
    """Also 0, where every descent ends."""
    state = _taken({**_kept(), "alpha1": alpha[0], "alpha2": alpha[1]})
    assert [state.alpha1, state.alpha2] == alpha


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((name, value) for name in ("alpha1", "alpha2") for value in (-1.0, math.inf, math.nan, [1.0], None, "ab")),
        *(("f", value) for value in (math.inf, math.nan, None, "low")),
        *(("x", value) for value in (np.ones(3), np.zeros(4), np.full(4, 2.0), None)),
        *(("g", value) for value in (np.ones(3), np.full(4, np.nan), None)),
        *(("rng", value) for value in ({}, None, {"state": 3})),
        ("k", "many"),
        ("memory.m", np.ones(3)),
        ("memory.m", np.full(4, np.inf)),
        ("memory", {"t": "often"}),
        ("memory", {"t": -3}),
    ],
)
def test_wrong_values_are_refused(name: str, value: object) -> None:
    """A damaged or foreign state is an InvalidFile, whatever is wrong with it."""
    with pytest.raises(flipwise.InvalidFile, match="checkpoint"):
        _taken({**_kept("adam"), name: value})


@pytest.mark.parametrize("name", ["x", "k", "f", "g", "alpha1", "alpha2", "rng", "memory"])
def test_a_missing_part_is_refused(name: str) -> None:
    """Every part is needed."""
    kept = _kept()
    del kept[name]
    with pytest.raises(flipwise.InvalidFile, match="checkpoint"):
        _taken(kept)


@pytest.mark.parametrize("given", [5, 1, 0])
def test_a_count_in_the_memory_comes_back(given: int) -> None:
    """The number of steps is taken as it is; a negative one is refused (above)."""
    assert _taken({**_kept("adam"), "memory": {"t": given}}).memory["t"] == given


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(
    "constraint", [flipwise.Free(), flipwise.Cardinality(9), flipwise.GroupCounts([0, 1] * 12, [4, 8])]
)
def test_a_run_stopped_at_any_iteration_goes_on_as_if_it_had_not(
    variant: str, constraint: Constraint, tmp_path: Path
) -> None:
    """The resumed run makes exactly the iterations that were left, with the same values and the same end."""
    # alphas that flip little at a time, and searches that draw from the generator
    options = {"constraint": constraint, "seed": 4, "variant": variant, "alpha": (8.0, 9.0), "neighbourhood_every": 2}
    options |= {"neighbourhood": 2, "neighbourhood_samples": 10}
    whole = flipwise.minimize(A, **options)
    values = [record.value for record in whole.trace.records]
    assert len(values) > 2
    path = tmp_path / "run"
    for stop in range(1, len(values)):
        first = flipwise.minimize(
            A, checkpoint=path, every=0, callback=lambda p, stop=stop: p.iteration == stop, **options
        )
        assert first.iterations == stop and path.exists()
        rest = flipwise.minimize(A, checkpoint=path, every=0, **options)
        assert rest.info["resumed"] is True
        assert [record.value for record in rest.trace.records] == values[stop:]
        assert np.array_equal(rest.x, whole.x) and rest.status is whole.status
        assert (rest.iterations, rest.evaluations) == (whole.iterations, whole.evaluations)


def test_the_literal_mode_counts_the_updates_before_the_stop(tmp_path: Path) -> None:
    """Stopped at its 40th update, it makes the other 60 of its 100."""
    seesaw = np.array([[0.0, 1.0], [1.0, 0.0]])
    options = {"start": [1, 1], "literal": True, "alpha": 0.5, "neighbourhood": 0, "checkpoint": tmp_path / "run"}
    flipwise.minimize(seesaw, callback=lambda p: p.iteration == 40, every=0, **options)
    rest = flipwise.minimize(seesaw, callback=lambda p: p.iteration == 150, **options)
    assert (rest.iterations, len(rest.trace.records)) == (100, 60)
