"""GML: `graph [ node [ id 0 label "a" ] edge [ source 0 target 1 ] ]`, as networkx, igraph and older tools write it."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

from flipwise.foundation.errors import InvalidFile, InvalidInput
from flipwise.graphs.formats.elements import Elements, checked_attributes, weight_of, whole_text, written_names
from flipwise.graphs.formats.lines import edges, number_text
from flipwise.graphs.graph import Graph, Symmetrise
from flipwise.graphs.streams import packed_file

DEEPEST = 100
"""Lists inside one another."""
_TOKEN = re.compile(
    r"(?P<space>[ \t\r\n]+)|(?P<comment>^[ \t]*\#[^\n]*)|(?P<key>[A-Za-z_]\w*)"
    r"|(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.]))|\"(?P<text>[^\"]*)\"|(?P<open>\[)|(?P<close>\])",
    re.ASCII | re.MULTILINE,
)
_ONCE = {"id", "source", "target", "label", "name", "weight", "value", "w"}
"""What a node or an edge has at most one of; other keys may be repeated."""
_ESCAPED = re.compile("[^ !#-%'-~]")


def _tokens(path: Path, text: str) -> Iterator[tuple[str, str, int]]:
    """The kind, text and line of each token but white space and comments."""
    place, line = 0, 1
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None:
            rest = text[place : place + 20].split("\n")[0]
            raise InvalidFile(f"{path}, line {line:,}: expected a key, a number, a text or a bracket, found {rest!r}.")
        kind = found.lastgroup or ""
        if kind not in ("space", "comment"):
            yield kind, found[kind], line
        line += found[0].count("\n")
        place = found.end()


def _parse_number(text: str) -> int | float:
    """A whole number or a real one."""
    return int(text) if len(text) < 20 and text.lstrip("+-").isdigit() else float(text)


class _Reader:
    """Lists inside lists; those of the graph's nodes and edges are kept, others passed over."""

    def __init__(self, path: Path) -> None:
        self.path, self.elements = path, Elements(path)
        self.stack: list[str] = []
        self.values: dict[str, Any] = {}
        self.place = self.graphs = 0

    def wrong(self, line: int, problem: str) -> NoReturn:
        raise InvalidFile(f"{self.path}, line {line:,}: {problem}")

    def read(self, text: str) -> None:
        """Take in all tokens."""
        key, line = "", 0
        for kind, token, line in _tokens(self.path, text):
            if not key:
                if kind == "key":
                    key = token
                elif kind == "close" and self.stack:
                    self.close()
                else:
                    self.wrong(line, f"expected a key, found {token!r}.")
            elif kind == "open":
                self.open(key, line)
                key = ""
            elif kind in ("number", "text"):
                self.take(key, _parse_number(token) if kind == "number" else html.unescape(token), line)
                key = ""
            else:
                self.wrong(line, f"expected a value of {key!r}, found {token!r}.")
        if key or self.stack:
            self.wrong(line, f"the file ends inside {key or self.stack[-1]!r}.")

    def open(self, key: str, line: int) -> None:
        self.stack.append(key)
        if len(self.stack) > DEEPEST:
            self.wrong(line, f"more than {DEEPEST} lists inside one another.")
        if self.stack == ["graph"]:
            self.graphs += 1
            if self.graphs > 1:
                self.wrong(line, "a second graph; a file with several is not read.")
        if self.stack in (["graph", "node"], ["graph", "edge"]):
            self.values, self.place = {}, line
        elif key in ("graph", "node", "edge") and len(self.stack) > 1:
            self.wrong(line, f"{key!r} inside {self.stack[-2]!r}, which is not read.")

    def take(self, key: str, value: Any, line: int) -> None:
        if self.stack in (["graph", "node"], ["graph", "edge"]):
            if key in _ONCE and key in self.values:
                self.wrong(line, f"a second {key!r} in one {self.stack[-1]}.")
            self.values[key] = value
        elif key in ("graph", "node", "edge") and len(self.stack) < 2:
            self.wrong(line, f"expected a list of {key!r}, found {value!r}.")

    def close(self) -> None:
        if self.stack == ["graph", "node"]:
            self.elements.add_node(self.place, self._checked_id("id"), self.values)
        elif self.stack == ["graph", "edge"]:
            weight, name = weight_of(self.values)
            self.elements.add_edge(self.place, (self._checked_id("source"), self._checked_id("target")), weight, name)
        self.stack.pop()

    def _checked_id(self, key: str) -> Any:
        """The id of a node, a whole number as the format says."""
        value = self.values.get(key)
        if value is not None and type(value) is not int:
            self.wrong(self.place, f"{key} must be a whole number, got {value!r}.")
        return value


def read_gml(
    path: Path, *, symmetrise: Symmetrise = "max", weighted: bool | None = None, max_bytes: int | None = None
) -> Graph:
    """The graph of a GML file."""
    reader = _Reader(path)
    reader.read(whole_text(path, max_bytes))
    if not reader.graphs:
        raise InvalidFile(f"{path}: holds no `graph [ ... ]`.")
    return reader.elements.graph(symmetrise, weighted)


def write_gml(graph: Graph, path: Path, attributes: Mapping[str, Any] | None = None) -> None:
    """Nodes 0, 1, ... with their names as labels, and attributes of nodes; edges with their weights."""
    columns = checked_attributes(graph, attributes)
    for name in set(columns) & {"source", "target", *_ONCE}:
        raise InvalidInput(f"`attributes`: {name!r} means something else in GML files. Use another name.")
    labels = [_quoted_text(name) for name in written_names(graph, "GML")]
    with packed_file(path) as file:
        file.write(b"graph [\n")
        for i, label in enumerate(labels):
            data = "".join(f" {name} {_attribute_value(values[i])}" for name, values in columns.items())
            file.write(f"  node [ id {i} label {label}{data} ]\n".encode())
        for i, j, weight in edges(graph):
            heavy = "" if graph.weights is None else f" weight {_written_number(weight)}"
            file.write(f"  edge [ source {i} target {j}{heavy} ]\n".encode())
        file.write(b"]\n")


def _quoted_text(text: str) -> str:
    """A text in quotes, in ASCII, with all else as `&#233;`."""
    if any(not (32 <= ord(c) < 127 or ord(c) > 159) or 0xD800 <= ord(c) < 0xE000 for c in text):
        raise InvalidInput(f"`graph`: {text!r} has a control character, which GML files cannot hold. Rename the node.")
    return '"' + _ESCAPED.sub(lambda found: f"&#{ord(found[0])};", text) + '"'


def _attribute_value(value: Any) -> str:
    """A value of an attribute; truths are 1 and 0, and long whole numbers are real ones."""
    return _quoted_text(value) if isinstance(value, str) else _written_number(float(value))


def _written_number(number: float) -> str:
    """A number as GML has it: whole ones of 32 bits, others with a point, as the format demands."""
    if number.is_integer() and abs(number) < 2**31:
        return str(int(number))
    digits, exponent, power = number_text(number).partition("e")
    return f"{digits}{'' if '.' in digits else '.0'}{exponent}{power}"
