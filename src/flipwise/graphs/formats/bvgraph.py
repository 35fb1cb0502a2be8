"""WebGraph BVGraph: `name.graph` (a bit stream) beside `name.properties`. Offsets are not needed.

Decoded by kernels/bvgraph.py straight into a directed CSR structure, which is then made simple and undirected.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from flipwise.foundation.checks import check_memory
from flipwise.foundation.errors import InvalidFile
from flipwise.graphs.csr import graph_from_csr
from flipwise.graphs.graph import Graph, Symmetrise, index_type
from flipwise.graphs.streams import expansion_limit
from flipwise.kernels.bvgraph import decode_graph, fill_code_table

_CODES = {"DELTA": 1, "GAMMA": 2, "GOLOMB": 3, "UNARY": 5, "ZETA": 6, "NIBBLE": 7}
_DEFAULTS = {"OUTDEGREES": 2, "REFERENCES": 5, "BLOCK_COUNT": 2, "BLOCKS": 2, "RESIDUALS": 6}
_PADDING = 64
"""Zero bytes behind the stream: no read goes further past its end before it is noticed."""
_PROBLEMS = {
    1: "the stream ends early or holds an impossible code",
    2: "an outdegree larger than the number of nodes",
    3: "more arcs than the properties announce",
    4: "a reference outside the window or before the first node",
    5: "copied blocks longer than the list they refer to, or than the outdegree",
    6: "intervals outside the graph, or longer than the outdegree",
    7: "a residual successor outside the graph",
    8: "successors that do not ascend",
}


def read_bvgraph(path: Path, *, symmetrise: Symmetrise = "max", max_bytes: int | None = None) -> Graph:
    """The graph of a BVGraph; `path` is that of the stream, of the properties, or of both without suffix."""
    base = path.with_suffix("") if path.suffix in (".graph", ".properties") else path
    stream, described = Path(f"{base}.graph"), Path(f"{base}.properties")
    properties = _read_properties(described)
    n, arcs = (_whole_number(described, properties, key) for key in ("nodes", "arcs"))
    optional = {"windowsize": "7", "minintervallength": "4", "zetak": "3"}
    window, shortest, k = (_whole_number(described, properties, *each) for each in optional.items())
    codes = _part_codes(described, properties.get("compressionflags", ""))
    if not 1 <= k <= 15:
        raise InvalidFile(f"{described}: zetak must be from 1 to 15, got {k}.")
    size = stream.stat().st_size
    if n > 8 * size:
        raise InvalidFile(f"{described}: announces {n:,} nodes, but {stream.name} has only {size:,} bytes.")
    kind = index_type(n)
    limit = expansion_limit(stream, max_bytes)
    if arcs * kind.itemsize > limit:
        raise InvalidFile(
            f"{described}: announces {arcs:,} arcs for {size:,} bytes; if that is right, pass a larger `max_bytes`."
        )
    buffer = np.zeros(size + _PADDING, dtype=np.uint8)
    with stream.open("rb") as file:
        file.readinto(buffer[:size].data)
    # Wide tables pay off when there is much to decode.
    width = 8 if size < 1 << 14 else 14
    tables = np.zeros((8, 1 << width), dtype=np.int32)
    for code in {2, *codes.tolist()}:
        fill_code_table(tables[code], width, code, k, np.zeros(_PADDING, dtype=np.uint8))
    check_memory(8 * (n + 1) + kind.itemsize * arcs, f"{described}: a graph of {n:,} nodes with {arcs:,} arcs")
    indptr, indices = np.zeros(n + 1, dtype=np.int64), np.empty(arcs, dtype=kind)
    room = min(n, arcs) + 3
    blocks, lefts, lengths = (np.empty(room, dtype=np.int64) for _ in range(3))
    state = np.zeros(4, dtype=np.int64)
    decode_graph(
        buffer, 8 * size, window, shortest, codes, k, tables, width, indptr, indices, blocks, lefts, lengths, state
    )
    problem, node, bit, found = (int(s) for s in state)
    if problem:
        raise InvalidFile(f"{stream}, near byte {bit // 8:,} (node {node:,} of {n:,}): {_PROBLEMS[problem]}.")
    if found != arcs:
        raise InvalidFile(f"{stream}: {described.name} announces {arcs:,} arcs, the stream holds {found:,}.")
    del buffer, tables, blocks, lefts, lengths
    return graph_from_csr(indptr, indices, symmetrise=symmetrise, what=str(stream))


def _read_properties(path: Path) -> dict[str, str]:
    """The `key=value` lines of a Java properties file."""
    with path.open("rb") as file:
        text = file.read(1 << 20).decode("latin-1")
    pairs = (line.partition("=") for line in text.splitlines() if line.strip() and line.lstrip()[0] not in "#!")
    found = {key.strip().lower(): value.strip() for key, _, value in pairs}
    kind = found.get("graphclass", "")
    if not kind.endswith("BVGraph"):
        raise InvalidFile(f"{path}: graphclass must be a BVGraph, got '{kind}'.")
    if found.get("version", "0") not in ("0", "1"):
        raise InvalidFile(f"{path}: version {found['version']} of the format is not known (0 and 1 are).")
    if found.get("endianness", "big") != "big":
        raise InvalidFile(f"{path}: only big-endian streams are read, got '{found['endianness']}'.")
    return found


def _whole_number(path: Path, properties: dict[str, str], key: str, default: str = "") -> int:
    """A property that must be a whole number."""
    text = properties.get(key, default)
    if not (text.isascii() and text.isdigit() and len(text) <= 15):
        raise InvalidFile(f"{path}: `{key}` must be a whole number, got '{text}'.")
    return int(text)


def _part_codes(path: Path, flags: str) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The codes of the parts of a list, from flags such as `BLOCKS_DELTA | RESIDUALS_GAMMA`."""
    codes = dict(_DEFAULTS)
    for flag in flags.replace("|", " ").split():
        part, _, code = flag.rpartition("_")
        if part == "OFFSETS":
            continue
        if part not in codes or code not in _CODES:
            raise InvalidFile(f"{path}: compression flag '{flag}' is not known.")
        codes[part] = _CODES[code]
    return np.array(list(codes.values()), dtype=np.int64)
