"""The functions that `interrupts.py` interrupts, sized to take about half a second.

Each knows how to tell a wrong answer: an infeasible point, a value that is not that of the point, a bound that is
beaten, a file that is not the answer.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

Watch = Callable[[Any], None]


@dataclass(frozen=True)
class Case:
    """A call to be interrupted: with a callback and a number of threads, and what is wrong with its answer (or None).

    The callback hears of the first answer and of what follows it. A command forks, and its log is read instead.
    """

    call: Callable[[Watch, int | None], Any]
    wrong: Callable[[Any], str | None]
    is_command: bool = False


def random_matrix(n: int, seed: int = 0) -> np.ndarray:
    A = np.random.default_rng(seed).integers(-50, 51, (n, n)).astype(float)
    return np.asarray(A + A.T)


def random_edges(n: int, degree: float, seed: int = 0) -> np.ndarray:
    """A random graph around a ring, with a denser group of n / 20 nodes, as unique pairs i < j."""
    rng = np.random.default_rng(seed)
    group = rng.permutation(n)[: n // 20]
    ring = np.stack([np.arange(n), (np.arange(n) + 1) % n], axis=1)
    pairs = np.concatenate([ring, rng.integers(0, n, (int(n * degree / 2), 2)), rng.choice(group, (n, 2))])
    pairs = np.unique(np.sort(pairs, axis=1), axis=0)
    return np.asarray(pairs[pairs[:, 0] < pairs[:, 1]])


def cut_weight(edges: np.ndarray, parts: Any) -> float:
    parts = np.asarray(parts)
    return float(np.count_nonzero(parts[edges[:, 0]] != parts[edges[:, 1]]))


def difference(said: float, found: float) -> str | None:
    close = math.isclose(said, found, rel_tol=1e-9, abs_tol=1e-6)
    return None if close else f"says {said!r}, recomputed {found!r}"


def _minimum(value: Callable[[Any], float], feasible: Callable[[Any], bool] = lambda x: True) -> Any:
    """What can be wrong with a Result: its point, its value, a bound above it."""

    def wrong(result: Any) -> str | None:
        if not feasible(result.x):
            return "infeasible"
        if result.bound is not None and result.bound > result.value + 1e-6 * abs(result.value):
            return f"bound {result.bound} above the value {result.value}"
        return difference(result.value, value(result.x.astype(float)))

    return wrong


def _minimizing(A: Any, ones: int | None = None, **options: Any) -> Callable[[], Case]:
    """A call of `minimize` on x'Ax, perhaps with an exact number of ones."""

    def build() -> Case:
        import flipwise

        held = None if ones is None else flipwise.Cardinality(ones)
        return Case(
            lambda watch, threads: flipwise.minimize(
                A, constraint=held, seed=0, callback=watch, threads=threads, **options
            ),
            _minimum(lambda x: float(x @ (A @ x)), lambda x: ones is None or np.count_nonzero(x > 0) == ones),
        )

    return build


def _by_points() -> Case:
    """Every point of a function of the user's own, one after another."""
    import flipwise

    A = random_matrix(15)

    def f(x: Any) -> tuple[float, Any]:
        return float(x @ A @ x), 2.0 * A @ x

    objective = flipwise.Smooth(f, shape=15)
    return Case(
        lambda watch, threads: flipwise.minimize(objective, method="exact", callback=watch, threads=threads),
        _minimum(lambda x: x @ A @ x),
    )


def _slow_function() -> Case:
    """A function of the user's own that takes two milliseconds."""
    import flipwise

    A = random_matrix(40)

    def f(x: Any) -> tuple[float, Any]:
        time.sleep(0.002)
        return float(x @ A @ x), 2.0 * A @ x

    objective = flipwise.Smooth(f, shape=40)
    return Case(
        lambda watch, threads: flipwise.minimize(objective, seed=0, callback=watch, threads=threads),
        _minimum(lambda x: x @ A @ x),
    )


