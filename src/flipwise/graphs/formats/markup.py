"""XML, read by the standard library's expat as it comes: no tree, no document type, no entities of a file's own.

A document type can define entities that expand to gigabytes, or name files to be read. No graph format needs one, so
a file that has one is refused before its first element.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

from flipwise.foundation.errors import InvalidFile, InvalidInput
from flipwise.graphs.streams import blocks

DEEPEST = 100
"""Elements inside one another; graphs need fewer than ten."""
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Markup:
    """The elements of an XML file, told one after another to `opened` and `closed`.

    Elements of other namespaces than the root's, which hold drawings, are passed over with all that is in them.
    """

    def __init__(self, path: Path, root: str) -> None:
        self.path, self.root = path, root
        self.stack: list[str] = []
        """The elements that the present one stands in, from the root on, itself included."""
        self._space: str | None = None
        self._foreign = 0
        self._text: list[str] = []
        self._parser: Any = expat.ParserCreate(namespace_separator="}")

    @property
    def line(self) -> int:
        """The present line of the file."""
        return int(self._parser.CurrentLineNumber)

    def wrong(self, problem: str) -> NoReturn:
        """Raise for what stands in the present line."""
        raise InvalidFile(f"{self.path}, line {self.line:,}: {problem}")

    def read(
        self,
        max_bytes: int | None,
        opened: Callable[[str, dict[str, str]], None],
        closed: Callable[[str, str], None],
    ) -> None:
        """Go through the file: `opened(element, attributes)`, and `closed(element, text in it)`."""

        def start(name: str, attributes: dict[str, str]) -> None:
            space, _, element = name.rpartition("}")
            if self._space is None:
                self._space = space
                if element != self.root:
                    self.wrong(f"<{element}> at the top; this is no {self.root} file.")
            if self._foreign or space != self._space:
                self._foreign += 1
            else:
                self.stack.append(element)
                self._text.clear()
                opened(element, attributes)
            if len(self.stack) + self._foreign > DEEPEST:
                self.wrong(f"more than {DEEPEST} elements inside one another.")

        def end(_: str) -> None:
            if self._foreign:
                self._foreign -= 1
                return
            closed(self.stack[-1], "".join(self._text))
            self._text.clear()
            self.stack.pop()

        def text(data: str) -> None:
            if not self._foreign:
                self._text.append(data)

        def document_type(*_: Any) -> None:
            self.wrong("a document type (<!DOCTYPE ...>), which can be used for attacks and is not read. Delete it.")

        parser = self._parser
        parser.buffer_text = True
        parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, text
        parser.StartDoctypeDeclHandler = document_type
        try:
            for block in blocks(self.path, max_bytes):
                parser.Parse(block, False)
            parser.Parse(b"", True)
        except expat.ExpatError as error:
            raise InvalidFile(
                f"{self.path}, line {error.lineno:,}: broken XML: {expat.ErrorString(error.code)}."
            ) from None
        except (ValueError, LookupError) as error:
            if isinstance(error, InvalidFile):
                raise
            raise InvalidFile(f"{self.path}: text in an encoding that is not known ({error}).") from None


def quoted(value: str) -> str:
    """A text as the value of an attribute, in its quotes; characters that XML cannot hold are refused."""
    if _NOT_IN_XML.search(value):
        raise InvalidInput(
            f"`graph`: {value!r} has a character that XML files cannot hold. Rename the node, or write another format "
            "(.json, .flipgraph)."
        )
    return quoteattr(value, {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})


def kind_of(values: list[Any]) -> str:
    """The type of a column of attributes, as GraphML and GEXF call it."""
    for kind, name in ((bool, "boolean"), (int, "long"), (float, "double")):
        if values and all(type(value) is kind for value in values):
            return name
    return "string"


def value_text(value: Any) -> str:
    """A value of an attribute as XML has it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
