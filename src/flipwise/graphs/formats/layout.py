"""What the first lines of an edge list say: the delimiter, a header, names or numbers, weights.

Sure or refused: a line that could be column names as well as an edge, a third column that is a number here and a word
there, a comma that may be one of decimals are errors, whose messages say how to ask for either meaning.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator, Sequence
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import NamedTuple, NoReturn

from flipwise.foundation.errors import InvalidFile
from flipwise.graphs.formats.elements import WEIGHT_NAMES
from flipwise.graphs.formats.foreign import refuse
from flipwise.graphs.formats.tables import choose_columns, is_column_name, named_ends
from flipwise.graphs.streams import TextPiece

SAMPLED_LINES = 2000
"""Lines of data that are compared where the first one does not decide."""
ARROWS = frozenset({"-", "--", "---", "->", "-->", "<-", "<--", "<->", "<-->", "=>", "=", "|", ":"})
"""What stands between two nodes in other formats, and is no node."""

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
    places: tuple[int, int, int] = (0, 1, 2)
    """The columns of the source, the target and the weight."""
    titles: tuple[str, ...] = ()
    """The words of the line of column names, if there is one."""
    first: tuple[str, ...] = ()
    """The fields of the first edge."""

    @property
    def ordered(self) -> bool:
        """Whether the columns stand in the order source, target, weight, which kernels read."""
        return self.places[: 2 + self.weighted] == (0, 1, 2)[: 2 + self.weighted]

    @property
    def notes(self) -> tuple[str, ...]:
        """What was taken for what, and what was not read."""
        between = {None: "white space", "\t": "tabs", ",": "commas", ";": "semicolons"}[self.delimiter]
        used = self.places[: 2 + self.weighted]
        called = [repr(shortened(self.titles[k])) if k < len(self.titles) else str(k + 1) for k in used]
        weight = f"column {called[2]} as weights" if self.weighted else "no weights"
        header = "the first line as column names" if self.titles else "no line as column names"
        edge = " ".join(shortened(self.first[k]) for k in used if k < len(self.first))
        kind = "names" if self.named else "numbers"
        taken = (
            f"Read between {between}: columns {called[0]} and {called[1]} as nodes with {kind}, {weight}, {header}; "
            f"the first edge is {edge!r}."
        )
        if not self.extra or self.titles:
            return (taken,)
        return taken, f"Columns after the {'third' if self.weighted else 'second'} were ignored."


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
        found = [d for d in "\t;," if d in bare and _begins_with_two(bare.split(d))]
        if "\t" in found:
            return self._tabs_or_not(bare.split("\t"), words)
        if len(found) == 2:
            if any(_DECIMAL_COMMA.fullmatch(field.strip()) for field in bare.split(";")):
                return ";"
            self.wrong("both ';' and ',' could separate the columns. Put names that hold one of them in double quotes.")
        if found == [","] and (len(words) > 2 or (len(words) == 2 and all(map(_NUMBER.match, words)))):
            for word in words:
                if _DECIMAL_COMMA.fullmatch(word):
                    self.wrong(
                        f"{word!r} may have a decimal comma. Write numbers with a point, or names in double quotes."
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


def shortened(word: str) -> str:
    """A word in few characters."""
    return word if len(word) <= 40 else word[:37] + "..."


def find_layout(
    path: Path,
    first: TextPiece,
    weighted: bool | None,
    names: bool | None,
    header: bool | None = None,
    columns: Sequence[str] | None = None,
) -> Layout:
    """What the first lines of data say, and the caller where `weighted`, `names`, `header` or `columns` is given."""
    top, line = _first_lines(path, first, names, header if columns is None else True)
    skipped = line is not top
    places = _named_columns(top, weighted, columns) if skipped else None
    if places is not None:
        return _titled_layout(top, line, places, named=names)
    if names is None and not line.has_numbers:
        _refuse_doubtful_names(line, line.fields[:2])
    named = not line.has_numbers if names is None else names
    use_weights, extra = _weight_column(top, line, first, weighted, sure=header is not None, named=named)
    return Layout(
        line.delimiter,
        named,
        use_weights,
        extra,
        top.index + 1 if skipped else 0,
        tuple(top.fields[:2]) if skipped and header is None and named else (),
        _announced_edges(first) if header is None else None,
        titles=tuple(top.fields) if skipped else (),
        first=tuple(line.fields),
    )


def _announced_edges(first: TextPiece) -> int | None:
    """The number of edges in the comment that `write_graph` begins with, if the file begins with it."""
    ours = _OUR_COMMENT.match(first.data) if first.lines_before == 0 else None
    return int(ours[2]) if ours else None


def _weight_column(
    top: _Line, line: _Line, first: TextPiece, weighted: bool | None, *, sure: bool, named: bool
) -> tuple[bool, bool]:
    """Whether the third column is the weight, and whether there are columns that are not read; doubts are refused.

    `sure`: the caller said whether the first line has column names.
    """
    if weighted is not None:
        return weighted, len(line.fields) > (3 if weighted else 2) or not weighted
    skipped = line is not top
    # Further lines only matter where the first one leaves a doubt.
    sample = [split_line(text, line.delimiter) for _, text in islice(data_lines(first.data), SAMPLED_LINES)]
    use_weights = _has_weights(line, sample[skipped:])
    extra = len(line.fields) > (3 if use_weights else 2)
    _refuse_lost_columns(line, sample[skipped:], extra)
    if skipped and not sure:
        _refuse_unnamed_weights(top, use_weights)
    elif named and extra and not use_weights and not sure:
        _refuse_unnamed_columns(line)
    return use_weights, extra


def _named_columns(top: _Line, weighted: bool | None, columns: Sequence[str] | None) -> tuple[int, int, int] | None:
    """The columns that the words of a header name, -1 for a weight that there is none of; None where they stand in
    their usual order."""
    words = top.fields
    lower = [word.lower() for word in words]
    if columns is None:
        ends = named_ends(words)
        weight = next((lower.index(w) for w in WEIGHT_NAMES if w in lower), -1)
        if ends in (None, (0, 1)) and weight in (-1, 2):
            return None
        if ends is None:
            if is_column_name(words[0], 0) and is_column_name(words[1], 1):
                ends = (0, 1)
            else:
                top.wrong(f"which of the columns {words} hold the ends of an edge? Pass columns=(source, target).")
        columns = [words[k] for k in (*ends, weight) if k >= 0]
    chosen = choose_columns(words, f"{top.path}, line {top.number:,}", InvalidFile, weighted=weighted, columns=columns)
    return words.index(chosen[0]), words.index(chosen[1]), -1 if chosen.weight is None else words.index(chosen.weight)


def _titled_layout(top: _Line, line: _Line, places: tuple[int, int, int], *, named: bool | None) -> Layout:
    """The layout of a file whose columns are found by the words above them."""
    ends = [line.fields[k] if k < len(line.fields) else "" for k in places[:2]]
    numbers = all(end.isascii() and end.isdigit() for end in ends)
    if named is None and not numbers:
        _refuse_doubtful_names(line, ends)
    return Layout(
        top.delimiter,
        not numbers if named is None else named,
        places[2] >= 0,
        True,
        top.index + 1,
        places=places,
        titles=tuple(top.fields),
        first=tuple(line.fields),
    )


def _first_lines(path: Path, first: TextPiece, names: bool | None, header: bool | None) -> tuple[_Line, _Line]:
    """The first line, and the first that holds an edge, which is the second where the first holds column names."""
    lines = [_Line(path, first.lines_before, *line) for line in islice(data_lines(first.data), 2)]
    skipped = header if header is not None else _is_header(lines, names)
    if skipped and len(lines) < 2:
        lines[0].wrong("holds column names only, no edges. Pass header=False if they are an edge.")
    return lines[0], lines[1] if skipped else lines[0]


def _begins_with_two(fields: list[str]) -> bool:
    """Whether the first two fields hold something, or those after the empty title of a table's numbering."""
    titled = len(fields) > 2 and not fields[0].strip()
    return all(field.strip() for field in (fields[1:3] if titled else fields[:2]))


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
    known = all(is_column_name(word, side) for side, word in enumerate(top.fields[:2]))
    ends = named_ends(top.fields) if top.delimiter is not None else None
    if (
        ends is not None
        and not known
        and all(len(top.fields[k]) > 2 for k in ends)
        and len(set(top.fields)) == len(top.fields)
    ):
        return True
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


