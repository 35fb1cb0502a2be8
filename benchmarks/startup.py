"""What a user waits for first: importing the package, and a small solve in a fresh process with an empty cache.

    python benchmarks/startup.py

The rival is `import scipy.sparse`, timed in turn in the same run.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile

from recording import Recorder

CODES = {
    "import scipy.sparse": "import scipy.sparse",
    "import flipwise": "import flipwise",
    "import flipwise, every public name": "import flipwise; [getattr(flipwise, n) for n in dir(flipwise)]",
    "solve 200 variables": (
        "import numpy as np, flipwise; A = np.random.default_rng(0).standard_normal((200, 200)); "
        "assert flipwise.minimize(A + A.T, seed=0).success"
    ),
}
TIMED = "import time; start = time.perf_counter(); {code}; print(time.perf_counter() - start)"


def seconds(code: str) -> float:
    """Wall time of the statements in a fresh interpreter with an empty kernel cache."""
    with tempfile.TemporaryDirectory() as cache:
        done = subprocess.run(
            [sys.executable, "-c", TIMED.format(code=code)],
            capture_output=True,
            text=True,
            check=True,
            env={"NUMBA_CACHE_DIR": cache, "PATH": "", "HOME": cache},
        )
    return float(done.stdout)


def main() -> None:
    """Interleave the repeats, print medians and ratios."""
    recorder = Recorder("startup")
    times: dict[str, list[float]] = {name: [] for name in CODES}
    for _ in range(15):
        for name, code in CODES.items():
            times[name].append(seconds(code))
    rival = statistics.median(times["import scipy.sparse"])
    for name, values in times.items():
        median = statistics.median(values)
        recorder.add(what=name, seconds=median, ratio_to_scipy_sparse=median / rival)
        print(f"{name:<36} {1000 * median:8.1f} ms   {median / rival:6.2f} x import scipy.sparse")


if __name__ == "__main__":
    main()
