"""The parameters of DPCD, with the paper's defaults where the paper has one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from flipwise.foundation.checks import check_wholes, is_number
from flipwise.foundation.errors import InvalidInput

PAPER_ALPHAS: tuple[float, ...] = (*(round(0.1 * i, 1) for i in range(1, 10)), *(float(i) for i in range(1, 11)))
"""The grid {0.1, ..., 0.9, 1, ..., 10} from which the paper tunes alpha_1 and alpha_2."""


@dataclass(frozen=True)
class DPCDOptions:
    """The options of DPCD, checked.

    Parameters
    ----------
    literal
        Run Algorithm 1 to the letter. By default the improved algorithm runs: gauge fixed, gradient kept up to date,
        alpha lowered when no coordinate passes, only improving flips made, ended where no flip or swap improves.
    alpha
        alpha_1 and alpha_2, one number for both or a pair. The improved algorithm starts from them.
    thresholds
        "mean": Eq. (6), the averages of the positive and of the negative gradient entries. "lipschitz": Eq. (5).
    epsilon
        The epsilon of Eq. (5); by default a thousandth of L_0.
    neighbourhood, neighbourhood_every, neighbourhood_samples
        m, T and the number of neighbours looked at in one m-neighbourhood search; m = 0 turns it off.
    variant
        Which direction takes the place of the gradient: "plain", "momentum", "adam" or "adagrad".
    decay, decay_squares
        The decay rates of the averages of gradients and of squared gradients in the variants.
    """

    literal: bool = False
    alpha: float | tuple[float, float] = 1.0
    thresholds: Literal["mean", "lipschitz"] = "mean"
    epsilon: float | None = None
    neighbourhood: int = 5
    neighbourhood_every: int = 10
    neighbourhood_samples: int = 100
    variant: Literal["plain", "momentum", "adam", "adagrad"] = "plain"
    decay: float = 0.5
    decay_squares: float = 0.9

    def __post_init__(self) -> None:
        pair = self.alpha if isinstance(self.alpha, tuple | list) else (self.alpha, self.alpha)
        if len(pair) != 2 or not all(is_number(a) and a >= 0 for a in pair):
            raise InvalidInput(f"`alpha` must be a number of at least 0 or a pair of them, got {self.alpha!r}.")
        if self.thresholds not in ("mean", "lipschitz"):
            raise InvalidInput(f'`thresholds` must be "mean" or "lipschitz", got {self.thresholds!r}.')
        if self.epsilon is not None and not (is_number(self.epsilon) and self.epsilon > 0):
            raise InvalidInput(f"`epsilon` must be None or a number above 0, got {self.epsilon!r}.")
        if self.variant not in ("plain", "momentum", "adam", "adagrad"):
            raise InvalidInput(f'`variant` must be "plain", "momentum", "adam" or "adagrad", got {self.variant!r}.')
        check_wholes(self, "neighbourhood", least=0)
        check_wholes(self, "neighbourhood_every", "neighbourhood_samples")
        for name in ("decay", "decay_squares"):
            given = getattr(self, name)
            if not (is_number(given) and 0 <= given < 1):
                raise InvalidInput(f"`{name}` must be at least 0 and below 1, got {given!r}.")

    @property
    def alphas(self) -> tuple[float, float]:
        """(alpha_1, alpha_2)."""
        if isinstance(self.alpha, tuple | list):
            return float(self.alpha[0]), float(self.alpha[1])
        return float(self.alpha), float(self.alpha)
