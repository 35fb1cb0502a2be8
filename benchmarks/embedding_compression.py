"""Embedding compression: recall of the exact neighbours at equal bytes, ours beside sign, LSH, ITQ and RaBitQ of faiss.

    python benchmarks/embedding_compression.py                      # both data sets, 5 seeds, 64 / 128 / 256 bits
    python benchmarks/embedding_compression.py --seeds 2 --only stackoverflow
    python benchmarks/embedding_compression.py --quick

1,000 held-out rows are queries, the others the database; truth is exact inner product of unit vectors. All methods are
scored alike: Hamming distance of codes, and asymmetric (real-valued query against codes). `10_of_100` re-ranks the
best 100 by the original vectors. RaBitQ has one bit a dimension: it is given the leading principal components, as many
as bits; LSH is the rotation and the trained thresholds of `IndexLSH`, written out to have real-valued queries. The
powers tried by "whitening auto" were seen on queries of one split of stackoverflow. RaBitQ's 8 extra bytes a vector
are recorded and its own estimator takes the place of the asymmetric score.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import faiss
import numpy as np
from hashing_data import stackoverflow, tiny_imagenet
from recording import Recorder

from flipwise.hashing import ARE, ITQ, Codes, asymmetric_search, hamming_search, neighbour_recall, rerank
from flipwise.hashing.projections import principal_axes
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


METHODS = {
    "ITQ by DPCD, whitening auto": ours(lambda b, s: ITQ(b, whitening="auto", random_state=s)),
    "ITQ by DPCD": ours(lambda b, s: ITQ(b, random_state=s)),
    "ARE by DPCD": ours(lambda b, s: ARE(b, random_state=s)),
    "sign": sign,
    "faiss LSH": faiss_lsh,
    "faiss ITQ": faiss_itq,
}


def rabitq(X: Any, Q: Any, n_bits: int, truth: Any) -> dict[str, Any]:
    """faiss RaBitQ on the leading principal components, rotated at random."""
    mean, axes, _ = principal_axes(X.astype(np.float64), n_bits)
    started = time.perf_counter()
    PX, PQ = (np.ascontiguousarray((part - mean) @ axes, dtype=np.float32) for part in (X, Q))
    index = faiss.IndexPreTransform(faiss.RandomRotationMatrix(n_bits, n_bits), faiss.IndexRaBitQ(n_bits))
    index.train(PX)
    index.add(PX)
    _, ids = index.search(PQ, 100)
    seconds = time.perf_counter() - started
    return {"bytes": n_bits // 8 + 8, "seconds": seconds, **recalls("asymmetric", ids, Q, X, truth)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--bits", type=int, nargs="+", default=[64, 128, 256])
    parser.add_argument("--only", choices=("stackoverflow", "tinyimagenet"))
    parser.add_argument("--skip", nargs="+", choices=tuple(METHODS), default=[], help="methods to leave out")
    parser.add_argument("--rows", type=int, default=50_000, help="most rows of tinyimagenet")
    parser.add_argument("--name", default="embedding_compression", help="name of the stored file")
    parser.add_argument("--quick", action="store_true", help="one seed, 64 bits, stackoverflow; nothing is stored")
    a = parser.parse_args()
    if a.quick:
        a.seeds, a.bits, a.only = 1, [64], "stackoverflow"
    recorder = None if a.quick else Recorder(a.name, ("faiss-cpu",))
    for data in ("stackoverflow", "tinyimagenet"):
        if a.only not in (None, data):
            continue
        for seed in range(a.seeds):
            if data == "stackoverflow":
                X, Q = stackoverflow(seed)
            else:
                X, _, Q, _ = tiny_imagenet(seed, a.rows)
            X, Q = np.ascontiguousarray(X, dtype=np.float32), np.ascontiguousarray(Q, dtype=np.float32)
            truth = exact_search(Q, X, 100).ids
            for n_bits in a.bits:
                for method, run in METHODS.items():
                    if method in a.skip:
                        continue
                    started = time.perf_counter()
                    real, database = run(X, Q, n_bits, seed)
                    seconds = time.perf_counter() - started
                    codes = Codes.from_signs(database)
                    row = {"bytes": n_bits // 8, "seconds": seconds}
                    row |= recalls("hamming", hamming_search(Codes.from_signs(real), codes, 100).ids, Q, X, truth)
                    row |= recalls("asymmetric", asymmetric_search(real, codes, 100).ids, Q, X, truth)
                    store(recorder, data, method, n_bits, seed, X, row)
                store(recorder, data, "faiss RaBitQ", n_bits, seed, X, rabitq(X, Q, n_bits, truth))


def store(recorder: Any, data: str, method: str, n_bits: int, seed: int, X: Any, row: dict[str, Any]) -> None:
    """Print and keep a row."""
    print(data, n_bits, seed, method, {k: round(v, 4) for k, v in row.items()}, flush=True)
    if recorder is not None:
        recorder.add(data=data, method=method, bits=n_bits, seed=seed, rows=len(X), **row)


if __name__ == "__main__":
    main()
