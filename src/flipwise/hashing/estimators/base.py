"""What all hashing estimators share: the scikit-learn contract, and a fit as a run of the engine."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from flipwise.engine.limits import Clock, Limits, Status
from flipwise.engine.result import Result
from flipwise.engine.solver import Solver
from flipwise.foundation.arrays import Floats, Ints
from flipwise.foundation.checks import check_whole, is_number
from flipwise.foundation.errors import InvalidInput, MissingDependency
from flipwise.foundation.numbers import largest_size
from flipwise.hashing.alternation import FitContext
from flipwise.hashing.codes import CodeMatrix, Codes
from flipwise.hashing.functions.ridge import HashFunction, Targets, make_function
from flipwise.minimization import METHODS
from flipwise.model.constraints import Free
from flipwise.model.objective import Objective
from flipwise.model.problem import Problem
from flipwise.solvers.registry import find_method

try:
    from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError:
    raise MissingDependency("scikit-learn", "hashing", "a hashing estimator") from None

OUTPUTS = ("packed", "bits", "signs")
"""What `transform` may return."""
LARGEST = 1e18
"""Sums of squares of larger features are too large for float32, in which some estimators work."""


def checked_features(estimator: Any, X: Any, **options: Any) -> Any:
    """The features as scikit-learn checks them, and of a size with which one can reckon.

    `reset` in the options remembers their number and names.
    """
    X = validate_data(estimator, X, **options)
    largest = largest_size(X if isinstance(X, np.ndarray) else X.data)
    if largest > LARGEST:
        raise InvalidInput(
            f"`X` is too large: it holds features of size {largest:.3g}, and at most {LARGEST:.0e} are taken. "
            "Scale them down, for example with sklearn.preprocessing.StandardScaler."
        )
    return X


@dataclass(frozen=True)
class CodeSearch:
    """The search of a fit: a loss of codes, the solver that lowers it, and which row of the codes each item has.

    `of_item` is None where every item has its own row. `max_iterations` is a limit to what the solver leaves unlimited.
    """

    loss: Objective
    solver: Solver
    of_item: Ints | None = None
    max_iterations: int | None = None

    @property
    def problem(self) -> Problem:
        """The loss over all codes."""
        return Problem(self.loss, Free())

    def targets(self, B: CodeMatrix) -> Targets:
        """What the hash function is fitted to, where B are the codes that were found."""
        own_rows = self.of_item is None or np.array_equal(self.of_item, np.arange(len(B)))
        return Targets(B, None if own_rows else self.of_item)


@dataclass(eq=False, repr=False)
class BaseHasher(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A transformer from features to binary codes.

    A fit is a run of the engine, as `flipwise.minimize` is: subclasses say what it minimises and how. The parameters
    of the run are the same everywhere:

    Parameters
    ----------
    time_limit
        Seconds for the search for codes; the hash function is then fitted to the codes found so far. At least one round
        is made. Ctrl-C ends the search in the same way.
    callback
        Called with a `flipwise.Progress` after each round; return True to end the search.
    verbose
        Log the rounds to standard error.
    checkpoint, every
        A path: the search is saved there every so many seconds, and goes on from there when the file exists.

    Attributes
    ----------
    codes_ : Codes
        The learned codes of the training rows.
    function_
        The hash function.
    result_ : flipwise.Result
        How the search for codes went: `status`, `value`, `trace`; its `x` are the rows of codes searched over.
    loss_values_ : list of float
        The loss after each round, with everything else fitted to its codes.
    b_step_seconds_ : float
        Time spent in B-steps.
    """

    _optimizers: ClassVar[tuple[str, ...]] = ("dpcd",)
    _needs_labels: ClassVar[bool] = False

    # parameters: each is a keyword of the constructor, as scikit-learn wants it, and nothing is done with them there
    n_bits: int = 64
    _: KW_ONLY
    optimizer: str = "dpcd"
    output: str = "packed"
    random_state: Any = None
    time_limit: float | None = None
    callback: Any = None
    verbose: bool = False
    checkpoint: Any = None
    every: float = 60.0

    # what is known of the rest, where a subclass has it and after a fit
    hash_function: str = field(init=False)
    hash_options: dict[str, Any] | None = field(init=False)
    function_: HashFunction = field(init=False)
    codes_: Codes = field(init=False)
    result_: Result = field(init=False)
    loss_values_: list[float] = field(init=False)
    b_step_seconds_: float = field(init=False)

    def decision_function(self, X: Any) -> Floats:
        """Real values of shape (n, n_bits): their signs are the bits, their sizes the certainty of each.

        Use them as queries of `asymmetric_search`.
        """
        check_is_fitted(self, "function_")
        return self.function_.decision(self._validated(X, reset=False))

    def encode(self, X: Any) -> Codes:
        """The codes of X, hashed."""
        return Codes.from_signs(self.decision_function(X))

    def transform(self, X: Any) -> npt.NDArray[Any]:
        """The codes of X as `output` says: packed bytes (uint8, big order), 0/1 bits (uint8) or signs (int8)."""
        codes = self.encode(X)
        if self.output == "bits":
            return codes.bits()
        return codes.signs() if self.output == "signs" else codes.packed

    def save(self, path: Any) -> None:
        """Write the fitted estimator to a safetensors file; `flipwise.hashing.load` reads it."""
        from flipwise.hashing.files import save

        save(self, path)

    # --- for subclasses -----------------------------------------------------------------------------------------------

    def _validated(self, X: Any, reset: bool) -> Any:
        """The checked features; `reset` remembers their number and names."""
        return checked_features(self, X, reset=reset, accept_sparse="csr", dtype=[np.float64, np.float32])

    def _begin(self, X: Any, reset: bool = True) -> tuple[Any, FitContext]:
        """The checked training features, and the generator and clock of the fit; common parameters are checked here."""
        check_whole("n_bits", self.n_bits, 1)
        if self.output not in OUTPUTS:
            raise InvalidInput(f"`output` must be one of {', '.join(OUTPUTS)}, got {self.output!r}.")
        Limits(time_limit=self.time_limit)
        clock = Clock(self.time_limit)
        X = self._validated(X, reset)
        bits = int(self.n_bits)
        self._n_features_out = (bits + 7) // 8 if self.output == "packed" else bits
        return X, FitContext(as_rng(self.random_state), clock, data=X)

    def _run_options(self, search: CodeSearch, context: FitContext) -> dict[str, Any]:
        """The arguments of `engine.solve` that the parameters of the estimator give."""
        left = None if self.time_limit is None else max(0.0, context.clock.seconds_left)
        return {
            "limits": Limits(time_limit=left, max_iterations=search.max_iterations),
            "seed": context.rng,
            "callback": self.callback,
            "verbose": bool(self.verbose),
            "checkpoint": self.checkpoint,
            "every": self.every,
            "data": context.data,
        }

    def _record(self, result: Result, context: FitContext) -> None:
        """Keep what the search tells about itself."""
        self.result_ = result
        self.loss_values_ = [record.value for record in result.trace.records]
        self.b_step_seconds_ = context.b_step_seconds

    def _finish(
        self, result: Result, search: CodeSearch, X: Any, context: FitContext, labelled: npt.NDArray[np.bool_] | None
    ) -> None:
        """Fit the hash function to the codes that were found; rows that are not `labelled` get their hashed codes.

        Called where Ctrl-C is held back, so that no codes are lost.
        """
        self._record(result, context)
        B: CodeMatrix = result.x
        known = X if labelled is None else X[np.flatnonzero(labelled)]
        self.function_ = make_function(self.hash_function, self.hash_options)
        self.function_.fit(known, search.targets(B), context.rng)
        codes = Codes.from_signs(B if search.of_item is None else B[search.of_item])
        if labelled is not None:
            packed = np.empty((X.shape[0], codes.packed.shape[1]), dtype=np.uint8)
            packed[labelled] = codes.packed
            packed[~labelled] = Codes.from_signs(self.function_.decision(X[np.flatnonzero(~labelled)])).packed
            codes = Codes(packed, self.n_bits)
        self.codes_ = codes

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        tags.input_tags.sparse = True
        if self._needs_labels:
            tags.target_tags.required = True
            tags.target_tags.multi_output = True
        return tags


