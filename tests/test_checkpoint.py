"""Checkpoints: exact, atomic, locked, harmless when they fail; a killed run goes on to the same answer."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import flipwise
from flipwise import container
from tests.reference import random_symmetric

A = random_symmetric(np.random.default_rng(0), 50)


class _Killed(Exception):
    """Stands for the death of the process at a chosen iteration."""


def _killer(iteration: int) -> Any:
    def callback(progress: flipwise.Progress) -> None:
        if progress.iteration == iteration:
            raise _Killed

    return callback


@pytest.mark.parametrize("variant", ["plain", "momentum", "adam", "adagrad"])
@pytest.mark.parametrize("constraint", [flipwise.Free(), flipwise.Cardinality(20)])
def test_a_run_killed_anywhere_goes_on_to_the_same_answer(variant: str, constraint: Any, tmp_path: Path) -> None:
    """Killed at several iterations in turn, the resumed run ends with the same point, value and count of iterations."""
    options = {"constraint": constraint, "seed": 3, "restarts": 6, "variant": variant, "max_iterations": 15}
    whole = flipwise.minimize(A, **options)
    path = tmp_path / "run.checkpoint"
    for iteration in (2, 5, 9, whole.iterations - 1):
        with pytest.raises(_Killed):
            flipwise.minimize(A, checkpoint=path, every=0, callback=_killer(iteration), **options)
    resumed = flipwise.minimize(A, checkpoint=path, every=0, **options)
    assert resumed.info["resumed"] is True
    assert np.array_equal(resumed.x, whole.x) and resumed.value == whole.value
    assert resumed.iterations == whole.iterations and resumed.status == whole.status
    assert not path.exists()  # the run is over


def test_methods_without_a_state_of_their_own_resume_between_restarts(tmp_path: Path) -> None:
    """SGM keeps no state; its checkpoint is the last restart."""
    options = {"method": "sgm", "seed": 1, "restarts": 5}
    whole = flipwise.minimize(A, **options)
    path = tmp_path / "run"
    with pytest.raises(_Killed):
        flipwise.minimize(A, checkpoint=path, every=0, callback=_killer(whole.iterations - 1), **options)
    assert np.array_equal(flipwise.minimize(A, checkpoint=path, every=0, **options).x, whole.x)


def _resumed_after_kills(solve: Any, path: Path, iterations: tuple[int, ...]) -> Any:
    """Kill `solve` at each of these iterations in turn, then let it end."""
    for iteration in iterations:
        with pytest.raises(_Killed):
            solve(checkpoint=path, every=0, callback=_killer(iteration))
    return solve(checkpoint=path, every=0, callback=lambda progress: None)


SPARSE = sp.random_array((150, 150), density=0.04, rng=np.random.default_rng(3), format="csr")
SPARSE = SPARSE + SPARSE.T


def _cubic(x: np.ndarray) -> tuple[float, np.ndarray]:
    weights = np.arange(30) % 7 - 3.0
    return float(np.sum(weights * x**3) + (x.sum() - 4) ** 2), 3 * weights * x**2 + 2 * (x.sum() - 4)


@pytest.mark.parametrize(
    ("objective", "more"),
    [
        (A, {}),
        (SPARSE, {}),
        (A, {"constraint": flipwise.Cardinality(20)}),
        (SPARSE, {"constraint": flipwise.Cardinality(60)}),
        (_cubic, {"n_or_shape": 30}),
    ],
    ids=["dense", "sparse", "dense counted", "sparse counted", "smooth"],
)
def test_the_portfolio_goes_on_between_its_rounds(objective: Any, more: dict[str, Any], tmp_path: Path) -> None:
    """Killed in the descent, in rounds and in a second restart, every kind of population ends with the same point."""
    solve = partial(flipwise.minimize, objective, method="portfolio", seed=1, rounds=5, restarts=2, **more)
    whole = solve()
    path = tmp_path / "run.checkpoint"
    kills = (2, *(k for k in (4, 7, 9) if 4 < k < whole.iterations - 1), whole.iterations - 1)
    resumed = _resumed_after_kills(solve, path, kills)
    assert resumed.info["resumed"] and not path.exists()
    assert np.array_equal(resumed.x, whole.x) and resumed.value == whole.value
    assert resumed.iterations == whole.iterations and resumed.status is whole.status


@pytest.mark.parametrize("kind", ["qubo", "ising", "maxcut", "bisect"])
def test_models_and_cuts_resume_to_the_same_answer_and_proof(kind: str, tmp_path: Path) -> None:
    """`checkpoint` and `every` work in solve_qubo, solve_ising and maxcut; the bound comes with them."""
    solve = {
        "qubo": partial(flipwise.solve_qubo, A, seed=2, rounds=6),
        "ising": partial(flipwise.solve_ising, np.zeros(50), A, seed=2, rounds=6, count=20),
        "maxcut": partial(flipwise.maxcut, SPARSE, seed=2, rounds=6),
        "bisect": partial(flipwise.bisect, SPARSE, seed=2, rounds=8, bound="simple"),
    }[kind]
    whole = solve(callback=lambda progress: None)
    path = tmp_path / "run.checkpoint"
    resumed = _resumed_after_kills(solve, path, (3, 6))
    assert np.array_equal(resumed.x, whole.x) and resumed.value == whole.value
    assert resumed.bound == whole.bound and resumed.bound is not None
    assert list(tmp_path.iterdir()) == []


def test_a_kill_during_the_proof_does_not_cost_the_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The search is over, the bound is not: the next call goes straight to the bound."""
    from flipwise.qubo import solve as module

    path = tmp_path / "run.checkpoint"
    whole = flipwise.solve_qubo(A, seed=2, rounds=4)

    def killed(*_: object) -> float:
        raise _Killed

    with monkeypatch.context() as patched:
        patched.setattr(module, "proven_bound", killed)
        with pytest.raises(_Killed):
            flipwise.solve_qubo(A, seed=2, rounds=4, checkpoint=path)
    assert path.exists()
    steps: list[int] = []
    again = flipwise.minimize  # what the second call may not need

    def counted(*arguments: Any, **keywords: Any) -> Any:
        result = again(*arguments, **keywords)
        steps.append(len(result.trace.records))
        return result

    monkeypatch.setattr(module, "minimize", counted)
    resumed = flipwise.solve_qubo(A, seed=2, rounds=4, checkpoint=path)
    assert steps == [0]
    assert np.array_equal(resumed.x, whole.x) and resumed.bound == whole.bound
    assert resumed.iterations == whole.iterations and not path.exists()


