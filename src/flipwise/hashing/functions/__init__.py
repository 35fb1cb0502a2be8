"""Hash functions: from features to the real values whose signs are the bits. Fitted to codes that are already known."""

from __future__ import annotations

from typing import Any, Protocol, Self

import numpy as np
import numpy.typing as npt

from flipwise.foundation.arrays import Floats
from flipwise.foundation.errors import InvalidInput
from flipwise.hashing.functions.rbf import RBFFunction
from flipwise.hashing.functions.ridge import LinearFunction, Targets
from flipwise.hashing.functions.trees import TreesFunction


class HashFunction(Protocol):
    """What an estimator needs of a hash function; the signs of its `decision` are the bits."""

    kind: str

    def fit(self, X: Any, targets: Targets, rng: np.random.Generator) -> Self: ...

    def decision(self, X: Any) -> Floats: ...

    def arrays(self) -> dict[str, npt.NDArray[Any]]: ...


_KINDS: dict[str, Any] = {"linear": LinearFunction, "rbf": RBFFunction, "trees": TreesFunction}


def make_function(name: str, options: dict[str, Any] | None) -> HashFunction:
    """A new hash function; `options` are the parameters of its class."""
    if name not in _KINDS:
        raise InvalidInput(f"`hash_function` must be one of {', '.join(_KINDS)}, got {name!r}.")
    try:
        function: HashFunction = _KINDS[name](**(options or {}))
    except TypeError as error:
        raise InvalidInput(f'`hash_options` do not fit hash_function="{name}": {error}.') from None
    return function


def function_from_arrays(kind: str, arrays: dict[str, npt.NDArray[Any]]) -> HashFunction:
    """A fitted hash function from what `arrays()` gave."""
    if kind not in _KINDS:
        raise InvalidInput(f"unknown hash function {kind!r} in the file.")
    function: HashFunction = _KINDS[kind].from_arrays(arrays)
    return function
