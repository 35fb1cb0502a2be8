"""States of a run as names and values that a file can hold, and back; what is wrong with a file is said."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from flipwise import InvalidFile
from flipwise.engine.states import check_array, flattened, generator_state, plain, rebuilt, restored_generator
from flipwise.foundation.arrays import Floats, Signs


@dataclass
class Inner:
    x: Signs
    value: float


@dataclass
class Outer:
    rng: np.random.Generator
    best: Inner
    members: list[Inner]
    details: dict[str, Any]
    g: Floats | None = None
    order: list[int] = field(default_factory=list)


def an_outer() -> Outer:
    rng = np.random.default_rng(5)
    rng.spawn(2)
    rng.random(3)
    inner = [Inner(np.array([1, -1], dtype=np.int8), value) for value in (1.5, -2.0, 0.0)]
    return Outer(
        rng, inner[0], inner[1:], {"rates": np.array([0.5]), "idle": np.int64(3)}, np.array([0.1, 0.2]), [2, 0]
    )


def test_a_state_comes_back_as_it_was() -> None:
    """Arrays to the bit, and a generator that draws and spawns the same."""
    state = an_outer()
    flat = flattened(state)
    json.dumps({name: value for name, value in flat.items() if not isinstance(value, np.ndarray)})
    again = rebuilt(Outer, flat)
    assert again.order == state.order and again.details["idle"] == 3
    assert np.array_equal(again.details["rates"], state.details["rates"])
    assert again.g is not None and state.g is not None and np.array_equal(again.g, state.g)
    for one, other in zip([again.best, *again.members], [state.best, *state.members], strict=True):
        assert np.array_equal(one.x, other.x) and one.value == other.value
    assert again.rng.random() == state.rng.random()
    assert again.rng.spawn(1)[0].random() == state.rng.spawn(1)[0].random()


def test_what_is_written_does_not_change_with_the_run() -> None:
    """Arrays are copied."""
    state = an_outer()
    flat = flattened(state)
    state.best.x[0] = -1
    assert flat["best.x"][0] == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("best.x", None),
        ("best.x", np.array([0.5])),
        ("g", np.array([np.nan, 0.0])),
        ("best.value", "large"),
        ("members", 4),
        ("rng", {"kind": "PCG64"}),
    ],
)
def test_a_part_that_is_missing_or_of_another_kind_is_an_error_of_the_file(name: str, value: Any) -> None:
    """Never an error of Python's."""
    flat = flattened(an_outer())
    flat[name] = value
    with pytest.raises(InvalidFile):
        rebuilt(Outer, flat)


def test_a_generator_of_an_unknown_kind_is_refused() -> None:
    """A file may name anything."""
    state = generator_state(np.random.default_rng(0))
    with pytest.raises(InvalidFile, match="is not known"):
        restored_generator({**state, "kind": "Evil"})


def test_arrays_have_their_shape_and_spins() -> None:
    """None stands for any length."""
    check_array("x", np.array([[1, -1]]), (None, 2), signs=True)
    for array, shape, signs in ((np.ones(3), (2,), False), (np.ones(3), (None, 1), False), (np.zeros(2), (2,), True)):
        with pytest.raises(InvalidFile):
            check_array("x", array, shape, signs=signs)


def test_plain_values_are_what_json_can_hold() -> None:
    """However deep NumPy's numbers lie."""
    given = {"a": np.int64(2), "b": [np.array([1.5, 2.5]), (np.True_, None)]}
    assert json.loads(json.dumps(plain(given))) == {"a": 2, "b": [[1.5, 2.5], [True, None]]}