def _altered(state: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """A state with one entry removed, of another kind, of another shape, or with other numbers."""
    changed = dict(state)
    name = str(rng.choice([each for each in changed if each not in ("fingerprint", "stages")]))
    value = changed[name]
    kind = int(rng.integers(4))
    if kind == 0:
        del changed[name]
    elif kind == 1 or not isinstance(value, np.ndarray):
        awkward = (None, "text", -1, 10**30, [], {}, float("nan"), np.zeros(3), np.zeros((2, 2), dtype=np.int64))
        changed[name] = awkward[int(rng.integers(len(awkward)))]
    elif kind == 2:
        changed[name] = value.reshape(-1)[: value.size // 2]
    else:
        changed[name] = (value.astype(np.float64) * 1e6 - 7).astype(value.dtype)
    return changed


@pytest.mark.parametrize("kind", ["descent", "portfolio", "counted", "dense subgraph"])
def test_a_checkpoint_with_a_false_state_is_refused_or_harmless(kind: str, tmp_path: Path) -> None:
    """Even with a right checksum no state leads to anything but a result or an error of our own."""
    rng = np.random.default_rng(0)
    path = tmp_path / "run.checkpoint"
    solve = {
        "descent": partial(flipwise.minimize, A[:12, :12], seed=0, restarts=4, max_iterations=20),
        "portfolio": partial(flipwise.minimize, A[:12, :12], seed=0, method="portfolio", rounds=3),
        "counted": partial(
            flipwise.minimize, A[:12, :12], seed=0, method="portfolio", rounds=3, constraint=flipwise.Cardinality(4)
        ),
        "dense subgraph": partial(flipwise.densest_subgraph, (200, EDGES), 20, seed=1, effort=0.05, certify=False),
    }[kind]
    with pytest.raises(_Killed):
        solve(checkpoint=path, every=0, callback=_killer(12 if kind == "dense subgraph" else 4))
    state = container.decode("checkpoint", path.read_bytes(), "kept")
    for _ in range(25):
        path.write_bytes(container.encode("checkpoint", _altered(state, rng)))
        with contextlib.suppress(flipwise.FlipwiseError):
            solve(checkpoint=path, every=60)
        assert not list(tmp_path.glob(".*"))  # no lock is left


EDGES = np.random.default_rng(0).integers(0, 200, (1500, 2))
WEIGHTED = sp.coo_array((np.random.default_rng(1).random(1500), (EDGES[:, 0], EDGES[:, 1])), shape=(200, 200)).tocsr()


@pytest.mark.parametrize("graph", [(200, EDGES), WEIGHTED + WEIGHTED.T], ids=["plain", "weighted"])
def test_dense_subgraphs_go_on_among_their_walks(graph: Any, tmp_path: Path) -> None:
    """Killed in the starts, in the first walks, among the moves and at a second k: same nodes, bounds, iterations."""
    solve = partial(flipwise.densest_subgraph, graph, [8, 20], seed=1, effort=0.1)
    whole = solve()
    path = tmp_path / "run.checkpoint"
    for size, iteration in ((20, 2), (20, 12), (8, 3), (8, whole[0].iterations)):

        def kill(progress: flipwise.Progress, size: int = size, iteration: int = iteration) -> None:
            if progress.iteration == iteration and int((progress.x > 0).sum()) == size:
                raise _Killed

        with pytest.raises(_Killed):
            solve(checkpoint=path, every=0, callback=kill)
    resumed = solve(checkpoint=path, every=0)
    assert not path.exists()
    for mine, other in zip(resumed, whole):
        assert mine.info["resumed"] and np.array_equal(mine.x, other.x) and mine.density == other.density
        assert mine.bounds == other.bounds and mine.iterations == other.iterations and mine.status is other.status


def test_a_proof_of_a_dense_subgraph_is_not_made_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pair bound of the first k comes from the file when the run is killed at the second."""
    from flipwise.graphs import densest_solve

    solve = partial(flipwise.densest_subgraph, (200, EDGES), [8, 20], seed=1, effort=0.1)
    whole = solve()
    path = tmp_path / "run.checkpoint"
    calls: list[int] = []
    real = densest_solve.pair_bound

    def counted(core: Any, k: int, *rest: Any) -> float:
        calls.append(k)
        return real(core, k, *rest)

    monkeypatch.setattr(densest_solve, "pair_bound", counted)

    def kill(progress: flipwise.Progress) -> None:
        if int((progress.x > 0).sum()) == 8:
            raise _Killed

    with pytest.raises(_Killed):
        solve(checkpoint=path, every=0, callback=kill)
    resumed = solve(checkpoint=path, every=0)
    assert calls == [20, 8]
    assert [result.bounds for result in resumed] == [result.bounds for result in whole]


def test_a_dense_subgraph_that_was_stopped_goes_on(tmp_path: Path) -> None:
    """A callback or a time limit leaves the file of one k; the next call ends with the answer of the unlimited run."""
    path = tmp_path / "run.checkpoint"
    solve = partial(flipwise.densest_subgraph, (200, EDGES), 20, seed=1, effort=0.2)
    whole = solve()
    first = solve(checkpoint=path, every=0, callback=lambda progress: progress.iteration == 20)
    assert first.status is flipwise.Status.CALLBACK and path.exists()

    def slow(progress: flipwise.Progress) -> None:
        time.sleep(2.0 if progress.iteration == 25 else 0.0)

    second = solve(checkpoint=path, every=60, time_limit=first.seconds + 1.0, callback=slow)
    assert second.status is flipwise.Status.TIME_LIMIT and path.exists()
    assert np.array_equal(solve(checkpoint=path, every=0).x, whole.x)
    assert not path.exists()


@pytest.mark.parametrize(
    ("graph", "change", "words"),
    [
        ((200, EDGES), {"k": 9}, "its k is"),
        ((200, EDGES), {"effort": 2.0}, "effort"),
        ((200, EDGES), {"start": [1, 2]}, "start"),
        ((200, EDGES[:-50]), {}, "arcs"),
        ((200, (EDGES * 7 + 3) % 200), {}, "weight"),
    ],
)
def test_a_checkpoint_of_another_dense_subgraph_is_refused(
    graph: Any, change: dict[str, Any], words: str, tmp_path: Path
) -> None:
    """Sizes, effort, start and the graph itself must fit."""
    path = tmp_path / "run.checkpoint"
    with pytest.raises(_Killed):
        flipwise.densest_subgraph((200, EDGES), 8, seed=1, checkpoint=path, every=0, callback=_killer(20))
    with pytest.raises(flipwise.InvalidInput, match=words):
        flipwise.densest_subgraph(graph, **({"k": 8, "seed": 1, "checkpoint": path} | change))
    assert path.exists()


def test_another_method_keeps_a_checkpoint_of_one_dense_subgraph(tmp_path: Path) -> None:
    """One k goes on as in minimize; several are refused."""
    path = tmp_path / "run.checkpoint"
    solve = partial(flipwise.densest_subgraph, (200, EDGES), method="tpm", seed=1)
    whole = solve(k=8, restarts=4)
    assert np.array_equal(solve(k=8, restarts=4, checkpoint=path, every=0).x, whole.x)
    with pytest.raises(flipwise.InvalidInput, match="several k"):
        solve(k=[8, 9], checkpoint=path)


SCRIPT = """
import sys, time, numpy as np, flipwise
kind, answer, *path = sys.argv[1:]
rng = np.random.default_rng(0)
A = rng.standard_normal((60, 60))
options = dict(seed=5, callback=lambda p: time.sleep(0.004))
if path:
    options.update(checkpoint=path[0], every=0.01)
print("ready", flush=True)
if kind == "descent":
    result = flipwise.minimize(A + A.T, restarts=25, constraint=flipwise.Cardinality(30), **options)
elif kind == "portfolio":
    result = flipwise.solve_qubo(A + A.T, rounds=15, bound="none", **options)
else:
    result = flipwise.densest_subgraph((80, rng.integers(0, 80, (400, 2))), [6, 12], effort=0.1, **options)[0]
np.save(answer, result.x)
"""
KINDS = ("descent", "portfolio", "dense subgraph")


def killed_and_resumed(folder: Path, rng: np.random.Generator, kind: str) -> tuple[int, bool]:
    """SIGKILL the script at random moments until it ends; returns (kills, same answer as without)."""
    whole, mine, path = folder / f"{kind}.npy", folder / "mine.npy", folder / "run.checkpoint"
    command = [sys.executable, "-c", SCRIPT, kind]
    seconds = folder / f"{kind}.seconds"
    if not whole.exists():
        with subprocess.Popen([*command, str(whole)], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None and process.stdout.readline()
            began = time.monotonic()
            assert process.wait() == 0
        seconds.write_text(str(time.monotonic() - began))
    mine.unlink(missing_ok=True)
    kills = 0
    while not mine.exists():
        process = subprocess.Popen([*command, str(mine), str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert process.stdout is not None and process.stderr is not None
        process.stdout.readline()
        if kills < 3:
            time.sleep(float(rng.uniform(0.0, 0.6)) * float(seconds.read_text()))
            process.send_signal(signal.SIGKILL)
            kills += process.wait() == -signal.SIGKILL
        _, errors = process.communicate()
        assert process.returncode in (0, -signal.SIGKILL), errors
    return kills, np.array_equal(np.load(whole), np.load(mine))


@pytest.mark.parametrize("kind", KINDS)
def test_sigkill_at_random_moments_changes_nothing(kind: str, tmp_path: Path) -> None:
    """A process killed at random times and started again ends with the uninterrupted answer.

    On demand, with more runs: FLIPWISE_KILL_RUNS=200 pytest tests/test_checkpoint.py -k sigkill --timeout 3600, or
    benchmarks/robustness.py, which stores the outcome.
    """
    rng = np.random.default_rng()
    runs = int(os.environ.get("FLIPWISE_KILL_RUNS", "1"))
    outcomes = [killed_and_resumed(tmp_path, rng, kind) for _ in range(runs)]
    assert all(same for _, same in outcomes)


@given(st.dictionaries(st.text(max_size=8), st.one_of(st.integers(), st.floats(allow_nan=False), st.text(), st.none())))
def test_encoding_round_trips(values: dict[str, Any]) -> None:
    """Plain values and arrays come back as they were."""
    arrays = {"array one": np.arange(6.0).reshape(2, 3), "array two": np.array([True, False])}
    back = container.decode("test", container.encode("test", {**values, **arrays}), "memory")
    assert all(np.array_equal(back.pop(name), array) for name, array in arrays.items())
    assert {k: v for k, v in back.items() if k not in arrays} == {k: v for k, v in values.items() if k not in arrays}


@given(st.integers(0, 10_000), st.integers(1, 255))
def test_any_damaged_byte_is_noticed(position: int, change: int) -> None:
    """A flipped byte anywhere makes the file invalid, never a wrong state."""
    content = bytearray(container.encode("test", {"x": np.ones(5), "k": 3}))
    content[position % len(content)] ^= change
    with pytest.raises(flipwise.InvalidFile, match="memory"):
        container.decode("test", bytes(content), "memory")


@given(st.binary(max_size=300))
def test_arbitrary_bytes_are_refused(content: bytes) -> None:
    """Garbage, also behind the right first bytes, is an InvalidFile."""
    for bytes_ in (content, container.MAGIC + content):
        with pytest.raises(flipwise.InvalidFile):
            container.decode("test", bytes_, "memory")


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EACCES, errno.EINTR, errno.EIO])
def test_a_checkpoint_that_cannot_be_written_does_not_stop_the_run(
    code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A full disk or a refused write is logged once; the result is the same and an older checkpoint survives."""
    path = tmp_path / "run.checkpoint"
    with pytest.raises(_Killed):
        flipwise.minimize(A, seed=0, restarts=5, checkpoint=path, every=0, callback=_killer(4))
    kept = path.read_bytes()

    def failing(descriptor: int) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "fsync", failing)
    with pytest.raises(_Killed):
        flipwise.minimize(A, seed=0, restarts=5, checkpoint=path, every=0, callback=_killer(9))
    assert path.read_bytes() == kept
    assert sum("could not write" in record.message for record in caplog.records) == 1
    result = flipwise.minimize(A, seed=0, restarts=5, checkpoint=path, every=0)
    assert result.info["checkpoint_error"] is not None
    assert result.value == flipwise.minimize(A, seed=0, restarts=5).value
    assert [p.name for p in tmp_path.iterdir()] == []  # no partial or lock files are left


@pytest.mark.skipif(sys.platform == "win32", reason="limits the size of files by POSIX means")
def test_short_writes_lose_nothing(tmp_path: Path) -> None:
    """Where files may not grow past 300 bytes the system writes a part and then fails: the run ends all the same."""
    code = (
        "import resource, sys, numpy as np, flipwise\n"
        "A = np.random.default_rng(0).standard_normal((50, 50)); A = A + A.T\n"
        "whole = flipwise.minimize(A, seed=0, restarts=3)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (300, resource.RLIM_INFINITY))\n"
        "result = flipwise.minimize(A, seed=0, restarts=3, checkpoint=sys.argv[1], every=0)\n"
        "assert (result.x == whole.x).all() and 'too large' in result.info['checkpoint_error']\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "run.checkpoint")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "could not write" in done.stderr and list(tmp_path.iterdir()) == []


def test_two_runs_cannot_share_a_file(tmp_path: Path) -> None:
    """The second run is refused before it begins."""
    path = tmp_path / "run.checkpoint"

    def second(progress: flipwise.Progress) -> None:
        with pytest.raises(flipwise.InvalidInput, match="in use"):
            flipwise.minimize(A, seed=0, checkpoint=path)

    flipwise.minimize(A, seed=0, checkpoint=path, callback=second, max_iterations=1)


@pytest.mark.parametrize(
    ("matrix", "change", "words"),
    [
        (A, {"constraint": flipwise.Cardinality(3)}, "constraint"),
        (A, {"restarts": 7}, "restarts"),
        (A, {"alpha": 2.0}, "options"),
        (A, {"method": "sgm"}, "method"),
        (np.eye(3), {}, "shape"),
        (A + 1.0, {}, "value"),
    ],
)
def test_a_checkpoint_of_another_run_is_refused(
    matrix: np.ndarray, change: dict[str, Any], words: str, tmp_path: Path
) -> None:
    """Shape, constraint, method, options and the objective itself must fit."""
    path = tmp_path / "run.checkpoint"
    with pytest.raises(_Killed):
        flipwise.minimize(A, seed=0, restarts=5, checkpoint=path, every=0, callback=_killer(4))
    with pytest.raises(flipwise.InvalidInput, match=words):
        flipwise.minimize(matrix, **({"seed": 0, "restarts": 5, "checkpoint": path} | change))
    assert path.exists()


def test_a_missing_folder_and_a_bad_interval_are_refused(tmp_path: Path) -> None:
    """Errors come before any work."""
    with pytest.raises(flipwise.InvalidInput, match="does not exist"):
        flipwise.minimize(A, checkpoint=tmp_path / "none" / "run")
    with pytest.raises(flipwise.InvalidInput, match="every"):
        flipwise.minimize(A, checkpoint=tmp_path / "run", every=-1)


def test_a_time_limit_leaves_a_checkpoint_to_go_on_from(tmp_path: Path) -> None:
    """A run that ran out of time continues with more."""
    path = tmp_path / "run.checkpoint"
    first = flipwise.minimize(A, seed=0, restarts=40, checkpoint=path, every=0, time_limit=0.02)
    assert first.status is flipwise.Status.TIME_LIMIT and path.exists()
    second = flipwise.minimize(A, seed=0, restarts=40, checkpoint=path, every=0)
    assert second.value == flipwise.minimize(A, seed=0, restarts=40).value
