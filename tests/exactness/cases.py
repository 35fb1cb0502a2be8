"""One random case by its number: a public function, a container, a kind of numbers, a constraint; judged exactly.

`run_case(number)` raises where anything is wrong, and otherwise says what was called and how it ended.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import scipy.sparse as sp

import flipwise
from flipwise.bounds.choice import proven_bound
from tests.exactness import numbers, oracle
from tests.exactness.graph_cases import cut_case, densest_case, partition_case
from tests.exactness.numbers import Drawn
from tests.exactness.oracle import BOUNDS, refused_or

METHODS = [method for method in flipwise.methods() if method.name not in ("ravi", "tpm", "frank-wolfe", "peeling")]
USUAL = ("dpcd", "exact", "portfolio")
"""Methods that take half of the cases of `minimize`."""
Case = Callable[[np.random.Generator], str]


def run_case(number: int) -> str:
    """Draw the case of this number, run it, judge it; returns a name and whether it was solved or refused."""
    rng = np.random.default_rng([number, 18])
    case = CASES[int(rng.integers(len(CASES)))]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", flipwise.FlipwiseWarning)
        warnings.filterwarnings("ignore", category=PendingDeprecationWarning)  # numpy.matrix, which is drawn on purpose
        return case(rng)


def draw_constraint(rng: np.random.Generator, n: int) -> tuple[dict[str, Any], list[int] | None, list[int] | None]:
    """Keywords, and the group and the count of ones that they stand for."""
    kind = rng.random()
    if kind < 0.5:
        return {}, None, None
    if kind < 0.8:
        count = int(rng.integers(0, n + 1))
        given = {"count": count} if rng.random() < 0.5 else {"constraint": flipwise.Cardinality(count)}
        return given, [0] * n, [count]
    labels = rng.integers(0, 2, n)
    labels[0] = 0
    sizes = np.bincount(labels, minlength=2)
    ones = [int(rng.integers(0, size + 1)) for size in sizes]
    return {"constraint": flipwise.GroupCounts(labels, ones)}, labels.tolist(), ones


def draw(rng: np.random.Generator, n: int) -> Drawn:
    """A matrix, in one case of twelve one that must be refused."""
    if rng.random() < 1 / 12:
        return numbers.draw_bad_matrix(rng, n)
    return numbers.draw_matrix(rng, n, str(rng.choice(numbers.KINDS)))


def judge_quadratic(
    result: Any,
    entries: oracle.Entries,
    c: list[Fraction],
    d: Fraction,
    low: int,
    labels: Any,
    counts: Any,
    **more: Any,
) -> None:
    """Judge a result of minimising a quadratic."""
    f = oracle.ExactQuadratic.of(entries, c, d)
    points = set(oracle.feasible_points(len(c), low, labels, counts))
    oracle.judge(result, f.value, f.least(points), lambda x: tuple(x) in points, **more)


def minimize_case(rng: np.random.Generator) -> str:
    """`minimize` on a matrix, by any method with any bound."""
    n = int(rng.integers(1, 8))
    drawn = draw(rng, n)
    usual = str(rng.choice(USUAL))
    method = str(rng.choice([m.name for m in METHODS])) if rng.random() < 0.5 else usual
    given, labels, counts = draw_constraint(rng, n)
    supported = next(m for m in METHODS if m.name == method)
    if (labels is None and not supported.free) or (labels is not None and not supported.counts):
        given, labels, counts = ({}, None, None) if supported.free else ({"count": n // 2}, [0] * n, [n // 2])
    bound: Any = rng.choice(BOUNDS)
    options: dict[str, Any] = {} if method == "exact" else {"max_iterations": 20}
    name = f"minimize {method} {bound} {sorted(given)} {drawn.name}"
    try:
        result = refused_or(
            drawn, lambda: flipwise.minimize(drawn.given, method=method, bound=bound, seed=1, **given, **options)
        )
        if result is None:
            return f"{name}: refused"
        exact = method == "exact"
        judge_quadratic(
            result, drawn.entries, [Fraction(0)] * n, Fraction(0), -1, labels, counts, must_be_optimal=exact
        )
    except Exception as error:
        error.add_note(name)
        raise
    return f"{name}: solved"


def model_case(rng: np.random.Generator) -> str:
    """`solve_qubo` and `solve_ising` on a matrix with a vector and an offset."""
    n = int(rng.integers(1, 8))
    kind = str(rng.choice(numbers.KINDS))
    drawn = numbers.draw_bad_matrix(rng, n) if rng.random() < 1 / 12 else numbers.draw_matrix(rng, n, kind)
    offset = float(rng.choice([0.0, 0.0, 1.5, 0.1, -3.0]))
    given, labels, counts = draw_constraint(rng, n)
    bound = str(rng.choice(BOUNDS))
    method = str(rng.choice(["portfolio", "portfolio", "dpcd", "exact"]))
    options: dict[str, Any] = {"effort": 0.05} if method == "portfolio" else {}
    ising = rng.random() < 0.5
    name = f"{'solve_ising' if ising else 'solve_qubo'} {method} {bound} {sorted(given)} {drawn.name} offset {offset}"
    h, c = numbers.draw_vector(rng, n, kind if kind not in ("tiny", "huge") else "small")
    keywords: dict[str, Any] = {"method": method, "bound": bound, "seed": 1, **given, **options}
    try:
        if ising:
            result = refused_or(drawn, lambda: flipwise.solve_ising(h, drawn.given, offset, **keywords))
        else:
            c = [Fraction(0)] * n
            result = refused_or(drawn, lambda: flipwise.solve_qubo(drawn.given, offset, **keywords))
        if result is None:
            return f"{name}: refused"
        low = -1 if ising else 0
        judge_quadratic(
            result, drawn.entries, c, Fraction(offset), low, labels, counts, must_be_optimal=method == "exact"
        )
    except Exception as error:
        error.add_note(name)
        raise
    return f"{name}: solved"


def dictionary_case(rng: np.random.Generator) -> str:
    """`solve_qubo` and `solve_ising` on dictionaries with labels, in any direction, also with `(u,)`."""
    n = int(rng.integers(1, 7))
    kind = str(rng.choice(["small", "wide", "halves", "gaussian", "mixed", "ties"]))
    labels: list[Any] = [["a", 1, (2, 3), None, "é", 2.5][i] for i in range(n)]
    ising = rng.random() < 0.5
    entries = [[Fraction(0)] * n for _ in range(n)]
    c = [Fraction(0)] * n
    terms: dict[Any, Any] = {}
    order: dict[Any, int] = {}
    h: dict[Any, Any] = {}
    for i in range(n):
        value = numbers.draw_number(rng, kind)
        if ising:
            h[labels[i]] = value
        else:
            terms[(labels[i],)] = value
        c[i] = Fraction(value)
        order.setdefault(labels[i], i)
    for i, j in permutations(range(n), 2):
        if rng.random() < 0.5:
            value = numbers.draw_number(rng, kind)
            terms[(labels[i], labels[j])] = np.float32(value) if kind == "halves" else value
            entries[i][j] = Fraction(value)
    if not ising and rng.random() < 0.5:
        value = numbers.draw_number(rng, kind)
        terms[(labels[0], labels[0])] = value
        c[0] = Fraction(float(c[0] + Fraction(value)))
    given, groups, counts = draw_constraint(rng, n)
    method = str(rng.choice(["portfolio", "dpcd", "exact"]))
    options: dict[str, Any] = {"effort": 0.05} if method == "portfolio" else {}
    name = f"{'solve_ising' if ising else 'solve_qubo'} dict {method} {sorted(given)} {kind}"
    keywords: dict[str, Any] = {"method": method, "seed": 1, **given, **options}
    try:
        result = flipwise.solve_ising(h, terms, **keywords) if ising else flipwise.solve_qubo(terms, **keywords)
        assert result.info["labels"] == labels
        judge_quadratic(result, entries, c, Fraction(0), -1 if ising else 0, groups, counts)
    except Exception as error:
        error.add_note(f"{name} {terms}")
        raise
    return f"{name}: solved"


def bound_case(rng: np.random.Generator) -> str:
    """Every kind of bound on a quadratic in either kind of variables, with and without counts."""
    n = int(rng.integers(1, 8))
    kind = str(rng.choice(numbers.KINDS))
    drawn = numbers.draw_matrix(rng, n, kind)
    c, meaning = numbers.draw_vector(rng, n, kind if kind not in ("tiny", "huge") else "small")
    variables = str(rng.choice(["spin", "binary"]))
    d = float(rng.choice([0.0, 0.1, -2.0]))
    given, labels, counts = draw_constraint(rng, n)
    constraint = given.get("constraint") or (flipwise.Cardinality(given["count"]) if given else None)
    wanted = str(rng.choice(BOUNDS[2:]))
    name = f"bound {wanted} {variables} {sorted(given)} {drawn.name}"
    try:
        f = refused_or(drawn, lambda: flipwise.Quadratic(drawn.given, c, d, variables=variables))  # type: ignore[arg-type]
        if f is None:
            return f"{name}: refused"
        bound = proven_bound(f, constraint, wanted, None)  # type: ignore[arg-type]
        assert bound is not None
        exact = oracle.ExactQuadratic.of(drawn.entries, meaning, Fraction(d))
        points = list(oracle.feasible_points(n, -1 if variables == "spin" else 0, labels, counts))
        least = exact.least(points)
        assert bound <= oracle.rounded(least) + float(oracle.DUST), f"bound {bound!r} above {float(least)!r}"
        point = points[int(rng.integers(len(points)))]
        spins = np.array([1.0 if entry == 1 else -1.0 for entry in point])
        assert oracle.is_rounded(f.value(spins), exact.value(point)), f"value {f.value(spins)!r} at {point}"
    except Exception as error:
        error.add_note(name)
        raise
    return f"{name}: solved"


# --- graphs ----------------------------------------------------------------------------------------------------------


def start_case(rng: np.random.Generator) -> str:
    """A start in any container; a wrong one is refused."""
    n = int(rng.integers(2, 7))
    A = rng.integers(-3, 4, (n, n)).astype(np.float64)
    A = A + A.T
    x = rng.integers(0, 2, n) * 2 - 1
    wrong = rng.random() < 0.4
    if wrong:
        bad: list[Any] = [x * 2, x + 0j, x.astype(str), x[:-1], [None] * n, np.ma.MaskedArray(x, mask=x > -2)]
        start: Any = bad[int(rng.integers(len(bad)))]
    else:
        good: list[Any] = [x.tolist(), x.astype(np.float16), x.astype(">i8"), numbers.Frame(x), x > 0]
        start = good[int(rng.integers(len(good)))]
    drawn = Drawn(start, [], f"start {type(start).__name__} {getattr(start, 'dtype', '')}", must_refuse=wrong)
    result = refused_or(drawn, lambda: flipwise.minimize(A, start=start, max_iterations=3))
    if result is None:
        return f"{drawn.name}: refused"
    entries = [[Fraction(value) for value in row] for row in A.tolist()]
    judge_quadratic(result, entries, [Fraction(0)] * n, Fraction(0), -1, None, None)
    assert result.value <= float(x @ A @ x)
    return f"{drawn.name}: solved"


def low_rank_case(rng: np.random.Generator) -> str:
    """Sums of low-rank, sparse and dense terms of small numbers, whose arithmetic is exact."""
    n, r = int(rng.integers(1, 7)), int(rng.integers(1, 3))
    U = rng.integers(-2, 3, (n, r)) / 2.0
    s = rng.integers(-2, 3, r).astype(np.float64)
    D = np.triu(rng.integers(-2, 3, (n, n)))
    whole = (U * s) @ U.T + (D + D.T) / 2.0
    given, labels, counts = draw_constraint(rng, n)
    bound: Any = rng.choice(BOUNDS)
    name = f"low rank {bound} {sorted(given)}"
    try:
        f = flipwise.Quadratic([flipwise.LowRank(U, s), sp.coo_array(D + D.T) / 2.0])
        result = flipwise.minimize(f, bound=bound, seed=1, max_iterations=20, **given)
        entries = [[Fraction(value) for value in row] for row in whole.tolist()]
        judge_quadratic(result, entries, [Fraction(0)] * n, Fraction(0), -1, labels, counts)
    except Exception as error:
        error.add_note(name)
        raise
    return f"{name}: solved"


CASES: tuple[Case, ...] = (
    minimize_case, minimize_case, minimize_case, model_case, model_case, dictionary_case, bound_case, bound_case,
    cut_case, cut_case, partition_case, densest_case, densest_case, start_case, low_rank_case,
)  # fmt: skip
