"""Queries a second of a search through all codes, ours beside faiss, and what memory it adds.

    python benchmarks/vector_search.py
    python benchmarks/vector_search.py --quick

Hamming: 10^6 random codes of 256 bits against `IndexBinaryFlat`, ours through faiss and by our kernel. Asymmetric:
10^6 codes of 32 bytes by tables against `IndexPQ` (32 groups of 256). 100 queries, 10 neighbours, one thread, the best
of three turns that alternate; kernels are compiled before. Memory: what the process gains while ours searches.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from typing import Any

import faiss
import numpy as np
from recording import Recorder

from flipwise.hashing import Codes, asymmetric_search, hamming_search
from flipwise.hashing.search import table_search
from flipwise.kernels.jit import threads

QUERIES, K, TURNS = 100, 10, 3


def best_rates(methods: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """Queries a second of each method, the best of some turns."""
    rates = dict.fromkeys(methods, 0.0)
    for _ in range(TURNS):
        for name, search in methods.items():
            started = time.perf_counter()
            search()
            rates[name] = max(rates[name], QUERIES / (time.perf_counter() - started))
    return rates


def added_bytes(search: Callable[[], Any]) -> int:
    """By how much the peak of the process rises while this runs."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    search()
    return 1024 * int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)


def hamming(n: int, rng: np.random.Generator) -> dict[str, Any]:
    """Codes of 256 bits."""
    database = rng.integers(0, 256, (n, 32), dtype=np.uint8)
    asked = rng.integers(0, 256, (QUERIES, 32), dtype=np.uint8)
    codes, queries = Codes(database, 256), Codes(asked, 256)
    small = codes[:1000]
    for backend in ("faiss", "compiled"):  # compiled, and faiss tried
        hamming_search(queries, small, K, backend=backend)
    hamming_search(queries[:1], codes, K, backend="compiled")
    added = added_bytes(lambda: hamming_search(queries, codes, K, backend="compiled"))
    index = faiss.IndexBinaryFlat(256)
    index.add(database)
    rates = best_rates(
        {
            "faiss IndexBinaryFlat": lambda: index.search(asked, K),
            "flipwise, through faiss": lambda: hamming_search(queries, codes, K, backend="faiss"),
            "flipwise, own kernel": lambda: hamming_search(queries, codes, K, backend="compiled"),
        }
    )
    return {"kind": "hamming", "n": n, "bits": 256, "rates": rates, "added_bytes": added, "code_bytes": database.nbytes}


def asymmetric(n: int, rng: np.random.Generator) -> dict[str, Any]:
    """Codes of 32 bytes: entries by tables, and bits by tables that are made of them."""
    database = rng.integers(0, 256, (n, 32), dtype=np.uint8)
    vectors = rng.standard_normal((QUERIES, 64)).astype(np.float32)
    tables = rng.standard_normal((QUERIES, 32, 256)).astype(np.float32)
    one, zero, offset = np.ones(1, np.float32), np.zeros(1, np.float32), np.zeros(QUERIES, np.float32)
    codes, values = Codes(database, 256), rng.standard_normal((QUERIES, 256)).astype(np.float32)
    asymmetric_search(values, codes[:1000], K)
    table_search(tables[:1], offset[:1], one, zero, database, K)
    added = added_bytes(lambda: table_search(tables, offset, one, zero, database, K))
    index = faiss.IndexPQ(64, 32, 8, faiss.METRIC_INNER_PRODUCT)
    index.train(rng.standard_normal((10_000, 64)).astype(np.float32))
    faiss.copy_array_to_vector(database.ravel(), index.codes)
    index.ntotal = n
    rates = best_rates(
        {
            "faiss IndexPQ": lambda: index.search(vectors, K),
            "flipwise, tables": lambda: table_search(tables, offset, one, zero, database, K),
            "flipwise, bits": lambda: asymmetric_search(values, codes, K),
        }
    )
    return {
        "kind": "asymmetric", "n": n, "bits": 256, "rates": rates, "added_bytes": added, "code_bytes": database.nbytes,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="20,000 codes; nothing is stored")
    quick = parser.parse_args().quick
    n = 20_000 if quick else 1_000_000
    recorder = Recorder("vector_search", ("faiss-cpu",))
    faiss.omp_set_num_threads(1)
    with threads(1):
        for part in (asymmetric, hamming):
            row = part(n, np.random.default_rng(0))
            print(row, flush=True)
            if not quick:
                recorder.add(**row)


if __name__ == "__main__":
    main()
