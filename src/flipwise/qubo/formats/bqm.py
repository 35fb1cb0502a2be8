"""dimod's own binary files (`bqm.to_file()`), through dimod."""

from __future__ import annotations

from pathlib import Path

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
            return model_from_bqm(dimod.BinaryQuadraticModel.from_file(file))
        except (ValueError, TypeError, KeyError, EOFError) as error:
            raise InvalidFile(f"{path}: not a file of dimod's ({error}).") from None


def write(model: QuadraticModel, path: Path) -> None:
    """Write a BQM."""
    from flipwise.interop.dimod import bqm_from_model

    with path.open("wb") as file, bqm_from_model(model).to_file() as source:
        file.write(source.read())
