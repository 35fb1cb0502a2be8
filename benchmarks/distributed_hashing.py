"""Hashing 2 x 10^6 rows in Parquet on two workers of 2 GB each: the codes of a fit in memory, and how it scales.

    python benchmarks/distributed_hashing.py              # 2 x 10^6 x 128
    python benchmarks/distributed_hashing.py --scaling    # times, also on one worker
    python benchmarks/distributed_hashing.py --quick      # 10^5 x 128, with or without --scaling

SDH and ITQ (5 rounds) with 64 bits are fitted in memory and on worker processes of one thread and 2 GB each.
Learned and hashed codes must agree bit for bit; the nannies, which restart a worker that goes beyond its memory, must
not have restarted any.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from distributed import Client, LocalCluster
from recording import Recorder

from flipwise.distributed import CodeShards, fit_hasher
from flipwise.hashing import ITQ, SDH
from flipwise.kernels.jit import threads

BITS = 64
LIMIT = "2GB"


def written(folder: Path, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows around ten centres, with directions of different spread, also as Parquet files of 250,000 rows."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 10, rows)
    spread = np.geomspace(0.3, 3.0, 128).astype(np.float32)
    X = rng.standard_normal((10, 128), dtype=np.float32)[y]
    for start in range(0, rows, 250_000):
        part = X[start : start + 250_000]
        part += spread * rng.standard_normal(part.shape, dtype=np.float32)
        features = pa.FixedSizeListArray.from_arrays(pa.array(part.reshape(-1)), 128)
        table = pa.table({"features": features, "label": y[start : start + 250_000]})
        pq.write_table(table, folder / f"part-{start // 250_000:03d}.parquet", row_group_size=125_000)
    return X, y


def peak(client: Client) -> dict[str, int]:
    """The largest resident memory of each worker process so far (ru_maxrss would begin with that of its parent)."""

    def high_water() -> int:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM"))

    return dict(client.run(high_water))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--scaling", action="store_true")
    arguments = parser.parse_args()
    rows = 100_000 if arguments.quick else 2_000_000
    kind = "distributed_hashing_scaling" if arguments.scaling else "distributed_hashing"
    recorder = Recorder(f"{kind}-quick" if arguments.quick else kind, ("dask", "distributed"))
    makers: dict[str, Any] = {
        "SDH": lambda: SDH(n_bits=BITS, random_state=0),
        "ITQ": lambda: ITQ(n_bits=BITS, rounds=5, random_state=0),
    }
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder, "rows")
        data.mkdir()
        X, y = written(data, rows)
        alone, row = {}, {}
        for name, make in makers.items():
            with threads(1):
                begun = time.perf_counter()
                alone[name] = make().fit(X, y)
                row[name] = {"plain": time.perf_counter() - begun}
        for workers in (1, 2) if arguments.scaling else (2,):
            options = {"threads_per_worker": 1, "memory_limit": LIMIT, "dashboard_address": ":0", "silence_logs": 50}
            with LocalCluster(n_workers=workers, **options) as local, Client(local) as client:
                before = set(client.run(lambda: __import__("os").getpid()).values())
                fit_hasher(SDH(n_bits=8, random_state=0), data, client=client)  # imports, kernels
                for name, make in makers.items():
                    codes = Path(folder, f"{name}-{workers}")
                    begun = time.perf_counter()
                    fitted = fit_hasher(make(), data, client=client, codes=codes)
                    row[name][f"seconds_{workers}"] = time.perf_counter() - begun
                    shards = CodeShards.open(codes)
                    packed = np.concatenate([shards.codes(s).packed for s in range(len(shards.rows))])
                    differing = int(np.count_nonzero(packed != alone[name].codes_.packed))
                    sample = slice(0, 50_000)
                    hashed = int(np.count_nonzero(fitted.transform(X[sample]) != alone[name].transform(X[sample])))
                    row[name][f"differing_bytes_{workers}"] = differing + hashed
                    assert differing == hashed == 0
                after = set(client.run(lambda: __import__("os").getpid()).values())
                memory = max(peak(client).values())
                restarted = len(before - after)
            row[f"peak_bytes_{workers}"], row[f"restarts_{workers}"] = memory, restarted
            assert restarted == 0
        print(f"{rows:,} x 128, {BITS} bits: the same codes in memory and on workers")
        print(f"largest worker {row['peak_bytes_2'] / 1e6:,.0f} MB of {LIMIT}, restarts: {row['restarts_2']}")
        if not arguments.scaling:
            facts = {name: row[name] for name in ("peak_bytes_2", "restarts_2")}
            facts |= {f"{name}_differing_bytes": row[name]["differing_bytes_2"] for name in makers}
            recorder.add(rows=rows, features=128, bits=BITS, limit=LIMIT, **facts)
            return
        for name in makers:
            plain, one, two = row[name]["plain"], row[name]["seconds_1"], row[name]["seconds_2"]
            print(
                f"{name}: in memory {plain:.1f} s, 1 worker {one:.1f} s ({100 * (one / plain - 1):+.0f} %), "
                f"2 workers {two:.1f} s ({one / two:.2f} times faster than 1)"
            )
        recorder.add(rows=rows, features=128, bits=BITS, limit=LIMIT, **row)


if __name__ == "__main__":
    main()
