"""The circumstances of a run: versions, machine, commit, and the peak of the memory."""

from __future__ import annotations

import functools
import os
import platform
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any

from flipwise.engine.limits import peak_bytes

_PACKAGES = ("numpy", "scipy", "numba", "scikit-learn", "networkx", "dimod", "dwave-samplers", "faiss-cpu", "torch")


@functools.cache
def environment() -> dict[str, Any]:
    """Versions, machine and commit, as they are stored with every cell."""
    from flipwise import __version__

    versions = {"flipwise": __version__, "python": platform.python_version()}
    for package in _PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return {
        "versions": versions,
        "machine": {
            "system": f"{platform.system()} {platform.release()}",
            "processor": _processor(),
            "cores": cores(),
            "memory_gb": _memory(),
        },
        "commit": _commit(),
    }


def cores() -> int:
    """The cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def load_average() -> float | None:
    """Processes that wanted a core in the last minute, where that is counted; times mean little above `cores`."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else None


def forget_peak_memory() -> None:
    """Let the peak of the resident memory start again from now, where the system can (Linux)."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return


def peak_memory() -> float | None:
    """The peak of the resident memory in MB, since `forget_peak_memory` where that works, else of the process."""
    peak = peak_bytes()
    return None if peak is None else peak / 2**20


def _processor() -> str:
    """The name of the processor, as far as the system says it."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _memory() -> float | None:
    """The memory of the machine in GB, where the system says it."""
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)
    except (ValueError, OSError, AttributeError):
        return None


def _commit() -> str:
    """The commit of the source tree this package is imported from, with "+" when files differ; "" outside of git."""

    def git(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = ["git", "-C", str(Path(__file__).parent), *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)

    try:
        shown = git("describe", "--always", "--dirty=+", "--abbrev=12", "--exclude=*")
        tracked = git("ls-files", "--error-unmatch", "cells.py")
    except (OSError, subprocess.SubprocessError):
        return ""
    # An installation inside somebody else's repository must not carry that repository's commit.
    return shown.stdout.strip() if shown.returncode == 0 and tracked.returncode == 0 else ""
