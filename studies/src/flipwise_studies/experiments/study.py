"""A study is data: the tasks to run and the function that runs one of them, on generated data or on real files."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from flipwise_studies.experiments.cells import Key, Outcome, Skip, canonical

NO_DATA = (
    "the full scale needs real data: set FLIPWISE_DATA to their folder, or pass data=... "
    "(flipwise_studies.data.remote fetches the public ones)"
)


@dataclass(frozen=True, eq=False)
class Instance:
    """The data of a task: a name, how to get the data and, for files, where they are.

    `files` are hashed for the checksum; generated data are hashed themselves.
    """

    name: str
    load: Callable[[], Any]
    files: tuple[Path, ...] = ()

    @functools.cached_property
    def data(self) -> Any:
        """The data, loaded once."""
        return self.load()

    @functools.cached_property
    def checksum(self) -> str:
        """SHA-256 of the files or of the generated data."""
        digest = hashlib.sha256()
        if self.files:
            for path in self.files:
                with path.open("rb") as file:
                    while block := file.read(1 << 20):
                        digest.update(block)
        else:
            _hash_content(digest.update, self.data)
        return digest.hexdigest()

    def forget(self) -> None:
        """Give the memory of the data back; they are loaded again when asked for."""
        self.__dict__.pop("data", None)


@dataclass(frozen=True, eq=False)
class Task:
    """One cell to run."""

    instance: Instance
    method: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0

    def key(self, study: str, threads: int, checksum: str) -> Key:
        """The key of the cell this task will fill."""
        return Key(study, self.instance.name, checksum, self.method, canonical(self.parameters), self.seed, threads)


@dataclass(frozen=True)
class Plan:
    """What a study needs to know to list its tasks: the scale, the folder with real data, a limit for each cell."""

    quick: bool = True
    data: Path | None = None
    time_limit: float | None = None

    @property
    def scale(self) -> str:
        """ "quick" or "full"."""
        return "quick" if self.quick else "full"

    def limit(self, seconds: float) -> float:
        """The time limit of a cell: the one that was asked for, or the study's own."""
        return seconds if self.time_limit is None else self.time_limit


def file_instance(plan: Plan, name: str, relative: str, load: Callable[[Path], Any]) -> Instance:
    """An instance in a file of the data folder; without folder or file its cells are skipped with the reason."""
    path = None if plan.data is None else plan.data / relative
    if path is not None and path.is_file():
        return Instance(name, lambda: load(path), (path,))

    def skip() -> Any:
        """Raise the reason."""
        raise Skip(NO_DATA if path is None else f"{path.name} is not in the data folder")

    return Instance(name, skip)


@dataclass(frozen=True)
class Study:
    """A question, its tasks at either scale, and how to run one task.

    `run(data, task, threads)` returns an `Outcome`, raises `Skip` with a reason, or any other exception for a failure.
    `warm(task)` is called, untimed, before the first task of each method, so that no cell pays for a compilation.
    """

    name: str
    title: str
    question: str
    tasks: Callable[[Plan], Sequence[Task]]
    run: Callable[[Any, Task, int], Outcome]
    warm: Callable[[Task], None] | None = None


PlannedStudies = Sequence[tuple[Study, Sequence[Task]]]
"""Studies with the tasks of them that are to be run."""


def _hash_content(update: Callable[[bytes], Any], data: Any) -> None:
    """Hash arrays, sparse matrices, dataclasses, containers and scalars by their content."""
    if isinstance(data, np.ndarray):
        update(f"{data.dtype.str}{data.shape}".encode())
        update(np.ascontiguousarray(data).tobytes())
    elif sp.issparse(data):
        given: Any = data
        matrix = sp.coo_array(given)
        for part in (np.array(matrix.shape), *matrix.coords, matrix.data):
            _hash_content(update, part)
    elif is_dataclass(data) and not isinstance(data, type):
        for item in fields(data):
            _hash_content(update, getattr(data, item.name))
    elif isinstance(data, Mapping):
        for name in sorted(data):
            update(str(name).encode())
            _hash_content(update, data[name])
    elif isinstance(data, Sequence) and not isinstance(data, str | bytes):
        update(f"[{len(data)}]".encode())
        for entry in data:
            _hash_content(update, entry)
    else:
        update(repr(data).encode())
