"""The pages about methods say what the code says."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

import flipwise

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "guides" / "methods.md"


def method_rows() -> list[str]:
    """The rows of the table, made from the registry."""
    rows = []
    for m in flipwise.methods():
        free, counts = ("yes" if supported else "no" for supported in (m.free, m.counts))
        rows.append(f"| `{m.name}` | {m.summary} | {free} | {counts} | {m.needs} |")
    return rows


def test_methods_page_lists_the_registry() -> None:
    """The table of the guide is the registry, row by row."""
    if not PAGE.exists():
        pytest.skip("the documentation is not part of this installation")
    text = PAGE.read_text(encoding="utf-8")
    found = [line for line in text.splitlines() if re.match(r"\| `[a-z0-9-]+` \| .* \| (yes|no) \|", line)]
    assert found == method_rows()


@pytest.mark.parametrize("name", ["optima", "cpu_times", "neighbourhood"])
def test_benchmark_pages_are_rendered_from_stored_rows(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page under docs/benchmarks is exactly what its stored rows give: nobody edited a figure."""
    rows, page = ROOT / "benchmarks" / "results" / f"{name}.json", ROOT / "docs" / "benchmarks"
    page = page / f"{name.replace('_', '-')}.md"
    if not rows.exists() or not page.exists():
        pytest.skip(f"no stored rows of {name}")
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))  # the drivers import one another by name
    spec = importlib.util.spec_from_file_location("render", ROOT / "benchmarks" / "render.py")
    assert spec is not None and spec.loader is not None
    render = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(render)
    assert page.read_text(encoding="utf-8") == render.rendered(name)
