"""The answer of `maxcut`, `bisect` and `partition`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from flipwise.engine.result import Result


@dataclass
class CutResult(Result):
    """A cut or partition and what is known about it.

    Everything a `Result` has is here too; `x` has the first part at -1 and all others at +1.

    Attributes
    ----------
    value
        The weight of the edges between the parts.
    bound
        No cut is better than this: an upper bound for `maxcut`, a lower one for `bisect`; None if not known.
    parts
        The part 0, 1, 2, ... of each node.
    sense
        "max" where the weight was to be large, "min" where it was to be small.

    Examples
    --------
    >>> import flipwise
    >>> cut = flipwise.maxcut((3, [[0, 1], [1, 2]]), seed=0)
    >>> cut.value, sorted(cut.sizes.tolist())
    (2.0, [1, 2])
    """

    parts: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64), repr=False)
    sense: Literal["min", "max"] = "min"
    names: Sequence[Any] | None = field(default=None, repr=False)

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        """The number of nodes in each part."""
        return np.bincount(self.parts)

    def nodes(self, part: int) -> list[Any]:
        """The nodes of one part, by their own names."""
        inside = np.flatnonzero(self.parts == part)
        return inside.tolist() if self.names is None else [self.names[int(i)] for i in inside]

    def facts(self) -> list[tuple[str, str]]:
        """What a reader wants to know, as names and texts."""
        own = ("parts", " + ".join(f"{size:,}" for size in self.sizes) + " nodes")
        return [own if name == "variables" else (name, text) for name, text in super().facts()]
