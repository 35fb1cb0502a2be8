"""How every benchmark stores what it measured: raw rows beside the command, versions, machine and commit.

A file in `results/` is written atomically after each row, so an interrupted run keeps what it has.
"""

from __future__ import annotations

import json
import os
import platform
import shlex
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
ROOT = Path(__file__).parent.parent


class Recorder:
    """Collects rows and keeps `results/<name>.json` up to date."""

    def __init__(self, name: str, packages: tuple[str, ...] = ()) -> None:
        self.path = RESULTS / f"{name}.json"
        self.record: dict[str, Any] = {
            "benchmark": name,
            "command": shlex.join(["python", f"benchmarks/{Path(sys.argv[0]).name}", *sys.argv[1:]]),
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
            "commit": _commit(),
            "machine": {
                "cores": os.cpu_count(),
                "processor": platform.machine(),
                "python": platform.python_version(),
                "load_at_start": round(os.getloadavg()[0], 2),
            },
            "versions": {name: _version(name) for name in ("flipwise", "numpy", "scipy", "numba", *packages)},
            "rows": [],
        }

    def go_on(self, wanted: Callable[[dict[str, Any]], bool] = lambda row: True) -> list[dict[str, Any]]:
        """Take over the wanted rows of the stored run and say from which command and commit they are; returns them."""
        if self.path.exists():
            stored = json.loads(self.path.read_text(encoding="utf-8"))
            self.record["rows"] = [row for row in stored["rows"] if wanted(row)]
            earlier = {key: stored.get(key) for key in ("command", "date", "commit", "machine")}
            self.record["earlier"] = [*stored.get("earlier", []), {**earlier, "rows": len(stored["rows"])}]
        return self.record["rows"]  # type: ignore[no-any-return]

    def add(self, **row: Any) -> None:
        """Append a row and write the file."""
        self.record["rows"].append(row)
        self.write()

    def write(self) -> None:
        """Write the file as a whole."""
        RESULTS.mkdir(exist_ok=True)
        partial = self.path.with_suffix(".partial")
        partial.write_text(json.dumps(self.record, indent=1) + "\n", encoding="utf-8")
        partial.replace(self.path)


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _commit() -> str | None:
    done = subprocess.run(
        ["git", "describe", "--always", "--dirty"], capture_output=True, text=True, cwd=ROOT, check=False
    )
    return done.stdout.strip() or None
