"""Beam search for the codes of rows: several partial codes of each row are carried on, entry after entry."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Rows = npt.NDArray[np.float32]

BLOCK = 2048
"""Rows whose codes are carried on together."""


class Beams:
    """The best partial codes of each row, best first, and what they leave over."""

    def __init__(self, X: Rows, width: int, groups: int) -> None:
        self.width = width
        self.left: Rows = X[:, None, :].copy()
        self.errors: Rows = np.einsum("ij,ij->i", X, X)[:, None]
        self.codes = np.zeros((len(X), 1, groups), dtype=np.uint8)

    def extend(self, entries: Rows, group: int) -> None:
        """Let each code choose an entry of the next group, and keep the best of all choices."""
        n, held, features = self.left.shape
        kept = min(self.width, held * len(entries))
        left = np.empty((n, kept, features), dtype=np.float32)
        errors = np.empty((n, kept), dtype=np.float32)
        codes = np.empty((n, kept, self.codes.shape[2]), dtype=np.uint8)
        for start in range(0, n, BLOCK):
            rows = slice(start, min(n, start + BLOCK))
            parents, chosen, errors[rows] = self._best_extensions(rows, entries, kept)
            own = np.arange(rows.start, rows.stop)[:, None]
            left[rows] = self.left[own, parents]
            left[rows] -= entries[chosen]
            codes[rows] = self.codes[own, parents]
            codes[rows, :, group] = chosen
        self.left, self.errors, self.codes = left, errors, codes

    def _best_extensions(
        self, rows: slice, entries: Rows, kept: int
    ) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp], Rows]:
        """Of some rows, the codes that go on, the entries that they choose, and their errors."""
        left = self.left[rows]
        n, held, features = left.shape
        scores = left.reshape(n * held, features) @ entries.T
        scores *= -2.0
        scores += np.einsum("ij,ij->i", entries, entries)
        scores = (scores.reshape(n, held, -1) + self.errors[rows][:, :, None]).reshape(n, -1)
        best = np.argpartition(scores, min(kept, scores.shape[1] - 1), axis=1)[:, :kept]
        errors = np.take_along_axis(scores, best, axis=1)
        order = np.argsort(errors, axis=1, kind="stable")
        parents, chosen = np.divmod(np.take_along_axis(best, order, axis=1), len(entries))
        return parents, chosen, np.take_along_axis(errors, order, axis=1)

    def first(self) -> tuple[npt.NDArray[np.uint8], Rows]:
        """The best code of each row, and what it leaves over."""
        return np.ascontiguousarray(self.codes[:, 0]), np.ascontiguousarray(self.left[:, 0])
