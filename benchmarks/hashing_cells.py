"""Cells of the hashing benchmarks: quality and times apart, kept between runs, so that an interrupted run goes on.

A cell is named by its key (which method, bits, seed, rows). Quality does not depend on what else the machine does and
can be made at any time (`--quality`); times are made by a run of their own on an idle machine, which also fills in the
qualities that are missing. A cell that the stored file has is not made again unless `--fresh` is given.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from typing import Any

from recording import Recorder

KINDS = ("quality", "time")


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options that all drivers share."""
    parser.add_argument(
        "--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4], metavar="SEED", help="the seeds to run"
    )
    parser.add_argument("--quality", action="store_true", help="no times: may run on a busy machine")
    parser.add_argument("--fresh", action="store_true", help="forget the stored cells of the file first")
    parser.add_argument("--minutes", type=float, default=None, help="begin no new cell after this time")
    parser.add_argument("--quick", action="store_true", help="a small run that stores nothing")


class Cells:
    """Stored rows by kind and key."""

    def __init__(self, name: str, packages: tuple[str, ...], options: argparse.Namespace) -> None:
        self.recorder = Recorder(name, packages)
        self.stored = not options.quick
        self.quality_only = bool(options.quality)
        self.ends = float("inf") if options.minutes is None else time.perf_counter() + 60.0 * options.minutes
        self.done: set[tuple[Any, ...]] = set()
        if self.stored and not options.fresh:
            self.done = {_key(row["kind"], row["key"]) for row in self.recorder.go_on()}

    def wanted(self, key: dict[str, Any]) -> list[str]:
        """The kinds that this run should make of a cell."""
        if time.perf_counter() > self.ends:
            return []
        kinds = ("quality",) if self.quality_only else KINDS
        return [kind for kind in kinds if _key(kind, key) not in self.done]

    def add(self, kind: str, key: dict[str, Any], **values: Any) -> None:
        """Print and keep a cell."""
        shown = {name: round(v, 4) if isinstance(v, float) else v for name, v in values.items()}
        print(kind, *key.values(), shown, flush=True)
        self.done.add(_key(kind, key))
        if self.stored:
            self.recorder.add(kind=kind, key=key, load=round(os.getloadavg()[0], 1), **values)

    def run(self, key: dict[str, Any], fit: Callable[[], Any], times: Callable[[Any], Any], quality: Any) -> None:
        """Fit once for both kinds: `times(model)` and `quality(model)` give the values besides the seconds."""
        kinds = self.wanted(key)
        if not kinds:
            return
        started, cpu = time.perf_counter(), time.process_time()
        model = fit()
        seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - cpu
        if "time" in kinds:
            self.add("time", key, total_seconds=seconds, cpu_seconds=cpu_seconds, **times(model))
        if "quality" in kinds:
            self.add("quality", key, **quality(model))


def _key(kind: str, key: dict[str, Any]) -> tuple[Any, ...]:
    return (kind, *sorted(key.items()))
