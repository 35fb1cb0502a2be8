"""Certificates of quadratics: they prove the bound of the result, and nothing that was changed is believed."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import flipwise
from flipwise.bounds import closing
from flipwise.bounds.cycle_tree import CycleTree
from flipwise.engine.certificate import Certificate
from flipwise.verification.integers import is_semidefinite, least_energy


def symmetric(n: int, density: float, weights: Callable[..., Any], rng: np.random.Generator) -> np.ndarray:
    upper = np.triu(weights(size=(n, n)) * (rng.random((n, n)) < density), 1)
    return np.asarray(upper + upper.T, dtype=float)


def brute_force(Q: np.ndarray, ones: int | None = None) -> float:
    points = (np.array(x) for x in product((0.0, 1.0), repeat=len(Q)))
    return min(float(x @ Q @ x) for x in points if ones is None or x.sum() == ones)


@pytest.mark.parametrize("seed", range(6))
def test_small_problems_are_proven_by_their_certificates(seed: int) -> None:
    """Brute force agrees, whatever the weights are like."""
    rng = np.random.default_rng(seed)
    scale = (1.0, 1e-6, 1e12)[seed % 3]
    Q = np.round(rng.normal(size=(8, 8)) * 8) * scale if seed < 3 else rng.normal(size=(8, 8)) * scale
    Q = (Q + Q.T) / 2.0
    for found, ones in ((flipwise.solve_qubo(Q, seed=0), None), (flipwise.solve_qubo(Q, count=3, seed=0), 3)):
        assert found.certificate is not None
        assert flipwise.verify(Q, found.certificate, count=ones) == found.bound
        assert found.bound == pytest.approx(brute_force(Q, ones), rel=1e-12)
    spins = flipwise.solve_ising(np.diag(Q), np.triu(Q, 1), 0.5, seed=0)
    assert flipwise.verify((np.diag(Q), np.triu(Q, 1)), spins.certificate, offset=0.5) == spins.bound
    plain = flipwise.minimize(Q, seed=0)
    assert flipwise.verify(Q, plain.certificate) == plain.bound == plain.value


def trees(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, Any, Certificate]]:
    """Certificates with branches of both kinds, of problems that would otherwise be enumerated."""
    rng = np.random.default_rng(3)
    monkeypatch.setattr(closing, "POINTS", 2.0)
    monkeypatch.setattr("flipwise.bounds.hypermetric_tree.ENUMERATED", 4)
    monkeypatch.setattr("flipwise.bounds.hypermetric_tree.ROUNDS", 1)
    monkeypatch.setattr("flipwise.bounds.cycle_tree.STALLED", 0)
    graph = sp.csr_array(symmetric(10, 1.0, rng.normal, rng))
    yield "semidefinite", graph, flipwise.maxcut(graph, seed=0, effort=0.1).certificate  # type: ignore[misc]
    monkeypatch.setattr(closing, "prove_part", lambda part, allowed: CycleTree(part, allowed).run())
    graph = sp.csr_array(symmetric(7, 1.0, lambda size: 1.0 + 0.01 * rng.normal(size=size), rng))
    yield "cycles", graph, flipwise.maxcut(graph, seed=0, effort=0.1).certificate  # type: ignore[misc]


def changed(value: Any) -> Iterator[Any]:
    """The value with one of its numbers a little larger or smaller, or one of its rows left out."""
    if isinstance(value, bool | str | float):
        return
    if isinstance(value, int):
        yield value + max(1, abs(value) // 1000)
        yield value - max(1, abs(value) // 1000)
    elif isinstance(value, dict):
        for name, part in value.items():
            for other in changed(part):
                yield {**value, name: other}
    elif isinstance(value, list):
        for at in sorted({0, len(value) // 2, len(value) - 1} if value else ()):
            yield value[:at] + value[at + 1 :]
            for other in changed(value[at]):
                yield [*value[:at], other, *value[at + 1 :]]


def test_trees_are_verified_and_changed_ones_prove_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """A changed proof is refused, or it is a proof still: of the same bound, never of a better one."""
    for kind, graph, certificate in trees(monkeypatch):
        assert certificate is not None
        assert flipwise.verify(graph, certificate) == certificate.bound
        nodes = [node for part in certificate.proof["parts"] for node in part["nodes"]]
        assert any("pair" in node for node in nodes)
        assert any(("U" if kind == "semidefinite" else "rows") in node for node in nodes)
        refused = tried = 0
        others = list(changed(certificate.proof))
        for proof in others[:: max(1, len(others) // 80)]:
            tried += 1
            try:
                assert flipwise.verify(graph, replace(certificate, proof=proof)) == certificate.bound
            except flipwise.InvalidCertificate:
                refused += 1
        assert refused > tried / 2
        better = certificate.bound - 1e-6 * abs(certificate.bound)
        with pytest.raises(flipwise.InvalidCertificate, match="claims"):
            flipwise.verify(graph, replace(certificate, bound=better))


def test_a_leaf_that_is_missing_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both sides of a pair must be there, and each node in one place only."""
    for _, graph, certificate in trees(monkeypatch):
        proof = copy.deepcopy(certificate.proof)
        node = next(node for node in proof["parts"][-1]["nodes"] if "pair" in node)
        node["children"] = [node["children"][0]] * 2
        with pytest.raises(flipwise.InvalidCertificate):
            flipwise.verify(graph, replace(certificate, proof=proof))


