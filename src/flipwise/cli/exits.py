"""Exit codes, and how every way a command can end becomes one of them and a message without a traceback."""

from __future__ import annotations

import os
import signal
import sys
import warnings
from collections.abc import Sequence
from typing import Any

import click

from flipwise.foundation.interrupts import SIGNALS, end_process, interrupted_code

OK = 0
FAILED = 1
"""Something unexpected: a bug. FLIPWISE_DEBUG=1 shows the traceback."""
BAD_INPUT = 2
"""Wrong usage, a file that cannot be read, an argument that breaks a rule."""
MISSING_PACKAGE = 3
"""An optional package is not installed; the message has the install line."""
INTERRUPTED = 130
"""Ctrl-C; the best answer so far has been printed. (SIGHUP and SIGTERM: 129 and 143.)"""

TABLE = """\
\b
Exit codes:
  0    the answer was printed (reaching a time limit included)
  1    something unexpected; FLIPWISE_DEBUG=1 shows the traceback
  2    wrong usage or bad input; the message says what and what to do
  3    an optional package is missing; the message has the install line
  130  interrupted by Ctrl-C; the best answer so far was printed
  143  ended by SIGTERM, 129 by SIGHUP; likewise
"""


def exit_code(result: Any) -> int:
    """Of a command that printed this result."""
    return interrupted_code() if result.status.name == "INTERRUPTED" else OK


def program(arguments: Sequence[str] | None = None) -> int:
    """The `flipwise` program as a process of its own: once a command has ended, no signal can change its exit code."""
    for number in SIGNALS:
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, end_process)
    if {"--json", "-"} & set(sys.argv[1:] if arguments is None else arguments):
        _keep_output_for_answers()
    code = main(arguments)
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    return code


def _keep_output_for_answers() -> None:
    """Send what compiled libraries print by themselves to standard error: HiGHS has such a line, whatever its options.

    They print to descriptor 1, often when the process ends, which would be after the JSON.
    """
    try:
        sys.stdout.flush()
        number = sys.stdout.fileno()
        answers = os.dup(number)
        os.dup2(sys.stderr.fileno(), number)
    except (AttributeError, OSError, ValueError):  # closed, or no file
        return
    sys.stdout = open(answers, "w", encoding=sys.stdout.encoding, errors=sys.stdout.errors)  # noqa: PTH123, SIM115


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    from flipwise.cli.app import app
    from flipwise.foundation.errors import FlipwiseError, MissingDependency

    debug = os.environ.get("FLIPWISE_DEBUG", "0") not in ("", "0")
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning  # type: ignore[assignment]
        try:
            code = app.main(
                args=None if arguments is None else list(arguments), prog_name="flipwise", standalone_mode=False
            )
            sys.stdout.flush()
            return code if isinstance(code, int) else OK
        except click.UsageError as error:
            error.show()
            return BAD_INPUT
        except click.ClickException as error:
            return _end_with(error.format_message(), BAD_INPUT)
        except (click.Abort, KeyboardInterrupt):
            return _end_with("interrupted before there was an answer.", INTERRUPTED)
        except SystemExit as error:
            return _ended_early(error)
        except BrokenPipeError as error:  # the reader of a pipe has gone, as in `flipwise ... | head`
            if error.filename is not None:  # not standard output, but a file that was asked for
                return _end_with(_file_trouble(error), BAD_INPUT)
            _forget_output()
            return OK
        except MissingDependency as error:
            return _end_with(str(error), MISSING_PACKAGE)
        except FlipwiseError as error:
            if debug:
                raise
            return _end_with(str(error), BAD_INPUT)
        except MemoryError as error:
            return _end_with(f"not enough memory: {error or 'the problem does not fit'}.", BAD_INPUT)
        except (OSError, UnicodeDecodeError) as error:
            if debug:
                raise
            _forget_output()
            return _end_with(_file_trouble(error), BAD_INPUT)
        except Exception as error:
            if debug:
                raise
            return _end_with(
                f"unexpected {type(error).__name__}: {error}\n"
                "This is a bug in flipwise; FLIPWISE_DEBUG=1 shows where it happened.",
                FAILED,
            )


def _ended_early(error: SystemExit) -> int:
    """The exit code where the reader of a pipe has gone, or a signal has ended the command."""
    if error.code == 1:  # what click makes of such a pipe
        _forget_output()
        return OK
    name = signal.Signals(int(error.code or 128) - 128).name
    return _end_with(f"ended by {name} before there was an answer.", int(error.code or 0))


def _end_with(message: str, code: int) -> int:
    """Say why on standard error, and return the exit code."""
    from flipwise.cli.terminal import printable

    click.echo(f"flipwise: {printable(message)}", err=True)
    return code


def _forget_output() -> None:
    """Drop what could not be written to standard output, lest it is tried, and fails, again at the end."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _file_trouble(error: OSError | UnicodeDecodeError) -> str:
    if isinstance(error, UnicodeDecodeError):
        return f"the input is not text in UTF-8 ({error.reason} at byte {error.start:,})."
    name = f"{error.filename}: " if error.filename else ""
    return f"{name}{error.strerror or error}."


def _show_warning(message: Warning | str, category: type[Warning], *_: object) -> None:
    from flipwise.foundation.errors import FlipwiseWarning

    if issubclass(category, FlipwiseWarning):
        click.echo(f"note: {message}", err=True)
