"""Model files: the formats, found by name or by the end of the file's name."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from flipwise.foundation.errors import FlipwiseError, InvalidFile, InvalidInput
from flipwise.graphs.streams import plain_suffix
from flipwise.qubo.formats import bqm, bqpjson, coordinates
from flipwise.qubo.formats.programs import ENDINGS
from flipwise.qubo.models import QuadraticModel


class _Format(NamedTuple):
    """How a format is read and written, and the endings by which it is known (before that of a compression)."""

    read: Callable[..., QuadraticModel]
    write: Callable[[QuadraticModel, Path], None]
    endings: tuple[str, ...]


FORMATS = {
    "rudy": _Format(coordinates.read_rudy, coordinates.write_rudy, (".rud", ".rudy", ".mc", ".gset", ".txt")),
    "bqp": _Format(coordinates.read_bqp, coordinates.write_bqp, (".bqp",)),
    "qubo": _Format(coordinates.read_qubo, coordinates.write_qubo, (".qubo",)),
    "bqpjson": _Format(bqpjson.read_bqpjson, bqpjson.write_bqpjson, (".json", ".bqpjson")),
    "biqmac": _Format(coordinates.read_biqmac, coordinates.write_biqmac, (".bq", ".sparse")),
    "qs": _Format(coordinates.read_qs, coordinates.write_qs, (".qs",)),
    "matrixmarket": _Format(coordinates.read_matrixmarket, coordinates.write_matrixmarket, (".mtx",)),
    "coo": _Format(coordinates.read_coo, coordinates.write_coo, (".coo",)),
    "bqm": _Format(bqm.read_bqm, bqm.write_bqm, (".bqm",)),
}


def read_model(path: str | os.PathLike[str], *, format: str | None = None, index: int = 0) -> QuadraticModel:
    """Read a model file; its minimum is the optimum whatever sense the format has.

    Parameters
    ----------
    path
        The file, plain or compressed (.gz, .bz2, .xz, .zst).
    format
        "rudy", "bqp", "qubo", "bqpjson", "biqmac", "qs", "matrixmarket", "coo" or "bqm"; by the file's name when
        None.
    index
        Which problem of a file that holds several (OR-Library).

    Examples
    --------
    >>> import flipwise, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "pair.qubo"
    >>> flipwise.write_model(flipwise.QuadraticModel.from_qubo({(0, 0): -1.0, (0, 1): 2.0}), path)
    >>> flipwise.read_model(path)
    QuadraticModel(2 binary variables, 1 couplings)
    """
    where = Path(path)
    name = format_name(where, format)
    more = {"index": index} if name == "bqp" else {}
    try:
        return FORMATS[name].read(where, **more)
    except InvalidInput as error:  # of the model that the file describes, unless it is about an argument
        raise error if str(error).startswith("`index`") else InvalidFile(f"{where}: {error}") from None
    except FlipwiseError:
        raise
    except (ValueError, OverflowError, LookupError, TypeError, RecursionError) as error:
        raise InvalidFile(f"{where}: damaged ({type(error).__name__}: {error}).") from None


def write_model(model: QuadraticModel, path: str | os.PathLike[str], *, format: str | None = None) -> None:
    """Write a model file; reading it gives the same coefficients, bit by bit.

    Parameters
    ----------
    model
        The model. Formats that have only one kind of variables, or no offset, refuse what they cannot say.
    path, format
        As in `read_model`.

    Examples
    --------
    >>> import flipwise, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "pair.json"
    >>> flipwise.write_model(flipwise.QuadraticModel.from_ising([0.5, 0.0], [[0.0, 1.0], [0.0, 0.0]]), path)
    """
    where = Path(path)
    FORMATS[format_name(where, format)].write(model, where)


def format_name(path: Path, format: str | None) -> str:
    """The name of the format: the one given, or the one that the end of the file's name stands for."""
    if format is not None:
        if format not in FORMATS:
            raise InvalidInput(f"`format` must be one of {', '.join(FORMATS)}, got {format!r}.")
        return format
    suffix = plain_suffix(path)
    if suffix in ENDINGS:
        raise InvalidInput(
            f"{path.name} may have constraints: use flipwise.read_constrained, or give it to solve_qubo."
        )
    for name, known in FORMATS.items():
        if suffix in known.endings:
            return name
    raise InvalidInput(
        f"the format of {path.name} is not known from its name: pass `format`, one of {', '.join(FORMATS)}."
    )
