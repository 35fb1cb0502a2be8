"""The two commands this package adds to `flipwise`."""

from __future__ import annotations

import shlex
import subprocess
import sys

import click
import pytest

from flipwise.cli.app import STUDIES
from flipwise_studies import commands
from tests.cli.conftest import Call, call, sample_files

__all__ = ["call", "sample_files"]  # fixtures


def _help(name: str) -> str:
    command: click.Command = getattr(commands, name)
    return command.get_help(click.Context(command, info_name=name))


def _examples(name: str) -> list[str]:
    return [line.strip()[2:] for line in _help(name).splitlines() if line.strip().startswith("$ ")]


def test_the_program_lists_both_without_loading_the_studies() -> None:
    """They stand in `flipwise --help`, which loads neither numpy nor rich nor the studies themselves."""
    loaded = "{'numpy', 'rich', 'scipy', 'flipwise_studies.experiments'} & set(sys.modules)"
    code = f"import sys; from flipwise.cli import main; main(['--help']); assert not {loaded}, sorted({loaded})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    for name in STUDIES:
        assert f"  {name} " in done.stdout


@pytest.mark.parametrize("name", STUDIES)
def test_the_examples_of_the_help_run(name: str, call: Call) -> None:
    """Every example line of the help ends with exit code 0 and says something."""
    if name == "report":
        assert call("reproduce", "--only", "convergence", "--store", "results.sqlite", "--report", "").code == 0
    examples = _examples(name)
    assert examples and all(f"flipwise {name}" in line for line in examples)
    for line in examples:
        ended = call(*shlex.split(line)[1:])
        assert ended.code == 0 and ended.out, (line, ended.err)


def test_what_a_run_may_use_is_said() -> None:
    """`reproduce` has a seed, a time limit and threads; `report` runs nothing and has none of them."""
    for option in ("--seed", "--time-limit", "--threads"):
        assert f"{option} " in _help("reproduce") and f"{option} " not in _help("report")
    assert "--jobs" in " ".join(_examples("reproduce"))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("report", "nowhere.sqlite"), ["nowhere.sqlite"]),
        (("reproduce", "--only", "convergense"), ["convergense", "convergence"]),
    ],
)
def test_user_errors_are_answered(arguments: tuple[str, ...], said: list[str], call: Call) -> None:
    """Exit code 2, what was wrong in the message, nothing on standard output, no traceback."""
    ended = call(*arguments)
    assert ended.code == 2 and not ended.out and "Traceback" not in ended.err
    assert all(part in ended.err for part in said), ended.err