def test_another_problem_is_refused() -> None:
    """Also one that differs in its last digit, and a bisection where cuts were meant."""
    ring = np.array([[i, (i + 1) % 7, 1.0 + i] for i in range(7)])
    certificate = flipwise.maxcut((7, ring), seed=0).certificate
    assert certificate is not None
    other = ring.copy()
    other[3, 2] = np.nextafter(other[3, 2], 9.0)
    with pytest.raises(flipwise.InvalidCertificate, match="another problem"):
        flipwise.verify((7, other), certificate)
    with pytest.raises(flipwise.InvalidCertificate):
        flipwise.verify((7, ring), replace(certificate, function="bisect"))
    halves = flipwise.bisect((7, ring), seed=0).certificate
    assert halves is not None
    assert flipwise.verify((7, ring), halves) == halves.bound
    with pytest.raises(flipwise.InvalidCertificate):
        flipwise.verify((7, ring), replace(halves, problem={**halves.problem, "count": 2}))


def test_points_and_offset_are_those_that_the_caller_names() -> None:
    """A certificate cannot say by itself that it is of some points only, or that something is added to all values."""
    Q = np.array([[-1.0, 2.0], [2.0, -1.0]])
    both, shifted = flipwise.solve_qubo(Q, count=2, seed=0), flipwise.solve_qubo(Q, 100.0, seed=0)
    for result, given in ((both, {"count": 2}), (shifted, {"offset": 100.0})):
        assert result.certificate is not None
        assert flipwise.verify(Q, result.certificate, **given) == result.bound  # type: ignore[arg-type]
        for other in ({}, {"count": 1}, {"offset": 99.0}):
            with pytest.raises(flipwise.InvalidCertificate, match="it is of"):
                flipwise.verify(Q, result.certificate, **other)  # type: ignore[arg-type]


def test_files(tmp_path: Any) -> None:
    """A certificate is read as it was written; anything else is refused."""
    path, ring = tmp_path / "proof.cert", (5, [[0, 1], [1, 2], [2, 3], [3, 4], [4, 0]])
    result = flipwise.maxcut(ring, seed=0)
    assert result.certificate is not None
    result.certificate.save(path)
    assert flipwise.verify(ring, path) == 4.0
    result.save(tmp_path / "result")
    assert type(result).load(tmp_path / "result").certificate is None
    with pytest.raises(flipwise.InvalidFile):
        flipwise.Certificate.load(tmp_path / "result")
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(flipwise.InvalidFile, match="checksum"):
        flipwise.verify(ring, path)


def test_where_there_is_none() -> None:
    """Ranges, fixed variables and bounds of another kind have none."""
    Q = np.array([[-1.0, 2.0], [2.0, -1.0]])
    assert flipwise.minimize(Q, count=(0, 1), seed=0).certificate is None
    assert flipwise.minimize(Q, bound="simple", seed=0).certificate is None
    assert flipwise.minimize(Q, bound="none", seed=0).certificate is None


def test_semidefinite_or_not() -> None:
    """What is decided in integers is right at the border, too."""
    rng = np.random.default_rng(0)
    factor = rng.integers(-(10**9), 10**9, (6, 6)).astype(object)
    M = factor @ factor.T
    assert is_semidefinite(M)
    least = int(np.linalg.eigvalsh(M.astype(float))[0])
    assert not is_semidefinite(M - (least + least // 1000 + 10) * np.eye(6, dtype=object).astype(int).astype(object))
    assert not is_semidefinite(np.array([[0, 1], [1, 0]], dtype=object))
    assert is_semidefinite(np.zeros((3, 3), dtype=object))


def test_least_energy_of_long_integers() -> None:
    """Beyond 64 bits, and with so many spins at +1."""
    J = symmetric(7, 1.0, np.random.default_rng(1).normal, np.random.default_rng(1))
    long = np.array([[round(w * 2**90) for w in row] for row in J.tolist()], dtype=object)
    points = [np.array([*s, 1], dtype=object) for s in product((-1, 1), repeat=6)]
    for ones in (None, 2):
        values = [int(s @ long @ s) // 2 for s in points if ones is None or (s[:-1] > 0).sum() == ones]
        assert least_energy(long, ones) == min(values)
