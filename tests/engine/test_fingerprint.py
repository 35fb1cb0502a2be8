"""A checkpoint is taken over by its own problem and by no other, whatever the two have in common."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import flipwise
from flipwise.engine.fingerprint import data_hash, problem_data
from flipwise.foundation import container
from flipwise.model.problem import as_problem
from tests.engine.killing import EDGES, A, Killed, killer

SMALL = A[:12, :12]


def _changed(matrix: np.ndarray, i: int, j: int, by: float) -> np.ndarray:
    other = matrix.copy()
    other[i, j] += by
    other[j, i] = other[i, j]
    return other


@given(arrays.arrays(np.float64, (3, 4), elements=st.floats(-9, 9, width=32)), st.integers(0, 11))
def test_one_other_number_is_another_hash(array: np.ndarray, place: int) -> None:
    """A copy in another memory layout hashes the same; one other entry, type or shape does not."""
    whole = data_hash({"A": array, "k": 3}, {})
    assert data_hash({"k": 3, "A": np.asfortranarray(array.copy())}, {}) == whole
    other = array.copy()
    other.reshape(-1)[place] += 1.0
    different = [other, array.T.copy(), array.astype(np.float32), array.reshape(-1), [array], sp.csr_array(array)]
    hashes = {whole, data_hash({"A": array, "k": 4}, {}), *(data_hash({"A": each, "k": 3}, {}) for each in different)}
    assert len(hashes) == 2 + len(different)


@pytest.mark.parametrize(
    "objective",
    [
        flipwise.Quadratic(SMALL, np.arange(12.0), variables="binary"),
        flipwise.Quadratic(sp.csr_array(np.where(np.abs(SMALL) > 1, SMALL, 0.0))),
        flipwise.Quadratic([flipwise.LowRank(np.ones((12, 2)), [1.0, -1.0]), SMALL]),
        flipwise.Polynomial({(0, 1, 2): 3.0, (4, 11): -1.0, (3,): 2.0}),
    ],
    ids=["dense", "sparse", "low rank", "polynomial"],
)
@pytest.mark.parametrize("method", ["dpcd", "portfolio", "mpec-epm"])
def test_solving_a_problem_does_not_change_its_hash(objective: Any, method: str) -> None:
    """What objectives compute for themselves and keep is no part of their data."""
    problem = as_problem(objective, None, None)
    before = data_hash(problem_data(problem), {})
    flipwise.minimize(objective, method=method, seed=0, max_iterations=3)
    assert data_hash(problem_data(problem), {}) == before


def _function(matrix: np.ndarray) -> Callable[[np.ndarray], tuple[float, np.ndarray]]:
    return lambda x: (float(x @ matrix @ x), 2.0 * matrix @ x)


GROUPS = np.arange(12) % 2
PROBLEMS: dict[str, Callable[..., Any]] = {
    "dense": partial(flipwise.minimize, SMALL),
    "an entry": partial(flipwise.minimize, _changed(SMALL, 2, 5, 1e-12)),
    "sparse": partial(flipwise.minimize, sp.csr_array(SMALL)),
    "linear": partial(flipwise.minimize, flipwise.Quadratic(SMALL, np.eye(12)[3] * 1e-9)),
    "groups": partial(flipwise.minimize, SMALL, constraint=flipwise.GroupCounts(GROUPS, np.array([3, 3]))),
    "other groups": partial(flipwise.minimize, SMALL, constraint=flipwise.GroupCounts(1 - GROUPS, np.array([3, 3]))),
    "polynomial": partial(flipwise.minimize, flipwise.Polynomial({(i, i + 1): 1.0 for i in range(11)})),
    "polynomial too": partial(flipwise.minimize, flipwise.Polynomial({(i, i + 1): 1.0 + i for i in range(11)})),
    "function": partial(flipwise.minimize, _function(SMALL), 12),
    "another function": partial(flipwise.minimize, _function(_changed(SMALL, 2, 5, 3.0)), 12),
}


def test_exchanged_checkpoints_are_refused(tmp_path: Path) -> None:
    """All 90 ordered pairs of ten problems in twelve variables; each takes its own."""
    kept = {}
    for name, solve in PROBLEMS.items():
        path = tmp_path / "run"
        with pytest.raises(Killed):
            solve(checkpoint=path, every=0, seed=0, restarts=5, callback=killer(6))
        kept[name] = path.read_bytes()
        path.unlink()
    for one, other in itertools.product(PROBLEMS, repeat=2):
        path.write_bytes(kept[other])
        solve = partial(PROBLEMS[one], checkpoint=path, seed=0, restarts=5)
        if one == other:
            assert solve().info["resumed"]
        else:
            with pytest.raises(flipwise.InvalidInput, match="belongs to another run"):
                solve()


def test_a_problem_that_agrees_at_the_best_point_is_another_one(tmp_path: Path) -> None:
    """Two matrices with the same value at the point that the checkpoint holds, and another minimum."""
    path = tmp_path / "run"
    with pytest.raises(Killed):
        flipwise.minimize(A, checkpoint=path, every=0, seed=0, restarts=5, callback=killer(4))
    x = container.decode("checkpoint", path.read_bytes(), "")["run/position.best_x"]
    other = _changed(_changed(A, 0, 1, 50.0 * x[0] * x[1]), 2, 3, -50.0 * x[2] * x[3])
    assert np.isclose(x @ other @ x, x @ A @ x)
    with pytest.raises(flipwise.InvalidInput, match="other numbers"):
        flipwise.minimize(other, checkpoint=path, seed=0, restarts=5)


@pytest.mark.parametrize("function", ["maxcut", "bisect", "partition", "densest_subgraph", "fit"])
def test_one_other_edge_or_row_is_another_problem(function: str, tmp_path: Path) -> None:
    """Graphs of as many nodes and edges, and vectors of the same shape, are told apart."""
    path = tmp_path / "run"
    moved = EDGES.copy()
    moved[7] = (moved[7] + 1) % 200
    if function == "fit":
        hashing = pytest.importorskip("flipwise.hashing")
        data: list[Any] = [np.random.default_rng(seed).standard_normal((80, 6)) for seed in (0, 0)]
        data[1][5, 2] += 1e-6

        def solve(X: Any, **options: Any) -> Any:
            return hashing.ARE(6, random_state=0, checkpoint=path, **options).fit(X)
    else:
        data = [(200, EDGES), (200, moved)]
        more = {"partition": [100, 60, 40], "densest_subgraph": 20}.get(function)

        def solve(graph: Any, **options: Any) -> Any:
            given = [graph] if more is None else [graph, more]
            return getattr(flipwise, function)(*given, seed=0, effort=0.1, checkpoint=path, **options)

    with pytest.raises(Killed):
        solve(data[0], every=0, callback=killer({"densest_subgraph": 12, "partition": 3}.get(function, 2)))
    assert path.exists()
    with pytest.raises(flipwise.InvalidInput, match="belongs to another run"):
        solve(data[1])
    solve(data[0])


def test_damaged_checkpoints_are_refused(tmp_path: Path) -> None:
    """Fifty files with a bit changed, cut short, prolonged or replaced: an InvalidFile that names the file, each."""
    rng = np.random.default_rng(0)
    path = tmp_path / "run.checkpoint"
    with pytest.raises(Killed):
        flipwise.minimize(SMALL, checkpoint=path, every=0, seed=0, callback=killer(3), restarts=3)
    whole = path.read_bytes()
    foreign = [b"", b"PK\x03\x04", container.encode("result", {"x": np.ones(3)}), whole + b"\n", whole[1:]]
    damaged = foreign + [whole[: int(cut)] for cut in rng.integers(1, len(whole), 15)]
    for place in rng.integers(0, len(whole), 30):
        flipped = bytearray(whole)
        flipped[place] ^= 1 << int(rng.integers(8))
        damaged.append(bytes(flipped))
    assert len(damaged) == 50
    for content in damaged:
        path.write_bytes(content)
        with pytest.raises(flipwise.InvalidFile, match=r"run\.checkpoint"):
            flipwise.minimize(SMALL, checkpoint=path, seed=0, restarts=3)
        assert path.read_bytes() == content
