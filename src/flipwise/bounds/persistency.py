"""Persistency: variables that have the same value in every minimum, found before any search.

Roof duality (Hammer, Hansen, Simeone: Roof duality, complementation and persistency in quadratic 0-1 optimization,
Math. Program. 28, 1984; as a maximum flow: Boros, Hammer: Pseudo-Boolean optimization, Discrete Appl. Math. 123,
2002). The quadratic is written with positive coefficients in the literals x_i and 1 - x_i,

    f = constant + sum_u a_u u + sum_{u,v} b_uv u v,        a, b >= 0,

and a term b u v becomes the arcs u -> not v and v -> not u of capacity b, a term a u the arcs source -> not u and u
-> sink. Then f >= constant + flow/2, and a literal that the source still reaches in the residual network is 1 in
every minimum.

Where weights are not integers only dominance is used: |c_i| > 2 sum_j |A_ij| decides x_i, and its neighbours again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order, maximum_flow

from flipwise.bounds.lattice import next_value
from flipwise.foundation.arrays import Floats, Ints, Signs
from flipwise.model.forms import IsingForm, ising_form
from flipwise.model.quadratic import Quadratic
from flipwise.model.terms import Sparse

_EPS = float(np.finfo(np.float64).eps)
LARGEST_FLOW = 2_000_000
"""Arcs of the largest network whose flow is computed."""


@dataclass(frozen=True, eq=False)
class Persistency:
    """What is proven: `spins` is -1 or +1 where every minimum has that value and 0 elsewhere; a lower bound."""

    spins: Signs
    bound: float | None

    @property
    def fixed(self) -> Ints:
        """The indices of the fixed variables."""
        return np.flatnonzero(self.spins)


def persistent_variables(objective: Quadratic) -> Persistency:
    """Fix what can be fixed in a sparse quadratic without constraint.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp, flipwise
    >>> f = flipwise.Quadratic(sp.csr_array(np.array([[0.0, 1.0], [1.0, 0.0]])), c=[5.0, 1.0])
    >>> persistent_variables(f).spins.tolist()
    [-1, 1]
    """
    nothing = Persistency(np.zeros(objective.n, dtype=np.int8), None)
    if not objective.c.any() or not all(isinstance(term, Sparse) for term in objective.terms):
        return nothing  # without a linear part -x is as good as x, and nothing is fixed
    form = ising_form(objective, dense_from=np.inf)
    assert form is not None  # only low-rank terms may have no form, and no share of entries makes this one dense
    if np.issubdtype(form.data.dtype, np.integer) and 2 * form.data.size + 4 * form.n <= LARGEST_FLOW:
        found = _roof_dual(form, objective)
        if found is not None:
            return found
    return Persistency(_spins_decided_by_fields(form), None)


def without_fixed(objective: Quadratic, spins: Signs) -> tuple[Quadratic, Ints]:
    """The objective of the variables that are not fixed, and their indices."""
    free = np.flatnonzero(spins == 0)
    point = spins.astype(np.float64)
    parts: list[Any] = [term.A for term in objective.terms if isinstance(term, Sparse)]
    full = sum(parts[1:], parts[0])
    field = 2.0 * np.asarray(full @ point)  # what the fixed ones add to the linear part of the others
    constant = objective.d + float(objective.c @ point) + float(point @ (field / 2.0))
    inner = sp.csr_array(full[free][:, free])
    inner.sort_indices()
    remaining = Quadratic(inner, objective.c[free] + field[free], constant)
    if not objective.grain:  # what was added up on the way was rounded
        entries = int(np.diff(full.indptr).max(initial=0)) + objective.n
        size = float(abs(full).sum()) + float(np.abs(objective.c).sum()) + abs(objective.d)
        remaining.rounding = objective.rounding + 4.0 * _EPS * (entries + 8) * size
    return remaining, free


def _spins_decided_by_fields(form: IsingForm) -> Signs:
    """-1/+1 for spins whose field keeps its sign whatever the others are, given those already decided."""
    spins = np.zeros(form.n, dtype=np.int8)
    J = sp.csr_array((form.data.astype(np.float64), form.indices, form.indptr), shape=(form.n, form.n))
    size = abs(J)
    slack = form.slack * (4.0 + int(np.diff(form.indptr).max(initial=0)) / 8.0)  # fields are sums of so many numbers
    while True:
        open_ = (spins == 0).astype(np.float64)
        field = form.h + J @ spins.astype(np.float64)
        decided = (spins == 0) & (np.abs(field) > (size @ open_) * (1.0 + 1e-12) + slack)
        if not decided.any():
            return spins
        spins[decided] = np.where(field[decided] > 0, -1, 1)


def _roof_dual(form: IsingForm, objective: Quadratic) -> Persistency | None:
    n = form.n
    rows = np.repeat(np.arange(n), np.diff(form.indptr))
    upper = (rows < form.indices) & (form.data != 0)
    i, j, J = rows[upper], form.indices[upper].astype(np.int64), form.data[upper].astype(np.int64)
    h = form.h.astype(np.int64)
    # spins to bits: J s_i s_j = 4J x_i x_j - 2J x_i - 2J x_j + J, h s = 2h x - h
    b = 4 * J
    a = 2 * h
    np.subtract.at(a, i, 2 * J)
    np.subtract.at(a, j, 2 * J)
    constant = int(J.sum()) - int(h.sum())
    np.subtract.at(a, i[b < 0], -b[b < 0])  # b x_i x_j = |b| x_i (1 - x_j) - |b| x_i for b < 0
    constant += int(a[a < 0].sum())  # a x = a + |a| (1 - x) for a < 0
    if float(np.abs(a).sum()) + 2.0 * float(np.abs(b).sum()) >= 2.0**31 - 1:
        return None  # scipy's flow is in 32 bits
    source, sink = 2 * n, 2 * n + 1
    yes, no = np.arange(n), np.arange(n) + n  # the literals x_i and 1 - x_i
    v = np.where(b > 0, j, j + n)  # the second literal of each term; the first is x_i
    v_not = np.where(b > 0, j + n, j)
    one = np.where(a > 0, yes, no)  # the literal of each linear term
    one_not = np.where(a > 0, no, yes)
    tails = np.concatenate([i, v, np.full(n, source), one])
    heads = np.concatenate([v_not, i + n, one_not, np.full(n, sink)])
    capacity = np.concatenate([np.abs(b), np.abs(b), np.abs(a), np.abs(a)])
    places = tails.astype(np.int32), heads.astype(np.int32)
    network = sp.csr_array(sp.coo_array((capacity.astype(np.int32), places), shape=(2 * n + 2, 2 * n + 2)))
    network.sum_duplicates()
    network.eliminate_zeros()
    flow = maximum_flow(network, source, sink)
    residual = sp.csr_array(network - flow.flow)
    residual.eliminate_zeros()
    reached = breadth_first_order(residual, source, return_predecessors=False)
    one_bits = reached[reached < n]
    zero_bits = reached[(reached >= n) & (reached < 2 * n)] - n
    spins = np.zeros(n, dtype=np.int8)
    spins[one_bits] = 1
    spins[zero_bits] = -1
    bound = (constant + flow.flow_value / 2.0) / form.scale + objective.d + float(objective.diagonal.sum())
    return Persistency(spins, next_value(objective, rounded_down(bound, objective)))


def rounded_down(bound: float, objective: Quadratic) -> float:
    size: Floats = np.abs(objective.diagonal)
    return bound - objective.rounding - 8.0 * _EPS * (abs(bound) + abs(objective.d) + float(size.sum()))
