"""The checkpoint of one run: what is kept of it, and what an earlier part of it has left behind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from flipwise.engine.checkpoint import Checkpoint
from flipwise.engine.fingerprint import Probes, value_difference
from flipwise.engine.limits import Status
from flipwise.engine.states import flattened, generator_state, rebuilt, restored_generator
from flipwise.foundation.arrays import Floats
from flipwise.foundation.errors import InvalidFile, InvalidInput
from flipwise.model.problem import Problem

S = TypeVar("S")


@dataclass
class Position:
    """Where a run stands: its restart, counters, limits that count iterations, and the best point."""

    restart: int
    rng: np.random.Generator
    status: str
    iterations: int
    evaluations: int
    seconds: float
    descent_iterations: int
    since_improvement: int
    best_x: Floats
    best_value: float
    bound: float | None


class Resumption:
    """Keeps the states of a run in a part of a checkpoint, and gives those of an earlier run back."""

    def __init__(self, checkpoint: Checkpoint, part: str, fingerprint: dict[str, Any]) -> None:
        self.checkpoint = checkpoint
        self.part = part
        self.fingerprint = fingerprint
        self.enclosing: list[Any] = []
        """States of solvers inside which another one runs."""
        self.waiting: dict[str, dict[str, Any]] = {}
        """States of an earlier run that nobody has taken."""
        self.restart: tuple[int, np.random.Generator, Status] | None = None
        self.probes = Probes()
        self._latest: dict[str, Any] | None = None

    def earlier(self, problem: Problem) -> dict[str, Any] | None:
        """The state of an earlier run of this problem; None when there is none. Another run's is refused."""
        state = self.checkpoint.load(self.part)
        if state is None:
            return None
        path = self.checkpoint.path
        try:
            wrong = self._difference(state, problem)
        except (KeyError, TypeError, ValueError, IndexError):
            raise InvalidFile(f"{path}: the checkpoint lacks a part of the state.") from None
        if wrong is not None:
            raise InvalidInput(
                f"`checkpoint`: {path} belongs to another run: {wrong}. Delete it or choose another file."
            )
        return state

    def _difference(self, state: dict[str, Any], problem: Problem) -> str | None:
        """What differs between the run in the file and the run asked for; None when nothing does."""
        there = dict(state["fingerprint"])
        for name, here in self.fingerprint.items():
            if there.get(name) != here:
                if name == "data":
                    return "its objective or its constraint holds other numbers"
                return f"its {name} is {there.get(name)!r}, this run's is {here!r}"
        best = np.asarray(state["position.best_x"], dtype=np.float64)
        self.probes = Probes.of_state(state)
        return value_difference(problem, best, float(state["position.best_value"])) or self.probes.difference(problem)

    def take_over(self, state: dict[str, Any]) -> Position:
        """Let solvers find their states, and say where the earlier run stood."""
        position = rebuilt(Position, state, "position.")
        for name in [name for name in state if name.startswith("state.") and name.count(".") == 1]:
            own = {key.removeprefix(name + "."): v for key, v in state.items() if key.startswith(name + ".")}
            self.waiting[name.removeprefix("state.")] = own
        self.restart = position.restart, position.rng, Status[position.status]
        self._latest = state
        return position

    @property
    def lacks_state(self) -> bool:
        """Whether a descent has begun of which nothing was kept yet, here or in an earlier run."""
        return self._latest is None and self.restart is not None

    def take(self, kind: type[S]) -> S | None:
        """The state of this kind that an earlier run left, once."""
        held = self.waiting.pop(kind.__name__, None)
        return None if held is None else rebuilt(kind, held)

    def begin(self, index: int, rng: np.random.Generator, status: Status) -> None:
        """A descent is about to begin; its generator is remembered as it is before that."""
        self.restart = index, restored_generator(generator_state(rng)), status

    def keep(self, states: list[Any], counters: tuple[Any, ...]) -> None:
        """Remember where the run stands (see `Position`) with the states of its solvers; write it when it is time."""
        assert self.restart is not None
        index, rng, status = self.restart
        latest = {
            "fingerprint": self.fingerprint,
            **self.probes.to_state(),
            **flattened(Position(index, rng, status.name, *counters), "position."),
        }
        for state in [*self.enclosing, *states]:
            latest[f"state.{type(state).__name__}"] = True
            latest.update(flattened(state, f"state.{type(state).__name__}."))
        self._latest = latest  # whole: Ctrl-C may come at any line above
        if self.checkpoint.due:
            self.checkpoint.save(self.part, latest)

    def end(self, status: Status) -> None:
        """The search is over: what is left to go on with is written, or the end itself, for what follows the search."""
        if self._latest is not None:
            over = not status.resumable
            state = {**self._latest, "ended": status.name} if over else self._latest
            self.checkpoint.save(self.part, state, ended=over)
