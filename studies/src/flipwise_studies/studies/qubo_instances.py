"""The QUBO and Max-Cut models of the study: generated ones, and those of Gset, OR-Library and Palubeckis."""

from __future__ import annotations

import json
import lzma
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from flipwise.qubo.formats.coordinates import read_bqp, read_rudy
from flipwise.qubo.models import QuadraticModel
from flipwise_studies.experiments.study import Instance, Plan, file_instance

GSET = ("G1", "G22", "G32", "G55", "G70")


@dataclass(frozen=True, eq=False)
class Case:
    """A model to minimise, and the best known value of its negation."""

    model: QuadraticModel
    best_known: float | None = None


def random_qubo(n: int) -> Instance:
    """A tenth of all entries, integers from -100 to 100."""

    def make() -> Case:
        rng = np.random.default_rng(n)
        Q = np.triu(rng.integers(-100, 101, (n, n)) * (rng.random((n, n)) < 0.1))
        return Case(QuadraticModel.from_qubo(Q))

    return Instance(f"random QUBO, n = {n}, density 0.1", make)


def random_cut(n: int) -> Instance:
    """Max-Cut of a random graph with 6 % of all edges."""

    def make() -> Case:
        rng = np.random.default_rng(n)
        weights = sp.csr_array(np.triu(rng.random((n, n)) < 0.06, 1).astype(float))
        return Case(_cut_model(weights))

    return Instance(f"Max-Cut, random graph, n = {n}", make)


def torus_cut(side: int) -> Instance:
    """Max-Cut of a square grid that is closed in both directions, with weights of -1 and +1."""

    def make() -> Case:
        rng = np.random.default_rng(side)
        nodes = np.arange(side * side).reshape(side, side)
        rows = np.concatenate([nodes.ravel(), nodes.ravel()])
        columns = np.concatenate([np.roll(nodes, 1, 0).ravel(), np.roll(nodes, 1, 1).ravel()])
        weights = sp.coo_array((rng.choice([-1.0, 1.0], rows.size), (rows, columns)), shape=(side * side,) * 2)
        return Case(_cut_model(sp.csr_array(weights)))

    return Instance(f"Max-Cut, ±1 torus {side} x {side}", make)


def _cut_model(weights: Any) -> QuadraticModel:
    """-cut = sum w_ij (s_i s_j - 1) / 2."""
    couplings = weights.tocoo()
    rows, columns = couplings.coords
    return QuadraticModel.from_terms(
        weights.shape[0], rows, columns, couplings.data / 2, -float(couplings.data.sum()) / 2, "spin"
    )


def gset(plan: Plan, name: str) -> Instance:
    """A Max-Cut graph of Gset."""
    return file_instance(
        plan, name, f"qubo/gset/{name}.txt.xz", lambda path: Case(read_rudy(path), _best_known(plan, name))
    )


def beasley(plan: Plan, family: str, number: int) -> Instance:
    """A QUBO of OR-Library, the `number`-th of its file (from 1)."""

    def load(path: Path) -> Case:
        with tempfile.TemporaryDirectory() as folder, tarfile.open(path) as tar:
            tar.extract(f"{family}.txt", folder, filter="data")
            model = read_bqp(Path(folder) / f"{family}.txt", number - 1)
        return Case(model, _best_known(plan, f"{family}.{number}"))

    return file_instance(plan, f"{family}.{number}", "qubo/orlib_bqp.tar.xz", load)


def palubeckis(plan: Plan) -> Instance:
    """The QUBO p3000.1, stored as the upper triangle of its matrix in bytes."""

    def load(path: Path) -> Case:
        entries = np.frombuffer(lzma.decompress(path.read_bytes()), dtype=np.int8).astype(np.float64)
        n = int((np.sqrt(8 * entries.size + 1) - 1) / 2)
        Q = np.zeros((n, n))
        Q[np.triu_indices(n)] = entries
        Q += np.triu(Q, 1)  # 2 q_ij for i < j, in the upper triangle
        return Case(QuadraticModel.from_qubo(-Q), _best_known(plan, "p3000.1"))

    return file_instance(plan, "p3000.1", "qubo/p3000.1.i8triu.xz", load)


def _best_known(plan: Plan, name: str) -> float | None:
    """The best known value of an instance, if the data folder has one."""
    path = None if plan.data is None else plan.data / "best_known.json"
    if path is None or not path.is_file():
        return None
    record = json.loads(path.read_text(encoding="utf-8")).get(name)
    return None if record is None else float(record["best"])
