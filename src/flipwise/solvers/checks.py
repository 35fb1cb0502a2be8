"""The rules that options of several methods share."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from flipwise.errors import InvalidInput


def check_number(
    name: str, value: Any, *, above: float | None = None, least: float | None = None, most: float | None = None
) -> None:
    """A finite number above / of at least / of at most what is said."""
    rules = [f"above {above}" if above is not None else "", f"of at least {least}" if least is not None else ""]
    rules.append(f"of at most {most}" if most is not None else "")
    is_number = isinstance(value, int | float | np.number) and not isinstance(value, bool) and math.isfinite(value)
    inside = is_number and (above is None or value > above) and (least is None or value >= least)
    if not inside or (most is not None and value > most):
        rule = " and ".join(rule for rule in rules if rule)
        raise InvalidInput(f"`{name}` must be a number {rule}, got {value!r}.")


def check_whole(name: str, value: Any, least: int) -> None:
    """An integer of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InvalidInput(f"`{name}` must be an integer of at least {least}, got {value!r}.")


def check_flag(name: str, value: Any) -> None:
    """True or False."""
    if not isinstance(value, bool | np.bool_):
        raise InvalidInput(f"`{name}` must be True or False, got {value!r}.")


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    """One of the words."""
    if value not in choices:
        raise InvalidInput(f"`{name}` must be one of {', '.join(choices)}, got {value!r}.")
