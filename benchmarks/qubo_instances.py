"""The instances of the QUBO benchmarks: read from FLIPWISE_DATA or generated, each with an evaluator of its own.

`value(x)` is written for the driver alone: no solver's arithmetic is used to score it.
"""

from __future__ import annotations

import io
import json
import os
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from flipwise import QuadraticModel, read_model


def data_folder() -> Path:
    """The folder with the real files."""
    folder = os.environ.get("FLIPWISE_DATA", "")
    if not folder or not Path(folder).is_dir():
        raise SystemExit("set FLIPWISE_DATA to the folder with the instances")
    return Path(folder)


@dataclass(frozen=True, eq=False)
class Instance:
    """A model to minimise; the reported value is minus its energy (a cut, or a maximised quadratic)."""

    name: str
    model: QuadraticModel
    best: float | None

    def value(self, x: np.ndarray) -> float:
        """Minus the energy, from the definition, in integers."""
        model = self.model
        point = np.asarray(x).astype(np.int64)
        low, high = (-1, 1) if model.variables == "spin" else (0, 1)
        if point.shape != (model.n,) or not np.isin(point, [low, high]).all():
            raise ValueError(f"{self.name}: not a point of the model")
        pairs = point[model.i] * point[model.j]
        return -float(float(model.b @ pairs) + float(model.linear @ point) + model.offset)


def best_known() -> dict[str, dict[str, object]]:
    """The table of best-known values that comes with the data."""
    return json.loads((data_folder() / "best_known.json").read_text())  # type: ignore[no-any-return]


def gset_names() -> list[str]:
    """The Gset files of the data folder."""
    names = [path.name.removesuffix(".txt.xz") for path in (data_folder() / "qubo" / "gset").glob("G*.txt.xz")]
    return sorted(names, key=lambda name: (int(name[1:].split("-")[0]), name))


def bqp_names(sizes: tuple[int, ...] = (50, 100, 250, 500, 1000)) -> list[str]:
    """The OR-Library problems."""
    return [f"bqp{n}.{k}" for n in sizes for k in range(1, 11)]


PALUBECKIS = {
    "p3000.1": (3000, 50, 31000, 3931583),
    "p3000.2": (3000, 80, 32000, 5193073),
    "p3000.3": (3000, 80, 33000, 5111533),
    "p3000.4": (3000, 100, 34000, 5761822),
    "p3000.5": (3000, 100, 35000, 5675625),
    "p4000.1": (4000, 50, 41000, 6181830),
    "p4000.2": (4000, 80, 42000, 7801355),
    "p5000.1": (5000, 50, 51000, 8559680),
    "p6000.1": (6000, 50, 61000, 11384976),
    "p7000.1": (7000, 50, 71000, 14478676),
}
"""n, density, seed and best-known value of Palubeckis' problems."""


def instance(name: str) -> Instance:
    """The instance of this name."""
    if name.startswith("G"):
        model = read_model(data_folder() / "qubo" / "gset" / f"{name}.txt.xz", format="rudy")
        return Instance(name, model, float(best_known()[name]["best"]))  # type: ignore[arg-type]
    if name.startswith("bqp"):
        size, index = name.removeprefix("bqp").split(".")
        with tarfile.open(data_folder() / "qubo" / "orlib_bqp.tar.xz") as archive:
            member = archive.extractfile(f"bqp{size}.txt")
            assert isinstance(member, io.BufferedReader)
            model = _bqp(np.array(member.read().split(), dtype=np.float64), int(index))
        known = best_known().get(name)
        return Instance(name, model, None if known is None else float(known["best"]))  # type: ignore[arg-type]
    if name in PALUBECKIS:
        n, density, seed, best = PALUBECKIS[name]
        return Instance(name, palubeckis(n, density, seed), float(best))
    return Instance(name, _GENERATED[name](), None)


def _bqp(numbers: np.ndarray, index: int) -> QuadraticModel:
    at = 1
    for _ in range(index - 1):
        at += 2 + 3 * int(numbers[at + 1])
    n, m = int(numbers[at]), int(numbers[at + 1])
    rows = numbers[at + 2 : at + 2 + 3 * m].reshape(m, 3)
    i, j = rows[:, 0].astype(int) - 1, rows[:, 1].astype(int) - 1
    return QuadraticModel.from_terms(n, i, j, -rows[:, 2] * np.where(i == j, 1.0, 2.0), 0.0, "binary")


def palubeckis(n: int, density: int, seed: int) -> QuadraticModel:
    """Palubeckis' generator: maximise sum q_ii x_i + 2 sum_{i<j} q_ij x_i x_j."""
    linear, i, j, q = _palubeckis(n, density, seed)
    return QuadraticModel(-linear, i, j, -2.0 * q, 0.0, "binary")


def _palubeckis(n: int, density: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    import numba

    @numba.njit
    def generate(n, density, seed, linear, i, j, q):  # type: ignore[no-untyped-def]
        s = seed
        count = 0
        for row in range(n):
            s = (16807 * s) % 2147483647
            linear[row] = np.floor(201.0 * (s / 2147483648.0) - 100.0)
            for column in range(row + 1, n):
                s = (16807 * s) % 2147483647
                if 100.0 * (s / 2147483648.0) <= density:
                    s = (16807 * s) % 2147483647
                    value = np.floor(201.0 * (s / 2147483648.0) - 100.0)
                    i[count] = row
                    j[count] = column
                    q[count] = value
                    count += 1
        return count

    room = n * (n - 1) // 2
    linear, q = np.zeros(n), np.zeros(room)
    i, j = np.zeros(room, dtype=np.int64), np.zeros(room, dtype=np.int64)
    count = generate(n, density, seed, linear, i, j, q)
    keep = q[:count] != 0
    return linear, i[:count][keep], j[:count][keep], q[:count][keep]


def dense_glass() -> QuadraticModel:
    """A complete +-1 glass with 2,000 spins; the value is the cut."""
    i, j = np.triu_indices(2000, 1)
    w = np.random.default_rng(2000).choice([-1.0, 1.0], size=i.size)
    return QuadraticModel(np.zeros(2000), i.astype(np.int64), j.astype(np.int64), w / 2, -w.sum() / 2, "spin")


def torus(side: int = 100) -> QuadraticModel:
    """A toroidal +-1 glass with side^2 spins; the value is the cut."""
    nodes = np.arange(side * side).reshape(side, side)
    a = np.concatenate([nodes.ravel(), nodes.ravel()])
    b = np.concatenate([np.roll(nodes, -1, 0).ravel(), np.roll(nodes, -1, 1).ravel()])
    w = np.random.default_rng(side).choice([-1.0, 1.0], size=a.size)
    return QuadraticModel.from_terms(side * side, a, b, w / 2, -w.sum() / 2, "spin")


_GENERATED: dict[str, Callable[[], QuadraticModel]] = {"glass2000": dense_glass, "torus10000": torus}