def _refuse_doubtful_names(line: _Line, ends: list[str]) -> None:
    """Raise for nodes that are numbers, but none of a node, and for signs between nodes."""
    if len(ends) < 2:
        return
    if ends[1] in ARROWS:
        line.wrong(f"{ends[1]!r} stands where a node should. Write `source target [weight]` a line.")
    if line.fields[0] in ("e", "a") and all(f.isdigit() for f in line.fields[1:3]) and len(line.fields) > 2:
        refuse(line.path, "DIMACS")
    for field in ends:
        is_number = _as_number(field) is not None or _DECIMAL_COMMA.fullmatch(field)
        if _NUMBER.match(field) and is_number and not (field.isascii() and field.isdigit()):
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
        line.wrong(
            f"attributes in braces are not read as weights. Write the weight alone, or: {advice[0].lower()}{advice[1:]}"
        )
    if third == "":
        line.wrong(f"the third column, for the weight, is empty. {advice}")
    number = _as_number(third)
    if number is not None and not math.isfinite(number):
        line.wrong(f"the weight must be finite, got {third!r}. {advice}")
    if _DECIMAL_COMMA.fullmatch(third):
        line.wrong(f"the weight {third!r} has a decimal comma. Write numbers with a point. {advice}")
    if number is None and any(len(fields) > 2 and _as_number(fields[2]) is not None for fields in sample):
        line.wrong(
            f"the third column is {third!r} here and a number in other lines. If these are the names of columns, pass "
            f"columns=(source, target, weight) (on the command line --columns). {advice}"
        )
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


def _refuse_unnamed_columns(line: _Line) -> None:
    """Raise for a table with names, further columns and no header that is known: any two may be the ends."""
    if line.delimiter is not None:
        line.wrong(
            f"which of the columns {[shortened(field) for field in line.fields]} hold the ends of an edge? If the "
            "first line has column names, pass columns=(source, target[, weight]); if the first two columns do, "
            "weighted=False (on the command line --columns, --unweighted)."
        )


def _refuse_unnamed_weights(top: _Line, use_weights: bool) -> None:
    """Raise when a header calls the third column, which is a number, something else than a weight."""
    if use_weights and len(top.fields) > 2 and top.fields[2].lower() not in ("weights", *WEIGHT_NAMES):
        ends = f"{top.fields[0]!r}, {top.fields[1]!r}"
        top.wrong(
            f"is the column {top.fields[2]!r} the weight? Pass columns=({ends}, {top.fields[2]!r}) if it is, "
            "weighted=False if it is not (on the command line --columns, --unweighted)."
        )
