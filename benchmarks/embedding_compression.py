"""Embedding compression: recall of the exact neighbours at equal bytes, ours beside sign, LSH, ITQ and RaBitQ of faiss.

    python benchmarks/embedding_compression.py                      # three data sets, 5 seeds, 64 / 128 / 256 bits
    python benchmarks/embedding_compression.py --data stackoverflow --seeds 0 1
    python benchmarks/embedding_compression.py --quick

1,000 held-out rows (reuters: 500) are queries, the others the database; truth is exact inner product of unit vectors.
All methods are scored alike: Hamming distance of codes, and asymmetric (real-valued query against codes). `10_of_100`
re-ranks the best 100 by the original vectors. RaBitQ has one bit a dimension: it is given the leading principal
components, as many as bits; LSH is the rotation and the trained thresholds of `IndexLSH`, written out to have
real-valued queries. RaBitQ's 8 extra bytes a vector are recorded and its own estimator takes the place of the
asymmetric score. "whitening auto" chooses on the database alone, by recall within a sample of its rows.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import faiss
import numpy as np
from hashing_cells import Cells, add_options
from hashing_data import reuters, stackoverflow, tiny_imagenet

from flipwise.hashing import ARE, ITQ, Codes, asymmetric_search, hamming_search, neighbour_recall, rerank
from flipwise.hashing.quantisation import principal_axes
from flipwise.hashing.search import exact_search


def recalls(name: str, ids: Any, Q: Any, X: Any, truth: Any) -> dict[str, float]:
    """recall@10 and @100, and @10 after re-ranking the best 100."""
    return {
        f"{name}_10": neighbour_recall(ids[:, :10], truth[:, :10]),
        f"{name}_100": neighbour_recall(ids, truth),
        f"{name}_10_of_100": neighbour_recall(rerank(Q, X, ids, 10).ids, truth[:, :10]),
    }


def ours(model: Any) -> Any:
    def run(X: Any, Q: Any, n_bits: int, seed: int) -> tuple[Any, Any]:
        fitted = model(n_bits, seed).fit(X)
        return fitted.decision_function(Q), fitted.decision_function(X)

    return run


def sign(X: Any, Q: Any, n_bits: int, seed: int) -> tuple[Any, Any]:
    """Signs of the first coordinates, centred."""
    del seed
    mean = X.mean(axis=0)
    return (Q - mean)[:, :n_bits], (X - mean)[:, :n_bits]


def faiss_lsh(X: Any, Q: Any, n_bits: int, seed: int) -> tuple[Any, Any]:
    """faiss' random rotation to n_bits dimensions with trained thresholds."""
    rotation = faiss.RandomRotationMatrix(X.shape[1], n_bits)
    rotation.init(seed + 1)
    RX, RQ = rotation.apply_py(X), rotation.apply_py(Q)
    level = np.median(RX, axis=0)
    return RQ - level, RX - level


def faiss_itq(X: Any, Q: Any, n_bits: int, seed: int) -> tuple[Any, Any]:
    """faiss' ITQTransform: PCA and 50 rounds of rotation."""
    del seed
    transform = faiss.ITQTransform(X.shape[1], n_bits, True)
    transform.train(X)
    return transform.apply_py(Q), transform.apply_py(X)


BEST = "ITQ by DPCD, whitening auto"
METHODS = {
    BEST: ours(lambda b, s: ITQ(b, whitening="auto", random_state=s)),
    "ITQ by DPCD": ours(lambda b, s: ITQ(b, random_state=s)),
    "ARE by DPCD": ours(lambda b, s: ARE(b, random_state=s)),
    "sign": sign,
    "faiss LSH": faiss_lsh,
    "faiss ITQ": faiss_itq,
}
RABITQ = "faiss RaBitQ"


def rabitq(X: Any, Q: Any, n_bits: int, truth: Any) -> dict[str, Any]:
    """faiss RaBitQ on the leading principal components, rotated at random."""
    started = time.perf_counter()
    mean, axes, _ = principal_axes(X, n_bits)
    PX, PQ = (np.ascontiguousarray((part - mean) @ axes, dtype=np.float32) for part in (X, Q))
    index = faiss.IndexPreTransform(faiss.RandomRotationMatrix(n_bits, n_bits), faiss.IndexRaBitQ(n_bits))
    index.train(PX)
    index.add(PX)
    _, ids = index.search(PQ, 100)
    seconds = time.perf_counter() - started
    return {"bytes": n_bits // 8 + 8, "fit_seconds": seconds, **recalls("asymmetric", ids, Q, X, truth)}


def measured(method: str, X: Any, Q: Any, n_bits: int, seed: int, truth: Any) -> dict[str, Any]:
    """Recalls of one method; the seconds are those of fitting and encoding, rough on a busy machine."""
    if method == RABITQ:
        return rabitq(X, Q, n_bits, truth)
    started = time.perf_counter()
    real, database = METHODS[method](X, Q, n_bits, seed)
    row: dict[str, Any] = {"bytes": n_bits // 8, "fit_seconds": time.perf_counter() - started}
    codes = Codes.from_signs(database)
    row |= recalls("hamming", hamming_search(Codes.from_signs(real), codes, 100).ids, Q, X, truth)
    return row | recalls("asymmetric", asymmetric_search(real, codes, 100).ids, Q, X, truth)


def vectors(data: str, seed: int, rows: int) -> tuple[Any, Any]:
    """(database, queries), unit length, float32."""
    if data == "tinyimagenet":
        X, _, Q, _ = tiny_imagenet(seed, rows)
    else:
        X, Q = stackoverflow(seed) if data == "stackoverflow" else reuters(seed)
    return np.ascontiguousarray(X, dtype=np.float32), np.ascontiguousarray(Q, dtype=np.float32)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bits", type=int, nargs="+", default=[64, 128, 256])
    sets = ("stackoverflow", "tinyimagenet", "reuters")
    parser.add_argument("--data", nargs="+", choices=sets, default=list(sets))
    everything = [*METHODS, RABITQ]
    parser.add_argument("--methods", nargs="+", choices=everything, default=everything)
    parser.add_argument("--rows", type=int, default=20_000, help="most rows of tinyimagenet")
    add_options(parser)
    a = parser.parse_args()
    a.quality = True  # recalls only; no time is claimed here
    if a.quick:
        a.seeds, a.bits, a.data = [0], [64], ["reuters"]
    cells = Cells("embedding_compression", ("faiss-cpu",), a)
    for data in a.data:
        for seed in a.seeds:
            X, Q = vectors(data, seed, a.rows)
            truth = exact_search(Q, X, 100).ids
            for n_bits in a.bits:
                for method in a.methods:
                    key = {"data": data, "method": method, "bits": n_bits, "seed": seed, "rows": len(X)}
                    if cells.wanted(key):
                        cells.add("quality", key, **measured(method, X, Q, n_bits, seed, truth))


if __name__ == "__main__":
    main()
