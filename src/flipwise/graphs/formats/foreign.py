"""Files that are no edge list whatever their name says: they are known by their first bytes, and read or refused so.

Each would otherwise pass for an edge list with nodes called `<?xml`, `{` or `e`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NoReturn

from flipwise.foundation.errors import InvalidFile

READ = {"GraphML": "graphml", "GEXF": "gexf", "GML": "gml", "JSON": "nodelink", "graph6": "graph6", "sparse6": "graph6"}
"""What is known by its first bytes and read, by the name of the format that `read_graph` has for it."""
_NAMES = {
    ".dot": "DOT",
    ".gv": "DOT",
    ".net": "Pajek",
    ".paj": "Pajek",
    ".leda": "LEDA",
    ".lgl": "LGL",
    ".sif": "SIF",
    ".cyjs": "Cytoscape JSON",
    ".cx": "CX",
    ".feather": "Feather",
    ".arrow": "Arrow",
    ".pickle": "pickle",
    ".pkl": "pickle",
    ".gt": "graph-tool",
    ".mat": "MATLAB",
    ".xls": "Excel",
    ".xml": "XML",
    ".xlsx": "Excel",
    ".html": "HTML",
}
"""Endings of file names that no format which is read has."""
_BYTES = [
    (b"SQLite format 3\0", "SQLite"),
    (b"PK\x03\x04", "ZIP"),
    (b"\x93NUMPY", "NumPy"),
    (b"\x89HDF\r\n", "HDF5"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
    (b">>graph6<<", "graph6"),
    (b">>sparse6<<", "sparse6"),
    (b"DIMODBQM", "dimod"),
    (b"ARROW1", "Arrow"),
    (b"FEA1", "Feather"),
    (b"MATLAB 5.0 MAT-file", "MATLAB"),
    (b"%PDF-", "PDF"),
    (b"Obj\x01", "Avro"),
    (b"ORC", "ORC"),
    (b"\x80\x02", "pickle"),
    (b"\x80\x03", "pickle"),
    (b"\x80\x04", "pickle"),
    (b"\x80\x05", "pickle"),
    (b"\xe2\x9b\xbe gt", "graph-tool"),
    (b"FLIPWISE-FILE", "Flipwise result or checkpoint"),
]
_TEXTS = [
    (rb"<[^>]*graphml|<\?xml(?=.{0,2000}<graphml)", "GraphML"),
    (rb"<[^>]*gexf|<\?xml(?=.{0,2000}<gexf)", "GEXF"),
    (rb"<(!doctype\s+)?html", "HTML"),
    (rb"<[?!/\w]", "XML"),
    (rb"[\[{]\s*([\]}\"\[{]|-?\d|$)", "JSON"),
    (rb"((comment|creator|version|id|label|directed)\b[^\[\n]*\n\s*)*graph\s*\[", "GML"),
    (rb"((//|#|/\*)[^\n]*\n\s*)*(strict\s+)?(di)?graph\b[^\[\n{]*\{", "DOT"),
    (rb"([%#][^\n]*\n\s*)*\*(vertices|network|arcs|edges)\b", "Pajek"),
    (rb"dl\s+n\s*=", "UCINET DL"),
    (rb"LEDA\.GRAPH", "LEDA"),
    (rb"(c\b[^\n]*\n\s*)*p\s+[a-z]+\s+\d+\s+\d+\s*\n", "DIMACS"),
]


def foreign_format(head: bytes) -> str | None:
    """The name of the format that the first bytes of a file prove, where it is no edge list."""
    for magic, name in _BYTES:
        if head.startswith(magic):
            return name
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:4096]
    for pattern, name in _TEXTS:
        if re.match(pattern, text, re.IGNORECASE | re.DOTALL):
            return name
    return None


def refuse_foreign(path: Path, head: bytes, suffix: str) -> None:
    """Raise when the first bytes, or else the ending of the name, are those of no edge list."""
    name = foreign_format(head) or _NAMES.get(suffix)
    if name in READ:
        raise InvalidFile(f"{path}: a file of the format {name}, no edge list; leave `format` out, or name it so.")
    if name == "UTF-16":
        raise InvalidFile(f"{path}: text in UTF-16. Save it in UTF-8 first.")
    if name is not None:
        refuse(path, name)


def refuse(path: Path, name: str) -> NoReturn:
    """Raise for a format that is known and not read."""
    raise InvalidFile(
        f"{path}: a file of the format {name}, which is not read. Read it with a library that knows it, such as "
        "networkx, and pass the graph itself; or write it as edges, `source target [weight]` a line."
    )
