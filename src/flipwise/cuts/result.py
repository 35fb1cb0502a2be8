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

    @property
    def measure(self) -> str:
        """What `value` is called."""
        return "cut"

    @property
    def is_maximum(self) -> bool:
        """Whether more is better."""
        return self.sense == "max"

    def subject(self) -> str:
        """What was solved."""
        n, parts = f"{self.x.size:,}", self.sizes.size
        if self.is_maximum:
            return self._with_fixed(f"Max-Cut: two sides of {n} nodes, most weight between them")
        name = "partition" if self._is_partition else "bisection"
        return self._with_fixed(f"{name}: {parts} parts of {n} nodes, least weight between them")

    def offers_bound(self) -> bool:
        """Whether a bound can be asked for."""
        return not self._is_partition

    def search_further(self) -> str:
        """What to try where a method has come to its own end."""
        own = self._is_partition or self.method in ("portfolio", "bisection")
        return "`effort=5`, a `time_limit` or another `seed`" if own else super().search_further()

    def in_unit(self, minimised: float) -> float:
        """What the search has minimised, in the unit of `value`."""
        return -minimised if self.is_maximum else minimised

    @property
    def _is_partition(self) -> bool:
        return self.method == "recursive bisection"

    def _with_fixed(self, words: str) -> str:
        """With the number of fixed nodes; the count of a bisection is told already."""
        fixed = [part for part in self._problem_words.get("constraint", "").split(", ") if part.endswith(" fixed")]
        return ", ".join([words, *fixed])

    def nodes(self, part: int) -> list[Any]:
        """The nodes of one part, by their own names."""
        inside = np.flatnonzero(self.parts == part)
        return inside.tolist() if self.names is None else [self.names[int(i)] for i in inside]

    def facts(self) -> list[tuple[str, str]]:
        """What a reader wants to know, as names and texts."""
        own = ("parts", " + ".join(f"{size:,}" for size in self.sizes) + " nodes")
        return [own if name == "variables" else (name, text) for name, text in super().facts()]
