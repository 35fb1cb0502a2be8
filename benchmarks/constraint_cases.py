"""Every constraint x every public function x {search, proof} on random instances up to n = 14, against brute force.

    python benchmarks/constraint_cases.py                 # 640 cases, writes results/constraint-cases.json
    python benchmarks/constraint_cases.py --cases 64 --first 5000

A case is a fault when the answer breaks a constraint or is not the optimum, a value is not the exact one, a bound is on
the wrong side, or a proof is missing. `tests.exactness.constraints.run_case(number)` repeats one.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from recording import Recorder

from tests.exactness.constraints import run_case


def main() -> int:
    """Run the cases and store what came of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=640)
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    arguments = parser.parse_args()
    recorder = Recorder("constraint-cases")
    begin = time.process_time()
    right: Counter[str] = Counter()
    faults: list[dict[str, object]] = []
    for number in range(arguments.first, arguments.first + arguments.cases):
        try:
            right[run_case(number)] += 1
        except Exception as error:
            faults.append({"case": number, "error": f"{type(error).__name__}: {error}"[:300]})
            print(faults[-1], flush=True)
    row = {"cases": arguments.cases, "first": arguments.first, "faults": len(faults)}
    seconds = round(time.process_time() - begin)
    recorder.add(**row, processor_seconds=seconds, right=dict(sorted(right.items())), listed=faults)
    print(row)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