def _densest(k: int | list[int], **options: Any) -> Callable[[], Case]:
    def build() -> Case:
        import flipwise

        n, edges = 1000, random_edges(1000, 12.0)
        upper = sp.csr_array(sp.coo_array((np.ones(len(edges)), edges.T), shape=(n, n)))
        W = upper + upper.T

        def wrong_one(result: Any) -> str | None:
            x = result.x.astype(float)
            if x.sum() != result.k:
                return f"{x.sum()} nodes, not {result.k}"
            if result.bound is not None and result.bound < result.density - 1e-9:
                return "bound below the density"
            return difference(result.density, float(x @ (W @ x)) / result.k)

        return Case(
            lambda watch, threads: flipwise.densest_subgraph(
                (n, edges), k, seed=0, callback=watch, threads=threads, **options
            ),
            lambda found: next(filter(None, map(wrong_one, [found] if isinstance(k, int) else found)), None),
        )

    return build


def _cutting(name: str, n: int, degree: float, sizes: list[int] | None, **options: Any) -> Callable[[], Case]:
    def build() -> Case:
        import flipwise

        edges = random_edges(n, degree)
        function = getattr(flipwise, name)
        given = [(n, edges)] if name != "partition" else [(n, edges), sizes]

        def wrong(result: Any) -> str | None:
            if sizes is not None and sorted(np.bincount(result.parts)) != sorted(sizes):
                return f"sizes {np.bincount(result.parts)}"
            beyond = 1.0 if name == "maxcut" else -1.0
            if result.bound is not None and beyond * (result.bound - result.value) < -1e-6:
                return "the bound is beaten"
            return difference(result.value, cut_weight(edges, result.parts))

        return Case(lambda watch, threads: function(*given, seed=0, callback=watch, threads=threads, **options), wrong)

    return build


def _qubo() -> Case:
    import flipwise

    Q = random_matrix(200)
    return Case(
        lambda watch, threads: flipwise.solve_qubo(Q, seed=0, effort=0.2, bound="sdp", callback=watch, threads=threads),
        _minimum(lambda x: x @ Q @ x),
    )


def _ising() -> Case:
    import flipwise

    J, h = random_matrix(200, 1), np.arange(200.0)
    return Case(
        lambda watch, threads: flipwise.solve_ising(
            h, J, seed=0, effort=0.2, bound="sdp", callback=watch, threads=threads
        ),
        _minimum(lambda s: s @ J @ s + h @ s),
    )


def _sampler() -> Case:
    import dimod

    from flipwise.interop import dimod as interop

    bqm = dimod.generators.gnp_random_bqm(60, 0.2, "SPIN", random_state=0)
    sampler = interop.FlipwiseSampler()

    def wrong(found: Any) -> str | None:
        if not len(found):
            return "no sample"
        energies = bqm.energies((found.record.sample, list(found.variables)))
        return None if np.allclose(energies, found.record.energy) else "wrong energies"

    def call(watch: Watch, threads: int | None) -> Any:
        with _watched(interop, "solve", watch):
            return sampler.sample(bqm, num_reads=10, seed=0, threads=threads)

    return Case(call, wrong)


def _tuning() -> Case:
    import flipwise

    A = random_matrix(120)

    def call(watch: Watch, threads: int | None) -> Any:
        heard = lambda done, pairs: watch(done)  # noqa: E731
        return flipwise.tune_alpha(A, seed=0, alphas=range(1, 25), threads=threads or 2, callback=heard)

    def wrong(tuned: Any) -> str | None:
        return None if tuned.value == min(tuned.table.values()) == tuned.table[tuned.alpha] else "not the best pair"

    return Case(call, wrong)


def _recommending() -> Case:
    from flipwise.hashing import recommendation

    X = np.random.default_rng(0).standard_normal((1500, 32))

    def call(watch: Watch, threads: int | None) -> Any:
        with _watched(recommendation, "Measured", watch):
            return recommendation.recommend(X, bits=(8, 16, 24, 32), oversampling=(1, 4), queries=100, random_state=0)

    def wrong(found: Any) -> str | None:
        good = [each for each in found.measured if each.recall >= found.target]
        return None if (found.chosen is None) == (not good) and found.measured else "not what was measured"

    return Case(call, wrong)


