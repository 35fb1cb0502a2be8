"""The site and the demo's page in a real browser: search, quiet console, both colour schemes, phone width."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import flipwise
from flipwise.graphs.planted import planted_subgraph
from flipwise.pages.subgraph_page import subgraph_page
from tests.pages.browser import Browser, find_chromium

SIDEWAYS = "document.documentElement.scrollWidth - window.innerWidth"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A headless Chromium, if there is one."""
    executable = find_chromium()
    if executable is None:
        pytest.skip("no chromium found: install Debian's package chromium")
    with Browser(executable) as opened:
        yield opened


class Address:
    """A page of the served site, in the place of a file."""

    def __init__(self, url: str) -> None:
        self.url = url

    def as_uri(self) -> str:
        return self.url


class _Silent(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def served(site: Path) -> Iterator[str]:
    """The site as a server gives it (its search needs one)."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Silent, directory=str(site)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.parametrize("words", ["cardinality", "upper bound", "dimod", "faiss"])
def test_the_search_box_finds(browser: Browser, served: str, words: str) -> None:
    """Typing the words shows at least one page."""
    browser.open(Address(f"{served}/?q={words.replace(' ', '%20')}"))  # type: ignore[arg-type]
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if browser.run("document.querySelectorAll('.md-search-result__item').length"):
            return
        time.sleep(0.2)
    pytest.fail(f"nothing found for {words!r}")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [375, 1200])
@pytest.mark.parametrize(
    "page",
    [
        "",
        "architecture/",
        "certificates/",
        "algorithm/",
        "choose/",
        "guides/methods/",
        "api/graphs/",
        "benchmarks/studies/",
    ],
)
def test_pages_fit_the_screen(browser: Browser, served: str, page: str, width: int, dark: bool) -> None:
    """No sideways scrolling, no complaint in the console, the scheme follows the reader's."""
    browser.complaints.clear()
    browser.open(Address(f"{served}/{page}"), width=width, dark=dark)  # type: ignore[arg-type]
    browser.run("localStorage.clear()")  # the scheme of an earlier visit is remembered there
    browser.open(Address(f"{served}/{page}"), width=width, dark=dark)  # type: ignore[arg-type]
    assert browser.run(SIDEWAYS) <= 0
    scheme = browser.run("document.body.getAttribute('data-md-color-scheme')")
    assert scheme == ("slate" if dark else "default")
    assert not browser.complaints


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [375, 1200])
def test_the_page_of_dense_subgraphs(browser: Browser, tmp_path: Path, width: int, dark: bool) -> None:
    """From file://: drawn, quiet, within the screen, dark where asked for."""
    graph, _ = planted_subgraph(300, 20, seed=0)
    path = tmp_path / "page.html"
    path.write_text(subgraph_page(graph, list(flipwise.densest_subgraph(graph, [10, 20, 40], seed=0, effort=0))))
    browser.complaints.clear()
    browser.open(path, width=width, dark=dark)
    assert browser.run(SIDEWAYS) <= 0
    assert browser.run("document.querySelectorAll('svg[role=img]').length") == 7
    ground = browser.run("getComputedStyle(document.body).backgroundColor")
    assert ground == ("rgb(20, 25, 31)" if dark else "rgb(255, 255, 255)")
    assert not browser.complaints
