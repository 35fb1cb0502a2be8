"""QUBO and Max-Cut against other samplers: the same time, the same single thread, every answer evaluated again.

A sampler without a time limit of its own is called again and again, with more reads each time, until the time is over.
"""

from __future__ import annotations

import json
import lzma
import tarfile
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import flipwise
from flipwise.qubo.formats.coordinates import read_bqp, read_rudy
from flipwise.qubo.models import QuadraticModel
from flipwise_studies.experiments.cells import Outcome, Skip, run_curves
from flipwise_studies.experiments.study import Instance, Plan, Study, Task, file_instance

OURS = ("flipwise", "dpcd")
"""The portfolio that `solve_qubo` runs, and DPCD alone from as many random starts as the time allows."""
_SAMPLERS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "dwave-annealing": ("dwave.samplers", "SimulatedAnnealingSampler", {"num_sweeps": 1000}),
    "dwave-tabu": ("dwave.samplers", "TabuSampler", {}),
    "dwave-descent": ("dwave.samplers", "SteepestDescentSampler", {}),
    "openjij-annealing": ("openjij", "SASampler", {"num_sweeps": 1000}),
}
PEERS = tuple(_SAMPLERS)
GSET = ("G1", "G22", "G32", "G55", "G70")


@dataclass(frozen=True, eq=False)
class Case:
    """A model to minimise, and the best known value of its negation."""

    model: QuadraticModel
    best_known: float | None = None


def _tasks(plan: Plan) -> Sequence[Task]:
    """Generated models, or instances of Gset, OR-Library and Palubeckis."""
    if plan.quick:
        instances, limit = [_random_qubo(300), _random_cut(800), _torus(30)], plan.limit(1.5)
    else:
        instances = [_gset(plan, name) for name in GSET]
        instances += [_beasley(plan, "bqp1000", 1), _palubeckis(plan)]
        limit = plan.limit(5.0)
    return [Task(case, method, {"time_limit": limit}) for case in instances for method in (*OURS, *PEERS)]


def _run(case: Case, task: Task, threads: int) -> Outcome:
    """Best value within the time limit on one thread; peers have no use for more."""
    limit = task.parameters["time_limit"]
    model = case.model.to_binary()
    if task.method in PEERS:
        energy, seconds, history = solve_with_peer(task.method, model, limit, task.seed)
        series = {"best": [[t, -e] for t, e in history]}
    else:
        options = {"method": "portfolio"} if task.method == "flipwise" else {"method": "dpcd", "restarts": 1_000_000}
        result = flipwise.minimize(model.objective(), seed=task.seed, threads=1, time_limit=limit, **options)
        energy, seconds, series = model.energy(result.x), result.seconds, run_curves(result.trace, scale=-1.0)
    metrics: dict[str, float] = {}
    if case.best_known is not None:
        metrics = {
            "best_known": case.best_known,
            "percent_below_best_known": 100 * (case.best_known + energy) / abs(case.best_known),
        }
    return Outcome(value=-energy, sense="max", seconds=seconds, metrics=metrics, series=series)


def solve_with_peer(
    name: str, model: QuadraticModel, time_limit: float, seed: int
) -> tuple[float, float, list[list[float]]]:
    """(best energy, seconds, [seconds, best energy] at each improvement) of a peer on a model in 0/1 variables."""
    start = time.perf_counter()  # converting the model is part of the peer's work, as it is of ours
    sample = _sampler(name, model, time_limit)
    best = np.inf
    history: list[list[float]] = []
    reads = 1
    calls = 0
    while True:
        began = time.perf_counter()
        points = sample(reads, 1_000 * seed + calls)
        ended = time.perf_counter()
        calls += 1
        energy = min(model.energy(point) for point in points)
        if energy < best:
            best = energy
            history.append([ended - start, best])
        left = time_limit - (time.perf_counter() - start)
        each = (ended - began) / reads
        if left < each:
            break
        reads = max(1, min(2 * reads, int(left / each)))
    return best, time.perf_counter() - start, history


