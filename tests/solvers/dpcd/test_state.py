"""The state of a descent: everything comes back, wrong values are refused, a resumed run goes on with the same bits."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flipwise
from flipwise.foundation.container import decode, encode
from flipwise.model.constraints import Constraint
from flipwise.solvers.dpcd import Options
from flipwise.solvers.dpcd.directions import make_direction
from flipwise.solvers.dpcd.state import resume, state
from tests.reference import random_symmetric

A = random_symmetric(np.random.default_rng(1), 24)
VARIANTS = ["plain", "momentum", "adam", "adagrad"]


def _kept(variant: str = "plain") -> dict[str, Any]:
    """The state of a descent of four variables at its seventh iteration."""
    direction = make_direction(Options(variant=variant))  # type: ignore[arg-type]
    for scale in (1.0, 2.0):
        direction(scale * np.array([1.0, -2.0, 3.0, 0.5]))
    x, g = np.array([1.0, -1.0, -1.0, 1.0]), np.array([0.1, 0.2, -0.3, 0.4])
    rng = np.random.default_rng(8)
    rng.random(3)
    return dict(state(x, 7, -2.5, g, 0.25, 4.0, rng, direction))


@pytest.mark.parametrize("variant", VARIANTS)
def test_everything_comes_back(variant: str) -> None:
    """x, k, f, g, both alphas, the generator and the direction's memory, also through a file."""
    kept = decode("checkpoint", encode("checkpoint", _kept(variant)), "memory")
    options = Options(variant=variant)  # type: ignore[arg-type]
    x, rng, direction = np.ones(4), np.random.default_rng(0), make_direction(options)
    k, f, g, alpha1, alpha2 = resume(kept, x, rng, direction)
    assert (k, f, alpha1, alpha2) == (7, -2.5, 0.25, 4.0)
    assert x.tolist() == [1, -1, -1, 1]
    assert g.tolist() == [0.1, 0.2, -0.3, 0.4]
    assert rng.random() == np.random.default_rng(8).random(4)[3]
    other = make_direction(options)
    for scale in (1.0, 2.0):
        other(scale * np.array([1.0, -2.0, 3.0, 0.5]))
    assert set(direction.memory) == set(other.memory)
    assert direction(g).tolist() == other(g).tolist()


@pytest.mark.parametrize("alpha", [[0.0, 0.0], [0.0, 0.5], [0.5, 0.0], [10.0, 10.0]])
def test_every_alpha_of_a_run_is_taken(alpha: list[float]) -> None:
    """Also 0, where every descent ends."""
    resumed = resume({**_kept(), "alpha": alpha}, np.ones(4), np.random.default_rng(), make_direction(Options()))
    assert list(resumed[3:]) == alpha


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("alpha", value) for value in ([-1.0, 1.0], [1.0, -1.0], [math.inf, 1.0], [1.0, math.inf], [math.nan, 1.0])),
        *(("alpha", value) for value in ([1.0], None, "ab")),
        *(("f", value) for value in (math.inf, math.nan, None, "low")),
        *(("x", value) for value in (np.ones(3), np.zeros(4), np.full(4, 2.0), None)),
        *(("g", value) for value in (np.ones(3), np.full(4, np.nan), None)),
        *(("rng", value) for value in ({}, None, {"state": 3})),
        ("k", "many"),
        ("memory.m", np.ones(3)),
        ("memory.m", np.full(4, np.inf)),
        ("memory.t", "often"),
    ],
)
def test_wrong_values_are_refused(name: str, value: object) -> None:
    """A damaged or foreign state is an InvalidFile, whatever is wrong with it."""
    with pytest.raises(flipwise.InvalidFile, match="checkpoint"):
        resume({**_kept("adam"), name: value}, np.ones(4), np.random.default_rng(), make_direction(Options()))


@pytest.mark.parametrize("name", ["x", "k", "f", "g", "alpha", "rng"])
def test_a_missing_part_is_refused(name: str) -> None:
    """Every part is needed."""
    kept = _kept()
    del kept[name]
    with pytest.raises(flipwise.InvalidFile, match="checkpoint"):
        resume(kept, np.ones(4), np.random.default_rng(), make_direction(Options()))


@pytest.mark.parametrize(("given", "taken"), [(5, 5), (1, 1), (0, 0), (-3, 0)])
def test_a_count_in_the_memory_is_never_negative(given: int, taken: int) -> None:
    """A negative number of steps would take roots of negative numbers."""
    direction = make_direction(Options(variant="adam"))
    resume({**_kept("adam"), "memory.t": given}, np.ones(4), np.random.default_rng(), direction)
    assert direction.memory["t"] == taken


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
    options = {"x0": [1, 1], "literal": True, "alpha": 0.5, "neighbourhood": 0, "checkpoint": tmp_path / "run"}
    flipwise.minimize(seesaw, callback=lambda p: p.iteration == 40, every=0, **options)
    rest = flipwise.minimize(seesaw, callback=lambda p: p.iteration == 150, **options)
    assert (rest.iterations, len(rest.trace.records)) == (100, 60)
