"""Signals at random moments of every public function: the best answer so far, or a clean end before there is one.

    python benchmarks/interrupts.py                            # Ctrl-C, 200 moments of each function: about an hour
    python benchmarks/interrupts.py --quick                    # 10 of each
    python benchmarks/interrupts.py --count 50 --only maxcut "flipwise maxcut"
    python benchmarks/interrupts.py --signal SIGTERM           # or SIGHUP
    python benchmarks/interrupts.py --store                    # and results/robustness-interrupts.json

A function is called over and over in a worker process, which says when it begins; the signal is sent after a random
part of the time that the call usually takes. A command runs in a process of its own each time, forked after the
imports, so that it loads its kernels anew. What then happens is one of

    best so far     an answer that is feasible and has the value it says, soon after the signal
    clean           KeyboardInterrupt (SystemExit for another signal; a command: exit code 128 and the number of the
                    signal), and no iteration had been reported yet
    FAULT           the answer is lost, wrong or late, a traceback, a hang, a file missing or damaged; or the handler,
                    Numba's number of threads or the threads of the process are not what they were

A signal that finds the call already over is not counted: another moment is drawn. Seconds after the signal are those
in which the process worked or waited by its own choice: what its threads spent waiting for a processor that others had
is subtracted (as the kernel counts it, the most of any thread), so a busy machine makes no fault and hides none.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from interrupt_commands import CASES
from interrupt_worker import OUTSIDE, Outcome
from recording import Recorder

from flipwise.foundation.interrupts import SIGNALS

HANG = 5.0
"""Own seconds after the signal from which a call that has not ended counts as hanging."""
IGNORED = 0.5
"""Own seconds after the signal from which a call that ended as if nothing had happened has ignored it."""
PREPARATION = 900.0
"""Seconds that a worker may take to import and compile."""
USUAL_RUNS = 3
"""Calls without a signal, whose median time is the usual one."""


class Waits:
    """How long the threads of a process have waited for a processor since now; 0 where the system does not say."""

    def __init__(self, process: int) -> None:
        self._folder = Path(f"/proc/{process}/task")
        self._before = self._delays()
        self._longest = 0.0

    def _delays(self) -> dict[str, int]:
        """Nanoseconds by thread."""
        found = {}
        with suppress(OSError):
            for thread in self._folder.iterdir():
                with suppress(OSError, ValueError, IndexError):
                    found[thread.name] = int((thread / "schedstat").read_text().split()[1])
        return found

    def seconds(self) -> float:
        """The longest of any thread, the last known when the process is gone."""
        for thread, delay in self._delays().items():
            self._longest = max(self._longest, (delay - self._before.get(thread, 0)) / 1e9)
        return self._longest


class Worker:
    """A process that calls one function again and again."""

    def __init__(self, name: str, folder: Path, number: signal.Signals) -> None:
        self._signal = number
        self._log = (folder / "worker.log").open("w+")
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).resolve().parent / "interrupt_worker.py"), name, number.name],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, text=True, cwd=folder,
        )  # fmt: skip
        self._lines: queue.Queue[Outcome] = queue.Queue()
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        if "prepared" not in self._next(PREPARATION):
            raise RuntimeError(f"{name}: {self._said()}")

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(json.loads(line))
        status = self._process.wait()
        where = f"the worker died with status {status}: {self._said()}"
        self._lines.put({"outcome": "error", "where": where, "died": True})

    def _next(self, seconds: float) -> Outcome:
        return self._lines.get(timeout=max(0.0, seconds))

    def call(self, delay: float | None, threads: int | None) -> Outcome:
        """One call, with a signal after `delay` seconds unless it has ended by then."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(threads) + "\n")
        self._process.stdin.flush()
        ready = self._next(PREPARATION)
        if "ready" not in ready:
            return ready
        began = ready["began"]
        try:
            return {"began": began, **self._next(PREPARATION if delay is None else delay)}
        except queue.Empty:
            pass
        process = ready["ready"]
        waits = Waits(process)
        with suppress(ProcessLookupError):  # its report is on its way
            os.kill(process, self._signal)
        sent = time.monotonic()
        while time.monotonic() - sent - waits.seconds() < HANG:
            with suppress(queue.Empty):
                outcome = self._next(0.02)
                lag = outcome.get("ended", sent) - sent - waits.seconds()
                return {"began": began, "sent": sent, "lag": max(0.0, lag), **outcome}
        return {"outcome": "hang", "where": self._stacks(process), "began": began, "sent": sent}

    def _stacks(self, process: int) -> str:
        """Where a process that hangs is, the last frames of its main thread; it is killed."""
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGUSR1)
            time.sleep(0.5)
            os.kill(process, signal.SIGKILL)
        return self._said()

    def _said(self) -> str:
        """The end of what the worker wrote to standard error."""
        self._log.seek(0)
        return self._log.read()[-4000:]

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        self._listener.join()
        for stream in (self._process.stdin, self._process.stdout, self._log):
            assert stream is not None
            with suppress(BrokenPipeError):
                stream.close()


