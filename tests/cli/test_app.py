"""Commands that other distributions add by entry points, and those that are known but not installed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint

import click
import pytest

from flipwise.cli.app import ENTRY_POINTS, STUDIES, app
from tests.cli.conftest import Call


@click.command("greet", short_help="say hello")
def greet() -> None:
    """Say hello."""
    click.echo("hello")


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Let exactly the given commands be installed by other distributions."""

    def install(**places: str) -> None:
        entries = [EntryPoint(name, place, ENTRY_POINTS) for name, place in places.items()]
        monkeypatch.setattr(
            "importlib.metadata.entry_points", lambda *, group: entries if group == ENTRY_POINTS else []
        )
        app.__dict__.pop("added", None)  # they are looked for once

    yield install
    app.__dict__.pop("added", None)


def test_an_added_command_is_listed_and_runs(call: Call, install: Callable[..., None]) -> None:
    """It stands in the help with its short help, and is called like any other."""
    install(greet="tests.cli.test_app:greet")
    assert "greet       say hello" in call("--help").out
    assert call("greet").out == "hello\n"
    assert "Did you mean 'greet'" in call("gret").err


def test_an_added_command_cannot_replace_one_of_ours(call: Call, install: Callable[..., None]) -> None:
    """The program's own commands come first."""
    install(methods="tests.cli.test_app:greet")
    assert "hello" not in call("methods").out and call("--help").out.count("\n  methods ") == 1


def test_a_command_that_cannot_be_loaded_leaves_the_help(call: Call, install: Callable[..., None]) -> None:
    """The help says why, and lists the others."""
    install(broken="tests.no_such_module:command")
    ended = call("--help")
    assert ended.code == 0 and "cannot be loaded" in ended.out and "subgraph" in ended.out


@pytest.mark.parametrize("name", STUDIES)
def test_the_studies_say_what_to_install(name: str, call: Call, install: Callable[..., None]) -> None:
    """Without flipwise-studies its commands are not listed, and calling one exits with 3 and the install line."""
    install()
    assert name not in call("--help").out
    for arguments in ((name,), (name, "--help")):
        ended = call(*arguments)
        assert ended.code == 3 and not ended.out
        assert "pip install flipwise-studies" in ended.err and "pip install ./studies" in ended.err
