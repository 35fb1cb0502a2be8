"""Recall of the exact neighbours at equal bytes: additive quantisation beside the quantisers of faiss and binary codes.

    python benchmarks/embedding_bytes.py                       # one seed
    python benchmarks/embedding_bytes.py --seeds 0 1 2 3 4
    python benchmarks/embedding_bytes.py --quick

500 rows are queries; half of the others are learned from, the other half, which no method has seen, is the database.
Rows have unit length, truth is the cosine. What a quantiser decodes is scored by its cosine with the query; binary
codes and RaBitQ by asymmetric scores of their own. faiss trains with its defaults. Seconds are of the processor, one
thread. `10_of_100` re-ranks the best 100 by the original vectors. Cells that the stored file has are not made again.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import faiss
import numpy as np
from hashing_cells import Cells, add_options
from hashing_data import cifar10, reuters, stackoverflow, tiny_imagenet

from flipwise.hashing import ITQ, AdditiveQuantizer, Codes, asymmetric_search, neighbour_recall, rerank
from flipwise.hashing.quantisation import principal_axes
from flipwise.hashing.search import exact_search

QUERIES, ROWS = 500, 20_500
OURS = "flipwise additive"


class Ours:
    """AdditiveQuantizer."""

    def __init__(self, n_bytes: int, seed: int) -> None:
        self.model = AdditiveQuantizer(n_bytes, random_state=seed)

    def train(self, X: Any) -> None:
        self.model.fit(X)

    def encode(self, X: Any) -> None:
        self.codes = self.model.encode(X)

    def search(self, Q: Any, k: int) -> Any:
        return self.model.search(Q, self.codes, k).ids

    def size(self) -> int:
        return sum(a.nbytes for a in (self.model.codebooks_, self.model.mean_, self.model.axes_))


class Signs:
    """Signs of the principal components, asymmetric scores."""

    def __init__(self, n_bytes: int, seed: int) -> None:
        self.bits, self.seed = 8 * n_bytes, seed

    def train(self, X: Any) -> None:
        self.mean = X.mean(axis=0)
        self.axes = self.chosen(X)

    def chosen(self, X: Any) -> Any:
        return principal_axes(X, min(self.bits, X.shape[1]))[1].astype(np.float32)

    def values(self, X: Any) -> Any:
        return (X - self.mean) @ self.axes

    def encode(self, X: Any) -> None:
        self.codes = Codes.from_signs(self.values(X))

    def search(self, Q: Any, k: int) -> Any:
        return asymmetric_search(self.values(Q), self.codes, k).ids

    def size(self) -> int:
        return int(self.axes.nbytes + self.mean.nbytes)


class RandomSigns(Signs):
    """Signs along random directions (LSH), orthonormal as far as there are features."""

    def chosen(self, X: Any) -> Any:
        drawn = np.random.default_rng(self.seed).standard_normal((X.shape[1], self.bits)).astype(np.float32)
        return np.linalg.qr(drawn)[0] if self.bits <= X.shape[1] else drawn


class Bits:
    """Our ITQ with its whitening, real-valued queries against codes."""

    def __init__(self, n_bytes: int, seed: int) -> None:
        self.model = ITQ(8 * n_bytes, whitening="auto", random_state=seed)

    def train(self, X: Any) -> None:
        self.model.fit(X)

    def encode(self, X: Any) -> None:
        self.codes = self.model.encode(X)

    def search(self, Q: Any, k: int) -> Any:
        return asymmetric_search(self.model.decision_function(Q), self.codes, k).ids

    def size(self) -> int:
        return sum(a.nbytes for a in self.model.function_.arrays().values())


class Decoded:
    """A quantiser of faiss on centred rows; what it decodes is scored by the cosine, with the mean added."""

    def __init__(self, n_bytes: int, seed: int) -> None:
        self.n_bytes, self.seed = n_bytes, seed

    def train(self, X: Any) -> None:
        self.mean = X.mean(axis=0)
        self.quantizer = self.make(X - self.mean)
        self.quantizer.train(X - self.mean)

    def make(self, X: Any) -> Any:
        raise NotImplementedError

    def size(self) -> int:
        return int(4 * (self.quantizer.codebooks.size() + self.mean.size))

    def encode(self, X: Any) -> None:
        self.codes = self.quantizer.compute_codes(X - self.mean)

    def search(self, Q: Any, k: int) -> Any:
        vectors = self.quantizer.decode(self.codes) + self.mean
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return exact_search(Q, vectors, k).ids


class Residual(Decoded):
    """faiss RQ."""

    def make(self, X: Any) -> Any:
        return faiss.ResidualQuantizer(X.shape[1], self.n_bytes, 8)


class LocalSearch(Decoded):
    """faiss LSQ."""

    def make(self, X: Any) -> Any:
        return faiss.LocalSearchQuantizer(X.shape[1], self.n_bytes, 8)


class Indexed(Decoded):
    """An index of faiss that encodes and decodes."""

    def factory(self, width: int) -> str:
        raise NotImplementedError

    def make(self, X: Any) -> Any:
        return faiss.index_factory(X.shape[1], self.factory(X.shape[1]))

    def encode(self, X: Any) -> None:
        self.codes = self.quantizer.sa_encode(X - self.mean)
        assert self.codes.shape[1] == self.n_bytes

    def size(self) -> int:
        return int(faiss.serialize_index(self.quantizer).nbytes + self.mean.nbytes)

    def search(self, Q: Any, k: int) -> Any:
        vectors = self.quantizer.sa_decode(self.codes) + self.mean
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return exact_search(Q, vectors, k).ids


class Product(Indexed):
    """faiss PQ after a rotated PCA to 8 axes a byte, which is better for it than to all of them."""

    def factory(self, width: int) -> str:
        return f"PCAR{min(width - width % self.n_bytes, 8 * self.n_bytes)},PQ{self.n_bytes}x8np"


class OptimisedProduct(Indexed):
    """faiss OPQ and PQ."""

    def factory(self, width: int) -> str:
        return f"OPQ{self.n_bytes}_{width - width % self.n_bytes},PQ{self.n_bytes}x8np"


class Scalar4(Indexed):
    """Principal components, 4 bits each."""

    def factory(self, width: int) -> str:
        return f"PCA{min(width, 2 * self.n_bytes)},SQ4"


class Scalar8(Indexed):
    """Principal components, 8 bits each."""

    def factory(self, width: int) -> str:
        return f"PCA{self.n_bytes},SQ8"


class RaBitQ:
    """faiss RaBitQ of principal components; its factors count among the bytes.

    Unit vectors are ordered alike by distances of centred rows and by inner products with queries that are not centred;
    the estimates are not (cifar10's long mean drowns the second), so the one is taken that finds more in training.
    """

    bits = 1

    def __init__(self, n_bytes: int, seed: int) -> None:
        sizes = [d for d in range(8, 8 * n_bytes + 1, 8) if self.index(d, faiss.METRIC_L2).code_size <= n_bytes]
        if not sizes:
            raise ValueError("no room for the factors")
        self.width = sizes[-1]

    def index(self, width: int, metric: int) -> Any:
        return faiss.IndexRaBitQ(width, metric, self.bits)

    def train(self, X: Any) -> None:
        self.mean, self.axes, _ = principal_axes(X, min(self.width, X.shape[1]))
        self.rotation = faiss.RandomRotationMatrix(self.axes.shape[1], self.axes.shape[1])
        self.rotation.init(1)
        Q, rest = X[:QUERIES], X[QUERIES:]
        truth = exact_search(Q, rest, 10).ids
        found = []
        for metric in (faiss.METRIC_L2, faiss.METRIC_INNER_PRODUCT):
            self.store = self.index(self.axes.shape[1], metric)
            self.store.train(self.rotated(X - self.mean))
            self.encode(rest)
            found.append((neighbour_recall(self.search(Q, 10), truth), -len(found), self.store))
        self.store = max(found)[2]
        self.store.reset()

    def rotated(self, X: Any) -> Any:
        return self.rotation.apply_py(np.ascontiguousarray(X @ self.axes, dtype=np.float32))

    def encode(self, X: Any) -> None:
        self.store.add(self.rotated(X - self.mean))

    def search(self, Q: Any, k: int) -> Any:
        centred = self.store.metric_type == faiss.METRIC_L2
        return self.store.search(self.rotated(Q - self.mean if centred else Q), k)[1]

    def size(self) -> int:
        return int(self.axes.astype(np.float32).nbytes + self.axes.shape[1] ** 2 * 4 + self.mean.nbytes)


class RaBitQ2(RaBitQ):
    bits = 2


class RaBitQ4(RaBitQ):
    bits = 4


METHODS: dict[str, Any] = {
    OURS: Ours,
    "faiss RQ": Residual,
    "faiss PQ": Product,
    "flipwise ITQ, whitening auto": Bits,
    "faiss RaBitQ, 1 bit": RaBitQ,
    "faiss RaBitQ, 2 bits": RaBitQ2,
    "faiss RaBitQ, 4 bits": RaBitQ4,
    "faiss SQ4": Scalar4,
    "faiss SQ8": Scalar8,
    "sign": Signs,
    "LSH": RandomSigns,
    "faiss OPQ": OptimisedProduct,
    "faiss LSQ": LocalSearch,
}


def rows_of(data: str, seed: int) -> Any:
    """At most 20,500 rows of unit length, shuffled."""
    if data == "tinyimagenet":
        X = tiny_imagenet(seed, ROWS)[0]
    elif data == "cifar10":
        X = cifar10(seed, ROWS)[0]
    else:
        X = np.concatenate(stackoverflow(seed) if data == "stackoverflow" else reuters(seed))
    X = np.ascontiguousarray(X[np.random.default_rng(seed).permutation(len(X))[:ROWS]], dtype=np.float32)
    return X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-12)


def measured(method: Any, n_bytes: int, seed: int, T: Any, X: Any, Q: Any, truth: Any) -> dict[str, float]:
    """Recalls and seconds of one method."""
    try:
        model = method(n_bytes, seed)
    except ValueError:
        return {}
    times = [time.process_time()]
    model.train(T)
    times.append(time.process_time())
    model.encode(X)
    times.append(time.process_time())
    ids = model.search(Q, 100)
    return {
        "recall_10": neighbour_recall(ids[:, :10], truth[:, :10]),
        "recall_100": neighbour_recall(ids, truth),
        "recall_10_of_100": neighbour_recall(rerank(Q, X, ids, 10).ids, truth[:, :10]),
        "train_seconds": times[1] - times[0],
        "encode_seconds": times[2] - times[1],
        "model_bytes": model.size(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bytes", type=int, nargs="+", default=[8, 16, 32, 48])
    sets = ("stackoverflow", "reuters", "cifar10", "tinyimagenet")
    parser.add_argument("--data", nargs="+", choices=sets, default=list(sets))
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=list(METHODS))
    add_options(parser)
    parser.set_defaults(seeds=[0])
    a = parser.parse_args()
    a.quality = True  # one kind of cell: seconds are of the processor
    if a.quick:
        a.seeds, a.bytes, a.data, a.methods = [0], [8], ["reuters"], [OURS, "faiss PQ"]
    faiss.omp_set_num_threads(1)
    cells = Cells("embedding_bytes", ("faiss-cpu",), a)
    for seed in a.seeds:
        for n_bytes in a.bytes:
            for data in a.data:
                R = None
                for method in a.methods:
                    key = {"data": data, "method": method, "bytes": n_bytes, "seed": seed}
                    if not cells.wanted(key):
                        continue
                    if R is None:
                        R = rows_of(data, seed)
                        half = (len(R) - QUERIES) // 2
                        Q, T, X = R[:QUERIES], R[QUERIES : QUERIES + half], R[QUERIES + half :]
                        truth = exact_search(Q, X, 100).ids
                    found = measured(METHODS[method], n_bytes, seed, T, X, Q, truth)
                    if found:
                        cells.add("quality", key, rows=len(X), features=X.shape[1], **found)


if __name__ == "__main__":
    main()
