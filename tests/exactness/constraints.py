"""One random constrained case by its number: a function, a constraint, a search or a proof, judged by brute force.

All numbers are small integers, so that every value is exact. `run_case(number)` raises where an answer breaks its
constraint or has another value than it says, a bound is on the wrong side, a proof is missing or wrong, or a search
ends above the optimum; it returns what was called.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import flipwise

LARGEST = 14
FUNCTIONS = (
    "minimize",
    "polynomial",
    "solve_qubo",
    "solve_ising",
    "maxcut",
    "bisect",
    "densest_subgraph",
    "sample_cqm",
)
CONSTRAINTS = (
    *("free", "count", "count range", "groups", "group ranges", "columns", "rows", "equalities", "rows and count"),
    "rows and groups",
)


class Kept(NamedTuple):
    """Keywords, and which rows of an array of bits they allow."""

    keywords: dict[str, Any]
    allows: Callable[[Any], Any]


def run_case(number: int) -> str:
    """Draw the case of this number, run it, judge it."""
    rng = np.random.default_rng([number, 22])
    function = FUNCTIONS[number % len(FUNCTIONS)]
    proof = bool(number // len(FUNCTIONS) % 2)
    kind = CONSTRAINTS[number // (2 * len(FUNCTIONS)) % len(CONSTRAINTS)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", flipwise.FlipwiseWarning)
        if function in ("maxcut", "bisect", "densest_subgraph"):
            kind = graph_case(rng, function, proof)
        elif function == "sample_cqm":
            cqm_case(rng, kind)
            proof = False
        else:
            kind = model_case(rng, function, kind, proof)
    return f"{function} | {kind} | {'proof' if proof else 'search'}"


def points_of(n: int) -> Any:
    """All bit vectors."""
    return (np.arange(2**n)[:, None] >> np.arange(n)) & 1


def draw(rng: np.random.Generator, kind: str, n: int, low: int, inside: Any) -> Kept:
    """A constraint that the point `inside` (bits) keeps, in variables `low` and 1."""
    labels = rng.integers(-1 if "ranges" in kind or "rows" in kind else 0, 3, n)
    labels[0] = 0
    groups = int(labels.max()) + 1
    wide = int(rng.integers(0, 3))
    ones = int(inside.sum())
    found = np.array([inside[labels == g].sum() for g in range(groups)])
    keywords: dict[str, Any] = {}
    rules: list[Callable[[Any], Any]] = []
    if "count" in kind:
        ends = (ones, ones) if kind == "count" else (max(0, ones - wide), ones + wide // 2)
        keywords["count"] = ones if kind == "count" else ends
        rules.append(lambda X: (X.sum(axis=1) >= ends[0]) & (X.sum(axis=1) <= ends[1]))
    if "group" in kind:
        slack = 0 if kind == "groups" else wide
        given = (
            {"ones": found}
            if kind == "groups"
            else {"at_least": np.maximum(0, found - slack), "at_most": found + slack}
        )
        keywords["constraint"] = flipwise.GroupCounts(labels, **given)
        for g in range(groups):
            rules.append(lambda X, g=g: abs(X[:, labels == g].sum(axis=1) - found[g]) <= slack)
    if "rows" in kind or "equal" in kind:
        m = int(rng.integers(1, 4))
        A = rng.integers(-3, 6, (m, n)) * (rng.random((m, n)) < 0.7)
        at = A @ np.where(inside > 0, 1, low)
        lower = np.where(rng.random(m) < 0.5, at - rng.integers(0, 3, m), -np.inf)
        upper = np.where(np.isinf(lower) | (rng.random(m) < 0.5), at + rng.integers(0, 3, m), np.inf)
        if "equal" in kind:
            lower, upper = at, at
        keywords["rows"] = (A, lower, upper)

        def keeps(X: Any) -> Any:
            sums = np.where(X > 0, 1, low) @ A.T
            return ((sums >= lower) & (sums <= upper)).all(axis=1)

        rules.append(keeps)
    if rng.random() < 0.4:
        chosen = rng.permutation(n)[: int(rng.integers(1, 3))]
        keywords["fixed"] = {int(i): int(np.where(inside[i] > 0, 1, low)) for i in chosen}
        rules.append(lambda X: (X[:, chosen] == inside[chosen]).all(axis=1))
    return Kept(keywords, lambda X: np.logical_and.reduce([np.ones(len(X), bool), *(rule(X) for rule in rules)]))


def judge(result: Any, X: Any, values: Any, allowed: Any, proof: bool, best: float) -> None:
    """Judge an answer given all points with their values."""
    bits = (np.asarray(result.x).reshape(-1) > 0).astype(int)
    at = int((bits << np.arange(bits.size)).sum())
    assert allowed[at], "infeasible"
    assert result.value == values[at], f"value {result.value}, is {values[at]}"
    assert result.value == best, f"value {result.value}, the best is {best}"
    if result.bound is not None:
        assert result.bound <= best, f"bound {result.bound} above {best}"
    if proof:
        assert result.optimal and result.bound == best, f"not proven: {result.bound}, {best}"


def model_case(rng: np.random.Generator, function: str, kind: str, proof: bool) -> str:
    """`minimize` on a quadratic and on a polynomial, `solve_qubo`, `solve_ising`."""
    n = int(rng.integers(2, LARGEST + 1))
    if function == "polynomial":
        n = min(n, 10)
    low = int(rng.choice([-1, 0])) if function == "minimize" else 0 if function == "solve_qubo" else -1
    shape: tuple[int, ...] = (n,)
    if kind == "columns":
        kind = "columns" if function == "minimize" else "count"
        if kind == "columns":
            shape, n = (n // 2, 2), n // 2 * 2
    inside = rng.integers(0, 2, n)
    kept = draw(rng, kind, n, low, inside)
    if kind == "columns":
        ones = inside.reshape(shape).sum(axis=0)
        kept = Kept(
            {"constraint": flipwise.ColumnCounts(ones)},
            lambda X: (X.reshape(-1, *shape).sum(axis=1) == ones).all(axis=1),
        )
    X = points_of(n)
    V = np.where(X > 0, 1, low)
    allowed = kept.allows(X)
    keywords = {**kept.keywords, "seed": 0, "bound": "auto" if proof else "none"}
    if not proof:
        keywords.update(method="portfolio", effort=0.3)
    if function == "polynomial":
        terms = {
            tuple(sorted(rng.permutation(n)[:d].tolist())): int(rng.integers(-9, 10))
            for d in (1, 2, 2, 3, 3) * 2
            if d <= n
        }
        values = sum(c * V[:, list(t)].prod(axis=1) for t, c in terms.items()) + np.zeros(len(V))
        result = flipwise.minimize({t: float(c) for t, c in terms.items()}, n, **keywords)
    else:
        Q = rng.integers(-9, 10, (n, n))
        Q = Q + Q.T
        h = rng.integers(-9, 10, n)
        values = np.einsum("ki,ij,kj->k", V, Q, V) + V @ h
        if function == "minimize" and kind != "columns":
            f = flipwise.Quadratic(Q.astype(float), h.astype(float), variables="spin" if low else "binary")
            result = flipwise.minimize(f, **keywords)
        elif function == "minimize":
            values = np.einsum("kir,ij,kjr->k", V.reshape(-1, *shape), Q[: shape[0], : shape[0]], V.reshape(-1, *shape))
            result = columns_answer(Q[: shape[0], : shape[0]], low, shape, keywords, proof)
        elif low:
            result = flipwise.solve_ising(h, Q, **keywords)
        else:
            result = flipwise.solve_qubo(Q + np.diag(h), **keywords)
    judge(result, X, values, allowed, proof and kind != "columns", float(values[allowed].min()))
    return kind + (" and fixed" if "fixed" in keywords else "")


def columns_answer(Q: Any, low: int, shape: tuple[int, ...], keywords: dict[str, Any], proof: bool) -> Any:
    """A function of a matrix variable, which has no bound: it is searched."""

    def f(x: Any) -> tuple[float, Any]:
        v = x if low else (x + 1.0) / 2.0
        return float(np.einsum("ir,ij,jr->", v, Q, v)), 2.0 * Q @ v / (1.0 if low else 2.0)

    del keywords["bound"]
    if proof:
        keywords.update(method="exact")
    else:
        keywords["effort"] = 1.0
    result = flipwise.minimize(f, shape, **keywords)
    result.x = np.where(result.x > 0, 1, low)
    return result


def graph_case(rng: np.random.Generator, function: str, proof: bool) -> str:
    """`maxcut` and `bisect` with fixed nodes, and `densest_subgraph`."""
    n = int(rng.integers(4, LARGEST + 1))
    W = np.triu(rng.integers(-3 if function == "maxcut" else 0, 6, (n, n)) * (rng.random((n, n)) < 0.6), 1)
    W[0, 1] = 2
    X = points_of(n)
    inside = rng.integers(0, 2, n)
    k = int(rng.integers(2, n))
    if function == "densest_subgraph":
        inside = rng.permutation(np.arange(n) < k).astype(int)
    if function == "bisect":
        inside = rng.permutation(np.arange(n) < n // 2).astype(int)
    chosen = rng.permutation(n)[: int(rng.integers(0, 3)) if function != "densest_subgraph" else 0]
    allowed = (X[:, chosen] == inside[chosen]).all(axis=1)
    symmetric = (W + W.T).astype(float)
    bound = "auto" if proof else "none"
    if function == "densest_subgraph":
        allowed &= X.sum(axis=1) == k
        values = np.einsum("ki,ij,kj->k", X, W, X)
        found: Any = flipwise.densest_subgraph(symmetric, k, bound=bound, seed=0)
    else:
        values = np.einsum("ki,ij,kj->k", X, W, 1 - X) + np.einsum("ki,ij,kj->k", 1 - X, W, X)
        fixed = {int(i): int(2 * inside[i] - 1) for i in chosen}
        if function == "bisect":
            allowed &= abs(2 * X.sum(axis=1) - n) <= n % 2
        call: Any = getattr(flipwise, function)
        found = call(symmetric, fixed=fixed, bound=bound, seed=0)
    best = float((values[allowed].min if function == "bisect" else values[allowed].max)())
    side = -1 if function == "bisect" else 1
    bits = (np.asarray(found.x).reshape(-1) > 0).astype(int)
    at = int((bits << np.arange(n)).sum())
    assert allowed[at], "infeasible"
    assert values[at] == best, f"value {values[at]}, the best is {best}"
    if found.bound is not None:
        assert side * (found.bound - found.value) >= 0
    assert not proof or found.optimal, f"not proven: {found.value} {found.bound}"
    return "fixed" if chosen.size else "free"


def cqm_case(rng: np.random.Generator, kind: str) -> None:
    """`sample_cqm` on bits and spins under rows."""
    import dimod

    from flipwise.interop.dimod import FlipwiseSampler

    n = int(rng.integers(2, 11))
    spins = rng.random(n) < 0.4
    X = points_of(n)
    V = np.where(spins, 2 * X - 1, X)
    inside = V[int(rng.integers(len(V)))]
    variables = [dimod.Spin(f"v{i}") if spin else dimod.Binary(f"v{i}") for i, spin in enumerate(spins)]
    Q, h = rng.integers(-9, 10, (n, n)), rng.integers(-9, 10, n)
    cqm = dimod.ConstrainedQuadraticModel()
    cqm.set_objective(
        sum(int(Q[i, j]) * variables[i] * variables[j] for i in range(n) for j in range(i))
        + sum(int(h[i]) * variables[i] for i in range(n))
    )
    values = np.einsum("ki,ij,kj->k", V, np.tril(Q, -1), V) + V @ h
    allowed = np.ones(len(V), bool)
    for row in range(int(rng.integers(1, 4))):
        a = rng.integers(-3, 6, n)
        if not a.any():
            continue
        at = int(a @ inside)
        left = sum(int(c) * v for c, v in zip(a, variables, strict=True))
        sense = int(rng.integers(3)) if kind != "equalities" else 2
        sums = V @ a
        allowed &= (sums <= at + 1) if sense == 0 else (sums >= at - 1) if sense == 1 else sums == at
        cqm.add_constraint(
            left <= at + 1 if sense == 0 else left >= at - 1 if sense == 1 else left == at, label=f"r{row}"
        )
    found = FlipwiseSampler().sample_cqm(cqm, seed=0, effort=0.3)
    assert all(cqm.check_feasible(sample) for sample in found.samples())
    assert found.first.energy == values[allowed].min(), f"{found.first.energy}, the best is {values[allowed].min()}"
