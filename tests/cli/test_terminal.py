"""What a command shows: control characters of names and messages are spelled out, never sent to the terminal."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipwise.cli.terminal import printable
from tests.cli.conftest import Call

HOSTILE = "\x1b[31m\x1b]0;title\x07\u202eevil"


@given(st.text())
def test_printable_text_has_no_controls(text: str) -> None:
    """Line ends and tabs stay; every other control, and marks that turn the direction of writing, are escapes."""
    shown = printable(text)
    assert not any((c < " " and c not in "\n\t") or "\x7f" <= c <= "\x9f" or "\u202a" <= c <= "\u202e" for c in shown)
    if text.isprintable() and text.isascii():
        assert shown == text


@pytest.mark.parametrize("command", ["info", "maxcut --time-limit 0", "subgraph -k 2", "convert"])
def test_hostile_names_do_not_reach_the_terminal(command: str, call: Call) -> None:
    """In the name of a file, of its nodes, and in what an error quotes."""
    name = f"{HOSTILE}.txt"
    words = command.split()
    for content in (f"{HOSTILE}a {HOSTILE}b\n{HOSTILE}b c\n", f"0 1\n{HOSTILE} 2\n", f"{HOSTILE} 1\n2 3\n"):
        Path(name).write_text(content, encoding="utf-8")
        more = ["out.mtx"] if words[0] == "convert" else []
        ended = call(words[0], name, *more, *words[1:])
        assert ended.code in (0, 2), ended
        assert "\x1b" not in ended.out + ended.err and "\u202e" not in ended.out + ended.err


def test_hostile_model_headers_do_not_reach_the_terminal(call: Call) -> None:
    """What a reader quotes of a file is spelled out."""
    Path("m.qubo").write_text("p qubo 0 \x1b[31m 1 1\n")
    Path("m.mtx").write_text("%%MatrixMarket matrix coordinate \x1b[31m general\n2 2 1\n")
    for name in ("m.qubo", "m.mtx"):
        ended = call("info", name)
        assert ended.code == 2 and "\x1b" not in ended.err
