"""Certificates of quadratics: from the user's numbers to a lower bound in exact integers.

f(x) = constant + unit * E(s), E(s) = sum_{i<j} J_ij s_i s_j, where spin n stays at +1 and all J are integers. The steps
of a presolve are done again, each checked; then each part's tree is walked through.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import scipy.sparse as sp

from flipwise.engine.certificate import Certificate, couplings_hash
from flipwise.model.quadratic import Quadratic
from flipwise.model.terms import Dense, LowRank, Sparse, Term
from flipwise.verification.integers import Matrix, is_semidefinite, least_energy
from flipwise.verification.refusing import claim, listed, whole

MOST_ENUMERATED = 24
MOST_BITS = 20_000
"""Of any power of two that a certificate names."""

Couplings = dict[int, dict[int, int]]


@dataclass(frozen=True)
class Energy:
    """A quadratic in integers."""

    n: int
    rows: Couplings
    unit: Fraction
    constant: Fraction


def exact_energy(quadratic: Quadratic) -> Energy:
    """The quadratic as the user gave it, without any rounding."""
    parts, n = quadratic.exact_parts, quadratic.n
    claim(parts is not None, "the numbers of this problem were rounded when it was made, so nothing exact is known")
    assert parts is not None
    terms, c, variables = parts
    constant = quadratic.exact_constant
    pairs: dict[tuple[int, int], Fraction] = {}
    linear = [sum(map(Fraction, c[..., i].reshape(-1).tolist()), Fraction()) for i in range(n)]
    for term in terms:
        for i, j, w in _exact_entries(term):
            if variables == "spin":
                if i == j:
                    constant += w  # s_i^2 = 1
                elif i < j:
                    pairs[i, j] = pairs.get((i, j), Fraction()) + 2 * w
            elif i == j:
                linear[i] += w  # x_i^2 = x_i
            elif i < j:
                pairs[i, j] = pairs.get((i, j), Fraction()) + 2 * w
    if variables == "binary":  # x = (1 + s) / 2
        constant += sum(pairs.values(), Fraction()) / 4 + sum(linear, Fraction()) / 2
        linear = [w / 2 for w in linear]
        for (i, j), w in pairs.items():
            linear[i] += w / 4
            linear[j] += w / 4
        pairs = {pair: w / 4 for pair, w in pairs.items()}
    pairs |= {(i, n): w for i, w in enumerate(linear)}
    unit = Fraction(1, max((w.denominator for w in pairs.values()), default=1))  # all are powers of two
    rows: Couplings = {i: {} for i in range(n + 1)}
    for (i, j), w in pairs.items():
        if w:
            rows[i][j] = rows[j][i] = int(w / unit)
    return Energy(n, rows, unit, constant)


def _exact_entries(term: Term) -> list[tuple[int, int, Fraction]]:
    """Row, column and value of all entries."""
    if isinstance(term, LowRank):
        U = [[Fraction(u) for u in row] for row in term.U.tolist()]
        s = [Fraction(value) for value in term.s.tolist()]
        claim(len(U) <= 300, "a low-rank matrix of more than 300 variables is not multiplied out")
        scaled = [[u * value for u, value in zip(row, s, strict=True)] for row in U]
        return [(i, j, sum(a * b for a, b in zip(left, right, strict=True)) + Fraction())
                for i, left in enumerate(scaled) for j, right in enumerate(U)]  # fmt: skip
    assert isinstance(term, Sparse | Dense)
    entries: Any = sp.coo_array(term.A)
    numbers = map(Fraction, entries.data.tolist())
    return list(zip(entries.row.tolist(), entries.col.tolist(), numbers, strict=True))


def proven_value(quadratic: Quadratic, certificate: Certificate) -> Fraction:
    """What no point's value is below, by the certificate; refused where it proves nothing of this quadratic."""
    energy = exact_energy(quadratic)
    power = -(energy.unit.denominator.bit_length() - 1)
    couplings = [(i, j, w) for i, row in energy.rows.items() for j, w in row.items() if i < j]
    known = certificate.problem
    own = known.get("n") == energy.n and known.get("hash") == couplings_hash(energy.n, couplings, power)
    claim(own, "it is of another problem")
    if certificate.kind == "enumeration":
        claim(energy.n <= MOST_ENUMERATED, f"more than {MOST_ENUMERATED} variables are not enumerated")
        count = None if known.get("count") is None else whole(known["count"], 0, energy.n)
        members = [*range(energy.n), energy.n]
        return energy.constant + energy.unit * least_energy(_coupling_matrix(energy.rows, members), count)
    claim(certificate.kind == "parts", f"quadratics have no proof of the kind {certificate.kind!r}")
    proof = certificate.proof
    exponent = whole(proof["exponent"], -MOST_BITS, MOST_BITS)
    ratio = energy.unit / Fraction(2) ** exponent
    rows = {i: {j: int(w * ratio) for j, w in row.items()} for i, row in energy.rows.items()}
    claim(
        all(rows[i][j] == w * ratio for i, row in energy.rows.items() for j, w in row.items()),
        "its unit does not divide the couplings",
    )
    return energy.constant + Fraction(2) ** exponent * _least_of_parts(rows, energy.n, proof)


