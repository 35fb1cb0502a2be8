"""ITQ: iterative quantisation of the principal components (see `quantisation`).

`whitening` is ours: V diag(lambda)^-p in the place of V, p between 0 (ITQ) and 1/2 (whitened). A rotation spreads the
variance over the bits, but the leading components still decide most of them; dividing them down lets others count.
On sentence embeddings it found more neighbours at 64 and 128 bits and hardly more at 256; on image embeddings it made
no difference (five seeds each, docs/benchmarks/hashing.md).

n_bits may exceed the number of features: R then has orthonormal rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from flipwise.engine.limits import Clock
from flipwise.engine.result import Result
from flipwise.foundation.arrays import Floats
from flipwise.foundation.errors import InvalidInput
from flipwise.foundation.interrupts import guarded_interrupts
from flipwise.hashing.alternation import FitContext
from flipwise.hashing.codes import Codes
from flipwise.hashing.estimators.base import CodeSearch, validation_fit
from flipwise.hashing.estimators.unsupervised import UnsupervisedHasher
from flipwise.hashing.functions.ridge import LinearFunction
from flipwise.hashing.quantisation import Quantisation, QuantisationLoss, principal_axes

POWERS = (0.0, 0.1, 0.2, 0.3, 0.4)
SAMPLE = 4000
"""Powers that `whitening="auto"` compares, and the rows on which it does."""
SCORED = 8e-8
"""About the seconds that codes of them take to be learned and judged, for each number of the sample."""


@dataclass(frozen=True, kw_only=True)
class RotationSearch(CodeSearch):
    """The search of an ITQ fit, with what turns its rotation into a hash function."""

    loss: QuantisationLoss
    axes: Floats
    mean: Floats


@dataclass(eq=False, repr=False, kw_only=True)
class ITQ(UnsupervisedHasher):
    """A rotation of the principal components whose signs lose least.

    Parameters
    ----------
    n_bits
        Bits of a code.
    optimizer
        "dpcd"; "itq", the original, without its early end; or a method of `flipwise.minimize`.
    n_components
        Principal components that are rotated; None: as many as bits, at most as many as features.
    whitening
        p: components are divided by their variance to this power. 0 is ITQ, 0.5 whitened; "auto" takes the best
        recall@10 on a sample of the rows.
    rounds
        The most alternations of codes and rotation.
    output, random_state, time_limit, callback, verbose, checkpoint, every
        As in `SDH`.

    Attributes
    ----------
    codes_ : Codes
        The codes of the training rows, which are those that the hash function gives.
    whitening_ : float
        The power that was used.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from flipwise.hashing import ITQ
    >>> X, _ = load_digits(return_X_y=True)
    >>> ITQ(n_bits=32, random_state=0).fit(X).score(X) > 0.4
    True
    """

    _optimizers = ("dpcd", "itq")

    n_components: int | None = None
    whitening: float | str = 0.0
    rounds: int = 50

    def _search(self, X: Any, context: FitContext) -> CodeSearch:
        """Iterative quantisation of the whitened principal components."""
        if self.n_components is not None and self.n_components < 1:
            raise InvalidInput(f"`n_components` must be None or at least 1, got {self.n_components!r}.")
        k = min(self.n_bits if self.n_components is None else self.n_components, min(X.shape))
        self.whitening_ = self._chosen_whitening(X, context.rng, context.clock)
        mean, axes, variances = principal_axes(X, k)
        axes = self.whitened(axes, variances)
        loss = QuantisationLoss(np.asarray(X @ axes, dtype=np.float64) - mean @ axes, self.n_bits)
        solver = Quantisation(self.optimizer, self.rounds, loss, context)
        return RotationSearch(loss=loss, solver=solver, axes=axes, mean=mean)

    def whitened(self, axes: Floats, variances: Floats) -> Floats:
        """The axes divided by powers of their variances."""
        # Components without variance carry nothing; a floor keeps rounding noise from being blown up.
        floor = 1e-9 * float(variances.max(initial=0.0)) + 1e-300
        return np.asarray(axes * np.maximum(variances, floor) ** -self.whitening_)

    def set_rotation(self, axes: Floats, mean: Floats, R: Floats) -> None:
        """Let the hash function be that of a rotation."""
        P = axes @ R
        self.function_ = LinearFunction.from_arrays({"P": P, "bias": -mean @ P})

    def _chosen_whitening(self, X: Any, rng: np.random.Generator, clock: Clock) -> float:
        """p itself, or the one of `POWERS` with the best recall on a sample of rows, of those that the time allows."""
        if self.whitening != "auto":
            if isinstance(self.whitening, str) or not 0.0 <= self.whitening <= 0.5:
                raise InvalidInput(f'`whitening` must be "auto" or between 0 and 0.5, got {self.whitening!r}.')
            return float(self.whitening)
        sample = X[np.sort(rng.permutation(X.shape[0])[:SAMPLE])]
        rounds = min(self.rounds, 5)

        def score(power: float) -> float:
            """The recall that this power gives."""
            return float(validation_fit(self, sample, None, clock, whitening=power, rounds=rounds).score(sample))

        scores: dict[float, float] = {}
        seconds = SCORED * sample.size  # then as measured
        with guarded_interrupts() as interrupts, interrupts.raised_here():
            for power in POWERS:
                if 3.0 * seconds > clock.seconds_left:  # the codes are still to be learned, and used
                    break
                began = clock.seconds
                scores[power] = score(power)
                seconds = clock.seconds - began
        if not scores:
            return POWERS[0]
        return max(scores, key=lambda power: scores[power])

    def _finish(
        self, result: Result, search: CodeSearch, X: Any, context: FitContext, labelled: npt.NDArray[np.bool_] | None
    ) -> None:
        """The hash function is the rotation that was learned, and the codes are those that it gives."""
        assert isinstance(search, RotationSearch)
        self._record(result, context)
        R = search.loss.rotation(result.x) if context.rotation is None else context.rotation
        self.set_rotation(search.axes, search.mean, R)
        self.codes_ = Codes.from_bits(search.loss.bits(R))