def _sampler(name: str, model: QuadraticModel, time_limit: float) -> Callable[[int, int], Any]:
    """(reads, seed) -> array of 0/1 points, one a row, its columns in the order of the variables."""
    module, kind, options = _SAMPLERS[name]
    sampler = getattr(_installed(module), kind)()
    if kind == "TabuSampler":
        options = {"timeout": int(1000 * time_limit)}
    dimod = _installed("dimod")
    couplings = (model.i, model.j, model.b)
    bqm = dimod.BinaryQuadraticModel.from_numpy_vectors(model.linear, couplings, model.offset, dimod.BINARY)

    def sample(reads: int, seed: int) -> Any:
        samples = sampler.sample(bqm, num_reads=reads, seed=seed, **options)
        places = np.argsort(np.array([int(v) for v in samples.variables]))
        return samples.record.sample[:, places][:, : model.n]

    return sample


def _installed(module: str) -> Any:
    try:
        return import_module(module)
    except ImportError:
        raise Skip(f"{module.replace('.', '-')} is not installed") from None


def _warm(task: Task) -> None:
    """Compile our kernels on models of both kinds."""
    if task.method in OURS:
        for instance in (_random_qubo(300), _torus(30)):
            _run(instance.data, Task(instance, task.method, {"time_limit": 1.0}), 1)


def _random_qubo(n: int) -> Instance:
    def make() -> Case:
        rng = np.random.default_rng(n)
        Q = np.triu(rng.integers(-100, 101, (n, n)) * (rng.random((n, n)) < 0.1))
        return Case(QuadraticModel.from_qubo(Q))

    return Instance(f"random QUBO, n = {n}, density 0.1", make)


def _random_cut(n: int) -> Instance:
    def make() -> Case:
        rng = np.random.default_rng(n)
        weights = sp.csr_array(np.triu(rng.random((n, n)) < 0.06, 1).astype(float))
        return Case(_cut_model(weights))

    return Instance(f"Max-Cut, random graph, n = {n}", make)


def _torus(side: int) -> Instance:
    def make() -> Case:
        rng = np.random.default_rng(side)
        at = np.arange(side * side).reshape(side, side)
        rows = np.concatenate([at.ravel(), at.ravel()])
        columns = np.concatenate([np.roll(at, 1, 0).ravel(), np.roll(at, 1, 1).ravel()])
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


def _gset(plan: Plan, name: str) -> Instance:
    return file_instance(
        plan, name, f"qubo/gset/{name}.txt.xz", lambda path: Case(read_rudy(path), _best_known(plan, name))
    )


def _beasley(plan: Plan, family: str, number: int) -> Instance:
    def load(path: Path) -> Case:
        with tempfile.TemporaryDirectory() as folder, tarfile.open(path) as tar:
            tar.extract(f"{family}.txt", folder, filter="data")
            model = read_bqp(Path(folder) / f"{family}.txt", number - 1)
        return Case(model, _best_known(plan, f"{family}.{number}"))

    return file_instance(plan, f"{family}.{number}", "qubo/orlib_bqp.tar.xz", load)


def _palubeckis(plan: Plan) -> Instance:
    def load(path: Path) -> Case:
        entries = np.frombuffer(lzma.decompress(path.read_bytes()), dtype=np.int8).astype(np.float64)
        n = int((np.sqrt(8 * entries.size + 1) - 1) / 2)
        Q = np.zeros((n, n))
        Q[np.triu_indices(n)] = entries
        Q += np.triu(Q, 1)  # 2 q_ij for i < j, in the upper triangle
        return Case(QuadraticModel.from_qubo(-Q), _best_known(plan, "p3000.1"))

    return file_instance(plan, "p3000.1", "qubo/p3000.1.i8triu.xz", load)


def _best_known(plan: Plan, name: str) -> float | None:
    path = None if plan.data is None else plan.data / "best_known.json"
    if path is None or not path.is_file():
        return None
    record = json.loads(path.read_text(encoding="utf-8")).get(name)
    return None if record is None else float(record["best"])


QUBO = Study(
    name="qubo",
    title="QUBO and Max-Cut against other samplers",
    question="The best value within one time limit on one thread. flipwise is the portfolio behind solve_qubo; dpcd is "
    "DPCD alone, restarted until the time is over. Converting the model counts for everyone.",
    tasks=_tasks,
    run=_run,
    warm=_warm,
)
