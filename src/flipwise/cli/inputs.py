"""Files a command reads, standard input included: graphs, models, arrays, codes."""

from __future__ import annotations

import math
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from flipwise.cli.terminal import printable
from flipwise.foundation.errors import FlipwiseError, InvalidFile, InvalidInput

if TYPE_CHECKING:
    import numpy as np

    from flipwise.graphs.graph import Graph
    from flipwise.hashing.codes import Codes
    from flipwise.qubo.models import QuadraticModel

WRITTEN_GRAPH_FORMATS = (
    "edgelist", "csv", "graphml", "gexf", "gml", "nodelink", "matrixmarket", "metis", "rudy", "parquet", "flipwise",
)  # fmt: skip
GRAPH_FORMATS = (*WRITTEN_GRAPH_FORMATS, "graph6", "bvgraph")
MODEL_FORMATS = ("rudy", "bqp", "qubo", "bqpjson", "biqmac", "qs", "matrixmarket", "coo", "bqm")
BLOCK_ENTRIES = 1 << 22
"""Numbers of a mapped array that are looked at together."""
LARGEST_ENTRY = 1e100
"""Of vectors: products of larger ones could overflow."""
_MODEL_ENDINGS = (".qubo", ".bqp", ".bqpjson", ".json", ".bq", ".sparse", ".qs", ".coo", ".bqm")
"""Endings that only models have; `.mtx`, `.txt` and `.rudy` are graphs unless a command knows better."""


@contextmanager
def on_disk(file: str) -> Iterator[Path]:
    """The path of the file; standard input is kept in a temporary file while it is needed."""
    if file != "-":
        yield Path(file)
        return
    with TemporaryDirectory(prefix="flipwise-") as folder:
        path = Path(folder, "stdin")
        with path.open("wb") as copy:
            shutil.copyfileobj(sys.stdin.buffer, copy)
        if path.stat().st_size == 0:
            raise click.UsageError("FILE is - (standard input), but nothing came in. Pipe a file in, or name one.")
        yield path


class Reading(NamedTuple):
    """How a graph is read: what `graph_options` ask for."""

    file_format: str | None
    symmetrise: str
    unweighted: bool
    names: bool
    header: bool | None
    columns: str | None

    def graph(self, file: str, *, quiet: bool) -> Graph:
        """The graph of a file; what was done to it is said on standard error."""
        from flipwise.graphs.read import read_graph

        with on_disk(file) as path:
            graph = read_graph(
                path,
                format=self.file_format,  # type: ignore[arg-type]
                symmetrise=self.symmetrise,  # type: ignore[arg-type]
                weighted=False if self.unweighted else None,
                names=self.names or None,
                header=self.header,
                columns=None if self.columns is None else tuple(self.columns.split(",")),
            )
        if not quiet:
            for note in graph.notes:
                click.echo(f"note: {printable(note)}", err=True)
        return graph


def is_model(file: str) -> bool:
    """Whether the name is that of a QUBO or Ising model rather than of a graph; JSON can hold either."""
    name = file.lower()
    for packed in (".gz", ".xz", ".bz2"):
        name = name.removesuffix(packed)
    return name.endswith(_MODEL_ENDINGS) and not (name.endswith(".json") and _holds_nodes(Path(file)))


def _holds_nodes(path: Path) -> bool:
    """Whether a JSON file is one of a graph: it has nodes, and no terms as models have."""
    from flipwise.graphs.streams import blocks

    held = b"".join(blocks(path)) if path.is_file() else b""
    return b'"nodes"' in held and b'"quadratic_terms"' not in held


def load_model(file: str, file_format: str | None) -> QuadraticModel:
    """The model of a file."""
    from flipwise.qubo.formats import read_model

    if file == "-" and file_format is None:
        raise InvalidInput(f"standard input has no name to tell its format: pass --format {'|'.join(MODEL_FORMATS)}.")
    with on_disk(file) as path:
        return read_model(path, format=file_format)


