"""The codes that a hash function is fitted to, kept as code words of label sets where there are such."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from flipwise.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class Targets:
    """Codes of n items: row `of_item[i]` of `words`, or row i when `of_item` is None.

    A regression onto B = E C (E the one-hot matrix of label sets) is the regression onto E, times C. With fewer sets
    than bits that is what is solved: `columns(rows)` are the right-hand sides, `mix` turns the answer into bits.
    """

    words: npt.NDArray[np.int8]
    of_item: Ints | None = None

    @property
    def n(self) -> int:
        return len(self.words) if self.of_item is None else int(self.of_item.size)

    @property
    def _by_sets(self) -> bool:
        return self.of_item is not None and len(self.words) < self.words.shape[1]

    @property
    def mix(self) -> Floats | None:
        """What the regression's answer is multiplied by, or None."""
        return self.words.astype(np.float64) if self._by_sets else None

    def columns(self, rows: slice) -> Floats:
        """The right-hand sides of some items."""
        if self.of_item is None:
            return self.words[rows].astype(np.float64)
        if not self._by_sets:
            return self.words[self.of_item[rows]].astype(np.float64)
        one_hot = np.zeros((self.of_item[rows].size, len(self.words)))
        one_hot[np.arange(len(one_hot)), self.of_item[rows]] = 1.0
        return one_hot

    def mean(self) -> Floats:
        """The mean of all columns."""
        if self.of_item is None:
            whole: Floats = np.asarray(self.words.mean(axis=0, dtype=np.float64))
            return whole
        share = np.bincount(self.of_item, minlength=len(self.words)) / self.n
        mean: Floats = share if self._by_sets else share @ self.words.astype(np.float64)
        return mean

    def mixed(self, solution: Floats) -> Floats:
        """A solution for the columns as one for the bits."""
        return solution if self.mix is None else solution @ self.mix
