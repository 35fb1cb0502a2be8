"""Edge tables of pyarrow, and Parquet files of them, batch by batch.

Source and target are the columns of that name (or src / dst, from / to, u / v), otherwise the first two; the weight is
the column `weight`, `w` or `value`, if there is one. Nodes are whole numbers or strings.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from flipwise.foundation.errors import InvalidFile, InvalidInput, MissingDependency
from flipwise.graphs.graph import ArcBlock, Graph, Symmetrise, build_graph
from flipwise.graphs.names import NodeNumbers, PackedNames, compact

Fault = type[InvalidFile | InvalidInput]
"""As what a problem with a table is raised: whether it stood in a file or was given."""
_PAIRS = [("source", "target"), ("src", "dst"), ("from", "to"), ("u", "v")]
_WEIGHTS = ("weight", "w", "value")


def read_parquet(
    path: Path, *, symmetrise: Symmetrise = "max", weighted: bool | None = None, max_bytes: int | None = None
) -> Graph:
    """The graph of a Parquet edge table."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingDependency("pyarrow", "graphs", "Reading Parquet files") from None
    from flipwise.graphs.streams import expansion_limit

    try:
        with pq.ParquetFile(path) as file:
            metadata = file.metadata
            size = sum(metadata.row_group(g).total_byte_size for g in range(metadata.num_row_groups))
            if size > expansion_limit(path, max_bytes):
                raise InvalidFile(f"{path}: unpacks to {size:,} bytes; if that is right, pass a larger `max_bytes`.")
            schema = file.schema_arrow
            columns = [name for name in edge_columns(schema, str(path), InvalidFile, weighted) if name is not None]
            batches = file.iter_batches(batch_size=1 << 20, columns=columns)
            return graph_from_batches(schema, batches, str(path), InvalidFile, symmetrise=symmetrise, weighted=weighted)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        if isinstance(error, FileNotFoundError | PermissionError):
            raise
        raise InvalidFile(f"{path}: not a readable Parquet file: {error}") from None


def graph_from_batches(
    schema: Any,
    batches: Iterable[Any],
    what: str,
    fault: Fault,
    *,
    symmetrise: Symmetrise = "max",
    weighted: bool | None = None,
) -> Graph:
    """The graph of record batches; problems with the table are raised as `fault`."""
    import pyarrow as pa

    columns = edge_columns(schema, what, fault, weighted)
    kinds = [schema.field(name).type for name in columns[:2]]
    index: dict[str, int] | None = {} if all(_is_text(pa, kind) for kind in kinds) else None
    if index is None and not all(pa.types.is_integer(kind) for kind in kinds):
        pair = f"'{columns[0]}' and '{columns[1]}'"
        raise fault(f"{what}: columns {pair} must both be whole numbers or strings, got {kinds}.")
    blocks: list[ArcBlock] = []
    numbers = NodeNumbers()
    for batch in batches:
        blocks.append(arcs_of_batch(batch, columns, what, fault, index))
        if index is None:
            numbers.add(blocks[-1])
    if not any(block.sources.size for block in blocks):
        raise fault(f"{what}: holds no edges.")
    if index is not None:
        packed = PackedNames.pack(list(index))
        return build_graph(len(index), blocks, symmetrise=symmetrise, names=packed, what=what)
    n, names, renumber = numbers.numbering(None, what)
    for position, block in enumerate(blocks):
        blocks[position] = renumber(block)
    return build_graph(n, blocks, symmetrise=symmetrise, names=names, what=what)


def arcs_of_batch(
    batch: Any,
    columns: tuple[str, str, str | None],
    what: str,
    fault: Fault,
    index: dict[str, int] | None,
) -> ArcBlock:
    """The arcs of one record batch; nodes with names are numbered by `index`, None means that nodes are numbers."""
    sides = []
    for name in columns[:2]:
        column = _whole_column(batch, name, what, fault)
        nodes = _numbered_column(column, name, what, fault) if index is None else _named_column(column, index)
        sides.append(compact(nodes))
    weights = None
    if columns[2] is not None:
        weights = _whole_column(batch, columns[2], what, fault).to_numpy(zero_copy_only=False).astype(np.float64)
        if not np.isfinite(weights).all():
            raise fault(f"{what}: column '{columns[2]}' must be finite.")
    return ArcBlock(sides[0], sides[1], weights)


def _whole_column(batch: Any, name: str, what: str, fault: Fault) -> Any:
    """A column of a batch, refused where values are missing."""
    column = batch.column(batch.schema.get_field_index(name))
    if column.null_count:
        raise fault(f"{what}: column '{name}' has missing values.")
    return column


def edge_columns(schema: Any, what: str, fault: Fault, weighted: bool | None) -> tuple[str, str, str | None]:
    """The names of the source, target and weight columns; the weight is None where there is none to be used."""
    import pyarrow as pa

    names = list(schema.names)
    lower = {name.lower(): name for name in names}
    pair = next(((lower[a], lower[b]) for a, b in _PAIRS if a in lower and b in lower), None)
    if pair is None:
        if len(names) < 2:
            raise fault(f"{what}: needs a source and a target column, got {names}.")
        pair = (names[0], names[1])
    weight = next((lower[w] for w in _WEIGHTS if w in lower and lower[w] not in pair and weighted is not False), None)
    if weight is not None:
        kind = schema.field(weight).type
        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
            raise fault(f"{what}: column '{weight}' must hold numbers, got {kind}.")
    elif weighted:
        raise fault(f"{what}: has no weight column (weight, w or value), got {names}.")
    return pair[0], pair[1], weight


def _is_text(pa: Any, kind: Any) -> bool:
    """Whether a column type holds strings, by dictionary or plainly."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _numbered_column(column: Any, name: str, what: str, fault: Fault) -> npt.NDArray[np.int64]:
    """A column of node numbers."""
    numbers = np.asarray(column.to_numpy(zero_copy_only=False))
    if numbers.size and (int(numbers.min()) < 0 or int(numbers.max()) >= 2**63):
        raise fault(f"{what}: column '{name}' must hold node numbers from 0 to 2^63 - 1.")
    return numbers.astype(np.int64)


def _named_column(column: Any, index: dict[str, int]) -> npt.NDArray[np.int64]:
    """Numbers of the names, new ones entered into `index`: one look-up for each distinct name of the batch."""
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    known = np.array([index.setdefault(name, len(index)) for name in column.dictionary.to_pylist()], dtype=np.int64)
    positions = np.asarray(column.indices.to_numpy(zero_copy_only=False))
    return known.take(positions)
