"""The program: a table of commands, each loaded when it is called, so that `flipwise --help` starts at once.

Another distribution adds a command by an entry point of the group `flipwise.commands`; flipwise-studies does.
"""

from __future__ import annotations

from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING

import click

from flipwise import __version__
from flipwise.cli.exits import TABLE

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

ENTRY_POINTS = "flipwise.commands"
"""The group of entry points that add commands: the name of a command, and where its `click.Command` is."""
STUDIES = {
    "reproduce": "run the paper's experiments and store the results",
    "report": "turn stored results into a page",
}
"""The commands of flipwise-studies: known here, so that the help need not load them, and that a call can say what to
install where they are missing."""


class LazyGroup(click.Group):
    """A group with a table `name -> (module, one line of help)`; the module has the command under its name."""

    def __init__(self, *args: object, table: dict[str, tuple[str, str]], **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self.table = table

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands, in the order of the help."""
        return list(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load a command; None when there is none of this name."""
        if cmd_name not in self.table:
            return None
        module = import_module(f"flipwise.cli.commands.{self.table[cmd_name][0]}")
        command = getattr(module, cmd_name.replace("-", "_"))
        assert isinstance(command, click.Command)
        return command

    def one_line_help(self, name: str) -> str:
        """What stands beside the name of a command in the list of commands."""
        return self.table[name][1]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that was called; a wrong name is answered with the nearest one."""
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            import difflib

            names = self.list_commands(ctx)
            near = difflib.get_close_matches(args[0], names, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else f" The commands are {', '.join(names)}."
            ctx.fail(f"No such command {args[0]!r}.{hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without loading those of the table."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, self.one_line_help(name)) for name in self.list_commands(ctx)])


class Program(LazyGroup):
    """The commands of the table, and those that other installed distributions add."""

    @cached_property
    def added(self) -> dict[str, EntryPoint]:
        """The added commands by name. Looked for only when the help or a name outside of the table is asked for."""
        from importlib.metadata import entry_points

        return {entry.name: entry for entry in entry_points(group=ENTRY_POINTS) if entry.name not in self.table}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands of the table, then the added ones."""
        return [*self.table, *self.added]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load a command of the table or an added one; a study command that is not installed says what to install."""
        if cmd_name in self.table:
            return super().get_command(ctx, cmd_name)
        if cmd_name in self.added:
            command = self.added[cmd_name].load()
            assert isinstance(command, click.Command)
            return command
        if cmd_name in STUDIES:
            from flipwise.foundation.errors import MissingDependency

            install = "pip install flipwise-studies (in a checkout of the source: pip install ./studies)"
            raise MissingDependency("flipwise-studies", purpose=f"`flipwise {cmd_name}`", install=install)
        return None

    def one_line_help(self, name: str) -> str:
        """Of an added command, its own short help; one that cannot be loaded does not take the help away."""
        if name in self.table:
            return super().one_line_help(name)
        if name in STUDIES:
            return STUDIES[name]
        try:
            command: click.Command = self.added[name].load()
        except ImportError as error:
            return f"cannot be loaded: {error}"
        return command.get_short_help_str(limit=80)


@click.command(
    cls=Program,
    table={
        "demo": ("subgraph", "see it work: a hidden dense subgraph, found, with a proof"),
        "subgraph": ("subgraph", "the densest k nodes of a graph, with a proven bound"),
        "block": ("block", "rows and columns that are dense together: accounts and products"),
        "directed": ("block", "two dense sets of a directed graph"),
        "maxcut": ("cuts", "split a graph in two so that most weight is cut"),
        "bisect": ("cuts", "split a graph in two halves so that least weight is cut"),
        "qubo": ("qubo", "minimise a QUBO or Ising model from a file"),
        "hash": ("hash", "learn, use and judge binary codes of vectors"),
        "verify": ("verify", "check a certificate of a bound anew, in exact arithmetic"),
        "info": ("info", "what a graph or QUBO file holds"),
        "convert": ("convert", "from one graph or QUBO format to another"),
        "methods": ("methods", "the methods and what each can solve"),
        "bench": ("bench", "how fast this machine solves a few generated problems"),
        "warm-up": ("warming", "compile ahead of time what a job needs, so that its first run does not wait"),
        "doctor": ("doctor", "versions, threads, compiler cache, optional packages"),
        "completion": ("completion", "tab completion for your shell"),
    },
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=TABLE,
)
@click.version_option(__version__, "-V", "--version", message="flipwise %(version)s")
def app() -> None:
    """Binary optimisation at scale: dense subgraphs, cuts, QUBO and hash codes, with a proven bound beside the answer.

    \b
    New here?       flipwise demo
    Help on one:    flipwise subgraph --help
    For a machine:  add --json to any command
    """
