"""QUBO and Ising model files as the commands see them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flipwise.cli.inputs import on_disk

if TYPE_CHECKING:
    from flipwise.qubo.models import QuadraticModel

MODEL_FORMATS = ("rudy", "bqp", "qubo", "bqpjson", "biqmac", "matrixmarket", "coo", "bqm")

_MODEL_ENDINGS = (".qubo", ".bqp", ".bqpjson", ".json", ".bq", ".sparse", ".coo", ".bqm")
"""Endings that only models have; `.mtx`, `.txt` and `.rudy` are graphs unless a command knows better."""


def is_model(file: str) -> bool:
    """Whether the name is that of a QUBO or Ising model rather than of a graph."""
    name = file.lower()
    for packed in (".gz", ".xz", ".bz2"):
        name = name.removesuffix(packed)
    return name.endswith(_MODEL_ENDINGS)


def load_model(file: str, file_format: str | None) -> QuadraticModel:
    """The model of a file."""
    from flipwise.errors import InvalidInput
    from flipwise.qubo.formats import read_model

    if file == "-" and file_format is None:
        raise InvalidInput(f"standard input has no name to tell its format: pass --format {'|'.join(MODEL_FORMATS)}.")
    with on_disk(file) as path:
        return read_model(path, format=file_format)


def model_facts(model: QuadraticModel) -> dict[str, Any]:
    """What one wants to know before solving."""
    import numpy as np

    pairs = model.n * (model.n - 1) / 2
    facts: dict[str, Any] = {
        "model": "QUBO (0/1)" if model.variables == "binary" else "Ising (-1/+1)",
        "variables": model.n,
        "couplings": int(model.b.size),
        "filled": f"{100 * model.b.size / pairs if pairs else 0:.3g} % of all pairs",
    }
    for name, values in (("linear", model.linear), ("quadratic", model.b)):
        if values.size:
            whole = bool((values == np.rint(values)).all())
            facts[name] = f"{values.min():g} to {values.max():g}{', whole numbers' if whole else ''}"
    facts["offset"] = float(model.offset)
    return facts
