"""The page in a real browser: quiet console, sorting tables, drawn figures, dark mode, phone width."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from flipwise_studies import render
from flipwise_studies.experiments.results import write_results
from studies.tests.report.cells import made_up_cells
from tests.pages.browser import Browser, find_chromium

OPEN_ALL = "for (const d of document.querySelectorAll('details')) d.open = true; true"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A headless Chromium, if there is one."""
    executable = find_chromium()
    if executable is None:
        pytest.skip("no chromium found: install Debian's package chromium")
    with Browser(executable) as opened:
        yield opened


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of made-up cells with a comparison."""
    folder = tmp_path_factory.mktemp("page")
    write_results(made_up_cells(), folder / "cells.json", series=True)
    write_results(made_up_cells(0.9), folder / "before.json")
    return render(folder / "cells.json", folder / "report.html", compare=folder / "before.json")[0]


@pytest.mark.parametrize("width", [375, 768, 1200])
@pytest.mark.parametrize("dark", [False, True])
def test_the_page_is_quiet_and_never_scrolls_sideways(browser: Browser, page: Path, width: int, dark: bool) -> None:
    """From file://, at every width and in both schemes: no complaint in the console, nothing wider than the screen."""
    browser.complaints.clear()
    browser.open(page, width=width, dark=dark)
    browser.run(OPEN_ALL)
    assert browser.run("location.protocol") == "file:"
    assert browser.run("document.documentElement.scrollWidth") <= width
    wide = """[...document.querySelectorAll('body *')].filter(e => !e.closest('svg, thead') || e.matches('svg.chart'))
        .filter(e => e.getBoundingClientRect().right > innerWidth + 1).map(e => e.tagName + '.' + e.className)"""
    assert browser.run(wide) == []
    assert browser.complaints == []


def test_every_figure_is_drawn(browser: Browser, page: Path) -> None:
    """Each drawing has a size on the screen and at least one visible mark of data inside it."""
    browser.open(page)
    browser.run(OPEN_ALL)
    figures = """[...document.querySelectorAll('svg.chart')].map(s => [s.getAttribute('aria-label'),
        s.getBoundingClientRect().height,
        [...s.querySelectorAll('.line, .dot, .band')].filter(m => { const b = m.getBoundingClientRect();
            return b.width + b.height > 2; }).length])"""
    drawn = browser.run(figures)
    assert len(drawn) > 15
    for title, height, marks in drawn:
        assert height > 100 and marks > 0, title


def test_tables_sort_by_figures_and_by_words(browser: Browser, page: Path) -> None:
    """A click on a header sorts ascending, a second one descending; figures as numbers."""
    browser.open(page)
    browser.run(OPEN_ALL)
    script = """(() => { const faults = [];
      for (const table of document.querySelectorAll('table.sortable')) {
        table.querySelectorAll('thead button').forEach((button, column) => {
          for (const direction of ['ascending', 'descending']) {
            button.click();
            if (button.parentElement.getAttribute('aria-sort') !== direction) faults.push('aria ' + direction);
            const numbers = [...table.tBodies[0].rows].map(r => r.cells[column].dataset.value)
              .filter(v => v !== undefined).map(Number);
            const sorted = [...numbers].sort((a, b) => direction === 'ascending' ? a - b : b - a);
            if (numbers.join() !== sorted.join()) faults.push(button.textContent);
          }
        });
      } return [document.querySelectorAll('table.sortable').length, faults]; })()"""
    tables, faults = browser.run(script)
    assert tables > 20 and faults == []


def test_the_phone_sorts_by_a_choice(browser: Browser, page: Path) -> None:
    """At 375 pixels the headers are hidden and the choice above each table sorts it."""
    browser.open(page, width=375)
    script = """(() => { const sorter = document.querySelector('#momentum .sorter'), table = sorter.nextElementSibling;
      const select = sorter.querySelector('select'); select.value = '1'; select.dispatchEvent(new Event('change'));
      return [getComputedStyle(sorter).display, table.tHead.rows[0].cells[1].getAttribute('aria-sort')]; })()"""
    assert browser.run(script) == ["block", "ascending"]


def test_dark_mode_is_dark(browser: Browser, page: Path) -> None:
    """The background follows the scheme, and text stays readable on it."""
    colours = """(() => { const light = c => { const [r, g, b] = c.match(/[0-9.]+/g).map(Number);
      return 0.2126 * r + 0.7152 * g + 0.0722 * b; }; const style = getComputedStyle(document.body);
      return [light(style.backgroundColor), light(style.color)]; })()"""
    browser.open(page, dark=True)
    background, ink = browser.run(colours)
    assert background < 60 and ink > 180
    browser.open(page, dark=False)
    background, ink = browser.run(colours)
    assert background > 200 and ink < 80
