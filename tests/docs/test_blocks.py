"""The code blocks of README and of every documentation page run, page by page, in order.

A block fenced as ```python is executed in the page's own namespace, in an empty folder. A comment before a block
changes that: `<!-- needs: torch -->` skips it where the package is missing, `<!-- not run: reason -->` always. ```pycon
blocks are doctests, output compared. Blocks fenced in another way (``` { .python ... }) are shown only. A comment that
begins with `<!-- run first` holds code that prepares what the page takes for granted, such as a file of the reader's.
Time limits of a second and more are cut to half a second.
"""

from __future__ import annotations

import doctest
import re
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
BLOCK = re.compile(r"(?:^<!--\s*(needs|not run):\s*([^\n]*?)\s*-->\s*\n)?^```(python|pycon)\n(.*?)^```$", re.M | re.S)
FIRST = re.compile(r"^<!-- run first\n(.*?)^-->$", re.M | re.S)


class Block(NamedTuple):
    """One block and the line it starts at."""

    kind: str
    code: str
    line: int
    condition: str | None
    detail: str | None


def blocks(text: str) -> list[Block]:
    """The runnable blocks of a page, preparations first."""
    hidden = [
        Block("python", found[1], text[: found.start(1)].count("\n"), None, None) for found in FIRST.finditer(text)
    ]
    shown = [
        Block(found[3], found[4], text[: found.start(4)].count("\n"), found[1], found[2])
        for found in BLOCK.finditer(text)
    ]
    return hidden + shown


def runnable() -> list[Path]:
    """Pages with at least one block."""
    return [page for page in PAGES if blocks(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("page", runnable(), ids=lambda page: str(page.relative_to(ROOT)))
def test_the_code_of_the_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every block of the page runs without an exception; pycon blocks print what they show."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    module = ModuleType("page")  # where dataclasses of the page look for the names in their annotations
    monkeypatch.setitem(sys.modules, "page", module)
    namespace = module.__dict__
    skipped: list[str] = []
    ran = 0
    for block in blocks(page.read_text(encoding="utf-8")):
        missing = [name for name in re.split(r"[,\s]+", block.detail or "") if block.condition == "needs" and name]
        missing = [name for name in missing if find_spec(name) is None]
        if missing or block.condition == "not run":
            skipped.append(f"line {block.line}: {'needs ' + ', '.join(missing) if missing else block.detail}")
            continue
        ran += 1
        where = f"{page.name}, line {block.line}"
        if block.kind == "pycon":
            example = doctest.DocTestParser().get_doctest(block.code, namespace, where, str(page), block.line)
            runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
            assert runner.run(example, clear_globs=False).failed == 0, where
            namespace.update(example.globs)
        else:
            quick = re.sub(r"time_limit=[1-9][\d.]*", "time_limit=0.5", block.code)
            source = "\n" * block.line + quick
            exec(compile(source, str(page), "exec", dont_inherit=True), namespace)
    if not ran:
        pytest.skip("; ".join(skipped))
