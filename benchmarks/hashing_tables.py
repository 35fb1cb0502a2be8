"""DPCD against the original optimiser of each loss: the paper's tables on ImageNet and NUS-WIDE, on stand-in data.

    python benchmarks/hashing_tables.py                          # all rows, 5 seeds, 32 / 64 / 96 bits
    python benchmarks/hashing_tables.py --rows 8000 --seeds 2    # what fits into minutes
    python benchmarks/hashing_tables.py --quick

Unsupervised losses (SADH-L, ARE, ITQ): deep features of 100 Tiny-ImageNet classes, 256 components for all methods.
Supervised losses (SDH, FSDH, FastHash): bag of visual words, 21 labels, relevant when one is shared. Hash functions are
linear, for FastHash boosted trees. MAP is tie-aware over the whole list: `map_learned` against learned codes,
`map_hashed` against re-encoded ones; precision@500 against learned codes. Supervised methods run on distinct label
sets, the originals also on all items, as their authors do; kernels are compiled before.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
from hashing_data import bag_of_words, tiny_imagenet
from recording import Recorder

from flipwise.hashing import ARE, FSDH, ITQ, SADH, SDH, FastHash, mean_average_precision, precision_at
from flipwise.hashing.projections import principal_axes

UNSUPERVISED = {"SADH-L": (SADH, "sadh"), "ARE": (ARE, "are"), "ITQ": (ITQ, "itq")}
SUPERVISED = {"SDH": (SDH, "dcc"), "FSDH": (FSDH, "fsdh"), "FastHash": (FastHash, "blocks")}


def measured(model: Any, split: Any) -> dict[str, Any]:
    """Fit, and both protocols."""
    X, y, Q, yq = split
    started = time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - started
    queries = model.encode(Q)
    row = {
        "map_learned": mean_average_precision(queries, model.codes_, yq, y),
        "map_hashed": mean_average_precision(queries, model.encode(X), yq, y),
        "precision_500": precision_at(queries, model.codes_, yq, y, 500),
        "seconds": seconds,
        "loss_value": float(model.loss_values_[-1]) if hasattr(model, "loss_values_") else None,
    }
    if hasattr(model, "b_step_seconds_"):
        row["b_step_seconds"] = model.b_step_seconds_
    return row


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
        for optimiser, distinct in (("dpcd", True), (original, True), (original, False)):
            model = estimator(n_bits, optimizer=optimiser, distinct=distinct, random_state=seed)
            listed.append((name, optimiser, "label sets" if distinct else "items", model))
    return listed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=None)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--bits", type=int, nargs="+", default=[32, 64, 96])
    parser.add_argument(
        "--losses", nargs="+", choices=(*UNSUPERVISED, *SUPERVISED), default=[*UNSUPERVISED, *SUPERVISED]
    )
    parser.add_argument("--quick", action="store_true", help="1,000 rows, one seed, 32 bits; nothing is stored")
    a = parser.parse_args()
    if a.quick:
        a.rows, a.seeds, a.bits = 1000, 1, [32]
    recorder = None if a.quick else Recorder("hashing_tables", ("scikit-learn",))
    for seed in range(a.seeds):
        deep, words = reduced(tiny_imagenet(seed, a.rows), 256), bag_of_words(seed, a.rows)
        small = {"deep": tuple(part[:1000] for part in deep), "words": tuple(part[:1000] for part in words)}
        for name, _, _, model in runs(96, seed):
            if name in a.losses:  # compiles what will be timed
                measured(model, small["deep" if name in UNSUPERVISED else "words"])
        for n_bits in a.bits:
            for name, optimiser, rows, model in runs(n_bits, seed):
                if name not in a.losses:
                    continue
                split = deep if name in UNSUPERVISED else words
                row: dict[str, Any] = {"loss": name, "optimiser": optimiser, "rows": rows, "bits": n_bits, "seed": seed}
                row |= {"n": len(split[0]), **measured(model, split)}
                print({k: round(v, 4) if isinstance(v, float) else v for k, v in row.items()}, flush=True)
                if recorder is not None:
                    recorder.add(**row)


if __name__ == "__main__":
    np.seterr(all="raise", under="ignore")
    main()
