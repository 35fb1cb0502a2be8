"""Small forms for the tests of the portfolio."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

import flipwise
from flipwise.model.forms import IsingForm, ising_form
from tests.reference import random_symmetric


def form_of(seed: int, n: int, dense: bool) -> IsingForm:
    """Integers: all couplings, or those of neighbours in a path and a few others, among a hundred spins more."""
    rng = np.random.default_rng(seed)
    n = n if dense else n + 100
    A = np.rint(4.0 * random_symmetric(rng, n))
    if not dense:
        A = A * (np.abs(np.subtract.outer(np.arange(n), np.arange(n))) == 1)
    form = ising_form(flipwise.Quadratic(A if dense else sp.csr_array(A)))
    assert form is not None and form.dense == dense
    return form


def energy(form: IsingForm, s: np.ndarray) -> float:
    """The energy of a point, from scratch."""
    s = s.astype(np.int8)
    return float(form.energy(s, form.fields(s)))
