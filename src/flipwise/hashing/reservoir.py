"""A uniform sample of rows that come in chunks.

Vitter: Random sampling with a reservoir, TOMS 11, 1985.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp


class Reservoir:
    """At most `size` rows, each row seen so far with the same chance.

    Examples
    --------
    >>> import numpy as np
    >>> from flipwise.hashing.reservoir import Reservoir
    >>> kept = Reservoir(4, np.random.default_rng(0))
    >>> for chunk in np.arange(30.0).reshape(3, 10, 1):
    ...     kept.add(chunk)
    >>> kept.rows.shape, kept.seen
    ((4, 1), 30)
    """

    def __init__(self, size: int, rng: np.random.Generator) -> None:
        self.size, self.rng = size, rng
        self.seen = 0
        self.rows: Any = None

    def add(self, X: Any) -> None:
        """See a chunk of rows, dense or sparse."""
        held = 0 if self.rows is None else self.rows.shape[0]
        fill = min(X.shape[0], self.size - held)
        chosen = np.concatenate([np.arange(held), held + np.arange(fill)])
        # Row t of all (counted from 0) takes the place of a kept one with chance size / (t + 1).
        later = np.arange(fill, X.shape[0])
        places = self.rng.integers(0, self.seen + later + 1)
        for row, place in zip(later[places < self.size], places[places < self.size], strict=True):
            chosen[place] = held + row
        both: Any = X
        if held:
            parts: list[Any] = [self.rows, X]
            both = sp.csr_array(sp.vstack(parts)) if sp.issparse(X) else np.concatenate(parts)
        self.rows = both[chosen]
        self.seen += X.shape[0]