def _least_of_parts(given: Couplings, n: int, proof: dict[str, Any]) -> int:
    """The least energy: the steps of the presolve, then the parts."""
    scale = whole(proof["scale"], 1, 2**16)
    rows = {i: {j: scale * w for j, w in row.items()} for i, row in given.items()}
    constant = sum(_take_out_spin(rows, [whole(i) for i in listed(step)]) for step in listed(proof["steps"]))
    parts = listed(proof["parts"])
    seen: set[int] = set()
    lattice = _step_of_energies(given, [i for i in given if i != n])
    start = sum(w for row in given.values() for w in row.values()) // 2
    for part in parts:
        members = [whole(i) for i in listed(part["members"])]
        inside = set(members)
        claim(inside <= rows.keys() and len(inside) == len(members) and not inside & seen, "its parts do not fit")
        claim(all(rows[i].keys() <= inside for i in members), "its parts are not apart")
        seen |= inside
        further = (scale * lattice, scale * start - constant) if len(parts) == 1 else (0, 0)
        bound, nodes = whole(part["bound"]), listed(part["nodes"])
        claim(
            _tree_bound(_coupling_matrix(rows, members), nodes, further, bound),
            "a part may have less energy than it claims",
        )
        constant += bound
    claim(seen == rows.keys(), "its parts leave spins out")
    return _lifted_to_lattice(-(-constant // scale), lattice, start)


def _take_out_spin(rows: Couplings, step: list[int]) -> int:
    """Take a spin out, to be what is best for the others; returns what is added to the energy.

    [i, j]: i goes with j, to which it is tied more than to all others. [i]: it has at most three neighbours, and
    min over s_i of s_i (a s_j + b s_k + c s_l) = -|...| is a constant and products of two.
    """
    i = step[0]
    claim(i in rows and 1 <= len(step) <= 2, "a step takes out a spin that is not there")
    row = rows.pop(i)
    for j in row:
        del rows[j][i]
    added: list[tuple[int, int, int]] = []
    if len(step) == 2:
        j = step[1]
        claim(j in row and 2 * abs(row[j]) >= sum(map(abs, row.values())), "a step joins spins that may differ")
        sign, constant = (-1 if row[j] > 0 else 1), -abs(row[j])
        added = [(j, k, sign * w) for k, w in row.items() if k != j]
    else:
        claim(len(row) in (0, 2, 3), "a step takes out a spin of many neighbours")
        ends, weights = list(row), list(row.values())
        # |sum w s| at the four (two) sets of signs with the first at +1
        signs = [(1, 1, 1), (1, 1, -1), (1, -1, 1), (1, -1, -1)] if len(row) == 3 else [(1, 1), (1, -1)]
        sizes = [abs(sum(w * s for w, s in zip(weights, point, strict=True))) for point in signs] if row else [0]
        claim(sum(sizes) % len(sizes) == 0, "a step needs halves")
        constant = -(sum(sizes) // len(sizes))
        for a in range(len(row)):
            for b in range(a):
                total = sum(size * point[a] * point[b] for size, point in zip(sizes, signs, strict=True))
                claim(total % len(sizes) == 0, "a step needs halves")
                added.append((ends[a], ends[b], -(total // len(sizes))))
    for j, k, w in added:
        now = rows[j].get(k, 0) + w
        for u, v in ((j, k), (k, j)):
            rows[u][v] = now
            if not now:
                del rows[u][v]
    return constant


def _coupling_matrix(rows: Couplings, members: list[int]) -> Matrix:
    place = {i: p for p, i in enumerate(members)}
    J = np.zeros((len(members), len(members)), dtype=object)
    for i in members:
        for j, w in rows[i].items():
            J[place[i], place[j]] = w
    return J


def _step_of_energies(rows: Couplings, flipped: list[int]) -> int:
    """What all differences of energies are multiples of: a flip of i changes them by 2 s_i sum_j J_ij s_j."""
    free = set(flipped)
    sums = (sum(rows[i].values()) for i in flipped)
    return 2 * math.gcd(*sums, *(2 * w for i in flipped for j, w in rows[i].items() if j in free))


def _lifted_to_lattice(bound: int, step: int, value: int) -> int:
    """The least number that is not below `bound` and differs from `value` by a multiple of `step`."""
    return bound if not step else value - (value - bound) // step * step


# --- trees -----------------------------------------------------------------------------------------------------------


def _tree_bound(J: Matrix, nodes: list[Any], further: tuple[int, int], bound: int) -> bool:
    """Whether no spins have an energy below `bound`: every leaf of the tree proves it of those that it is about."""
    N = len(J)
    rows = {i: {j: int(w) for j, w in enumerate(J[i].tolist()) if w} for i in range(N)}
    lattices = [(_step_of_energies(rows, list(range(N))), int(J.sum()) // 2), further]
    open_: list[tuple[int, list[tuple[int, int, int]]]] = [(0, [])]
    seen: set[int] = set()
    while open_:
        at, decided = open_.pop()
        claim(0 <= at < len(nodes) and at not in seen and isinstance(nodes[at], dict), "its tree is none")
        seen.add(at)
        node = nodes[at]
        if "pair" in node:
            i, j = (whole(p, 0, N - 1) for p in listed(node["pair"], 2))
            claim(i != j, "a spin is compared with itself")
            same, opposite = (whole(child) for child in listed(node["children"], 2))
            open_ += [(same, [*decided, (i, j, 1)]), (opposite, [*decided, (i, j, -1)])]
            continue
        proven = _leaf_bound(J, node, decided)
        if proven is not None:
            for lattice in lattices:
                proven = _lifted_to_lattice(proven, *lattice)
            if proven < bound:
                return False
    return True


def _leaf_bound(J: Matrix, node: dict[str, Any], decided: list[tuple[int, int, int]]) -> int | None:
    """What no spins with these decisions have less energy than; None where there are none."""
    if "rows" in node:
        return _cycle_bound(J, node, decided)
    joined = _couplings_of_classes(J, decided)
    if joined is None:
        return None
    constant, smaller = joined
    if "enumerate" in node:
        claim(len(smaller) <= MOST_ENUMERATED + 1, "too many spins are to be enumerated")
        return constant + least_energy(smaller)
    return constant + _semidefinite_bound(smaller, node)


def _couplings_of_classes(J: Matrix, decided: list[tuple[int, int, int]]) -> tuple[int, Matrix] | None:
    """The couplings of the spins that stand for others, the first of each class; None where decisions contradict."""
    N = len(J)
    first, sign = list(range(N)), [1] * N
    for i, j, equal in decided:
        a, b, turned = first[i], first[j], sign[i] * sign[j] * equal  # s_a = turned * s_b
        if a == b and turned < 0:
            return None
        keep, gone = min(a, b), max(a, b)
        for p in range(N):
            if first[p] == gone and gone != keep:
                first[p], sign[p] = keep, sign[p] * turned
    kept = sorted(set(first))
    place = np.array([kept.index(p) for p in first])
    turned_J = J * np.multiply.outer(np.array(sign, dtype=object), np.array(sign, dtype=object))
    smaller = np.zeros((len(kept), len(kept)), dtype=object)
    np.add.at(smaller, (place[:, None], place[None, :]), turned_J)
    constant = int(smaller.diagonal().sum()) // 2
    np.fill_diagonal(smaller, 0)
    return constant, smaller


def _semidefinite_bound(J: Matrix, node: dict[str, Any]) -> int:
    """E 2^shift >= sum U - sum_t Z_t r_t where J 2^shift - 2 Diag(U) - sum_t Z_t B_t is positive semidefinite.

    For integers b with an odd sum (b's)^2 >= 1, so the sum of b_i b_j s_i s_j over i < j is at least -r, where
    r = (b'b - 1) / 2; B_t has the b_i b_j of a form at its entries.
    """
    N = len(J)
    shift = whole(node["shift"], 0, MOST_BITS)
    U, Z = [whole(u) for u in listed(node["U"], N)], [whole(z, 0) for z in listed(node["Z"])]
    M, total = J << shift, sum(U)
    for p, u in enumerate(U):
        M[p, p] -= 2 * u
    for z, form in zip(Z, listed(node["forms"], len(Z)), strict=True):
        numbers = listed(form)
        spins, b = [whole(p, 0, N - 1) for p in numbers[::2]], [whole(w) for w in numbers[1::2]]
        claim(len(set(spins)) == len(spins) == len(b) and sum(b) % 2 == 1, "a form may be 0")
        total -= z * ((sum(w * w for w in b) - 1) // 2)
        for (p, v), (q, w) in combinations(zip(spins, b, strict=True), 2):
            M[p, q] -= v * w * z
            M[q, p] -= v * w * z
    claim(is_semidefinite(M), "a matrix is not positive semidefinite")
    return -(-total >> shift)  # rounded up: energies are integers


def _cycle_bound(J: Matrix, node: dict[str, Any], decided: list[tuple[int, int, int]]) -> int | None:
    """E = sum J - 2 sum J_e x_e, x_e = 1 where the ends of e differ; rows y (x(F) - x(C without F) <= |F| - 1).

    A cut meets a set C of edges with even degrees in an even number of them, so not in exactly F where |F| is odd.
    """
    first, second = (index.tolist() for index in np.nonzero(np.triu(J, 1)))
    ends = list(zip(first, second, strict=True))
    shift = whole(node["shift"], 0, MOST_BITS)
    empty = node.get("empty") is True
    left = [0 if empty else int(J[pair]) << shift for pair in ends]
    total = 0
    for row in listed(node["rows"]):
        y, marks = whole(row[0], 0), [whole(mark, 0, 2 * len(ends) - 1) for mark in row[1:]]
        claim(
            _is_odd_cycle([ends[mark >> 1] for mark in marks], sum(mark & 1 for mark in marks)), "a row is no odd cycle"
        )
        total += y * (sum(mark & 1 for mark in marks) - 1)
        for mark in marks:
            left[mark >> 1] -= y if mark & 1 else -y
    known = {(min(i, j), max(i, j)): equal for i, j, equal in decided}
    for pair, w in zip(ends, left, strict=True):
        value = known.get(pair)
        total += max(w, 0) if value is None else (0 if value > 0 else w)
    if empty:
        claim(total < 0, "a leaf is said to be empty")
        return None
    return sum(int(J[pair]) for pair in ends) - 2 * (total >> shift)


def _is_odd_cycle(edges: list[tuple[int, int]], odd: int) -> bool:
    """Whether every node has an even degree in distinct edges, of which an odd number is marked."""
    degrees = Counter(p for pair in edges for p in pair)
    return len(set(edges)) == len(edges) and odd % 2 == 1 and not any(d % 2 for d in degrees.values())
