"""The options of DPCD: what is taken, what is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import flipwise
from flipwise.solvers.dpcd import DPCD


@pytest.mark.parametrize(
    "given",
    [
        {"alpha": 0}, {"alpha": 0.5}, {"alpha": (0.0, 10.0)}, {"alpha": [1, 2]}, {"alpha": np.float64(0.5)},
        {"alpha": np.int64(3)}, {"thresholds": "mean"}, {"thresholds": "lipschitz"}, {"epsilon": None},
        {"epsilon": 1e-9}, {"epsilon": 2}, {"neighbourhood": 0}, {"neighbourhood": None}, {"neighbourhood": 1},
        {"neighbourhood": np.int32(7)},
        {"neighbourhood_every": 1}, {"neighbourhood_samples": 1}, {"variant": "plain"}, {"variant": "momentum"},
        {"variant": "adam"}, {"variant": "adagrad"}, {"decay": 0}, {"decay": 0.99}, {"decay_squares": 0.0},
    ],
)  # fmt: skip
def test_every_sensible_value_is_taken_as_it_is(given: dict[str, Any]) -> None:
    """The bounds themselves, whole numbers, fractions and NumPy's numbers."""
    (name,) = given
    assert getattr(DPCD(**given), name) == given[name]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("alpha", value) for value in (-0.1, math.inf, math.nan, True, None, "1", (), (1.0,), (1.0, 2.0, 3.0))),
        *(("alpha", value) for value in ((1.0, -1.0), (-1.0, 1.0), (1.0, math.inf), (None, 1.0))),
        *(("thresholds", value) for value in ("median", "", None)),
        *(("epsilon", value) for value in (0, 0.0, -1.0, math.inf, math.nan, True, "1")),
        *(("neighbourhood", value) for value in (-1, 1.0, True, "1")),
        *(("neighbourhood_every", value) for value in (0, -1, 2.5, True, None)),
        *(("neighbourhood_samples", value) for value in (0, -1, 2.5, True, None)),
        *(("variant", value) for value in ("nesterov", "", None)),
        *(("decay", value) for value in (-0.1, 1, 1.0, 1.5, math.nan, True, None, "0.5")),
        *(("decay_squares", value) for value in (-0.1, 1.0, 1.5, math.inf, False, None)),
    ],
)
def test_every_other_value_is_refused_by_name(name: str, value: object) -> None:
    """The error names the option, its rule and the value."""
    with pytest.raises(flipwise.InvalidInput, match=f"^`{name}` must be") as error:
        DPCD(**{name: value})  # type: ignore[arg-type]
    assert repr(value) in str(error.value)


@pytest.mark.parametrize(
    ("alpha", "pair"), [(1, (1.0, 1.0)), (0.3, (0.3, 0.3)), ((0.5, 2), (0.5, 2.0)), ([3, 4], (3.0, 4.0))]
)
def test_one_alpha_stands_for_both(alpha: Any, pair: tuple[float, float]) -> None:
    """(alpha_1, alpha_2) as floats, from one number or a pair."""
    alphas = DPCD(alpha=alpha).alphas
    assert alphas == pair
    assert all(type(value) is float for value in alphas)
