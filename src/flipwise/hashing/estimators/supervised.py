"""Estimators that learn from labels: code words for label sets, then a hash function onto them."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.metaestimators import available_if

from flipwise.engine.limits import Clock
from flipwise.engine.result import Result
from flipwise.engine.solve import solve
from flipwise.foundation.checks import check_wholes
from flipwise.foundation.errors import InvalidInput
from flipwise.foundation.interrupts import guarded_interrupts
from flipwise.hashing.alternation import FitContext, Schedule
from flipwise.hashing.codes import Codes
from flipwise.hashing.estimators.base import (
    BaseHasher,
    CodeSearch,
    check_optimizer,
    check_positive,
    validation_fit,
)
from flipwise.hashing.functions.ridge import Targets, make_function
from flipwise.hashing.labels import LabelSets, as_label_sets
from flipwise.hashing.metrics import mean_average_precision
from flipwise.solvers.dpcd.tuning import PAPER_ALPHAS

TUNING_ROWS = 5000
"""Training rows that take part in the choice of alpha."""


@dataclass(eq=False, repr=False, kw_only=True)
class SupervisedHasher(BaseHasher):
    """Shared by SDH, FSDH and FastHash.

    Labels are class values of shape (n,) or multi-hot 0/1 of shape (n, classes). Rows labelled `missing_label` (or with
    no label at all, when multi-hot) do not take part in learning; their entry in `codes_` is their hashed code.
    """

    _needs_labels = True

    hash_function: str = "linear"
    hash_options: dict[str, Any] | None = None
    rounds: int = 5
    updates: int = 20
    alpha: Any = 1.0
    distinct: bool = True
    missing_label: Any = -1
    delta: float = field(init=False)

    @abstractmethod
    def _search(self, sets: LabelSets, X: Any, schedule: Schedule, context: FitContext) -> CodeSearch:
        """The search for code words of the label sets, or for codes of the items."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn codes of X from the labels y, and the hash function."""
        X, context = self._begin(X)
        y, labelled = self._checked_labels(X, y)
        context.data = X, y
        schedule = self._schedule(X, y, labelled, context.clock)
        sets = as_label_sets(y[labelled])
        _check_sets(sets)
        everything = bool(labelled.all())
        known = X if everything else X[np.flatnonzero(labelled)]
        search = self._search(sets, known, schedule, context)
        with guarded_interrupts():  # Ctrl-C does not lose the codes that were found
            result = solve(search.problem, search.solver, **self._run_options(search, context))
            self._finish(result, search, X, context, None if everything else labelled)
            self.classes_ = sets.classes
            self._labels, self._labelled = y, labelled
        return self

    @available_if(lambda self: self.hash_function != "trees")  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any = None, classes: npt.ArrayLike | None = None) -> Self:
        """Learn from one more chunk of rows; for data larger than memory.

        The code words of the classes are fixed by the first call, which must be given all `classes` unless its chunk
        has them all. `codes_` grows by the chunk's codes. For single labels and hash functions "linear" and "rbf".
        """
        first = not hasattr(self, "_words")
        X, context = self._begin(X, reset=first)
        y, labelled = self._checked_labels(X, y)
        context.data = X, y
        if y.ndim != 1 or not labelled.all():
            raise InvalidInput("`partial_fit` needs one label for every row.")
        if first:
            every = np.unique(y if classes is None else np.asarray(classes))
            sets = LabelSets(np.eye(every.size), np.arange(every.size), every, False)
            self._words = self._learned_words(sets, self._schedule(X, y, labelled, context.clock), context).x
            self.function_ = make_function(self.hash_function, self.hash_options)
        at = np.searchsorted(self.classes_, y)
        known = at < self.classes_.size
        if not known.all() or (self.classes_[at] != y).any():
            raise InvalidInput("`y` has a class that the first `partial_fit` did not have: pass all `classes` there.")
        self.function_.partial_fit(X, Targets(self._words, at), context.rng)  # type: ignore[attr-defined]
        new = Codes.from_signs(self._words[at])
        self.codes_ = new if first else Codes(np.concatenate([self.codes_.packed, new.packed]), self.n_bits)
        self._labels = y if first else np.concatenate([self._labels, y])
        self._labelled = np.ones(len(self._labels), dtype=np.bool_)
        return self

    def score(self, X: Any, y: Any) -> float:
        """Tie-aware MAP of X as queries against the learned training codes (protocol: learned B, whole list)."""
        queries = self.encode(X)
        database = self.codes_[np.flatnonzero(self._labelled)]
        return mean_average_precision(queries, database, np.asarray(y), self._labels[self._labelled])

    def _learned_words(self, sets: LabelSets, schedule: Schedule, context: FitContext) -> Result:
        """The search for code words of classes, without a hash function; its `x` are the words."""
        _check_sets(sets)
        search = self._search(sets, None, schedule, context)
        result = solve(search.problem, search.solver, **self._run_options(search, context))
        self._record(result, context)
        self.classes_ = sets.classes
        return result

    # --- checks -------------------------------------------------------------------------------------------------------

    def _schedule(self, X: Any, y: npt.NDArray[Any], labelled: npt.NDArray[np.bool_], clock: Clock) -> Schedule:
        """How the loss is minimised; `alpha="cv"` is chosen here."""
        check_optimizer(self.optimizer, self._optimizers)
        check_positive("delta", self.delta)
        check_wholes(self, "rounds", "updates")
        alpha = self.alpha
        if isinstance(alpha, str):
            if alpha != "cv":
                raise InvalidInput(f'`alpha` must be a number, a pair of numbers or "cv", got {alpha!r}.')
            alpha = self.alpha_ = _tuned_alpha(self, X[np.flatnonzero(labelled)], y[labelled], clock)
        return Schedule(self.optimizer, self.rounds, self.updates, alpha, self.distinct)

    def _checked_labels(self, X: Any, y: Any) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]:
        """(labels, which rows have one)."""
        if y is None:
            raise InvalidInput(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y is None."
            )
        labels = np.asarray(y)
        if labels.ndim == 2 and labels.shape[1] == 1:
            labels = column_or_1d(labels, warn=True)
        if labels.dtype.kind in "fc":
            check_array(labels.reshape(len(labels), -1), input_name="y")
        check_consistent_length(X, labels)
        if labels.ndim == 2:
            return labels, np.asarray((labels != 0).any(axis=1))
        if labels.dtype.kind == "f" and (labels != np.floor(labels)).any():
            raise InvalidInput("Unknown label type: continuous. `y` must hold class values or multi-hot rows.")
        if self.missing_label is None or labels.dtype.kind not in "iuf":
            return labels, np.ones(len(labels), dtype=np.bool_)
        missing = labels == self.missing_label
        if missing.any() and np.unique(labels).size == 2:
            raise InvalidInput(
                f"`y` holds only {self.missing_label} and one other value. {self.missing_label} marks rows without a "
                "label, which leaves only 1 class; if it is a class of its own, set missing_label=None."
            )
        return labels, ~missing


def _check_sets(sets: LabelSets) -> None:
    """Raise unless there are label sets to tell apart."""
    if len(sets.Y) < 2:
        raise InvalidInput(
            f"`y` must have at least 2 classes or label sets to tell apart, got {len(sets.Y)} class (n_samples = "
            f"{sets.of_item.size})."
        )


def _tuned_alpha(estimator: SupervisedHasher, X: Any, y: npt.NDArray[Any], clock: Clock) -> float:
    """The alpha (= alpha_1 = alpha_2) of the paper's grid with the best MAP of a fifth of the rows.

    The codes that they are compared with are learned on the other rows.
    """
    rng = np.random.default_rng(0)
    chosen = rng.permutation(X.shape[0])[:TUNING_ROWS]
    queries, training = np.split(chosen, [max(1, chosen.size // 5)])

    def score(alpha: float) -> float:
        """The MAP that this alpha gives."""
        trial = validation_fit(estimator, X[training], y[training], clock, alpha=alpha)
        return float(trial.score(X[queries], y[queries]))

    with guarded_interrupts() as interrupts, interrupts.raised_here():
        return max(PAPER_ALPHAS, key=score)