def as_rng(random_state: Any) -> np.random.Generator:
    """A generator from what scikit-learn allows as `random_state`."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(int(random_state.randint(2**31)))
    return np.random.default_rng(random_state)


def check_positive(name: str, value: Any) -> None:
    """Raise unless a parameter is a finite number of at least 0."""
    if not is_number(value) or value < 0:
        raise InvalidInput(f"`{name}` must be a finite number of at least 0, got {value!r}.")


def check_optimizer(name: str, own: tuple[str, ...]) -> None:
    """Raise unless `name` is one of the estimator's own optimisers or a method of the library."""
    if name in own:
        return
    try:
        find_method(name, METHODS)
    except InvalidInput as error:
        raise InvalidInput(f"`optimizer` must be {', '.join(own)} or a method of flipwise.minimize. {error}") from None


def validation_fit(estimator: Any, X: Any, y: Any, clock: Clock, **parameters: Any) -> Any:
    """A clone with these parameters, fitted in what is left of the time, to judge them by.

    It reports to nobody, and Ctrl-C is an interrupt here: the codes of a trial are no answer.
    """
    left = clock.seconds_left
    run = {
        "time_limit": None if left == np.inf else max(0.0, left),
        "callback": None,
        "verbose": False,
        "checkpoint": None,
    }
    trial = clone(estimator)
    known = trial.get_params(deep=False)  # an estimator from elsewhere may lack the parameters of a run
    trial.set_params(random_state=0, **{name: run[name] for name in run if name in known}, **parameters).fit(X, y)
    if getattr(getattr(trial, "result_", None), "status", None) is Status.INTERRUPTED:
        raise KeyboardInterrupt
    return trial
