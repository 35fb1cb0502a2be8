"""The file of a checkpoint: exact, checksummed, locked, refused where it does not fit, harmless when it fails."""

from __future__ import annotations

import contextlib
import errno
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import flipwise
from flipwise.foundation import container
from tests.engine.killing import EDGES, A, Killed, killer


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
    with pytest.raises(Killed):
        flipwise.minimize(A, seed=0, restarts=5, checkpoint=path, every=0, callback=killer(4))
    kept = path.read_bytes()

    def failing(descriptor: int) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "fsync", failing)
    with pytest.raises(Killed):
        flipwise.minimize(A, seed=0, restarts=5, checkpoint=path, every=0, callback=killer(9))
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
        (A + 1.0, {}, "other numbers"),
    ],
)
def test_a_checkpoint_of_another_run_is_refused(
    matrix: np.ndarray, change: dict[str, Any], words: str, tmp_path: Path
) -> None:
    """Shape, constraint, method, options and the objective itself must fit."""
    path = tmp_path / "run.checkpoint"
    with pytest.raises(Killed):
        flipwise.minimize(A, seed=0, restarts=5, checkpoint=path, every=0, callback=killer(4))
    with pytest.raises(flipwise.InvalidInput, match=words):
        flipwise.minimize(matrix, **({"seed": 0, "restarts": 5, "checkpoint": path} | change))
    assert path.exists()


def test_a_missing_folder_and_a_bad_interval_are_refused(tmp_path: Path) -> None:
    """Errors come before any work."""
    with pytest.raises(flipwise.InvalidInput, match="does not exist"):
        flipwise.minimize(A, checkpoint=tmp_path / "none" / "run")
    with pytest.raises(flipwise.InvalidInput, match="every"):
        flipwise.minimize(A, checkpoint=tmp_path / "run", every=-1)


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
        "portfolio": partial(flipwise.minimize, A[:12, :12], seed=0, method="portfolio", effort=3 / 30),
        "counted": partial(
            flipwise.minimize,
            A[:12, :12],
            seed=0,
            method="portfolio",
            effort=3 / 30,
            constraint=flipwise.Cardinality(4),
        ),
        "dense subgraph": partial(flipwise.densest_subgraph, (200, EDGES), 20, seed=1, effort=0.05, bound="none"),
    }[kind]
    with pytest.raises(Killed):
        solve(checkpoint=path, every=0, callback=killer(12 if kind == "dense subgraph" else 4))
    state = container.decode("checkpoint", path.read_bytes(), "kept")
    for _ in range(25):
        path.write_bytes(container.encode("checkpoint", _altered(state, rng)))
        with contextlib.suppress(flipwise.FlipwiseError):
            solve(checkpoint=path, every=60)
        assert not list(tmp_path.glob(".*"))  # no lock is left