def judged(outcome: Outcome) -> tuple[str, str] | None:
    """(kind, reason) of an outcome; None when the signal found the call not begun or already over."""
    kind = outcome["outcome"]
    if kind == "hang":
        return "FAULT", f"hangs: {outcome['where']}"
    if kind == OUTSIDE or "sent" not in outcome or (kind == "result" and not outcome["arrived"]):
        return None
    if kind == "error":
        return "FAULT", f"error: {outcome['where']}"
    if outcome["left"] is not None:
        return "FAULT", outcome["left"]
    if kind == "interrupt":
        if outcome["iterations"] > 0:
            return "FAULT", f"answer lost after {outcome['iterations']} iterations: {outcome['where']}"
        return "clean", ""
    if outcome["wrong"] is not None:
        return "FAULT", f"wrong answer: {outcome['wrong']}"
    if outcome["status"] != "INTERRUPTED" and outcome["lag"] > IGNORED:
        return "FAULT", f"ignored: went on for {outcome['lag']:.1f} s"
    return "best so far", ""


@dataclass
class Storm:
    """What the signals did to one function."""

    name: str
    signal: str = "SIGINT"
    usual: float = 0.0
    kinds: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    lags: list[float] = field(default_factory=list)

    def row(self) -> dict[str, Any]:
        """For the table and the file."""
        reasons = Counter(re.sub(r"[\d.]+", "#", fault)[:150] for fault in self.faults)
        return {
            "function": self.name,
            "signal": self.signal,
            "moments": self.kinds.total(),
            "best_so_far": self.kinds["best so far"],
            "clean": self.kinds["clean"],
            "faults": self.kinds["FAULT"],
            "usual_seconds": round(self.usual, 3),
            "slowest_answer_seconds": round(max(self.lags, default=0.0), 3),
            "fault_kinds": dict(reasons.most_common(8)),
            "examples": self.faults[:3],
        }


def storm(name: str, count: int, seed: int | None = None, number: signal.Signals = signal.SIGINT) -> Storm:
    """Interrupt one function at `count` random moments of its usual time."""
    rng = random.Random(seed)
    made = Storm(name, number.name)
    with tempfile.TemporaryDirectory() as folder:
        worker = Worker(name, Path(folder), number)
        try:
            times = deque(_usual_times(worker), USUAL_RUNS)
            drawn = 0
            while made.kinds.total() < count and drawn < 4 * count + 20:
                drawn += 1
                made.usual = statistics.median(times)
                outcome = worker.call(rng.uniform(0.0, made.usual), rng.choice((1, None)))
                if "sent" not in outcome and "ended" in outcome:  # it is quicker than it was
                    times.append(outcome["ended"] - outcome["began"])
                verdict = judged(outcome)
                if verdict is not None:
                    made.kinds[verdict[0]] += 1
                    if verdict[0] == "FAULT":
                        made.faults.append(verdict[1])
                    if "lag" in outcome:
                        made.lags.append(outcome["lag"])
                if outcome["outcome"] == "hang" or "died" in outcome:
                    worker.close()
                    worker = Worker(name, Path(folder), number)
        finally:
            worker.close()
    return made


def _usual_times(worker: Worker) -> Iterator[float]:
    for _ in range(USUAL_RUNS):
        outcome = worker.call(None, None)
        if outcome["outcome"] != "result" or outcome["wrong"] is not None or outcome["left"] is not None:
            raise RuntimeError(f"without a signal: {outcome}")
        yield outcome["ended"] - outcome["began"]


def main() -> int:
    """Interrupt, show, store, judge."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--count", type=int, default=200, help="moments of each function")
    parser.add_argument("--quick", action="store_true", help="10 moments of each")
    parser.add_argument("--only", nargs="+", choices=list(CASES), metavar="FUNCTION", help=", ".join(CASES))
    parser.add_argument("--signal", choices=[number.name for number in SIGNALS], default="SIGINT")
    parser.add_argument("--seed", type=int, help="of the moments")
    parser.add_argument("--store", action="store_true", help="keep the rows in results/")
    arguments = parser.parse_args()
    recorder = Recorder("robustness-interrupts") if arguments.store else None
    if recorder is not None:  # other functions and signals stay as they are stored
        names = arguments.only or CASES
        recorder.go_on(lambda row: row["function"] not in names or row["signal"] != arguments.signal)
    print(
        f"{'function':30} {'moments':>8} {'best':>6} {'clean':>6} {'FAULT':>6} {'usual s':>8} {'slowest s':>10}",
        flush=True,
    )
    good = True
    for name in arguments.only or CASES:
        count = 10 if arguments.quick else arguments.count
        row = storm(name, count, arguments.seed, signal.Signals[arguments.signal]).row()
        good &= row["faults"] == 0
        print(
            f"{name:30} {row['moments']:8} {row['best_so_far']:6} {row['clean']:6} {row['faults']:6} "
            f"{row['usual_seconds']:8.2f} {row['slowest_answer_seconds']:10.2f}"
        )
        for kind, times in row["fault_kinds"].items():
            print(f"    {times} x {kind}", flush=True)
        if recorder is not None:
            recorder.add(**row)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
