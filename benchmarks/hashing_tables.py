"""DPCD against the original optimiser of each loss: the paper's tables on ImageNet and NUS-WIDE, on stand-in data.

    python benchmarks/hashing_tables.py                          # 20,000 rows, 5 seeds, 32 / 64 / 96 bits
    python benchmarks/hashing_tables.py --rows 50000 --seeds 0
    python benchmarks/hashing_tables.py --quick

Unsupervised losses (SADH-L, ARE, ITQ): deep features of 100 Tiny-ImageNet classes, 256 components for all methods.
Supervised losses (SDH, FSDH, FastHash): bag of visual words, 21 labels, relevant when one is shared. Hash functions are
linear, for FastHash boosted trees. MAP is tie-aware over the whole list: `map_learned` against learned codes,
`map_hashed` against re-encoded ones; precision@500 against learned codes. `b_step_seconds` is the time of the optimiser
alone, `total_seconds` that of the whole fit with the hash function. Supervised methods run on distinct label sets and,
as their authors do, on all items; kernels are compiled before.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from hashing_cells import Cells, add_options
from hashing_data import bag_of_words, tiny_imagenet

from flipwise.hashing import ARE, FSDH, ITQ, SADH, SDH, FastHash, mean_average_precision, precision_at
from flipwise.hashing.quantisation import principal_axes

UNSUPERVISED = {"SADH-L": (SADH, "sadh"), "ARE": (ARE, "are"), "ITQ": (ITQ, "itq")}
SUPERVISED = {"SDH": (SDH, "dcc"), "FSDH": (FSDH, "fsdh"), "FastHash": (FastHash, "blocks")}


def quality(model: Any, split: Any) -> dict[str, Any]:
    """Both protocols."""
    X, y, Q, yq = split
    queries = model.encode(Q)
    return {
        "map_learned": mean_average_precision(queries, model.codes_, yq, y),
        "map_hashed": mean_average_precision(queries, model.encode(X), yq, y),
        "precision_500": precision_at(queries, model.codes_, yq, y, 500),
        "loss_value": float(model.loss_values_[-1]) if hasattr(model, "loss_values_") else None,
    }


def times(model: Any) -> dict[str, Any]:
    """What is timed besides the whole fit."""
    return {"b_step_seconds": model.b_step_seconds_}


def reduced(split: Any, components: int) -> Any:
    """The same data in the leading principal components of the training rows."""
    X, y, Q, yq = split
    mean, axes, _ = principal_axes(X, components)
    return (X - mean) @ axes, y, (Q - mean) @ axes, yq


def runs(n_bits: int, seed: int) -> list[tuple[str, str, str, Any]]:
    """(loss, optimiser, rows, estimator)."""
    listed: list[tuple[str, str, str, Any]] = []
    for name, (estimator, original) in UNSUPERVISED.items():
        for optimiser in ("dpcd", original):
            listed.append((name, optimiser, "items", estimator(n_bits, optimizer=optimiser, random_state=seed)))
    for name, (estimator, original) in SUPERVISED.items():
        pairs = [("dpcd", True), (original, True), ("dpcd", False), (original, False)]
        if name == "FastHash":
            pairs.remove(("dpcd", False))  # nearly all of its time goes into the trees, whatever the rows
        for optimiser, distinct in pairs:
            model = estimator(n_bits, optimizer=optimiser, distinct=distinct, random_state=seed)
            listed.append((name, optimiser, "label sets" if distinct else "items", model))
    return listed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--bits", type=int, nargs="+", default=[32, 64, 96])
    everything = [*UNSUPERVISED, *SUPERVISED]
    parser.add_argument("--losses", nargs="+", choices=everything, default=everything)
    add_options(parser)
    a = parser.parse_args()
    if a.quick:
        a.rows, a.seeds, a.bits = 1000, [0], [32]
    cells = Cells("hashing_tables", ("scikit-learn",), a)
    for seed in a.seeds:
        deep, words = reduced(tiny_imagenet(seed, a.rows), 256), bag_of_words(seed, a.rows)
        for n_bits in a.bits:
            for name, optimiser, rows, model in runs(n_bits, seed):
                split = deep if name in UNSUPERVISED else words
                key = {"loss": name, "optimiser": optimiser, "rows": rows, "bits": n_bits, "seed": seed}
                key["n"] = len(split[0])
                if name not in a.losses or not cells.wanted(key):
                    continue
                if not a.quality:
                    model.fit(split[0][:1500], split[1][:1500])  # compiles and loads what will be timed
                cells.run(
                    key,
                    lambda: model.fit(split[0], split[1]),  # noqa: B023 - called at once
                    times,
                    lambda fitted: quality(fitted, split),  # noqa: B023
                )


if __name__ == "__main__":
    np.seterr(all="raise", under="ignore")
    main()
