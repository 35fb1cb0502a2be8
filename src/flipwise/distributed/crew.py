"""The workers of a Dask cluster, asked one question at a time, each about its own part; losing some is no disaster.

What they have answered can be kept in a file (`AnswerJournal`): a search is deterministic given its seed, so the
answers are all that a run needs that is repeated after a loss.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from flipwise.foundation.atomic import write_atomically
from flipwise.foundation.container import decode, encode
from flipwise.foundation.errors import FlipwiseError, InvalidInput, MissingDependency

log = logging.getLogger("flipwise.distributed")

ATTEMPTS = 20
"""Times a task is handed out again after the workers that ran it died (Dask itself gives up after three)."""

PATIENCE = 2.0
"""Seconds to wait before looking whether a task's worker is still there."""

Arrays = dict[str, Any]
"""Names to arrays, or to values that JSON can hold."""


class ClusterLost(FlipwiseError):
    """The scheduler is gone; the message says how to go on.

    Examples
    --------
    >>> print(ClusterLost("checkpoint `run.fwc`"))  # doctest: +ELLIPSIS
    The Dask scheduler cannot be reached any more. ... checkpoint `run.fwc`:...
    """

    def __init__(self, kept: str = "") -> None:
        resume = "pass a `checkpoint` to keep what the cluster has answered."
        if kept:
            resume = f"what the cluster had answered is in the {kept}: it is not asked again."
        super().__init__(
            "The Dask scheduler cannot be reached any more. Start a cluster, connect a new client and call again; "
            + resume
        )


@dataclass
class Traffic:
    """How often the workers were asked under one name, and how long that took."""

    calls: int = 0
    seconds: float = 0.0


def ask_each(client: Any, name: str, function: Callable[..., Any], tasks: Sequence[tuple[Any, ...]]) -> list[Any]:
    """`function(*task)` of each task, by the workers of a client or, without one, here."""
    return [function(*task) for task in tasks] if client is None else Crew(client).ask(name, function, tasks)


