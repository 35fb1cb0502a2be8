"""dimod's models: to and from ours by arrays, and its binary files (`bqm.to_file()`), which dimod reads and writes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from flipwise.foundation.atomic import atomic_file
from flipwise.foundation.errors import InvalidFile, MissingDependency
from flipwise.qubo.models import QuadraticModel

if TYPE_CHECKING:
    import dimod


def model_from_bqm(bqm: dimod.BinaryQuadraticModel) -> QuadraticModel:
    """The model of a BQM, its variables in the same order, converted by arrays."""
    vectors = bqm.to_numpy_vectors(return_labels=True, sort_labels=False)
    i, j, b = (np.asarray(part) for part in vectors.quadratic)
    low, high = (i, j) if (i < j).all() else (j, i) if (i > j).all() else (np.minimum(i, j), np.maximum(i, j))
    labels = None if vectors.labels == range(len(vectors.labels)) else tuple(vectors.labels)
    return QuadraticModel(
        np.asarray(vectors.linear_biases, dtype=np.float64),
        low,
        high,
        np.asarray(b, dtype=np.float64),
        float(vectors.offset),
        "spin" if bqm.vartype.name == "SPIN" else "binary",
        None if labels == tuple(range(len(vectors.labels))) else labels,
    )


def bqm_from_model(model: QuadraticModel) -> dimod.BinaryQuadraticModel:
    """The BQM of a model, converted by arrays."""
    return _dimod("a dimod model").BinaryQuadraticModel.from_numpy_vectors(
        model.linear,
        (model.i, model.j, model.b),
        model.offset,
        "SPIN" if model.variables == "spin" else "BINARY",
        variable_order=list(model.labels) if model.labels is not None else None,
    )


def read_bqm(path: Path) -> QuadraticModel:
    """Read one of dimod's files; the labels are kept, the couplings sorted."""
    dimod = _dimod("reading dimod's files")
    with path.open("rb") as file:
        try:
            model = model_from_bqm(dimod.BinaryQuadraticModel.from_file(file))
        except (ValueError, TypeError, KeyError, EOFError) as error:
            raise InvalidFile(f"{path}: not a file of dimod's ({error}).") from None
    order = np.lexsort((model.j, model.i))
    return replace(model, i=model.i[order], j=model.j[order], b=model.b[order])


def write_bqm(model: QuadraticModel, path: Path) -> None:
    """Write one of dimod's files."""
    with atomic_file(path) as file, bqm_from_model(model).to_file() as source:
        file.write(source.read())


def _dimod(purpose: str) -> Any:
    """The module `dimod`, or an error that says how to get it."""
    try:
        import dimod
    except ImportError:
        raise MissingDependency("dimod", "dimod", purpose) from None
    return dimod
