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
import time
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

ROOT = Path(__file__).parent.parent
RESULTS = Path(os.environ.get("FLIPWISE_BENCHMARK_RESULTS", Path(__file__).parent / "results"))
"""Where runs are stored; runs that are only tried out go elsewhere."""

_on_the_page: list[dict[str, Any]] = []


class Recorder:
    """Collects rows and keeps `results/<name>.json` up to date."""

    def __init__(self, name: str, packages: tuple[str, ...] = ()) -> None:
        self.path = RESULTS / f"{name}.json"
        self.record: dict[str, Any] = {
            "benchmark": name,
            "command": shlex.join(["python", f"benchmarks/{Path(sys.argv[0]).name}", *sys.argv[1:]]),
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
            "commit": commit(),
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
        """Take over the wanted rows of the stored run, each marked with when it was made; returns them.

        Under "earlier" stand the runs that they are of, with command and commit. A run of which no row is left goes.
        """
        if self.path.exists():
            stored = json.loads(self.path.read_text(encoding="utf-8"))
            rows = [{**row, "made": row.get("made", stored["date"])} for row in stored["rows"] if wanted(row)]
            last = {key: stored.get(key) for key in ("command", "date", "commit", "machine")}
            self.record["rows"] = rows
            self.record["earlier"] = [run for run in (*stored.get("earlier", []), last) if run["date"] in _dates(rows)]
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


def count_processor_seconds() -> None:
    """Let the library's clock count the processor seconds of this process, for runs on one thread.

    A busy machine then takes nothing away from a limit.
    """
    from flipwise.kernels import compile_time

    compile_time.time = SimpleNamespace(perf_counter=time.process_time)  # type: ignore[assignment]


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def commit() -> str | None:
    """The commit, with "-dirty" where the code differs from it; results and pages, which runs write, are no code."""
    found = _git("rev-parse", "--short=7", "HEAD")
    written = (":!benchmarks/results", ":!docs", ":!README.md")
    changed = _git("status", "--porcelain", "--untracked-files=no", "--", ".", *written)
    return f"{found}-dirty" if found and changed else found or None


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], capture_output=True, text=True, cwd=ROOT, check=False)
    return done.stdout.strip()


def stored(name: str, wanted: Callable[[dict[str, Any]], bool] = lambda row: True) -> dict[str, Any] | None:
    """The wanted rows of a stored run for the page that is being written; None when there is no such run."""
    path = RESULTS / f"{name}.json"
    if not path.exists():
        return None
    record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    record["rows"] = [row for row in record["rows"] if wanted(row)]
    record["earlier"] = [run for run in record.get("earlier", []) if run["date"] in _dates(record["rows"])]
    _on_the_page.append(record)
    return record


def read() -> list[dict[str, Any]]:
    """The stored runs that were read for the page that is being written."""
    return list(_on_the_page)


def _dates(rows: list[dict[str, Any]]) -> set[str]:
    """When rows, or parts of them, were made, as far as they say so."""
    parts = [part for row in rows for part in (row, *row.values()) if isinstance(part, dict)]
    return {part["made"] for part in parts if "made" in part}


def runs(record: dict[str, Any]) -> list[dict[str, Any]]:
    """The runs that the rows of a stored file are of, the latest first; one that ended before its first row is none."""
    rows = record["rows"]
    own = record["date"] in _dates(rows) or any("made" not in row for row in rows)
    return [*([record] if own else []), *reversed(record.get("earlier", []))]


def commits(record: dict[str, Any]) -> list[str]:
    """The commits of the rows of a stored file, the latest first."""
    return list(dict.fromkeys(str(run["commit"]) for run in runs(record)))


def publish(path: Path, text: str) -> None:
    """Write a page, with a first line that says of which commits the runs are that were read for it."""
    found = list(dict.fromkeys(commit for record in _on_the_page for commit in commits(record)))
    _on_the_page.clear()
    title, _, rest = text.partition("\n")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{title}\n\n{said_of(found)}\n{rest.rstrip()}\n", encoding="utf-8")


def said_of(found: list[str]) -> str:
    """What the first line of a page says of the commits of its rows."""
    clean = [commit for commit in found if not commit.endswith("-dirty")]
    if len(found) == 1 and clean:
        return f"Every row of this page is of commit {found[0]}."
    said = f"The rows of this page are of {len(found)} commits ({', '.join(found)})" if len(found) > 1 else ""
    if not said:
        return f"The rows of this page are of commit {found[0]} with changes that were not committed."
    changed = "; those that end in -dirty had changes that were not committed" if len(clean) < len(found) else ""
    return f"{said}{changed}. Figures of different commits are not to be set against each other."
