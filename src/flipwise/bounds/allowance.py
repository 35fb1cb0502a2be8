"""How much a proof may take: the seconds of a time limit; where there is none, work that is counted.

A proof that ended with the clock would prove another bound in every run, so without a limit it ends with its work. Work
is stated in seconds of one core of the machine on which its costs were measured; elsewhere it is no more than a unit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(eq=False)
class Allowance:
    """What is left for a proof: seconds by the clock, and work, which is spent by those who do it.

    Examples
    --------
    >>> allowed = Allowance(lambda: 10.0, work_left=2.0)
    >>> allowed.spend(2.5)
    >>> allowed.is_over
    True
    """

    seconds_left: Callable[[], float] = lambda: math.inf
    work_left: float = math.inf

    def spend(self, work: float) -> None:
        """Take off what was done."""
        self.work_left -= work

    @property
    def is_over(self) -> bool:
        """Whether to end at once."""
        return self.work_left <= 0.0 or self.seconds_left() <= 0.0
