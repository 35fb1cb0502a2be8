"""Fitted estimators and codes in safetensors files: arrays and text, nothing that can run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from flipwise.foundation.atomic import write_atomically
from flipwise.foundation.errors import InvalidFile, InvalidInput, MissingDependency
from flipwise.hashing.codes import Codes

_VERSION = "1"
"""Of the layout of the files."""
_QUANTIZER = "AdditiveQuantizer"
_QUANTIZER_ARRAYS = ("codebooks", "mean", "axes")
_ESTIMATORS = ("SDH", "FSDH", "FastHash", "ARE", "ITQ", "SADH")


def save(what: Any, path: str | Path) -> None:
    """Write a fitted estimator or `Codes` to a safetensors file, which appears when it is complete.

    An estimator is saved with its parameters, hash function and training codes; a callback, a checkpoint and labels for
    `score` are left out, and a loaded estimator cannot go on with `partial_fit`.

    Examples
    --------
    >>> import os, tempfile, numpy as np
    >>> from flipwise.hashing import ITQ, load, save
    >>> X = np.random.default_rng(0).standard_normal((50, 8))
    >>> itq = ITQ(n_bits=16, random_state=0).fit(X)
    >>> path = os.path.join(tempfile.mkdtemp(), "itq.safetensors")
    >>> save(itq, path)
    >>> np.array_equal(load(path).transform(X), itq.transform(X))
    True
    """
    write_atomically(Path(path), content_of(what))


def content_of(what: Any) -> bytes:
    """The bytes of the file that `save` writes."""
    module = _safetensors()
    if isinstance(what, Codes):
        about = {"kind": "codes", "n_bits": str(what.n_bits), "bit_order": what.bit_order}
        return bytes(module.save({"packed": what.packed}, {"flipwise": _VERSION, **about}))
    name = type(what).__name__
    if name == _QUANTIZER and hasattr(what, "codebooks_"):
        arrays = {key: np.ascontiguousarray(getattr(what, f"{key}_")) for key in _QUANTIZER_ARRAYS}
    elif name in _ESTIMATORS and hasattr(what, "function_"):
        arrays = {f"function.{key}": np.ascontiguousarray(value) for key, value in what.function_.arrays().items()}
        arrays["codes"] = what.codes_.packed
    else:
        raise InvalidInput(f"`what` must be Codes or a fitted hashing estimator, got {name}.")
    features = getattr(what, "feature_names_in_", None)
    parameters = what.get_params(deep=False)
    parameters |= {key: None for key in ("callback", "checkpoint") if key in parameters}  # they belong to one fit
    about = {
        "kind": "estimator",
        "class": name,
        "function": getattr(getattr(what, "function_", None), "kind", "none"),
        "parameters": json.dumps(parameters, default=_as_json),
        "n_features": str(what.n_features_in_),
        "feature_names": json.dumps(None if features is None else [str(f) for f in features]),
    }
    return bytes(module.save(arrays, {"flipwise": _VERSION, **about}))


def load(path: str | Path) -> Any:
    """Read what `save` wrote: `Codes`, or an estimator that transforms as the saved one did.

    Examples
    --------
    >>> import os, tempfile
    >>> from flipwise.hashing import Codes, load, save
    >>> path = os.path.join(tempfile.mkdtemp(), "codes.safetensors")
    >>> save(Codes.from_signs([[1, -1, 1]]), path)
    >>> load(path).signs().tolist()
    [[1, -1, 1]]
    """
    module = _safetensors()
    from safetensors import safe_open

    try:
        with safe_open(str(path), framework="numpy") as file:
            about = file.metadata() or {}
        arrays = module.load_file(str(path))
    except FileNotFoundError:
        raise
    except Exception as error:
        raise InvalidFile(f"{path} is not a safetensors file: {error}") from None
    return _object_from_file(path, about, arrays)


def estimator_in(content: bytes, path: str | Path) -> Any:
    """The estimator whose file has these bytes, which are a part of the file at `path`."""
    module = _safetensors()
    try:
        arrays = module.load(content)
        header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
        about = header.get("__metadata__") or {}
    except Exception as error:
        raise InvalidFile(f"{path}: the model in it is not a safetensors file: {error}") from None
    model = _object_from_file(path, about, arrays)
    if isinstance(model, Codes):
        raise InvalidFile(f"{path}: holds codes in the place of a model.")
    return model


def _object_from_file(path: str | Path, about: dict[str, Any], arrays: dict[str, Any]) -> Any:
    """What a file describes."""
    if about.get("flipwise") != _VERSION:
        raise InvalidFile(f"{path} was not written by flipwise.hashing.save (version {_VERSION}).")
    try:
        if about["kind"] == "codes":
            return Codes(arrays["packed"], int(about["n_bits"]), about["bit_order"])
        return _estimator_from_file(path, about, arrays)
    except InvalidFile:
        raise
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, RecursionError) as error:
        raise InvalidFile(f"{path}: a part is missing or damaged ({type(error).__name__}: {error}).") from None


def _estimator_from_file(path: str | Path, about: dict[str, str], arrays: dict[str, Any]) -> Any:
    """The estimator that a file describes."""
    from flipwise import hashing
    from flipwise.hashing.functions.ridge import function_from_arrays

    if about["class"] not in (*_ESTIMATORS, _QUANTIZER):
        raise InvalidFile(f"{path} holds an unknown estimator {about['class']!r}.")
    parameters = json.loads(about["parameters"])
    if isinstance(parameters.get("alpha"), list):
        parameters["alpha"] = tuple(parameters["alpha"])
    estimator = getattr(hashing, about["class"])(**parameters)
    estimator.n_features_in_ = int(about["n_features"])
    _set_names(estimator, json.loads(about["feature_names"]))
    if about["class"] == _QUANTIZER:
        _set_codebooks(estimator, arrays)
        return estimator
    held = {key.removeprefix("function."): value for key, value in arrays.items() if key.startswith("function.")}
    estimator.function_ = function_from_arrays(about["function"], held)
    estimator.codes_ = Codes(arrays["codes"], estimator.n_bits)
    _check_function(estimator.function_, estimator.n_features_in_, estimator.n_bits)
    estimator._n_features_out = arrays["codes"].shape[1] if estimator.output == "packed" else estimator.n_bits
    return estimator


def _set_names(estimator: Any, names: Any) -> None:
    """Remember the names of the features, where there are any."""
    if names is not None and (not isinstance(names, list) or len(names) != estimator.n_features_in_):
        raise ValueError("not one name for each feature")
    if names is not None:
        estimator.feature_names_in_ = np.array(names, dtype=object)


def _set_codebooks(estimator: Any, arrays: dict[str, Any]) -> None:
    """Give a quantiser its arrays; a `ValueError` unless they fit each other."""
    codebooks, mean, axes = (arrays[key] for key in _QUANTIZER_ARRAYS)
    if any(a.dtype != np.float32 or not np.isfinite(a).all() for a in (codebooks, mean, axes)):
        raise ValueError("numbers that are not finite, or not in single precision")
    width = axes.shape[1]
    if codebooks.shape != (estimator.n_bytes, 256, width) or axes.shape[0] != estimator.n_features_in_:
        raise ValueError(f"codebooks of shape {codebooks.shape} for {estimator.n_bytes} bytes and {width} axes")
    if mean.shape != (estimator.n_features_in_,):
        raise ValueError("a mean of another number of features")
    estimator.codebooks_, estimator.mean_, estimator.axes_ = codebooks, mean, axes
    estimator._n_features_out = estimator.n_bytes


def _check_function(function: Any, n_features: int, n_bits: int) -> None:
    """Raise a `ValueError` unless the arrays are those of a hash function of so many features for so many bits."""
    held = function.arrays()
    if not 1 <= n_features < 2**31:
        raise ValueError(f"a number of features of {n_features}")
    if any(a.dtype.kind not in "fiu" or (a.dtype.kind == "f" and not np.isfinite(a).all()) for a in held.values()):
        raise ValueError("numbers that are not finite")
    if function.kind == "trees":
        _check_trees(held, n_features, n_bits)
        return
    width = held["anchors"].shape[1] if function.kind == "rbf" else held["P"].shape[0]
    if width != n_features or held["bias"].shape != (n_bits,) or held["P"].ndim != 2:
        raise ValueError(
            f"a hash function of {width} features, or of other than {n_bits} bits, instead of {n_features}"
        )
    shape = function.decision(np.zeros((1, n_features))).shape
    if shape != (1, n_bits):
        raise ValueError(f"values of shape {shape} instead of (1, {n_bits})")


def _check_trees(held: dict[str, Any], n_features: int, n_bits: int) -> None:
    """Raise a `ValueError` unless every step down a tree ends: a node points to later ones, a leaf to itself."""
    start, left, right, feature = (held[name] for name in ("start", "left", "right", "feature"))
    size = left.size
    own = np.arange(size)
    shaped = right.shape == feature.shape == held["threshold"].shape == left.shape == (size,)
    if not shaped or held["value"].shape != (size, n_bits) or held["bias"].shape != (n_bits,):
        raise ValueError("the arrays of the trees differ in length")
    if start.ndim != 1 or start.size < 2 or start[0] != 0 or start[-1] != size or (np.diff(start) < 1).any():
        raise ValueError("the trees do not begin one behind another")
    if any(side.dtype.kind != "i" or (side < own).any() or (side >= size).any() for side in (left, right)):
        raise ValueError("a node of a tree points before itself or outside")
    if feature.dtype.kind != "i" or (feature < 0).any() or (feature >= n_features).any():
        raise ValueError("a tree asks for a feature that is not there")


def _as_json(value: Any) -> Any:
    """Parameters as JSON; a random state other than an integer is forgotten."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if isinstance(value, np.random.Generator | np.random.RandomState):
        return None
    raise InvalidInput(f"a parameter of type {type(value).__name__} cannot be saved.")


def _safetensors() -> Any:
    """The module that reads and writes arrays, where it is installed."""
    try:
        import safetensors.numpy
    except ImportError:
        raise MissingDependency("safetensors", "hashing", "saving and loading") from None
    return safetensors.numpy
