"""What the first lines of an edge list say: the delimiter, a header, names or numbers, weights.

Sure or refused: a line that could be column names as well as an edge, a third column that is a number here and a word
there, a comma that may be one of decimals are errors, whose messages say how to ask for either meaning.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import NamedTuple, NoReturn

from flipwise.foundation.errors import InvalidFile
from flipwise.graphs.formats.foreign import refuse
from flipwise.graphs.streams import Piece

SAMPLED_LINES = 2000
"""Lines of data that are compared where the first one does not decide."""
ARROWS = frozenset({"-", "--", "---", "->", "-->", "<-", "<--", "<->", "<-->", "=>", "=", "|", ":"})
"""What stands between two nodes in other formats, and is no node."""

_FIRST = {"source", "src", "from", "start", "head", "u", "i", "left"}
_SECOND = {"target", "dst", "to", "end", "tail", "v", "j", "dest", "destination", "right"}
_NUMBERED = ({"1", "a", "x"}, {"2", "b", "y"})
"""What follows `node`, `id` and the like in column names, and means nothing alone."""
_AFFIXES = re.compile(r"[ _.\-]|^(node|vertex|user|id)(?=.)|(?<=.)(node|vertex|user|name|id)$|(?<=.)nodeid$")
_WEIGHTS = {"weight", "weights", "w", "value"}
_DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+([eE][-+]?\d+)?")
_NUMBER = re.compile(r"[-+]?\.?\d")
_OUR_COMMENT = re.compile(rb"# (\d{1,18}) nodes, (\d{1,18}) edges\r?\n")
_ATTRIBUTES = re.compile(r"\s\{.+\}$")


class Layout(NamedTuple):
    """What the first lines say about the file."""

    delimiter: str | None
    """None: white space."""
    named: bool
    weighted: bool
    extra: bool
    """Whether there are columns that are not read."""
    header_lines: int
    header: tuple[str, ...] = ()
    """The words of a header that was recognised above lines of names."""
    announced: int | None = None
    """The number of edges in the comment that `write_graph` begins with."""


def data_lines(data: bytes) -> Iterator[tuple[int, str]]:
    """Lines that are neither blank nor comments, with their numbers from 0."""
    for number, line in enumerate(BytesIO(data)):
        text = line.strip(b" \t\r\n")
        if text and text[:1] not in b"#%":
            yield number, text.decode(errors="replace")


class _Line:
    """A line of data: its number, its text, its delimiter and its fields."""

    def __init__(self, path: Path, before: int, number: int, text: str) -> None:
        self.path, self.index, self.number, self.text = path, number, before + number + 1, text
        self.delimiter = self._found_delimiter()
        self.fields = split_line(text, self.delimiter)

    def wrong(self, problem: str) -> NoReturn:
        """Raise for what stands in this line."""
        raise InvalidFile(f"{self.path}, line {self.number:,}: {problem}")

    @property
    def has_numbers(self) -> bool:
        """Whether the line begins with two whole numbers."""
        return len(self.fields) >= 2 and all(field.isascii() and field.isdigit() for field in self.fields[:2])

    def _found_delimiter(self) -> str | None:
        """The delimiter, None for white space."""
        bare = re.sub(r'"[^"]*"', '""', self.text)
        if _ATTRIBUTES.search(bare):
            return None
        words = bare.split()
        found = [d for d in "\t;," if d in bare and all(f.strip() for f in bare.split(d)[:2])]
        if "\t" in found:
            return self._tabs_or_not(bare.split("\t"), words)
        if len(found) == 2:
            if any(_DECIMAL_COMMA.fullmatch(field.strip()) for field in bare.split(";")):
                return ";"
            self.wrong("both ';' and ',' could separate the columns. Put names that hold one of them in double quotes.")
        if found == [","] and len(words) > 2 and _DECIMAL_COMMA.fullmatch(words[-1]):
            self.wrong(
                f"{words[-1]!r} may have a decimal comma. Write numbers with a point, or names in double quotes."
            )
        return found[0] if found else None

    def _tabs_or_not(self, fields: list[str], words: list[str]) -> str | None:
        """The delimiter of a line with tabs, which may be white space like any other."""
        if fields[0].rstrip().endswith(","):
            return ","
        if len(words) > len(fields) and all(word.isdigit() for word in words[:2]):
            return None
        if len(fields) == 2 and len(fields[0].split()) > 1 and _as_number(fields[1].strip()) is not None:
            self.wrong(f"is {fields[0]!r} one name or two? Separate all columns in the same way.")
        return "\t"


def split_line(line: str, delimiter: str | None) -> list[str]:
    """The fields of a line; an empty one at its end is none."""
    if delimiter is None:
        return line.split()
    try:
        fields = [field.strip() for field in next(csv.reader([line], delimiter=delimiter, skipinitialspace=True))]
    except (csv.Error, StopIteration):
        fields = [field.strip(' \r\t"') for field in line.split(delimiter)]
    return fields[:-1] if fields and fields[-1] == "" else fields


def find_layout(
    path: Path, first: Piece, weighted: bool | None, names: bool | None, header: bool | None = None
) -> Layout:
    """What the first lines of data say, and the caller where `weighted`, `names` or `header` is given."""
    top, line = _first_lines(path, first, names, header)
    skipped = line is not top
    named = not line.has_numbers if names is None else names
    # Further lines only matter where the first one leaves a doubt.
    sample = [split_line(text, line.delimiter) for _, text in islice(data_lines(first.data), SAMPLED_LINES)]
    use_weights = _has_weights(line, sample[skipped:]) if weighted is None else weighted
    extra = len(line.fields) > (3 if use_weights else 2) or weighted is False
    if weighted is None:
        _refuse_lost_columns(line, sample[skipped:], extra)
        if skipped:
            _refuse_lost_weights(top, use_weights)
    ours = _OUR_COMMENT.match(first.data) if first.lines_before == 0 else None
    return Layout(
        line.delimiter,
        named,
        use_weights,
        extra,
        top.index + 1 if skipped else 0,
        tuple(top.fields[:2]) if skipped and header is None and named else (),
        int(ours[2]) if ours and header is None else None,
    )


def _first_lines(path: Path, first: Piece, names: bool | None, header: bool | None) -> tuple[_Line, _Line]:
    """The first line, and the first that holds an edge, which is the second where the first holds column names."""
    lines = [_Line(path, first.lines_before, *line) for line in islice(data_lines(first.data), 2)]
    skipped = header if header is not None else _is_header(lines, names)
    if skipped and len(lines) < 2:
        lines[0].wrong("holds column names only, no edges. Pass header=False if they are an edge.")
    line = lines[1] if skipped else lines[0]
    if names is None and len(line.fields) >= 2 and not line.has_numbers:
        _refuse_doubtful_names(line)
    return lines[0], line


def is_finite_number(field: str) -> bool:
    """Whether a field is a finite number."""
    number = _as_number(field)
    return number is not None and math.isfinite(number)


def _as_number(field: str) -> float | None:
    """The number that a field is, not necessarily finite."""
    try:
        return float(field) if field.isascii() and "_" not in field else None
    except ValueError:
        return None


def _is_header(lines: list[_Line], names: bool | None) -> bool:
    """Whether the first line holds column names; where it may, but need not, it is refused."""
    top = lines[0]
    if top.has_numbers or len(top.fields) < 2:
        return False
    known = all(_is_column_name(word, side) for side, word in enumerate(top.fields[:2]))
    over_numbers = len(lines) > 1 and lines[1].has_numbers
    advice = "Pass header=True if it is, header=False if it is an edge (on the command line --header, --no-header)."
    shown = " ".join(top.fields[:2])
    if known and (len(lines) == 1 or over_numbers or all(len(word) > 1 for word in top.fields[:2])):
        return True
    if known:
        top.wrong(f"{shown!r} may be a line of column names. {advice}")
    if over_numbers and names is None:
        top.wrong(f"{shown!r} stands above lines of numbers and may be a line of column names. {advice}")
    return False


def _is_column_name(word: str, side: int) -> bool:
    """Whether a word is a usual name of the first (0) or second (1) column: `from_node_id` is, for it says `from`."""
    before, stem = "", word.lower()
    while before != stem:
        before, stem = stem, _AFFIXES.sub("", stem)
    return stem in (_FIRST, _SECOND)[side] or (stem != word.lower() and stem in _NUMBERED[side])


def _refuse_doubtful_names(line: _Line) -> None:
    """Raise for nodes that are numbers, but none of a node, and for signs between nodes."""
    if line.fields[1] in ARROWS:
        line.wrong(f"{line.fields[1]!r} stands where a node should. Write `source target [weight]` a line.")
    if line.fields[0] in ("e", "a") and all(f.isdigit() for f in line.fields[1:3]) and len(line.fields) > 2:
        refuse(line.path, "DIMACS")
    for field in line.fields[:2]:
        if _NUMBER.match(field) and _as_number(field) is not None and not (field.isascii() and field.isdigit()):
            line.wrong(
                f"node {field!r} is a number, but no whole number from 0 on. If nodes have names, pass names=True "
                "(on the command line --names)."
            )


def _has_weights(line: _Line, sample: list[list[str]]) -> bool:
    """Whether the third column is a weight; a column that is a number only here and there is refused."""
    if len(line.fields) < 3:
        return False
    third = line.fields[2]
    advice = "Pass weighted=False to ignore it (on the command line --unweighted)."
    if _ATTRIBUTES.search(line.text) or (third.startswith("{") and third != "{}"):
        line.wrong(f"attributes in braces are not read as weights. Write the weight alone, or: {advice.lower()}")
    if third == "":
        line.wrong(f"the third column, for the weight, is empty. {advice}")
    number = _as_number(third)
    if number is not None and not math.isfinite(number):
        line.wrong(f"the weight must be finite, got {third!r}. {advice}")
    if _DECIMAL_COMMA.fullmatch(third):
        line.wrong(f"the weight {third!r} has a decimal comma. Write numbers with a point. {advice}")
    if number is None and any(len(fields) > 2 and _as_number(fields[2]) is not None for fields in sample):
        line.wrong(f"the third column is {third!r} here and a number in other lines. {advice}")
    return number is not None


def _refuse_lost_columns(line: _Line, sample: list[list[str]], extra: bool) -> None:
    """Raise where columns that would not be read are more in some lines than in others, as in lists of neighbours."""
    counts = {len(fields) for fields in sample}
    if extra and len(counts) > 1:
        line.wrong(
            f"lines have from {min(counts)} to {max(counts)} columns; is this a list of neighbours? Write one edge "
            "`source target [weight]` a line, or pass weighted=False to read the first two columns (on the command "
            "line --unweighted)."
        )


def _refuse_lost_weights(top: _Line, use_weights: bool) -> None:
    """Raise when a header names a column of weights that is not the one that is read."""
    places = [k for k, word in enumerate(top.fields) if word.lower() in _WEIGHTS]
    if places and (places != [2] or not use_weights):
        top.wrong(
            f"the column {top.fields[places[0]]!r} is number {places[0] + 1}; weights are read from the third. Move it "
            "there, or pass weighted=False to ignore it (on the command line --unweighted)."
        )
