"""What all hashing estimators share: the scikit-learn contract around a hash function and learned codes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from flipwise.foundation.arrays import Floats
from flipwise.foundation.checks import check_whole, is_number
from flipwise.foundation.errors import InvalidInput, MissingDependency
from flipwise.hashing.codes import Codes
from flipwise.hashing.functions import HashFunction, make_function

try:
    from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError:
    raise MissingDependency("scikit-learn", "hashing", "a hashing estimator") from None

OUTPUTS = ("packed", "bits", "signs")


class BaseHasher(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A transformer from features to binary codes.

    Subclasses set `function_` (the hash function) and `codes_` (the learned training codes) in `fit`.
    """

    _optimizers: tuple[str, ...] = ("dpcd",)

    function_: HashFunction
    codes_: Codes
    n_bits: int
    optimizer: str
    hash_function: str
    hash_options: dict[str, Any] | None
    output: str
    random_state: Any

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
        return validate_data(self, X, reset=reset, accept_sparse="csr", dtype=[np.float64, np.float32])

    def _start(self, X: Any, reset: bool = True) -> tuple[Any, np.random.Generator]:
        """The checked training features, and a generator; common parameters are checked here."""
        check_whole("n_bits", self.n_bits, 1)
        if self.output not in OUTPUTS:
            raise InvalidInput(f"`output` must be one of {', '.join(OUTPUTS)}, got {self.output!r}.")
        X = self._validated(X, reset)
        bits = int(self.n_bits)
        self._n_features_out = (bits + 7) // 8 if self.output == "packed" else bits
        return X, as_rng(self.random_state)

    def _new_function(self) -> HashFunction:
        return make_function(self.hash_function, self.hash_options)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        tags.input_tags.sparse = True
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