@contextmanager
def _watched(module: Any, name: str, watch: Watch) -> Iterator[None]:
    """Tell `watch` of every answer of a function that the module calls, but for the latest, which may be under way."""
    function = getattr(module, name)
    answers = 0

    def told(*arguments: Any, **options: Any) -> Any:
        nonlocal answers
        found = function(*arguments, **options)
        if answers:
            watch(found)
        answers += 1
        return found

    setattr(module, name, told)
    try:
        yield
    finally:
        setattr(module, name, function)


def _checkpointed() -> Case:
    """A run with a checkpoint: interrupted after its first iteration it leaves one, otherwise nothing."""
    import flipwise

    path = Path("run.checkpoint")

    def call(watch: Watch, threads: int | None) -> Any:
        path.unlink(missing_ok=True)
        return flipwise.minimize(
            SPARSE, method="portfolio", max_iterations=8, seed=0, callback=watch, threads=threads, checkpoint=path
        )

    def wrong(result: Any) -> str | None:
        if path.exists() != (result.status.name == "INTERRUPTED"):
            return f"status {result.status.name}, the checkpoint {'is' if path.exists() else 'is not'} there"
        stray = {name for name in files_here() if "checkpoint" in name} - {path.name}
        if stray:
            return f"left {sorted(stray)}"
        if path.exists() and flipwise.minimize(
            SPARSE, method="portfolio", max_iterations=8, seed=0, checkpoint=path, time_limit=0.0
        ).value > result.value:  # fmt: skip
            return "the checkpoint is worse than the answer"
        return _minimum(lambda x: float(x @ (SPARSE @ x)))(result)

    return Case(call, wrong)


def _fit(name: str, rows: int, **options: Any) -> Callable[[], Case]:
    def build() -> Case:
        from flipwise import hashing

        rng = np.random.default_rng(0)
        y = rng.integers(0, 10, rows)
        X = rng.standard_normal((10, 96))[y] + 2.0 * rng.standard_normal((rows, 96))
        estimator = getattr(hashing, name)

        def wrong(fitted: Any) -> str | None:
            if len(fitted.codes_) != rows or fitted.transform(X[:5]).shape != (5, 8):
                return "codes of the wrong shape"
            return None

        def call(watch: Watch, threads: int | None) -> Any:
            return estimator(64, random_state=0, callback=watch, **options).fit(X, y)

        return Case(call, wrong)

    return build


def files_here() -> set[str]:
    return {path.name for path in Path().iterdir()}


DENSE = random_matrix(300)
SPARSE = sp.csr_array(random_matrix(600) * (np.abs(random_matrix(600, 1)) > 98.0))
FUNCTIONS: dict[str, Callable[[], Case]] = {
    "minimize, dpcd": _minimizing(DENSE, 60, restarts=40),
    "minimize, portfolio": _minimizing(SPARSE, method="portfolio", max_iterations=8),
    "minimize, mpec-epm": _minimizing(DENSE, method="mpec-epm"),
    "minimize, exact": _by_points,
    "minimize, slow function": _slow_function,
    "minimize, checkpoint": _checkpointed,
    "tune_alpha": _tuning,
    "densest_subgraph": _densest(40, effort=0.5),
    "densest_subgraph, several k": _densest([20, 60], effort=0.1),
    "maxcut": _cutting("maxcut", 600, 8.0, None, effort=0.1, bound="sdp"),
    "bisect": _cutting("bisect", 500, 5.0, [250, 250], effort=0.1, bound="sdp"),
    "partition": _cutting("partition", 240, 5.0, [80, 60, 60, 40], effort=0.2),
    "solve_qubo": _qubo,
    "solve_ising": _ising,
    "dimod sampler": _sampler,
    "SDH fit": _fit("SDH", 8000, distinct=False),
    "ITQ fit": _fit("ITQ", 8000),
    "ARE fit": _fit("ARE", 3000),
    "recommend": _recommending,
}
