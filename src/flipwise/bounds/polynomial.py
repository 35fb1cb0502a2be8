"""The lower bound of a polynomial that needs no proof: every term at its least, rounded downwards.

A term of spins is at least -|c|, a term of bits at least min(c, 0). With integer coefficients that sum is itself one of
the numbers that the polynomial can have, so there is no lattice to raise it to.
"""

from __future__ import annotations

import math

import numpy as np

from flipwise.model.exactness import are_multiples
from flipwise.model.polynomial import Polynomial


def polynomial_bound(objective: Polynomial) -> float:
    """What no point is below.

    Examples
    --------
    >>> import flipwise
    >>> polynomial_bound(flipwise.Polynomial({(0, 1, 2): 2.0, (0,): -1.0}))
    -3.0
    >>> polynomial_bound(flipwise.Polynomial({(0, 1, 2): 2.0, (0,): -1.0}, variables="binary"))
    -1.0
    """
    least = np.minimum(objective.coefficients, 0.0) if objective.binary else -np.abs(objective.coefficients)
    bound = math.fsum([objective.constant, *least])
    grain = math.frexp(abs(objective.constant) + float(np.abs(least).sum()))[1] - 51
    exact = are_multiples(np.append(least, objective.constant), grain)
    return bound if exact else math.nextafter(bound, -math.inf)
