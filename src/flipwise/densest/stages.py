"""The stages of `densest_subgraph` in a checkpoint: a finished one is not repeated, a search goes on among its walks.

Between the stages everything follows from the graph and from what the stages have found. So a resumed run makes its
first descents and balances its loads again, takes finished searches and proofs from the file in the order in which
they were made, and goes on inside the one that was under way.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from flipwise.densest.whole import Whole
from flipwise.engine.checkpoint import Keeper, kept_array, same_problem
from flipwise.engine.limits import Status
from flipwise.foundation.container import State
from flipwise.foundation.errors import FlipwiseError, InvalidFile, InvalidInput


class Stages:
    """What the stages of a run have found so far; without a keeper nothing is kept and nothing is known."""

    def __init__(self, keeper: Keeper | None, fingerprint: Mapping[str, Any]) -> None:
        self._keeper = keeper
        self._fingerprint = dict(fingerprint)
        self._done: list[State] = []
        self._inside: State | None = None
        self._next = 0

    def resume(self, whole: Whole) -> bool:
        """Take over what the file holds, if there is one and it is of this run."""
        state = None if self._keeper is None else self._keeper.load()
        if self._keeper is None or state is None:
            return False
        path = self._keeper.path
        wrong = same_problem(state, self._fingerprint)
        try:
            found: list[dict[str, Any]] = [{} for _ in range(int(state["stages"]) + 1)]
            for name, value in state.items():
                place, dot, own = name.partition(".")
                if dot:
                    found[int(place)][own] = value
            for stage in found:
                if wrong is None and "best" in stage:
                    nodes = kept_array(stage, "best", (None,), "i")
                    if (
                        nodes.size == 0
                        or nodes.min() < 0
                        or nodes.max() >= whole.n
                        or np.diff(nodes).min(initial=1) < 1
                    ):
                        raise InvalidFile(f"{path}: the checkpoint's nodes are none of this graph.")
                    here = whole.inner_weight(stage["best"])
                    if not math.isclose(here, 2.0 * stage["weight"], rel_tol=1e-6, abs_tol=1e-9):
                        wrong = f"its best nodes have the weight {2.0 * stage['weight']!r} there and {here!r} here"
        except (KeyError, TypeError, ValueError, IndexError) as error:
            if isinstance(error, FlipwiseError):
                raise
            raise InvalidFile(f"{path}: the checkpoint lacks a part of the state.") from None
        if wrong is not None:
            raise InvalidInput(
                f"`checkpoint`: {path} belongs to another run: {wrong}. Delete it or choose another file."
            )
        self._done, self._inside = list(found[:-1]), found[-1] or None
        return True

    def stays_open(self, status: Status) -> bool:
        """Whether a stage that ended so is one to go on with. With several k each has its own time and is then over."""
        return status.resumable and not (status is Status.TIME_LIMIT and len(self._fingerprint["k"]) > 1)

    def finished(self) -> State | None:
        """What the stage about to begin has found, when that is known; the next question is for the next stage."""
        if self._next >= len(self._done):
            return None
        self._next += 1
        return self._done[self._next - 1]

    def under_way(self) -> State | None:
        """The state inside the stage about to begin, when that is known."""
        inside, self._inside = self._inside, None
        return inside

    def keep(self, state: Callable[[], State], *, now: bool = False) -> None:
        """Note the state inside a stage, when it is time or `now`."""
        if self._keeper is not None and (now or self._keeper.due()):
            self._save(state())

    def end(self, found: State) -> None:
        """The stage is over, and this is what it has found."""
        self._done.append(found)
        self._next += 1
        if self._keeper is not None and self._keeper.due():
            self._save({})

    def _save(self, inside: State) -> None:
        assert self._keeper is not None
        stages = {f"{place}.{name}": v for place, d in enumerate([*self._done, inside]) for name, v in d.items()}
        self._keeper.save({"fingerprint": self._fingerprint, "stages": len(self._done), **stages})
