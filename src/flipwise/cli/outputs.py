"""Files a command writes: checked before any work, whole or not at all, never its own input."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from flipwise.foundation.atomic import atomic_file, check_writable, write_atomically

if TYPE_CHECKING:
    import numpy as np


def check_outputs(inputs: Iterable[str | None], outputs: Mapping[str, str | None]) -> None:
    """Refuse outputs (by the options that name them) that cannot be written, are an input, or are named twice."""
    before: dict[str, str] = {}
    read = [given for given in inputs if given is not None and given != "-" and Path(given).exists()]
    for option, name in outputs.items():
        if name is None or name == "-":
            continue
        path = Path(name)
        if any(path.is_file() and path.samefile(given) for given in read):
            raise click.UsageError(f"{option} {name} is the input itself: choose another name.")
        check_writable(path)
        other = before.setdefault(os.path.realpath(path), option)
        if other != option and (path.is_file() or not path.exists()):
            raise click.UsageError(f"{other} and {option} name the same file, {name}: choose another name for one.")


@contextmanager
def written(output: str) -> Iterator[Path]:
    """A path to write to; what is written for `-` goes to standard output afterwards."""
    if output != "-":
        yield Path(output)
        return
    with TemporaryDirectory(prefix="flipwise-") as folder:
        path = Path(folder, "stdout")
        yield path
        with path.open("rb") as made:
            sys.stdout.flush()
            shutil.copyfileobj(made, sys.stdout.buffer)


def write_text(output: str, text: str) -> None:
    """A text to a file or (-) standard output."""
    if output == "-":
        click.echo(text, nl=False)
    else:
        write_atomically(Path(output), text.encode())


def write_lines(output: str, lines: Iterable[object]) -> None:
    """One answer a line."""
    write_text(output, "".join(f"{line}\n" for line in lines))


def write_values(output: str | None, n: int, names: Any, values: Any) -> None:
    """A line a node or variable: its name (its number where it has none) and its value."""
    if output:
        write_lines(output, (f"{name}\t{value}" for name, value in zip(range(n) if names is None else names, values)))


def write_certificate(output: str | None, result: Any) -> None:
    """The proof of the bound, where it has one; where it has none, that is said and no file is written."""
    if output is None:
        return
    if result.certificate is not None:
        result.certificate.save(output)
        return
    why = "no bound was proven" if result.bound is None else "this bound has none (see the page on certificates)"
    click.echo(f"note: no certificate written to {output}: {why}.", err=True)


def write_npy(output: str, values: np.ndarray) -> None:
    """An array as a `.npy` file. (`numpy.save` would need a file that can be rewound, which a pipe is not.)"""
    import numpy as np

    array = np.ascontiguousarray(values)
    with atomic_file(Path(output)) as file:
        np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(array))
        file.write(array.data)
