"""What the tests of checkpoints share: problems, and ways to die in the middle of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import flipwise
from tests.reference import random_symmetric

A = random_symmetric(np.random.default_rng(0), 50)
SPARSE = sp.random_array((150, 150), density=0.04, rng=np.random.default_rng(3), format="csr")
SPARSE = SPARSE + SPARSE.T
EDGES = np.random.default_rng(0).integers(0, 200, (1500, 2))


class Killed(Exception):
    """Stands for the death of the process at a chosen iteration."""


def killer(iteration: int) -> Any:
    """A callback that dies at an iteration."""

    def callback(progress: flipwise.Progress) -> None:
        if progress.iteration == iteration:
            raise Killed

    return callback


def resumed_after_kills(solve: Any, path: Path, iterations: tuple[int, ...]) -> Any:
    """Kill `solve` at each of these iterations in turn, then let it end."""
    for iteration in iterations:
        with pytest.raises(Killed):
            solve(checkpoint=path, every=0, callback=killer(iteration))
    return solve(checkpoint=path, every=0, callback=lambda progress: None)
