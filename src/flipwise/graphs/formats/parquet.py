"""Edge tables of pyarrow, and Parquet files of them, batch by batch; `tables.py` says which columns count.

Nodes are whole numbers or strings. Files that are written here hold the names of nodes without an edge in their
metadata, which other readers pass over.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from flipwise.foundation.atomic import atomic_file
from flipwise.foundation.errors import InvalidFile, InvalidInput, MissingDependency
from flipwise.graphs.csr import csr_blocks
from flipwise.graphs.formats.tables import EdgeColumns, Fault, choose_columns
from flipwise.graphs.graph import ArcBlock, Graph, Symmetrise, build_graph
from flipwise.graphs.names import NodeNumbers, PackedNames, compact

_ISOLATED = b"flipwise.isolated"
"""The key of the metadata with the names of nodes without an edge."""


def read_parquet(
    path: Path,
    *,
    symmetrise: Symmetrise = "max",
    weighted: bool | None = None,
    columns: Sequence[str] | None = None,
    max_bytes: int | None = None,
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
            chosen = edge_columns(schema, str(path), InvalidFile, weighted, columns)
            batches = file.iter_batches(batch_size=1 << 20, columns=[name for name in chosen if name is not None])
            return graph_from_batches(schema, chosen, batches, str(path), InvalidFile, symmetrise)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        if isinstance(error, FileNotFoundError | PermissionError):
            raise
        raise InvalidFile(f"{path}: not a readable Parquet file: {error}") from None


def graph_from_table(
    table: Any, *, symmetrise: Symmetrise = "max", weighted: bool | None = None, columns: Sequence[str] | None = None
) -> Graph:
    """The graph of a pyarrow table."""
    chosen = edge_columns(table.schema, "the table", InvalidInput, weighted, columns)
    wanted = table.select([name for name in chosen if name is not None])
    return graph_from_batches(table.schema, chosen, wanted.to_batches(), "the table", InvalidInput, symmetrise)


def graph_from_batches(
    schema: Any, columns: EdgeColumns, batches: Iterable[Any], what: str, fault: Fault, symmetrise: Symmetrise
) -> Graph:
    """The graph of record batches; problems with the table are raised as `fault`."""
    import pyarrow as pa

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
    lonely = _isolated_nodes(schema, what, fault, str if index is not None else int)
    if not lonely and not any(block.sources.size for block in blocks):
        raise fault(f"{what}: holds no edges.")
    notes = (columns.note,)
    if index is not None:
        for name in lonely:
            index.setdefault(name, len(index))
        packed = PackedNames.pack(list(index))
        return build_graph(len(index), blocks, symmetrise=symmetrise, names=packed, notes=notes, what=what)
    if lonely:
        nodes = np.array(lonely, dtype=np.int64)
        numbers.add(ArcBlock(nodes, nodes))
    n, names, renumber = numbers.numbering(None, what)
    for position, block in enumerate(blocks):
        blocks[position] = renumber(block)
    return build_graph(n, blocks, symmetrise=symmetrise, names=names, notes=notes, what=what)


def _isolated_nodes(schema: Any, what: str, fault: Fault, kind: type) -> list[Any]:
    """The names of nodes without an edge, from the metadata of a file that `write_parquet` wrote."""
    text = (schema.metadata or {}).get(_ISOLATED)
    if text is None:
        return []
    try:
        names = json.loads(text)
    except (ValueError, RecursionError):
        names = None
    if not isinstance(names, list) or not all(type(name) is kind for name in names):
        raise fault(f"{what}: the metadata {_ISOLATED.decode()!r} must be a list of nodes.")
    if kind is int and not all(0 <= name < 2**63 for name in names):
        raise fault(f"{what}: the metadata {_ISOLATED.decode()!r} must hold node numbers from 0 to 2^63 - 1.")
    return names


def arcs_of_batch(
    batch: Any,
    columns: EdgeColumns,
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


def edge_columns(
    schema: Any, what: str, fault: Fault, weighted: bool | None, columns: Sequence[str] | None = None
) -> EdgeColumns:
    """The names of the source, target and weight columns; the weight is None where there is none to be used."""
    import pyarrow as pa

    chosen = choose_columns(schema.names, what, fault, weighted=weighted, columns=columns)
    if chosen.weight is not None:
        kind = schema.field(chosen.weight).type
        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
            raise fault(f"{what}: column '{chosen.weight}' must hold numbers, got {kind}.")
    return chosen


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


def table_of(graph: Graph) -> Any:
    """The edges as a pyarrow table: source, target and, where there are any, weight; isolated nodes in the metadata."""
    try:
        import pyarrow as pa
    except ImportError:
        raise MissingDependency("pyarrow", "graphs", "A pyarrow table") from None
    ends: list[list[npt.NDArray[Any]]] = [[], []]
    weights: list[npt.NDArray[Any]] = []
    for block in csr_blocks(graph.indptr, graph.indices, graph.weights):
        once = block.sources < block.targets
        ends[0].append(block.sources[once])
        ends[1].append(block.targets[once])
        if block.weights is not None:
            weights.append(block.weights[once])
    names = name_column(graph)
    empty = np.empty(0, dtype=np.int64)
    columns = {}
    for side, title in enumerate(("source", "target")):
        taken = np.concatenate([empty, *ends[side]])
        columns[title] = pa.array(taken if names is None else names[taken])
    if graph.weights is not None:
        columns["weight"] = pa.array(np.concatenate([np.empty(0), *weights]))
    table = pa.table(columns)
    lonely = np.flatnonzero(graph.degrees == 0)
    if lonely.size:
        text = json.dumps(lonely.tolist() if names is None else names[lonely].tolist())
        table = table.replace_schema_metadata({_ISOLATED: text})
    return table


def name_column(graph: Graph) -> npt.NDArray[Any] | None:
    """The names as an array of whole numbers or of strings; None where there are none. Others are refused."""
    if graph.names is None:
        return None
    names = list(graph.names)
    if all(isinstance(name, int | np.integer) and not isinstance(name, bool) for name in names):
        if all(0 <= name < 2**63 for name in names):
            return np.array(names, dtype=np.int64)
    elif all(isinstance(name, str) for name in names):
        return np.array(names, dtype=object)
    raise InvalidInput(
        "`graph`: names in tables must be all strings or all whole numbers from 0 on; rename the nodes, or write "
        "GraphML or JSON."
    )


def write_parquet(graph: Graph, path: Path) -> None:
    """A table with the columns source, target and, where there are any, weight."""
    try:
        table = table_of(graph)
        import pyarrow as pa
        import pyarrow.parquet as pq

        with atomic_file(path) as file:
            pq.write_table(table, pa.PythonFile(file, mode="w"))
    except UnicodeEncodeError:
        raise InvalidInput("`graph`: a name is no text in UTF-8. Rename the node.") from None
