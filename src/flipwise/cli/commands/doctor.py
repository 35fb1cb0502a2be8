"""`flipwise doctor`: what is installed here, and whether it works."""

from __future__ import annotations

import os
import platform
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import click

import flipwise
from flipwise.cli.options import json_option
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
    facts, packages = _machine_facts(), _optional_packages()
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


def _machine_facts() -> dict[str, object]:
    """What there is to know of this machine and this installation."""
    facts: dict[str, object] = {"flipwise": flipwise.__version__, "python": platform.python_version()}
    facts |= {name: version(name) for name in ("numpy", "scipy", "numba")}
    facts["machine"] = f"{platform.system()} {platform.machine()}"
    facts["cores"] = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    facts["memory"] = _memory_size()
    facts["compiler"] = _compiler_state()
    facts["kernel_cache"] = _cache_state()
    facts["data_folder"] = os.environ.get("FLIPWISE_DATA") or "not set (FLIPWISE_DATA)"
    return facts


def _memory_size() -> str:
    """The memory of the machine, in words."""
    try:
        return size(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return "unknown"


def _compiler_state() -> str:
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


def _cache_state() -> str:
    """Whether machine code is kept between processes, and where."""
    if os.environ.get("FLIPWISE_NUMBA_CACHE", "1") == "0":
        return "off (FLIPWISE_NUMBA_CACHE=0)"
    places = [os.environ.get("NUMBA_CACHE_DIR"), str(Path(flipwise.__file__).parent / "kernels"), str(Path.home())]
    for place in filter(None, places):
        if os.access(place, os.W_OK):
            return f"on, in {place}"
    return "off: no folder is writable, kernels compile in each process"


def _optional_packages() -> dict[str, dict[str, str | None]]:
    """The optional packages with their versions, None where they are not installed, and what they are for."""
    found: dict[str, dict[str, str | None]] = {}
    for name, (extra, purpose) in OPTIONAL.items():
        try:
            installed: str | None = version(_DISTRIBUTIONS.get(name, name))
        except PackageNotFoundError:
            installed = None
        found[name] = {"version": installed, "extra": extra, "purpose": purpose}
    return found
