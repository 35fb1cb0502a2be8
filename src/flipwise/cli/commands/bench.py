"""`flipwise bench`: how fast this machine solves a few generated problems."""

from __future__ import annotations

import time
from typing import Any

import click

import flipwise
from flipwise.cli.options import Seconds, json_option, threads_option
from flipwise.cli.terminal import print_json, print_table


@click.command("bench")
@click.option("--nodes", type=click.IntRange(min=1000), default=200_000, show_default=True, help="Size of the graph.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the generated problems.")
@click.option("--time-limit", type=Seconds(), default=5.0, show_default=True, help="For each search.")
@threads_option
@json_option
def bench(nodes: int, seed: int, time_limit: float, threads: int | None, as_json: bool) -> None:
    """Time a few generated problems on this machine, after a first run that compiles.

    Times are wall-clock and yours alone; for comparisons with other solvers see the scripts in benchmarks/.

    \b
    Examples:
      $ flipwise bench --nodes 2000 --time-limit 1
    """
    cells = _measured_cells(nodes, seed, time_limit, threads)
    if as_json:
        print_json({"threads": threads, "seed": seed, "problems": cells})
        return
    rows = [(cell["problem"], f"{cell['size']:,}", f"{cell['seconds']:.3f} s", cell["answer"]) for cell in cells]
    print_table("This machine", ("problem", "entries", "time", "answer"), rows, left=("answer",))


def _measured_cells(nodes: int, seed: int, time_limit: float, threads: int | None) -> list[dict[str, Any]]:
    """Solve a few generated problems, each a second time by the clock."""
    import numpy as np
    import scipy.sparse as sp

    from flipwise.graphs.planted import planted_subgraph

    cells: list[dict[str, Any]] = []

    def timed(problem: str, size: int, solve: Any, answer: Any) -> None:
        solve()  # compiles, and warms the caches
        started = time.perf_counter()
        result = solve()
        seconds = time.perf_counter() - started
        cells.append({"problem": problem, "size": size, "seconds": round(seconds, 4), "answer": answer(result)})

    graph, _ = planted_subgraph(nodes, 200, seed=seed)
    W = graph.to_scipy()
    x = np.ones(nodes)
    timed("one pass (W @ x)", graph.n_arcs, lambda: W @ x, lambda _: "")
    timed(
        "densest 200 nodes, bound",
        graph.n_arcs,
        lambda: flipwise.densest_subgraph(graph, 200, seed=seed, effort=0, threads=threads, time_limit=time_limit),
        lambda r: f"density {r.density:.2f}, gap {100 * r.gap:.2g} %",
    )
    timed(
        "descent, sparse",
        graph.n_arcs,
        lambda: flipwise.minimize(W, seed=seed, threads=threads, time_limit=time_limit),
        lambda r: f"value {r.value:,.0f}",
    )
    rng = np.random.default_rng(seed)
    dense = rng.choice([-1.0, 1.0], (1000, 1000))
    spins = dense + dense.T
    timed(
        "descent, dense, 1,000 spins",
        spins.size,
        lambda: flipwise.minimize(spins, seed=seed, threads=threads, time_limit=time_limit),
        lambda r: f"value {r.value:,.0f}",
    )
    torus = sp.csr_array(sp.kron(sp.eye_array(40), _ring_of_nodes(40)) + sp.kron(_ring_of_nodes(40), sp.eye_array(40)))
    timed(
        "max-cut, torus 40 x 40",
        torus.nnz,
        lambda: flipwise.maxcut(torus, seed=seed, threads=threads, time_limit=min(1.0, time_limit), bound="none"),
        lambda r: f"cut {r.value:,.0f} of 3,200",
    )
    return cells


def _ring_of_nodes(n: int) -> Any:
    """The adjacency of a ring."""
    import scipy.sparse as sp

    ones = sp.eye_array(n).tocsr()
    rolled = ones[[*range(1, n), 0]]
    return rolled + rolled.T
