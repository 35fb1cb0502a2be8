"""The spectral bound of a quadratic: min over the sphere instead of over the cube.

With y = (x, 1) when there are linear terms, f(x) = y'Hy + d, and y'y = N on the cube. For every diagonal u,
    f(x) >= sum_i u_i + N * lambda_min(H - Diag(u)) + d.
u = 0 is the plain bound; u = diag(H) removes the diagonal, on which f depends only through its sum. (The u that makes
the bound largest is the semidefinite bound: see `certify.sdp`.)
"""

from __future__ import annotations

import math

import numpy as np

from flipwise.arrays import Floats
from flipwise.certify.eigenvalues import eigenvalue_bound
from flipwise.certify.homogeneous import Homogeneous, homogeneous
from flipwise.objectives.quadratic import Quadratic


def spectral_bound(quadratic: Quadratic) -> float:
    """A proven lower bound on min f over {-1, +1}^n.

    Examples
    --------
    >>> import numpy as np, flipwise
    >>> from flipwise.certify.spectral_quadratic import spectral_bound
    >>> bound = spectral_bound(flipwise.Quadratic(np.array([[0.0, 1.0], [1.0, 0.0]])))
    >>> bound <= -2.0 and bound > -2.000001
    True
    """
    form = homogeneous(quadratic)
    return diagonal_bound(form, form.diagonal)


def diagonal_bound(form: Homogeneous, u: Floats) -> float:
    """The bound of a diagonal u, rounded down."""
    least = eigenvalue_bound(form, u)
    total = math.fsum(u) + form.N * least + form.constant
    size = float(np.abs(u).sum()) + form.N * abs(least) + abs(form.constant)
    return total - 8.0 * float(np.finfo(np.float64).eps) * size
