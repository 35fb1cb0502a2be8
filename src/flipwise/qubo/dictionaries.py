"""Dictionaries {(u, v, ...): coefficient} with terms of any length, the variables by their own names.

`(u,)` is a linear term and `()` a constant. Terms of more than two variables make a `Polynomial`; without any, what is
left are the pairs, the linear terms and the constant of a quadratic.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from flipwise.foundation.checks import Variables
from flipwise.foundation.errors import InvalidInput
from flipwise.foundation.numbers import as_number
from flipwise.model.polynomial import Polynomial

Terms = Mapping[Any, Any]


def has_long_terms(terms: Terms) -> bool:
    """Whether a term has more than two variables."""
    return any(isinstance(key, tuple) and len(key) > 2 for key in terms)


def split_terms(name: str, terms: Terms) -> tuple[dict[Any, Any], dict[Hashable, float], float]:
    """The pairs, the linear terms `(u,)` by their variable, and the constant `()`."""
    pairs = {key: value for key, value in terms.items() if not isinstance(key, tuple) or len(key) not in (0, 1)}
    singles = [(key, as_number(f"{name}[{key!r}]", value)) for key, value in terms.items() if key not in pairs]
    linear = {key[0]: value for key, value in singles if key}
    return pairs, linear, sum(value for key, value in singles if not key)


def labelled_polynomial(
    name: str, terms: Terms, offset: float, variables: Variables, linear: Terms | None = None
) -> tuple[Polynomial, tuple[Hashable, ...]]:
    """The polynomial of a dictionary, of linear terms beside it and an offset, and the names of its variables.

    The names come in the order in which they stand there, those of `linear` first.
    """
    places: dict[Hashable, int] = {}
    parts: list[tuple[tuple[int, ...], float]] = [((), as_number("offset", offset))]
    for label, value in (linear or {}).items():
        parts.append(((places.setdefault(label, len(places)),), as_number(f"{name}[{label!r}]", value)))
    for key, value in terms.items():
        if not isinstance(key, tuple):
            raise InvalidInput(
                f"the keys of `{name}` must be tuples of variables such as (u,) or (u, v, w), got {key!r}."
            )
        indices = tuple(places.setdefault(label, len(places)) for label in key)
        parts.append((indices, as_number(f"{name}[{key!r}]", value)))
    return Polynomial.from_terms(parts, len(places) or None, variables=variables), tuple(places)