def read_array(file: str) -> np.ndarray:
    """The array of a `.npy`, one-array `.npz`, Parquet or text file (commas or spaces); `.npy` files are mapped."""
    import numpy as np

    with on_disk(file) as path:
        if not path.is_file():
            raise InvalidFile(f"{file}: no such file. Give a .npy, .npz, .parquet, .csv or .txt file with an array.")
        with path.open("rb") as opened:
            start = opened.read(6)
        try:
            if start == b"\x93NUMPY":
                return np.load(path, mmap_mode=None if file == "-" else "r", allow_pickle=False)  # type: ignore[no-any-return]
            if start[:2] == b"PK":
                return _only_array(file, path)
            if start[:4] == b"PAR1":
                from flipwise.distributed.rows import parquet_rows

                return parquet_rows(path)
            text = path.read_text(encoding="utf-8")
            return np.loadtxt(text.replace(",", " ").splitlines(), ndmin=1)
        except FlipwiseError:
            raise
        except Exception as error:  # NumPy and zipfile have many
            if isinstance(error, OSError) and error.filename is not None:
                raise
            raise InvalidFile(f"{file}: not an array ({error}). Give a .npy, .npz, .csv or .txt file.") from None


def _only_array(file: str, path: Path) -> np.ndarray:
    """The array of a `.npz` file that holds one; what it announces is compared with what is there."""
    import numpy as np

    from flipwise.graphs.streams import expansion_limit

    with np.load(path, allow_pickle=False) as packed:
        if len(packed.files) != 1:
            raise InvalidFile(f"{file}: holds {len(packed.files)} arrays; save one array alone.")
        member = packed.zip.infolist()[0]
        with packed.zip.open(member) as opened:
            version = np.lib.format.read_magic(opened)
            header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, _, dtype = header(opened)
        size = math.prod(shape) * dtype.itemsize
        if size > member.file_size or member.file_size > expansion_limit(path, None):
            raise InvalidFile(f"{file}: announces an array of shape {shape}, more than a file of this size can hold.")
        return np.asarray(packed[packed.files[0]])


def read_vectors(file: str) -> np.ndarray:
    """Vectors, a row each: real and finite, which is looked at block by block before anything else is done."""
    import numpy as np

    vectors = read_array(file)
    if vectors.ndim != 2 or 0 in vectors.shape or vectors.dtype.kind not in "fiub":
        raise InvalidFile(
            f"{file}: vectors are numbers of shape (items, features), this is {vectors.dtype} of shape {vectors.shape}."
        )
    rows = max(1, BLOCK_ENTRIES // vectors.shape[1])
    for first in range(0, len(vectors) if vectors.dtype.kind == "f" else 0, rows):
        wrong = ~(np.abs(vectors[first : first + rows]) <= LARGEST_ENTRY)  # NaN too
        if wrong.any():
            row, column = (int(k) for k in np.argwhere(wrong)[0])
            raise InvalidFile(
                f"{file}: vectors must be finite, got {vectors[first + row, column]} in row {first + row:,}, column "
                f"{column:,} (from 0). Remove or replace NaN and inf, and scale numbers beyond {LARGEST_ENTRY:g} down."
            )
    return vectors


def read_labels(file: str, items: int | None = None) -> np.ndarray:
    """Labels: one integer an item, or a 0/1 matrix for several labels; as many as there are items, if that is known."""
    import numpy as np

    labels = np.asarray(read_array(file))
    if labels.dtype.kind == "f" and np.isfinite(labels).all() and (labels == np.rint(labels)).all():
        labels = labels.astype(np.int64)
    if labels.dtype.kind not in "iub" or labels.ndim not in (1, 2) or 0 in labels.shape:
        raise InvalidFile(
            f"{file}: labels are an integer an item, or a 0/1 matrix, this is {labels.dtype} of shape {labels.shape}."
        )
    if items is not None and len(labels) != items:
        raise InvalidFile(f"{file}: {len(labels):,} labels for {items:,} items.")
    return labels


def read_codes(file: str) -> Codes:
    """Codes written by `flipwise hash encode`, or packed bytes in a `.npy` file."""
    import numpy as np

    from flipwise.hashing.codes import Codes
    from flipwise.hashing.files import load

    if not Path(file).is_file():
        raise InvalidFile(f"{file}: no such file. Give codes written by `flipwise hash encode`.")
    with Path(file).open("rb") as opened:
        is_npy = opened.read(6) == b"\x93NUMPY"
    if is_npy:
        packed = np.asarray(read_array(file))
        if packed.dtype != np.uint8 or packed.ndim != 2:
            raise InvalidFile(
                f"{file}: packed codes are a uint8 array of shape (n, bytes of a code), "
                f"this is {packed.dtype} of shape {packed.shape}. Vectors become codes by `flipwise hash encode`."
            )
        return Codes(packed, 8 * packed.shape[1])
    loaded: Any = load(file)
    if isinstance(loaded, Codes):
        return loaded
    return loaded.codes_  # type: ignore[no-any-return]  # a model: the learned codes of its training data