class Crew:
    """Hands out tasks and gathers the answers in order."""

    def __init__(self, client: Any) -> None:
        try:
            import distributed
        except ImportError:
            raise MissingDependency("distributed", "distributed", "Working on a cluster") from None
        if not isinstance(client, distributed.Client) or client.asynchronous:
            raise InvalidInput(
                f"`client` must be a dask.distributed.Client that is not asynchronous, got {type(client).__name__}."
            )
        self.client = client
        self.kept = ""
        """Where a later run finds what was answered, for the message when the cluster is lost."""
        self.traffic: dict[str, Traffic] = {}
        self.workers: list[str] = []
        self._meant_for: dict[int, str] = {}
        self._deaths: Any = distributed.scheduler.KilledWorker
        self._losses = (CancelledError, asyncio.CancelledError, OSError, TimeoutError)
        self.look_around()

    def ask(self, name: str, function: Callable[..., Any], tasks: Sequence[tuple[Any, ...]]) -> list[Any]:
        """The answers of `function(*task)` for each task; tasks of the same place go to the same worker if they can.

        `name`, words with hyphens, is what the dashboard shows.
        """
        started = time.perf_counter()
        futures: list[Any] = []
        try:
            try:
                futures += [self._submit_at(place, name, function, task) for place, task in enumerate(tasks)]
                answers = [self._wait_for(futures, place, name, function, task) for place, task in enumerate(tasks)]
            except self._losses as error:
                raise ClusterLost(self.kept) from error
        except BaseException:
            self._cancel_all(futures)
            raise
        told = self.traffic.setdefault(name, Traffic())
        told.calls += 1
        told.seconds += time.perf_counter() - started
        log.info("%s: %d tasks, %.2f s", name, len(tasks), time.perf_counter() - started)
        return answers

    def reduce(
        self, name: str, function: Callable[..., Any], tasks: Sequence[tuple[Any, ...]], combine: Callable[..., Any]
    ) -> Any:
        """`function(*task)` of all tasks, combined in a tree whose shape depends on nothing but their number."""
        started = time.perf_counter()
        for _ in range(ATTEMPTS):
            futures: list[Any] = []
            try:
                level = [self._submit_task(name, function, task) for task in tasks]
                futures += level
                while len(level) > 1:
                    pairs = zip(level[::2], level[1::2], strict=False)
                    odd = level[-1:] if len(level) % 2 else []
                    level = [self._submit_task(f"{name}-combined", combine, pair) for pair in pairs] + odd
                    futures += level
                answer = level[0].result()
                log.info("%s: %d tasks, %.2f s", name, len(tasks), time.perf_counter() - started)
                return answer
            except self._deaths:
                log.warning("%s: workers died; once more", name)
            except self._losses as error:
                _raise_own_failure(level[0] if futures else None, name, error)
                raise ClusterLost(self.kept) from error
            except BaseException:
                self._cancel_all(futures)
                raise
        raise FlipwiseError(f"{name}: tasks killed their workers {ATTEMPTS} times. Give workers more memory.")

    def _submit_task(self, name: str, function: Callable[..., Any], task: tuple[Any, ...], **where: Any) -> Any:
        """Hand a task to the cluster, under a name that shows on its pages."""
        if self.client.status != "running":
            raise ClusterLost(self.kept)
        return self.client.submit(function, *task, key=f"flipwise-{name}-{uuid4().hex}", pure=False, **where)

    def _submit_at(self, place: int, name: str, function: Callable[..., Any], task: tuple[Any, ...]) -> Any:
        """A task for the worker of a place, which another may run when that one cannot."""
        workers = [self.workers[place % len(self.workers)]] if self.workers else None
        self._meant_for[place] = workers[0] if workers else ""
        return self._submit_task(name, function, task, workers=workers, allow_other_workers=workers is not None)

    def _cancel_all(self, futures: list[Any]) -> None:
        """Nothing of ours stays on the cluster after an error, Ctrl-C among them."""
        if self.client.status == "running":
            self.client.cancel(futures, force=True)

    def _wait_for(
        self, futures: list[Any], place: int, name: str, function: Callable[..., Any], task: tuple[Any, ...]
    ) -> Any:
        """The answer to a task, which is handed out again when its worker dies, a few times."""
        deaths = 0
        while deaths < ATTEMPTS:
            try:
                return futures[place].result(timeout=PATIENCE)
            except TimeoutError:
                # Dask keeps a task for a worker that is gone even where others may run it, if there was none to take it
                self.look_around()
                if self._meant_for[place] in ("", *self.workers):
                    continue
                self.client.cancel([futures[place]], force=True)
            except self._deaths:
                deaths += 1
                self.look_around()
            except OSError as error:
                _raise_own_failure(futures[place], name, error)
                raise
            log.warning("%s: the worker of a part is gone; it is handed out again", name)
            futures[place] = self._submit_at(place, name, function, task)
        raise FlipwiseError(
            f"{name}: a task killed its worker {ATTEMPTS} times. Give workers more memory or make more, smaller shards."
        )

    def look_around(self) -> None:
        """Take notice of workers that came or went."""
        try:
            self.workers = sorted(self.client.nthreads())
        except self._losses as error:
            raise ClusterLost(self.kept) from error


class AnswerJournal:
    """Answers by the name of the question, kept in memory and, with a path, on disk."""

    def __init__(self, path: Path | None, fingerprint: int) -> None:
        self.path = path
        self._state: Arrays = {"fingerprint": fingerprint}
        if path is None:
            return
        if not path.parent.is_dir():
            raise InvalidInput(f"`checkpoint`: the folder {path.parent} does not exist. Create it first.")
        if path.exists():
            state = decode("answers", path.read_bytes(), str(path))
            if state.get("fingerprint") != fingerprint:
                raise InvalidInput(f"`checkpoint`: {path} belongs to another graph. Delete it or choose another file.")
            self._state = state

    def remembered(self, question: str, compute: Callable[[], Arrays]) -> Arrays:
        """The answer to a question, computed at most once."""
        begin = f"{question}/"
        known = {name.removeprefix(begin): value for name, value in self._state.items() if name.startswith(begin)}
        if known:
            return known
        answer = compute()
        plain = {name: value.item() if isinstance(value, np.generic) else value for name, value in answer.items()}
        self._state |= {begin + name: value for name, value in plain.items()}
        if self.path is not None:
            write_atomically(self.path, encode("answers", self._state))
        return answer


def _raise_own_failure(future: Any, name: str, error: BaseException) -> None:
    """Raise if it is the task itself that failed, on its worker, and not the connection."""
    if future is not None and future.status == "error":
        raise FlipwiseError(
            f"{name}: a worker failed with {error!r}. Every worker must be able to read and write the given paths."
        ) from error
