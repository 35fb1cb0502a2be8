"""Random cases (function, container, type, constraint) against brute force in exact arithmetic.

    python benchmarks/exact_cases.py                       # 100,000 cases, writes results/exact-cases.json
    python benchmarks/exact_cases.py --cases 2000 --first 700000

A case is a fault when a value is not the exact one rounded once, a bound lies on the wrong side, a point is called
optimal that is not or breaks its constraint, good input is refused, bad input is not, or anything but an error of the
library is raised. Faults are listed with their numbers; `tests.exactness.cases.run_case(number)` repeats one.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from multiprocessing import get_context
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from recording import Recorder

from tests.exactness.cases import run_case

CHUNK = 500
"""Cases of one task; a process starts anew after each ten of them."""


def run_chunk(chunk: tuple[int, int]) -> tuple[Counter[str], list[dict[str, object]], float]:
    """Run some cases; returns how often each function ended how, the faults, and the processor time."""
    first, count = chunk
    begin = time.process_time()
    ended: Counter[str] = Counter()
    faults: list[dict[str, object]] = []
    for number in range(first, first + count):
        try:
            told = run_case(number)
            ended[f"{told.split()[0]} {told.rsplit(' ', 1)[1]}"] += 1
        except Exception as error:
            notes = " ".join(getattr(error, "__notes__", []))
            faults.append({"case": number, "error": f"{type(error).__name__}: {error}"[:300], "what": notes[:300]})
    return ended, faults, time.process_time() - begin


def main() -> int:
    """Run the cases and store what came of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--name", default="exact-cases", help="of the file in results/")
    arguments = parser.parse_args()
    recorder = Recorder(arguments.name)
    starts = range(arguments.first, arguments.first + arguments.cases, CHUNK)
    counts = [min(CHUNK, arguments.first + arguments.cases - start) for start in starts]
    ended: Counter[str] = Counter()
    faults: list[dict[str, object]] = []
    seconds = 0.0
    # multiprocessing's own pool: that of concurrent.futures can hang when it replaces a process (Python 3.11)
    with get_context("spawn").Pool(arguments.processes, maxtasksperchild=10) as pool:
        for found, wrong, spent in pool.imap(run_chunk, zip(starts, counts, strict=True)):
            ended += found
            faults += wrong
            seconds += spent
            for fault in wrong:
                print(fault, flush=True)
    row = {
        "cases": arguments.cases,
        "first": arguments.first,
        "faults": len(faults),
        "processor_seconds": round(seconds),
    }
    recorder.add(**row, ended=dict(sorted(ended.items())), listed=faults[:50])
    print(row)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
