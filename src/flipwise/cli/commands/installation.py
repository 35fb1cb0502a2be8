"""`flipwise doctor`, `bench`, `methods` and `completion`: what is installed here, and how fast it is."""

from __future__ import annotations

import os
import platform
import time
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import click
from click.shell_completion import get_completion_class

import flipwise
from flipwise.cli.options import Seconds, json_option, threads_option
from flipwise.cli.terminal import print_facts, print_json, print_table, size

OPTIONAL = {
    "matplotlib": ("plot", "drawings"),
    "networkx": ("graphs", "networkx graphs"),
    "pyarrow": ("graphs", "Parquet edge tables"),
    "zstandard": ("graphs", "zstd-compressed files"),
    "sklearn": ("hashing", "hashing estimators"),
    "safetensors": ("hashing", "saved hashing models"),
    "faiss": ("search", "fast Hamming search"),
    "dimod": ("dimod", "D-Wave models and sampler"),
    "torch": ("torch", "objectives in torch"),
    "jax": ("jax", "objectives in jax"),
    "distributed": ("distributed", "Dask clusters"),
}
_DISTRIBUTIONS = {"sklearn": "scikit-learn", "faiss": "faiss-cpu"}


@click.command("doctor")
@json_option
def doctor(as_json: bool) -> None:
    """Check the installation: versions, threads, compiler cache, optional packages.

    \b
    Examples:
      $ flipwise doctor
      $ flipwise doctor --json
    """
    facts, packages = _facts(), _packages()
    if as_json:
        print_json({**facts, "packages": packages})
        return
    print_facts("Flipwise", [(name.replace("_", " "), str(value)) for name, value in facts.items()])
    rows = [
        (name, entry["version"] or "not installed", str(entry["purpose"]), f"flipwise[{entry['extra']}]")
        for name, entry in packages.items()
    ]
    click.echo()
    print_table("Optional packages", ("package", "version", "for", "extra"), rows, left=("version", "for", "extra"))


def _facts() -> dict[str, object]:
    facts: dict[str, object] = {"flipwise": flipwise.__version__, "python": platform.python_version()}
    facts |= {name: version(name) for name in ("numpy", "scipy", "numba")}
    facts["machine"] = f"{platform.system()} {platform.machine()}"
    facts["cores"] = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    facts["memory"] = _memory()
    facts["compiler"] = _compiler()
    facts["kernel_cache"] = _cache()
    facts["data_folder"] = os.environ.get("FLIPWISE_DATA") or "not set (FLIPWISE_DATA)"
    return facts


def _memory() -> str:
    try:
        return size(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return "unknown"


def _compiler() -> str:
    """Compile and run a kernel, so that a broken LLVM is found here and not in the middle of a solve."""
    import numpy as np

    from flipwise.kernels.dense import dense_swap_improving as tried

    started = time.perf_counter()
    try:
        tried.compile()
        tried(np.eye(2), np.zeros(2), np.zeros(2), np.zeros((0, 2), dtype=np.int64), np.ones(2), np.zeros(2))
    except Exception as error:
        return f"BROKEN: {type(error).__name__}: {error}"
    return f"works ({time.perf_counter() - started:.1f} s to compile or load one kernel)"


def _cache() -> str:
    if os.environ.get("FLIPWISE_NUMBA_CACHE", "1") == "0":
        return "off (FLIPWISE_NUMBA_CACHE=0)"
    places = [os.environ.get("NUMBA_CACHE_DIR"), str(Path(flipwise.__file__).parent / "kernels"), str(Path.home())]
    for place in filter(None, places):
        if os.access(place, os.W_OK):
            return f"on, in {place}"
    return "off: no folder is writable, kernels compile in each process"


def _packages() -> dict[str, dict[str, str | None]]:
    found: dict[str, dict[str, str | None]] = {}
    for name, (extra, purpose) in OPTIONAL.items():
        try:
            installed: str | None = version(_DISTRIBUTIONS.get(name, name))
        except PackageNotFoundError:
            installed = None
        found[name] = {"version": installed, "extra": extra, "purpose": purpose}
    return found


@click.command("bench")
@click.option("--nodes", type=click.IntRange(min=1000), default=200_000, show_default=True, help="Size of the graph.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the generated problems.")
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
    cells = _cells(nodes, seed, time_limit, threads)
    if as_json:
        print_json({"threads": threads, "seed": seed, "problems": cells})
        return
    rows = [(cell["problem"], f"{cell['size']:,}", f"{cell['seconds']:.3f} s", cell["answer"]) for cell in cells]
    print_table("This machine", ("problem", "entries", "time", "answer"), rows, left=("answer",))


def _cells(nodes: int, seed: int, time_limit: float, threads: int | None) -> list[dict[str, Any]]:
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
    torus = sp.csr_array(sp.kron(sp.eye_array(40), _ring(40)) + sp.kron(_ring(40), sp.eye_array(40)))
    timed(
        "max-cut, torus 40 x 40",
        torus.nnz,
        lambda: flipwise.maxcut(torus, seed=seed, threads=threads, time_limit=min(1.0, time_limit), bound="none"),
        lambda r: f"cut {r.value:,.0f} of 3,200",
    )
    return cells


def _ring(n: int) -> Any:
    import scipy.sparse as sp

    ones = sp.eye_array(n).tocsr()
    rolled = ones[[*range(1, n), 0]]
    return rolled + rolled.T


@click.command("methods")
@json_option
def methods(as_json: bool) -> None:
    """List the methods that --method takes, and what each can solve.

    \b
    Examples:
      $ flipwise methods
      $ flipwise methods --json
    """
    from flipwise.solvers import registry

    known = registry.methods()
    if as_json:
        print_json({"methods": [asdict(method) for method in known]})
        return
    rows = [
        (method.name, "yes" if method.free else "-", "yes" if method.counts else "-", method.needs, method.summary)
        for method in known
    ]
    headers = ("name", "free", "count", "for", "what it is")
    notes = [
        "free: no constraint; count: exact number of ones; for: any smooth f, quadratics,\nor densest subgraphs only."
    ]
    print_table("Methods", headers, rows, left=headers[3:], notes=notes)


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the script that completes commands, options and file names in SHELL.

    \b
    Examples:
      $ flipwise completion bash
    \b
    Add it to your shell for good:
      bash   flipwise completion bash >> ~/.bashrc
      zsh    flipwise completion zsh >> ~/.zshrc
      fish   flipwise completion fish > ~/.config/fish/completions/flipwise.fish
    """
    from flipwise.cli.app import app

    maker = get_completion_class(shell)
    assert maker is not None
    click.echo(maker(app, {}, "flipwise", "_FLIPWISE_COMPLETE").source())
