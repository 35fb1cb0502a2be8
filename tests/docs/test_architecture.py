"""The page of the architecture and the map for contributors name rooms and files that are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.test_package import LAYERS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
MAP = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def _table(text: str, head: str) -> list[str]:
    """The rows of the table with this head."""
    lines = text[text.index(f"| {head} |") :].split("\n\n")[0].splitlines()
    return lines[2:]


def test_the_order_is_that_of_the_layers() -> None:
    """In the line of rooms, in the picture (from the top) and in the map for contributors."""
    line = re.search(r"```text\n(.*?)```", PAGE, re.S)
    assert line and line[1].split() == LAYERS
    picture = (ROOT / "docs" / "pictures" / "rooms.svg").read_text(encoding="utf-8")
    bands = [band.split(" · ") for band in re.findall(r'font-weight="bold">([^<]*)<', picture)]
    for band in bands:
        band.sort(key=LAYERS.index)
    assert [room for band in reversed(bands) for room in band] == LAYERS
    rooms = [name for row in _table(MAP, "room") for name in re.findall(r"`(\w+)(?:/|\.py)`", row.split("|")[1])]
    assert rooms == [*LAYERS, "studies"]


@pytest.mark.parametrize("row", _table(PAGE, "what"), ids=lambda row: row.split("|")[1].strip())
def test_the_places_exist(row: str) -> None:
    """Every folder and file of the column "where"; `<name>` stands for a new one."""
    for place in re.findall(r"`([\w./<>]+)`", row.split("|")[2]):
        path = re.sub(r"<\w+>\.py$", "", place)
        assert (ROOT / path).exists() or (ROOT / "src" / "flipwise" / path).exists(), place


def test_the_files_of_the_call_exist() -> None:
    """Every file that the story of one call names."""
    story = PAGE[PAGE.index("## One call") : PAGE.index("## Where to add what")]
    files = re.findall(r"`([\w/]+\.py|[\w]+/)`", story)
    assert len(files) > 5
    assert all((ROOT / "src" / "flipwise" / name).exists() for name in files)


def test_the_words_are_in_order() -> None:
    """A reader finds a word by its first letter."""
    words = re.findall(r"^\*\*(\w+)", PAGE[PAGE.index("## Words") :], re.M)
    assert len(words) > 20 and words == sorted(words)
