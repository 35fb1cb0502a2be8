"""A set of nodes that every worker knows: questions go to all parts, and only flips are sent along."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from flipwise.arrays import Ints
from flipwise.distributed.crew import Crew
from flipwise.distributed.shards import read_manifest
from flipwise.distributed.worker import Message, Part, Start, answer


class SharedSet:
    """The set of `start` with some nodes flipped since."""

    def __init__(self, crew: Crew, parts: list[Part], start: Start) -> None:
        self.crew, self.parts, self.start = crew, parts, start
        self.step = 0
        self._run = uuid4().hex
        self._history: list[Ints] = []
        self._told = False
        self._kind = np.int32 if read_manifest(Path(parts[0].folder)).nodes < 2**31 else np.int64

    def flip(self, nodes: Ints) -> None:
        """Toggle nodes; the workers hear of it with the next question."""
        self._history.append(nodes.astype(self._kind))
        self.step += 1
        self._told = False

    def ask(self, question: str, argument: Any = None, arguments: Sequence[Any] | None = None) -> list[Any]:
        """The answer of each part; `arguments` are one for each part."""
        each = [argument] * len(self.parts) if arguments is None else list(arguments)
        name = question.replace(" ", "-")
        start = None if self._history or self._told else self.start
        flips = self._history[-1] if self._history and not self._told else None
        message = Message(self._run, self.step, start, flips, None)
        answers = self.crew.ask(name, answer, [(p, message, question, a) for p, a in zip(self.parts, each)])
        lost = [i for i, got in enumerate(answers) if got is None]
        if lost:  # these workers are new to the set: tell them everything
            self.crew.look_around()
            history = np.concatenate(self._history) if self._history else None
            full = Message(self._run, self.step, self.start, None, history)
            tasks = [(self.parts[i], full, question, each[i]) for i in lost]
            for i, got in zip(lost, self.crew.ask(f"{name}-rebuilt", answer, tasks)):
                answers[i] = got
        self._told = True
        return answers
