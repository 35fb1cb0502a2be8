"""A user's program with full annotations; `test_typed_use.py` has mypy check it strictly, and runs it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

import flipwise

Vector = npt.NDArray[np.float64]


def squared(x: Vector) -> tuple[float, Vector]:
    """A function with its gradient."""
    return float(((x - 0.3) ** 2).sum()), 2.0 * (x - 0.3)


class Counter:
    """A user's own objective."""

    @property
    def shape(self) -> tuple[int, ...]:
        return (6,)

    def value(self, x: Vector) -> float:
        return float(x.sum())

    def gradient(self, x: Vector) -> Vector:
        return np.ones(6)


def stop_early(progress: flipwise.Progress) -> bool:
    """A callback."""
    return progress.iteration >= 100


def main(folder: Path) -> None:
    """One call of each public function a user is likely to write."""
    objective: flipwise.Objective = Counter()
    assert flipwise.check_objective(objective).ok
    result: flipwise.Result = flipwise.minimize(objective, seed=0, callback=stop_early, time_limit=10.0)
    value: float = result.value
    bound: float | None = result.bound
    point: npt.NDArray[np.int8] = result.x
    status: flipwise.Status = result.status
    print(value, bound, point.sum(), status.name, result.success)

    smooth = flipwise.Smooth(squared, shape=5, lipschitz=2.0)
    quadratic = flipwise.Quadratic(flipwise.LowRank(np.ones((5, 2))), np.zeros(5), variables="binary")
    flipwise.minimize(smooth, constraint=flipwise.Cardinality(2), seed=np.random.default_rng(1), restarts=2)
    flipwise.minimize(quadratic, constraint=flipwise.GroupCounts([0, 0, 1, 1, 1], [1, 2]), seed=0)
    result.save(folder / "result.npz")
    assert flipwise.Result.load(folder / "result.npz").value == value
    names: list[str] = [method.name for method in flipwise.methods() if method.counts]
    print(names)

    flipwise.write_graph((4, [[0, 1], [1, 2], [0, 2], [2, 3]]), folder / "graph.txt")
    graph = flipwise.read_graph(folder / "graph.txt")
    dense = flipwise.densest_subgraph(graph, 3, seed=0, effort=0.0)
    density: float = dense.density
    gap: float | None = dense.gap
    profile = flipwise.densest_subgraph(graph, [2, 3], seed=0, effort=0.0)
    print(density, gap, dense.nodes, profile.ks, profile.bounds)
    cut = flipwise.maxcut(graph, seed=0, time_limit=0.1)
    print(cut.value, cut.bound, cut.sizes, flipwise.bisect(graph, seed=0, time_limit=0.1).value)
    model = flipwise.QuadraticModel.from_qubo({("a", "b"): 2.0, ("a", "a"): -1.0})
    print(
        flipwise.solve_qubo(model, seed=0, time_limit=0.1).value, flipwise.solve_ising({}, {(0, 1): 1.0}, seed=0).value
    )
    try:
        flipwise.minimize(quadratic, method="none")
    except flipwise.InvalidInput as error:
        print(error)


if __name__ == "__main__":
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as temporary:
        main(Path(temporary))
