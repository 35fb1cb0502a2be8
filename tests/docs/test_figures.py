"""Figures in the documents come from stored runs: pages are what their generators make, prose quotes no measurement."""

from __future__ import annotations

import ast
import importlib
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GENERATORS = sorted(
    path.name for path in (ROOT / "benchmarks").glob("*.py") if path.stem.endswith("_page") or path.stem == "render"
)
RESULTS = re.compile(r"<!-- results.*?<!-- end of results -->", re.S)
CODE = re.compile(r"```.*?```|<!--.*?-->|`[^`\n]*`", re.S)
COUNT = (
    r"(?:\d[\d.,]*|half|twice|two|three|four|five|six|seven|eight|nine|ten|twenty|a hundred|a tenth|a third|a quarter)"
)
MEASURED = re.compile(
    r"[^.|\n]*(?:\d ?%|\d ?(?:s|ms|seconds?|minutes?|hours?|[kMG]i?B)\b|\d\.\d\d|\b\d+ of \d+\b"
    rf"|\b{COUNT} (?:times|x) (?:as|the|faster|slower|less|more|fewer|smaller|larger)|\btwice as|(?:faster|slower) by)"
    r"[^.|\n]*"
)
DOCUMENTS = [
    *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")),
    *sorted(path for path in (ROOT / "docs").rglob("*.md") if path.parent.name != "benchmarks"),
    *sorted((ROOT / "studies").glob("*.md")),
]
SETTINGS = (
    "If the gap is 2 %",
    "gets 80 % of the time limit",
    "(such as 0.01",
    "proven to be within 1 %",
    "10 of 60 variables given",
    "times the largest weight",  # a bound's formula
    "may grow to 250 times its size",
    "more than 10 % slower three times",
    "rho = 0.01",
    "rho = 0, T = 10",
    "arXiv:",
    "DPCD runs 20 times faster than MPEC-EPM",  # the paper's sentence, quoted
)
"""Sentences whose numbers are settings, formulas, names, quotations or illustrations, not measurements of ours."""


@pytest.fixture(scope="module")
def rebuilt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the documents in which every generated page was thrown away and made anew from the stored runs."""
    copy = tmp_path_factory.mktemp("documents")
    for name in ("benchmarks", "docs"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "README.md", copy)
    for page in (copy / "docs" / "benchmarks").glob("*.md"):
        if page.name != "index.md" and not RESULTS.search(page.read_text(encoding="utf-8")):
            page.unlink()
    for name in [*GENERATORS, "studies.py"]:
        done = subprocess.run(
            [sys.executable, f"benchmarks/{name}"], cwd=copy, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{name}: {done.stderr}"
    return copy


@pytest.mark.parametrize(
    "page", ["README.md", *sorted(f"docs/benchmarks/{p.name}" for p in (ROOT / "docs" / "benchmarks").glob("*.md"))]
)
def test_the_page_is_that_of_the_stored_runs(page: str, rebuilt: Path) -> None:
    """Making the page anew from benchmarks/results changes nothing; a page without a generator would be missing."""
    assert (rebuilt / page).read_text(encoding="utf-8") == (ROOT / page).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "benchmarks").glob("*.md")), ids=lambda page: page.stem)
def test_a_command_stands_beside_the_figures(page: Path) -> None:
    """Each page of figures names the command that made them and the commit."""
    text = page.read_text(encoding="utf-8")
    if page.stem != "index":
        assert re.search(r"`(python benchmarks/|flipwise reproduce)[^`]*`", text) and re.search(
            r"commit [0-9a-f]{7}", text
        )


BENCHMARKS = sorted((ROOT / "benchmarks").glob("*.py"))


@pytest.mark.parametrize("path", BENCHMARKS, ids=[path.stem for path in BENCHMARKS])
def test_what_benchmarks_import_is_there_and_public(path: Path) -> None:
    """A name that is changed in the library is changed in the programs that measure it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "flipwise":
            for name in (alias.name for alias in node.names):
                module = importlib.import_module(node.module)
                assert hasattr(module, name) or find_spec(f"{node.module}.{name}"), f"{node.module}.{name}"
                assert not name.startswith("_"), f"{node.module}.{name} is private"


@pytest.mark.parametrize("page", DOCUMENTS, ids=lambda page: str(page.relative_to(ROOT)))
def test_prose_quotes_no_measurement(page: Path) -> None:
    """Outside the generated parts no sentence holds a time, a size, a share, a count of successes or a speed ratio."""
    prose = CODE.sub("", RESULTS.sub("", page.read_text(encoding="utf-8")))
    found = [sentence[0].strip() for sentence in MEASURED.finditer(prose)]
    assert not [sentence for sentence in found if not any(known in sentence for known in SETTINGS)]


@pytest.mark.parametrize(
    "sentence",
    [
        "it takes 3 s",
        "35 of 36 are reached",
        "four times as fast",
        "ends 20% earlier",
        "the density is 44.82",
        "1.6 GB of arcs",
        "twice as slow",
    ],
)
def test_a_measurement_in_prose_is_noticed(sentence: str) -> None:
    """The pattern knows the ways in which people quote a measurement."""
    assert MEASURED.search(sentence)


def test_the_page_of_the_paper_has_all_its_parts() -> None:
    """Each numbered table, figure and statement of the paper has a row."""
    page = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")
    named = {f"Table {n}" for n in range(1, 7)} | {
        "Figure 1",
        "Figure 2",
        "Algorithm 1",
        "Lemma 1",
        "Theorem 1",
        "Corollary 1",
    }
    assert not {part for part in named if not re.search(rf"^\| [^|]*{part}\b", page, re.M)}
