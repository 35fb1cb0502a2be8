"""One reader fuzzed in a process of its own: memory limited, every input kept until it has been survived.

    python -m tests.fuzz.worker "edge list" 20 SEED FOLDER

Exit code 0: nothing but the library's own errors and objects that are the same when they are written and read again.
Anything else, a crash included, leaves FOLDER/input.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
import time
import traceback
import warnings
from pathlib import Path

import numpy as np

import flipwise
from tests.fuzz.corpus import READERS, Reader
from tests.fuzz.mutations import mutated

MOST_BYTES = 1 << 30
"""More address space than this beyond the start is far past what inputs of some hundred bytes justify."""
MOST_SECONDS = 5


def main(name: str, seconds: float, seed: int, folder: Path) -> int:
    """Fuzz until the time is over; returns the exit code."""
    warnings.simplefilter("ignore")
    reader = READERS[name]
    path = folder / reader.file
    seeds = reader.valid()
    for content in seeds:  # also loads every library and kernel before the limits
        path.write_bytes(content)
        attempt(reader, path)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MOST_BYTES, resource.RLIM_INFINITY))
    signal.signal(signal.SIGPROF, too_long)  # processor time: a busy machine is no hang
    signal.signal(signal.SIGALRM, too_long)
    rng = np.random.default_rng(seed)
    os.fsync = lambda descriptor: None  # type: ignore[assignment]  # round trips need no disk
    begun, count, accepted = (time.process_time(), time.monotonic()), 0, 0
    while time.process_time() - begun[0] < seconds and time.monotonic() - begun[1] < 10 * seconds:
        content = mutated(seeds[int(rng.integers(len(seeds)))], rng)
        if reader.repair is not None and rng.integers(2):
            content = reader.repair(content)
        (folder / "input").write_bytes(content)
        path.write_bytes(content)
        signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
        signal.setitimer(signal.ITIMER_REAL, 20 * MOST_SECONDS)
        try:
            good = attempt(reader, path)
            accepted += good
        except BaseException:
            traceback.print_exc()
            return 1
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.setitimer(signal.ITIMER_REAL, 0)
        count += 1
        if good and count % 50 == 0 and len(seeds) < 200:
            seeds.append(content)
    sys.stdout.write(f"{name}: {count} inputs, {accepted} accepted, {time.process_time():.0f} s of a processor\n")
    return 0


def attempt(reader: Reader, path: Path) -> bool:
    """Read once; only the library's own errors may come out, and what was read must survive a round trip."""
    try:
        held = reader.read(path)
    except flipwise.FlipwiseError:
        return False
    if reader.round_trip is not None:
        reader.round_trip(held, path.parent)
    return True


def too_long(signum: int, _: object) -> None:
    """The alarm of a hang; compiling a kernel, which no file can prolong, is none."""
    lock = sys.modules.get("numba.core.compiler_lock")
    if lock is not None and lock.global_compiler_lock.is_locked():
        signal.setitimer(signal.ITIMER_PROF if signum == signal.SIGPROF else signal.ITIMER_REAL, MOST_SECONDS)
        return
    raise TimeoutError(f"a reader took more than {MOST_SECONDS} s")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4])))
