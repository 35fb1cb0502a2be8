"""A quadratic in exact integers: what proofs compare, so that no rounding can make a bound or a claim wrong.

Every float64 is an integer times a power of two. With n spins and one more that stays at +1 and carries the linear
part, f(s) = 2^exponent * E(s) + a constant, where
    E(s) = sum_{i<j} J_ij s_i s_j
has integer couplings of any length. The flip of spin i changes E by -2 s_i sum_j J_ij s_j, so all values of E differ by
multiples of step = 2 gcd(sum_j J_ij, 2 J_ij): with integer weights this sees parities.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from flipwise.foundation.arrays import Floats, Ints, Signs
from flipwise.model.quadratic import Quadratic
from flipwise.model.terms import Dense, LowRank, Sparse, Term

WRITTEN_OUT = 250
"""A low-rank term of more rows is not multiplied out in integers."""

Row = dict[int, int]


@dataclass(frozen=True, eq=False)
class IntegerModel:
    """E: `rows[i][j]` is J_ij for i != j, zeros left out; row n is that of the spin which stays at +1."""

    n: int
    rows: list[Row]
    exponent: int

    @cached_property
    def edges(self) -> tuple[Ints, Ints, list[int]]:
        """i < j and J_ij of every coupling."""
        triples = [(i, j, J) for i, row in enumerate(self.rows) for j, J in row.items() if i < j]
        first, second = (np.array([t[k] for t in triples], dtype=np.int64) for k in (0, 1))
        return first, second, [t[2] for t in triples]

    @cached_property
    def _couplings_as_int64(self) -> Ints | None:
        """The couplings as int64, where every sum of them fits."""
        J = self.edges[2]
        return np.array(J, dtype=np.int64) if sum(map(abs, J)) < 2**62 else None

    def energy(self, spins: Signs) -> int:
        """E at `spins`, exactly; n of them, or n + 1."""
        s = np.ones(self.n + 1, dtype=np.int64)
        s[: spins.size] = np.where(spins > 0, 1, -1)
        i, j, J = self.edges
        signs = s[i] * s[j]
        if self._couplings_as_int64 is not None:
            return int(signs @ self._couplings_as_int64)
        return sum(w if sign > 0 else -w for w, sign in zip(J, signs.tolist(), strict=True))

    @cached_property
    def step(self) -> int:
        """What all differences between values are multiples of; 0 where all values are the same."""
        divisor = 0
        for row in self.rows[: self.n]:
            divisor = math.gcd(divisor, sum(row.values()), *(2 * J for j, J in row.items() if j < self.n))
        return 2 * divisor

    def next_value(self, bound: int) -> int:
        """The least value of E, by its lattice, that is not below `bound`."""
        at = self.energy(np.ones(self.n, dtype=np.int8))
        return at if self.step == 0 else at - (at - bound) // self.step * self.step


def integer_model(objective: Quadratic, *, rounded: bool = False) -> IntegerModel | None:
    """The model of a quadratic; None where what is stored of it was rounded, unless that will do."""
    exact = objective.exact_parts
    if exact is None and not rounded:
        return None
    terms, c, variables = exact or (objective.terms, objective.c, "spin")
    parts = [_entries_in_units(term) for term in terms]
    if any(part is None for part in parts):
        return None
    linear, power = as_integers([c])
    exponent = min([power, *(part[3] for part in parts if part is not None)])
    n = objective.n
    rows: list[Row] = [{} for _ in range(n + 1)]
    fields = [sum(linear[0][i::n]) << (power - exponent) for i in range(n)]  # its rows added up
    for part in parts:
        assert part is not None
        shift = part[3] - exponent
        for i, j, w in zip(part[0].tolist(), part[1].tolist(), part[2], strict=True):
            if i < j:
                rows[i][j] = rows[i].get(j, 0) + (w << shift)
            if variables == "binary":  # 4 A_ij x_i x_j = A_ij (1 + s_i + s_j + s_i s_j); each product is there twice
                fields[i] += w << shift
    if variables == "spin":  # x'Ax has every product twice
        rows = [{j: 2 * w for j, w in row.items()} for row in rows]
    else:  # values in units of a half, for (c_i + A_i1 + ... + A_in) s_i / 2 + sum_{i<j} A_ij s_i s_j / 2
        exponent -= 1
    return IntegerModel(n, _both_ways(rows, fields), exponent)


def _both_ways(rows: list[Row], fields: list[int]) -> list[Row]:
    """Rows of couplings (i, j), i < j, and fields, with zeros left out and each coupling in the rows of both ends."""
    n = len(fields)
    for i in range(n):
        rows[i][n] = fields[i]
        rows[i] = {j: w for j, w in rows[i].items() if w}
    for i in range(n + 1):
        for j, w in list(rows[i].items()):
            if j > i:
                rows[j][i] = w
    return rows


def _entries_in_units(term: Term) -> tuple[Ints, Ints, list[int], int] | None:
    """Rows, columns and entries of a matrix, these in units of 2^(the last); None for a large low-rank one."""
    if isinstance(term, LowRank):
        if term.n > WRITTEN_OUT:
            return None
        (U, s), power = as_integers([term.U, np.append(term.s, 1.0)])  # the 1 keeps the unit at most 1
        factor = np.array(U, dtype=object).reshape(term.U.shape)
        products = (factor * np.array(s[:-1], dtype=object)) @ factor.T
        i, j = np.nonzero(products)
        return i, j, products[i, j].tolist(), 3 * power
    if isinstance(term, Sparse):
        entries = term.A.tocoo()
        i, j, numbers = np.asarray(entries.row), np.asarray(entries.col), entries.data
    else:
        assert isinstance(term, Dense)
        i, j = np.nonzero(term.A)
        numbers = term.A[i, j]
    integers, power = as_integers([numbers])
    return i, j, integers[0], power


def as_integers(arrays: list[Floats]) -> tuple[list[list[int]], int]:
    """The arrays as integers times 2^exponent, exactly, and that exponent: the largest possible one."""
    flat = np.concatenate([np.asarray(a, dtype=np.float64).reshape(-1) for a in arrays])
    mantissa, exponents = np.frexp(flat)
    whole = np.ldexp(mantissa, 53).astype(np.int64)
    powers = exponents.astype(np.int64) - 53
    nonzero = whole != 0
    if not nonzero.any():
        return [[0] * a.size for a in arrays], 0
    lowest = whole & -whole  # the last bit of each
    zeros = np.zeros(flat.size, dtype=np.int64)
    zeros[nonzero] = np.frexp(lowest[nonzero].astype(np.float64))[1] - 1
    exponent = int((powers + zeros)[nonzero].min())
    whole >>= zeros
    shifts = np.where(nonzero, powers + zeros - exponent, 0)
    if int(shifts.max()) + 53 <= 62:
        numbers: list[int] = (whole << shifts).tolist()
    else:
        numbers = [w << s for w, s in zip(whole.tolist(), shifts.tolist(), strict=True)]
    ends = np.cumsum([np.size(a) for a in arrays])
    return [numbers[end - np.size(a) : end] for a, end in zip(arrays, ends.tolist(), strict=True)], exponent


def as_limbs(matrix: npt.NDArray[np.object_], bits: int) -> list[Floats]:
    """Integers of any length as float64 matrices L_0, L_1, ...: the matrix is sum_k 2^(k bits) L_k, exactly."""
    limbs: list[Floats] = []
    base = 1 << bits
    while True:
        top = np.abs(matrix).max(initial=0) < base
        digits = matrix if top else matrix % base
        limbs.append(digits.astype(np.float64))
        if top:
            return limbs
        matrix = matrix // base
