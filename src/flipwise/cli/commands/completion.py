"""`flipwise completion`: tab completion for a shell."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the script that completes commands, options and file names in SHELL.

    \b
    Examples:
      $ flipwise completion bash
    \b
    Add it to your shell for good:
      bash   flipwise completion bash >> ~/.bashrc
      zsh    flipwise completion zsh >> ~/.zshrc
      fish   flipwise completion fish > ~/.config/fish/completions/flipwise.fish
    """
    from flipwise.cli.app import app

    maker = get_completion_class(shell)
    assert maker is not None
    click.echo(maker(app, {}, "flipwise", "_FLIPWISE_COMPLETE").source())
