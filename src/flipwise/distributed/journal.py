"""What a cluster has answered, in a file: a run that is repeated after a loss does not ask again.

The search itself is deterministic given its seed, so the answers are all there is to keep.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from flipwise.container import decode, encode, write_atomically
from flipwise.errors import InvalidInput

Arrays = dict[str, Any]
"""Names to arrays, or to values that JSON can hold."""


class Journal:
    """Answers by the name of the question, kept in memory and, with a path, on disk."""

    def __init__(self, path: Path | None, fingerprint: int) -> None:
        self.path = path
        self._state: dict[str, Any] = {"fingerprint": fingerprint}
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
        self._state |= {begin + name: _storable(value) for name, value in answer.items()}
        if self.path is not None:
            write_atomically(self.path, encode("answers", self._state))
        return answer


def _storable(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
