"""dimod's own binary files (`bqm.to_file()`), through dimod."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from flipwise.errors import InvalidFile, MissingDependency
from flipwise.qubo.models import QuadraticModel


def read(path: Path) -> QuadraticModel:
    """Read a BQM; its labels are kept."""
    try:
        import dimod
    except ImportError:
        raise MissingDependency("dimod", "dimod", "reading dimod's files") from None
    from flipwise.interop.dimod import model_from_bqm

    with path.open("rb") as file:
        try:
            model = model_from_bqm(dimod.BinaryQuadraticModel.from_file(file))
        except (ValueError, TypeError, KeyError, EOFError) as error:
            raise InvalidFile(f"{path}: not a file of dimod's ({error}).") from None
    order = np.lexsort((model.j, model.i))
    return replace(model, i=model.i[order], j=model.j[order], b=model.b[order])


def write(model: QuadraticModel, path: Path) -> None:
    """Write a BQM."""
    from flipwise.interop.dimod import bqm_from_model

    with path.open("wb") as file, bqm_from_model(model).to_file() as source:
        file.write(source.read())
