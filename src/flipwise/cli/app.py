"""The program: a table of commands, each loaded when it is called, so that `flipwise --help` starts at once."""

from __future__ import annotations

from importlib import import_module

import click

from flipwise import __version__
from flipwise.cli.exits import TABLE


class LazyGroup(click.Group):
    """A group with a table `name -> (module, one line of help)`; the module has the command under its name."""

    def __init__(self, *args: object, table: dict[str, tuple[str, str]], **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self.table = table

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.table:
            return None
        module = import_module(f"flipwise.cli.commands.{self.table[cmd_name][0]}")
        command = getattr(module, cmd_name)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.table and not args[0].startswith("-"):
            import difflib

            near = difflib.get_close_matches(args[0], self.table, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else f" The commands are {', '.join(self.table)}."
            ctx.fail(f"No such command {args[0]!r}.{hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, words) for name, (_, words) in self.table.items()])


@click.command(
    cls=LazyGroup,
    table={
        "demo": ("subgraph", "see it work: a hidden dense subgraph, found, with a proof"),
        "subgraph": ("subgraph", "the densest k nodes of a graph, with a proven bound"),
        "maxcut": ("quadratic", "split a graph in two so that most weight is cut"),
        "bisect": ("quadratic", "split a graph in two halves so that least weight is cut"),
        "qubo": ("quadratic", "minimise a QUBO or Ising model from a file"),
        "hash": ("hash", "learn, use and judge binary codes of vectors"),
        "info": ("files", "what a graph or QUBO file holds"),
        "convert": ("files", "from one graph or QUBO format to another"),
        "methods": ("installation", "the methods and what each can solve"),
        "bench": ("installation", "how fast this machine solves a few generated problems"),
        "reproduce": ("studies", "run the paper's experiments and store the results"),
        "report": ("studies", "turn stored results into a page"),
        "doctor": ("installation", "versions, threads, compiler cache, optional packages"),
        "completion": ("installation", "tab completion for your shell"),
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
