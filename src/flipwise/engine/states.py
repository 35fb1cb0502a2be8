"""The state of a solver as plain values and arrays, and back: how a checkpoint writes one object and gives one back.

A state is a dataclass. Its fields are arrays, numbers, strings, generators, lists and dictionaries of plain values,
other such dataclasses, or lists of them; the annotations say what is expected, and what does not fit is refused.
"""

from __future__ import annotations

import math
import types
import typing
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

import numpy as np

from flipwise.foundation.errors import FlipwiseError, InvalidFile, InvalidInput

S = TypeVar("S")
_GENERATORS = {k.__name__: k for k in (np.random.PCG64, np.random.PCG64DXSM, np.random.Philox, np.random.SFC64)}


def flattened(state: Any, prefix: str = "") -> dict[str, Any]:
    """The fields of a state as names and values that a file can hold; arrays are copied."""
    flat: dict[str, Any] = {}
    for field in fields(state):
        name, value = prefix + field.name, getattr(state, field.name)
        if isinstance(value, np.ndarray):
            flat[name] = value.copy()
        elif isinstance(value, np.random.Generator):
            flat[name] = generator_state(value)
        elif is_dataclass(value):
            flat[name] = True
            flat.update(flattened(value, name + "."))
        elif isinstance(value, list) and value and is_dataclass(value[0]):
            flat[name] = len(value)
            for place, each in enumerate(value):
                flat.update(flattened(each, f"{name}.{place}."))
        elif isinstance(value, dict):
            flat[name] = {key: plain(item) for key, item in value.items() if not isinstance(item, np.ndarray)}
            flat.update({f"{name}.{key}": item.copy() for key, item in value.items() if isinstance(item, np.ndarray)})
        else:
            flat[name] = plain(value)
    return flat


def rebuilt(kind: type[S], flat: Mapping[str, Any], prefix: str = "") -> S:
    """The state that `flattened` described; anything wrong with it is wrong with the file."""
    try:
        hints = typing.get_type_hints(kind)
        values = {f.name: _field_value(hints[f.name], prefix + f.name, flat) for f in fields(kind)}  # type: ignore[arg-type]
        return kind(**values)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, AssertionError) as error:
        if isinstance(error, FlipwiseError):
            raise
        raise InvalidFile(f"the checkpoint lacks a part of the state or misstates it ({error!r}).") from None


def _field_value(expected: Any, name: str, flat: Mapping[str, Any]) -> Any:
    """One field, checked against its annotation."""
    value = flat[name]
    origin, arguments = typing.get_origin(expected), typing.get_args(expected)
    if origin in (types.UnionType, typing.Union):
        if value is None and type(None) in arguments:
            return None
        return _field_value(next(each for each in arguments if each is not type(None)), name, flat)
    if origin is np.ndarray:
        return _checked_array(arguments, name, value)
    if expected is np.random.Generator:
        return restored_generator(value)
    if isinstance(expected, type) and is_dataclass(expected):
        return rebuilt(expected, flat, name + ".")
    if origin is list and isinstance(arguments[0], type) and is_dataclass(arguments[0]):
        return [rebuilt(arguments[0], flat, f"{name}.{place}.") for place in range(int(value or 0))]
    if origin is dict:
        arrays = {key.removeprefix(name + "."): v for key, v in flat.items() if key.startswith(name + ".")}
        return {**dict(value), **{key: _checked_array((), f"{name}.{key}", v) for key, v in arrays.items()}}
    return _plain_value(expected, origin, name, value)


def _plain_value(expected: Any, origin: Any, name: str, value: Any) -> Any:
    """A number, a string or a list, of the expected kind."""
    if expected is float:
        number = float(value)
        if math.isnan(number):
            raise InvalidFile(f"the checkpoint's `{name}` is not a number.")
        return number
    if expected in (int, bool, str):
        if not isinstance(value, expected) or (expected is int and isinstance(value, bool)):
            raise InvalidFile(f"the checkpoint's `{name}` must be of type {expected.__name__}, found {value!r}.")
        return value
    if origin is list and not isinstance(value, list):
        raise InvalidFile(f"the checkpoint's `{name}` must be a list.")
    return value


def _checked_array(arguments: tuple[Any, ...], name: str, value: Any) -> np.ndarray:
    """An array of the annotated kind of numbers, finite."""
    if not isinstance(value, np.ndarray):
        raise InvalidFile(f"the checkpoint's array `{name}` is missing.")
    scalar = typing.get_args(arguments[1])[0] if len(arguments) == 2 else np.generic
    scalar = typing.get_origin(scalar) or scalar
    if isinstance(scalar, type) and not np.issubdtype(value.dtype, scalar):
        raise InvalidFile(f"the checkpoint's array `{name}` holds {value.dtype} in place of {scalar.__name__}.")
    if value.dtype.kind == "f" and not np.isfinite(value).all():
        raise InvalidFile(f"the checkpoint's array `{name}` holds numbers that are not finite.")
    return value


def check_array(name: str, array: np.ndarray, shape: tuple[int | None, ...], *, signs: bool = False) -> None:
    """Raise unless an array of a state has this shape (None: any length) and, with `signs`, only -1 and +1."""
    fits = array.ndim == len(shape) and all(s in (None, v) for s, v in zip(shape, array.shape, strict=False))
    if not fits:
        raise InvalidFile(f"the checkpoint's array `{name}` does not fit this problem.")
    if signs and not (np.abs(array) == 1).all():
        raise InvalidFile(f"the checkpoint's array `{name}` holds other values than -1 and +1.")


def generator_state(rng: np.random.Generator) -> dict[str, Any]:
    """What it takes to rebuild a generator, including the children it will spawn."""
    sequence = rng.bit_generator.seed_seq
    if not isinstance(sequence, np.random.SeedSequence):
        raise InvalidInput("`seed`: a generator without a SeedSequence cannot be written to a checkpoint.")
    entropy: Any = sequence.entropy
    return {
        "kind": type(rng.bit_generator).__name__,
        "state": plain(rng.bit_generator.state),
        "entropy": plain(entropy),
        "spawn_key": [int(k) for k in sequence.spawn_key],
        "children": int(sequence.n_children_spawned),
    }


def restored_generator(state: Mapping[str, Any]) -> np.random.Generator:
    """The generator that `generator_state` described."""
    sequence = np.random.SeedSequence(
        state["entropy"], spawn_key=tuple(state["spawn_key"]), n_children_spawned=int(state["children"])
    )
    if state["kind"] not in _GENERATORS:
        raise InvalidFile(f"the checkpoint's generator {state['kind']} is not known.")
    bits = _GENERATORS[state["kind"]](sequence)
    bits.state = state["state"]
    return np.random.Generator(bits)


def plain(value: Any) -> Any:
    """NumPy scalars and arrays inside a value as what JSON can hold."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | list | tuple):
        return [plain(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value
