"""SDH, supervised discrete hashing, ||Y - BW||^2 + delta ||W||^2 + nu ||B - F(X)||^2, and FSDH, the fast one.

Shen, Shen, Liu, Shen: Supervised discrete hashing, CVPR 2015; the loss of the paper's CIFAR-10 table with nu = 0.

FSDH turns the regression around, ||B - YW||^2 + delta ||W||^2. Gui, Liu, Sun, Tao, Tan: Fast supervised discrete
hashing, TPAMI 2018. The loss is linear in B on -1/+1: DPCD with the Lipschitz rule (L_0 = 0) ends in one update (Lemma
1 of the paper) and equals the authors' closed form.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from flipwise.hashing.alternation import Alternation, FitContext, Schedule
from flipwise.hashing.estimators.base import CodeSearch, check_positive
from flipwise.hashing.estimators.supervised import SupervisedHasher
from flipwise.hashing.functions.ridge import predicted_values
from flipwise.hashing.label_losses import CodeRows, CodeWordLoss, Coupling, FSDHLoss, SDHLoss
from flipwise.hashing.labels import LabelSets

REFINED_SETS = 128
"""With at most so many classes their code words are refined."""
REFINING = 50
"""The most iterations of the refinement, for each round of the alternation."""


@dataclass(eq=False, repr=False, kw_only=True)
class SDH(SupervisedHasher):
    """Codes from which a linear classifier recovers the labels.

    Parameters
    ----------
    n_bits
        Bits of a code.
    optimizer
        "dpcd"; "dcc", the original; or a method of `flipwise.minimize`: "sgm", "lp", "l2box-admm", "mpec-epm", ...
    hash_function
        "linear" (the paper's), "rbf" (kernel ridge on anchors) or "trees".
    hash_options
        Parameters of the hash function, such as `{"anchors": 4000, "ridge": 0.3}` for "rbf".
    delta
        Weight of ||W||^2.
    nu
        Weight of ||B - F(X)||^2; above 0 every item has its own subproblem. The authors' code has 1e-5.
    rounds, updates, alpha
        Alternations, DPCD updates in each, and DPCD's alpha: a number, a pair, or "cv" to choose from the paper's grid
        by validation on a fifth of the training rows.
    distinct
        Solve each distinct label set once. False solves all items, as the paper does; it costs n times more.
    refine
        With "dpcd", one label an item and distinct label sets: lower the loss further with W eliminated (see
        `label_losses.CodeWordLoss`). Where the alternation ends, W fits any code words; this separates them.
    output
        What `transform` returns: "packed" bytes, "bits" or "signs".
    missing_label
        The label of rows without one; None: there are none.
    random_state
        Seed.
    time_limit, callback, verbose, checkpoint, every
        Of the search for codes, as in `flipwise.minimize`: when it ends, by itself, by its limit or by Ctrl-C, the hash
        function is fitted to the codes found so far.

    Attributes
    ----------
    codes_ : Codes
        The learned codes of the training rows.
    result_ : flipwise.Result
        How the search went: `status`, `value`, `trace`. Its `x` are the code words of the label sets (or of the items).
    loss_values_ : list of float
        The loss after each round, with W fitted to its codes.
    b_step_seconds_ : float
        Time spent in B-steps.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from flipwise.hashing import SDH
    >>> X, y = load_digits(return_X_y=True)
    >>> sdh = SDH(n_bits=32, hash_function="rbf", random_state=0).fit(X[:1000], y[:1000])
    >>> sdh.transform(X[1000:]).shape, sdh.codes_
    ((797, 4), Codes(n=1000, n_bits=32, bit_order='big'))
    >>> sdh.score(X[1000:], y[1000:]) > 0.9
    True
    """

    _optimizers = ("dpcd", "dcc")

    delta: float = 1.0
    nu: float = 0.0
    refine: bool = True

    def _search(self, sets: LabelSets, X: Any, schedule: Schedule, context: FitContext) -> CodeSearch:
        """The alternation over label sets, or over items where they are coupled to their features."""
        check_positive("nu", self.nu)
        coupling, words, delta = None, None, float(self.delta)
        if self.nu > 0 and X is not None:
            coupling = Coupling(float(self.nu), partial(predicted_values, self.hash_function, self.hash_options, X))
        rows = CodeRows.make(sets, schedule.distinct and coupling is None)
        loss = SDHLoss(sets, rows, self.n_bits, delta, coupling)
        # with several labels an item the loss without W would drive apart sets that share labels
        few = not sets.multilabel and len(sets.Y) <= REFINED_SETS
        if self.refine and self.optimizer == "dpcd" and self.distinct and coupling is None and few:
            words = CodeWordLoss(sets.Y, self.n_bits, sets.counts, max(delta, 1e-6))
        solver = Alternation(schedule, loss, context, words)
        return CodeSearch(loss, solver, rows.of_item, None if words is None else REFINING * schedule.rounds)


@dataclass(eq=False, repr=False, kw_only=True)
class FSDH(SupervisedHasher):
    """Codes that the labels predict; parameters as in `SDH`, with optimizer "fsdh" as the original.

    With one label an item the code words are as random as the start: expect the retrieval of random code words.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from flipwise.hashing import FSDH
    >>> X, y = load_digits(return_X_y=True)
    >>> FSDH(n_bits=32, hash_function="rbf", random_state=0).fit(X[:1000], y[:1000]).score(X[1000:], y[1000:]) > 0.9
    True
    """

    _optimizers = ("dpcd", "fsdh")

    delta: float = 1.0

    def _search(self, sets: LabelSets, X: Any, schedule: Schedule, context: FitContext) -> CodeSearch:
        """The alternation over label sets, or over items."""
        del X
        rows = CodeRows.make(sets, schedule.distinct)
        loss = FSDHLoss(sets, rows, self.n_bits, float(self.delta))
        return CodeSearch(loss, Alternation(schedule, loss, context), rows.of_item)
