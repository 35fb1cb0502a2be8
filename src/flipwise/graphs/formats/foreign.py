"""Files that are no edge list whatever their name says: they are known by their first bytes, and refused by name.

Each would otherwise pass for an edge list with nodes called `<?xml`, `{` or `e`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NoReturn

from flipwise.foundation.errors import InvalidFile

_NAMES = {
    ".graphml": "GraphML",
    ".gexf": "GEXF",
    ".gml": "GML",
    ".json": "JSON",
    ".dot": "DOT",
    ".gv": "DOT",
    ".g6": "graph6",
    ".s6": "sparse6",
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
    """The name of the format that the first bytes of a file prove, where it is none that is read."""
    for magic, name in _BYTES:
        if head.startswith(magic):
            return name
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:4096]
    for pattern, name in _TEXTS:
        if re.match(pattern, text, re.IGNORECASE | re.DOTALL):
            return name
    return None


def refuse_foreign(path: Path, head: bytes, suffix: str) -> None:
    """Raise when the first bytes, or else the ending of the name, are those of a format that is not read."""
    name = foreign_format(head) or _NAMES.get(suffix)
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
