"""Help: quick, complete, and every example in it runs."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

from flipwise.cli.app import LazyGroup, app
from tests.cli.conftest import Call


def _commands(group: LazyGroup, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []
    for name in group.table:
        command = group.get_command(click.Context(group), name)
        inner = _commands(command, (*path, name)) if isinstance(command, LazyGroup) else [(*path, name)]
        found.extend(inner)
    return found


assert isinstance(app, LazyGroup)
COMMANDS = _commands(app)


def _help(path: tuple[str, ...]) -> str:
    command: click.Command | None = app
    for name in path:
        assert isinstance(command, LazyGroup)
        command = command.get_command(click.Context(command), name)
    assert command is not None
    return command.get_help(click.Context(command, info_name=path[-1]))


def _examples(path: tuple[str, ...]) -> list[str]:
    return [line.strip()[2:] for line in _help(path).splitlines() if line.strip().startswith("$ ")]


@pytest.mark.parametrize("path", COMMANDS, ids="-".join)
def test_every_command_shows_an_example(path: tuple[str, ...]) -> None:
    """Each command's help has at least one example of that command."""
    examples = _examples(path)
    assert examples and all("flipwise " + " ".join(path) in line for line in examples)


@pytest.mark.parametrize("path", COMMANDS, ids="-".join)
def test_the_examples_of_the_help_run(path: tuple[str, ...], call: Call) -> None:
    """Every example line of the help ends with exit code 0 and says something or writes a file."""
    pytest.importorskip("sklearn", reason="the hashing commands need scikit-learn") if path[0] == "hash" else None
    _prepare(path, call)
    for line in _examples(path):
        source, _, command = line.rpartition("| ")
        stdin = Path(source.split()[1]).read_bytes() if source else None
        before = set(Path().iterdir())
        ended = call(*shlex.split(command)[1:], stdin=stdin)
        assert ended.code == 0, (line, ended.err)
        assert ended.out or set(Path().iterdir()) - before or "-o" in line, line


def _prepare(path: tuple[str, ...], call: Call) -> None:
    """Files that an earlier command of the same job would have written."""
    if path[0] == "verify":
        assert call("qubo", "model.qubo", "--certificate", "proof.cert").code == 0
    if path[0] == "hash" and path[1] not in ("fit", "recommend"):
        assert (
            call("hash", "fit", "vectors.npy", "-y", "labels.npy", "--bits", "32", "-o", "model.safetensors").code == 0
        )
        for name, source in (("database", "vectors"), ("queries", "queries")):
            assert call("hash", "encode", "model.safetensors", f"{source}.npy", "-o", f"{name}.safetensors").code == 0


NEITHER = {
    "hash encode": "a part of the codes is no answer",
    "hash search": "a part of the neighbours is no answer",
    "hash evaluate": "a figure from a part of the queries is another figure",
}
"""Commands that compute but can have neither a seed nor a time limit, and why."""
READERS = {"methods", "doctor", "warm-up", "completion", "info", "verify", "convert", "hash export"}


@pytest.mark.parametrize("path", COMMANDS, ids="-".join)
def test_what_a_run_may_use_is_said_everywhere(path: tuple[str, ...]) -> None:
    """Every command that computes has --threads; those that search have --seed and --time-limit too."""
    name = " ".join(path)
    for option in ("--seed", "--time-limit", "--threads"):
        wanted = name not in READERS and (option == "--threads" or name not in NEITHER)
        assert (f"{option} " in _help(path)) == wanted, option


SHOWN = {"--checkpoint", "--cluster", "--report", "--count", "--sizes", "--jobs", "--loss", "--to"}


@pytest.mark.parametrize("path", COMMANDS, ids="-".join)
def test_notable_options_are_in_an_example(path: tuple[str, ...]) -> None:
    """Options that change what a command is good for are shown at work in its help."""
    examples = " ".join(_examples(path)).split()
    offered = {word.rstrip(",") for word in _help(path).split() if word.startswith("--")}
    assert not (offered & SHOWN) - set(examples)


def test_the_program_starts_without_what_help_does_not_need() -> None:
    """`flipwise --help` loads neither numpy nor rich; `benchmarks/startup.py` has the seconds."""
    show = "import sys; from flipwise.cli import main; main(['--help'])"
    code = f"{show}; print(sorted({{'numpy', 'rich', 'scipy'}} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("[]")


def test_wrong_commands_are_answered_with_a_guess(call: Call) -> None:
    """A misspelt command names the nearest one and exits with 2."""
    ended = call("subgrph")
    assert ended.code == 2 and "Did you mean 'subgraph'" in ended.err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell: str, call: Call) -> None:
    """The completion script names the program; completing `sub` offers `subgraph`."""
    assert "_FLIPWISE_COMPLETE" in call("completion", shell).out
    from click.shell_completion import ShellComplete

    offered = ShellComplete(app, {}, "flipwise", "_FLIPWISE_COMPLETE").get_completions([], "sub")
    assert [item.value for item in offered] == ["subgraph"]
