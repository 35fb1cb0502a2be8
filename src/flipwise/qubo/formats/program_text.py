"""Whether the text of an LP or MPS file is one: HiGHS, which reads them, passes over what it does not expect.

It takes `3 a 4 b` for a sum, `c1 x` for no number at all, and a name that is nowhere else for another variable; none of
it is an error there. Here it is, before HiGHS reads the file.
"""

from __future__ import annotations

import math
import re
from pathlib import Path

from flipwise.foundation.errors import InvalidFile

MPS_SECTIONS = ("name", "objsense", "rows", "columns", "rhs", "ranges", "bounds", "quadobj", "qmatrix", "endata")
"""The sections of an MPS file that are understood."""
VALUED_BOUNDS, OTHER_BOUNDS = ("UP", "LO", "FX", "LI", "UI"), ("FR", "MI", "PL", "BV")
SENSES = ("min", "minimum", "minimize", "max", "maximum", "maximize")
LP_SECTIONS = {
    **dict.fromkeys(SENSES, "objective"),
    **dict.fromkeys(("subject to", "such that", "st", "s.t.", "st."), "rows"),
    **dict.fromkeys(("bounds", "bound"), "bounds"),
    **dict.fromkeys(("bin", "binary", "binaries", "gen", "general", "generals", "int", "integer", "integers"), "kinds"),
    **dict.fromkeys(("semi-continuous", "semis", "semi", "sos"), "other"),
    "end": "end",
}
KEYWORD = re.compile(
    rf"\s*({'|'.join(re.escape(word) for word in sorted(LP_SECTIONS, key=len, reverse=True))})(?=\s|$)", re.I
)
TOKEN = re.compile(
    r"\s*(?:(?P<n>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.]))|(?P<l><=|=<|<)|(?P<g>>=|=>|>)|(?P<e>=)|(?P<p>[+-])|(?P<o>[]:[^*/])"
    r"|(?P<x>[^\s\d.+\-<>=:\[\]^*/][^\s+\-<>=:\[\]^*/]*))"
)
"""A number, at most, at least, equal, a sign, another mark, a name."""
_TERM = r"(?:n?x|n|\[p?n?x(?:\^n|\*x)(?:pn?x(?:\^n|\*x))*\](?:/n)?)"
_SUM = rf"p?{_TERM}(?:p{_TERM})*"
LP_LINES = {
    "objective": re.compile(rf"(?:x:)?(?:{_SUM})?"),
    "rows": re.compile(rf"(?:(?:x:)?(?:{_SUM}[lge]|p?nl{_SUM}l|p?ng{_SUM}g)p?n;)*"),
    "bounds": re.compile(r"(?:(?:p?[nx][lge]x|x[lge]p?[nx]|p?[nx]lxlp?[nx]|p?[nx]gxgp?[nx]|xx);)*"),
    "kinds": re.compile(r"[x;]*"),
    "other": re.compile(""),  # HiGHS writes such sections without a line
    "end": re.compile(""),
}
"""What the tokens of each section of an LP file can be, a letter each; a row or bound ends with its line."""
ROW_ENDS = re.compile(r"[lge]p?n$")


def check_lp(where: Path, text: str) -> None:
    """Refuse a text that is not plainly an LP file."""
    section, kinds, seen = "", "", list[str]()
    for number, line in enumerate(text.splitlines(), 1):
        rest = line.partition("\\")[0]
        begins = KEYWORD.match(rest)
        if begins:
            _check_kinds(where, section, kinds)
            section, kinds = LP_SECTIONS[begins[1].lower()], ""
            if section in seen and section not in ("kinds", "other"):
                raise InvalidFile(f"{where}, line {number}: a second section {begins[1]!r}.")
            seen.append(section)
            rest = rest[begins.end() :]
        kinds += _kinds(where, number, rest)
        if (kinds and not section) or (begins and not seen[:-1] and section != "objective"):
            raise InvalidFile(f"{where}, line {number}: an LP file begins with one of {', '.join(SENSES)}.")
        ends = section in ("bounds", "kinds") or (section == "rows" and ROW_ENDS.search(kinds[-3:]))
        if ends and kinds and not kinds.endswith(";"):
            kinds += ";"
    _check_kinds(where, section, kinds)
    if seen[-1:] != ["end"]:
        raise InvalidFile(f"{where}: an LP file ends with the line `end`; it may have been cut off.")


def _kinds(where: Path, number: int, line: str) -> str:
    """A letter for each token of a line."""
    kinds, at, line = "", 0, line.rstrip()
    while at < len(line):
        token = TOKEN.match(line, at)
        if token is None or (token["n"] and not math.isfinite(float(token["n"]))):
            raise InvalidFile(f"{where}, line {number}: {line[at:].strip()[:40]!r} is not understood.")
        kinds += token.group("o") or str(token.lastgroup)
        at = token.end()
    return kinds


def _check_kinds(where: Path, section: str, kinds: str) -> None:
    if section and LP_LINES[section].fullmatch(kinds) is None:
        raise InvalidFile(f"{where}: its section of {section} is not understood: a sign, a number or a sense is amiss.")


def check_mps(where: Path, text: str) -> set[str]:
    """Refuse a text that is not plainly an MPS file; returns the names of its columns."""
    section, seen, columns = "", set[str](), set[str]()
    for line in text.splitlines():
        words = line.split()
        if not words or line[0] == "*":
            continue
        if not line[0].isspace():
            section = words[0].lower()
            if section not in MPS_SECTIONS:
                raise InvalidFile(f"{where}: {words[0]!r} is no part of a program of binary variables with rows.")
            if section in seen:
                raise InvalidFile(f"{where}: it has two sections {words[0]}.")
            seen.add(section)
        elif not _is_line_of(section, words):
            raise InvalidFile(f"{where}: {line.strip()!r} is no line of the section {section.upper() or 'NAME'}.")
        elif section == "columns":
            columns.add(words[0])
    if section != "endata":
        raise InvalidFile(f"{where}: an MPS file ends with the line ENDATA; it may have been cut off.")
    return columns


def _is_line_of(section: str, words: list[str]) -> bool:
    """Whether a section of an MPS file can have such a line."""
    count = len(words)
    if section == "rows":
        return count == 2 and words[0].upper() in ("N", "L", "G", "E")
    if section == "objsense":
        return count == 1 and words[0].lower() in SENSES
    if section == "columns" and words[1:2] == ["'MARKER'"]:
        return count == 3 and words[2] in ("'INTORG'", "'INTEND'")
    if section == "bounds":
        kind = words[0].upper()
        if kind in VALUED_BOUNDS:
            return count in (3, 4) and _are_numbers(words[-1:])
        return kind in OTHER_BOUNDS and count in (2, 3, 4)
    if section in ("rhs", "ranges"):  # with the name of a set before, or without
        return count in (2, 3, 4, 5) and _are_numbers(words[1 + count % 2 :: 2])
    return section in ("columns", "quadobj", "qmatrix") and count in (3, 5) and _are_numbers(words[2::2])


def _are_numbers(words: list[str]) -> bool:
    try:
        return all(math.isfinite(float(word)) for word in words)
    except ValueError:
        return False
