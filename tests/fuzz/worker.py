"""One reader fuzzed in a process of its own: memory limited, every input kept until it has been survived.

    python -m tests.fuzz.worker "edge list" 20 SEED FOLDER

Exit code 0: nothing but results and the library's own errors. Anything else, a crash included, leaves FOLDER/input.
"""

from __future__ import annotations

import resource
import signal
import sys
import time
import traceback
import warnings
from pathlib import Path

import numpy as np

import flipwise
from tests.fuzz.corpus import READERS, mutated

MOST_BYTES = 1 << 30
"""More address space than this beyond the start is far past what inputs of some hundred bytes justify."""
MOST_SECONDS = 5


def main(name: str, seconds: float, seed: int, folder: Path) -> int:
    """Fuzz until the time is over; returns the exit code."""
    warnings.simplefilter("ignore")
    file_name, read, valid = READERS[name]
    path = folder / file_name
    seeds = valid()
    for content in seeds:  # also loads every library and kernel before the limits
        path.write_bytes(content)
        attempt(read, path)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MOST_BYTES, resource.RLIM_INFINITY))
    signal.signal(signal.SIGPROF, too_long)  # processor time: a busy machine is no hang
    signal.signal(signal.SIGALRM, too_long)
    rng = np.random.default_rng(seed)
    until, count, accepted = time.monotonic() + seconds, 0, 0
    while time.monotonic() < until:
        content = mutated(seeds[int(rng.integers(len(seeds)))], rng)
        (folder / "input").write_bytes(content)
        path.write_bytes(content)
        signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
        signal.setitimer(signal.ITIMER_REAL, 20 * MOST_SECONDS)
        try:
            accepted += attempt(read, path)
        except BaseException:
            traceback.print_exc()
            return 1
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.setitimer(signal.ITIMER_REAL, 0)
        count += 1
        if accepted and count % 50 == 0 and len(seeds) < 200:
            seeds.append(content)
    sys.stdout.write(f"{name}: {count} inputs, {accepted} accepted, {time.process_time():.0f} s of a processor\n")
    return 0


def attempt(read, path: Path) -> bool:  # type: ignore[no-untyped-def]
    """Read once; only the library's own errors may come out."""
    try:
        read(path)
    except flipwise.FlipwiseError:
        return False
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
