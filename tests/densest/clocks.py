"""A clock that counts how often it is looked at."""

from __future__ import annotations

from flipwise.engine.limits import Clock


class CountingClock(Clock):
    """Expired after `most` looks at it."""

    def __init__(self, most: float = float("inf")) -> None:
        super().__init__()
        self.most, self.looks = most, 0

    @property
    def expired(self) -> bool:
        """Whether this look is beyond the last."""
        self.looks += 1
        return self.looks > self.most
