"""What `recommend` predicts from a few thousand rows, beside what is measured among all of them.

    python benchmarks/recommendation.py
    python benchmarks/recommendation.py --quick

`recommend` is given 1,000 queries, 2,500 to 5,000 rows to learn from and as many to search, and predicts for all other
rows of the set, with default estimator and scoring and with an AdditiveQuantizer. Measured: an estimator with the same
settings learns from as many rows, all others are searched, with 1,000 queries that `recommend` has not seen.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from hashing_cells import Cells, add_options
from hashing_data import cifar10, stackoverflow, tiny_imagenet

from flipwise.hashing import ITQ, AdditiveQuantizer, recommend
from flipwise.hashing.recommendation import Searches, places_of_neighbours, recalls_of_queries
from flipwise.hashing.scoring import Scoring
from flipwise.hashing.search import exact_search

QUERIES, BITS, FACTORS = 1000, (64, 128), (1, 2, 4, 10)
LEARNED = {"stackoverflow": 2500, "cifar10": 5000, "tinyimagenet": 5000}
ESTIMATORS: dict[str, Any] = {
    'ITQ(whitening="auto")': lambda seed: ITQ(whitening="auto", random_state=seed),
    "AdditiveQuantizer()": lambda seed: AdditiveQuantizer(random_state=seed),
}


def rows_of(data: str, seed: int) -> Any:
    """All rows of a set, of unit length, shuffled."""
    if data == "stackoverflow":
        X = np.concatenate(stackoverflow(seed))
    else:
        database, _, queries, _ = {"cifar10": cifar10, "tinyimagenet": tiny_imagenet}[data](seed)
        X = np.concatenate([database, queries])
    X = X[np.random.default_rng(seed).permutation(len(X))].astype(np.float32)
    return X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-12)


def compared(data: str, name: str, seed: int) -> list[dict[str, Any]]:
    """Predicted and measured recall for each setting."""
    X, learned = rows_of(data, seed), LEARNED[data]
    Q, X = X[:QUERIES], X[QUERIES:]
    given, database = X[: QUERIES + 2 * learned], X[QUERIES + learned :]
    estimator = ESTIMATORS[name](seed)
    bits = BITS if isinstance(estimator, ITQ) else BITS[:1]
    said = recommend(
        given, rows=len(database), bits=bits, oversampling=FACTORS, estimator=estimator, max_rows=learned,
        queries=QUERIES, random_state=seed,
    )  # fmt: skip
    truth = exact_search(Q, database, 10).ids
    rows = []
    for n_bits in bits:
        size = {"n_bits": n_bits} if isinstance(estimator, ITQ) else {"n_bytes": n_bits // 8}
        model = ESTIMATORS[name](seed).set_params(**size).fit(X[QUERIES : QUERIES + learned])
        near = Searches(Scoring(model), Q, database, "asymmetric").nearest(slice(None), 10 * max(FACTORS))
        for m in (m for m in said.measured if m.n_bits == n_bits):
            measured = float(recalls_of_queries([[places_of_neighbours(truth, near)]], 10 * m.oversampling).mean())
            rows.append(
                {
                    "n_bits": n_bits,
                    "oversampling": m.oversampling,
                    "searched": m.searched[-1][0],
                    "rows": len(database),
                    "predicted": m.recall,
                    "low": m.low,
                    "high": m.high,
                    "measured": measured,
                }
            )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="+", choices=list(LEARNED), default=list(LEARNED))
    add_options(parser)
    parser.set_defaults(seeds=[0])
    a = parser.parse_args()
    a.quality = True
    if a.quick:
        a.data, a.seeds = ["stackoverflow"], [0]
    cells = Cells("recommendation", (), a)
    for seed in a.seeds:
        for data in a.data:
            for name in ESTIMATORS:
                if cells.wanted({"data": data, "estimator": name, "seed": seed, "n_bits": BITS[0], "oversampling": 1}):
                    for row in compared(data, name, seed):
                        key = {"data": data, "estimator": name, "seed": seed}
                        key |= {part: row.pop(part) for part in ("n_bits", "oversampling")}
                        cells.add("quality", key, **row)


if __name__ == "__main__":
    main()
