"""BQPJSON 1.0.0 (lanl-ansi/bqpjson): JSON with spin or boolean variables, a scale and an offset.

The energy is scale * (linear + quadratic + offset), to be minimised.
"""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from flipwise.foundation.checks import Variables
from flipwise.foundation.errors import InvalidFile, InvalidInput
from flipwise.qubo.formats.text import read_text, write_text
from flipwise.qubo.models import QuadraticModel

_DOMAINS: dict[str, Variables] = {"boolean": "binary", "spin": "spin"}


def read_bqpjson(path: Path) -> QuadraticModel:
    """Read a problem; the variables' numbers become labels unless they are 0, 1, 2, ..."""
    try:
        record: dict[str, Any] = json.loads(read_text(path), object_pairs_hook=_without_repeats)
        ids = list(record["variable_ids"])
        place = {name: k for k, name in enumerate(ids)}
        if len(place) != len(ids) or not all(type(name) is int for name in ids):
            raise ValueError("variable_ids must be whole numbers, each once")
        variables = _DOMAINS[record["variable_domain"]]
        scale = _checked_number(record.get("scale", 1.0))
        linear = record["linear_terms"]
        quadratic = record["quadratic_terms"]
        a = np.zeros(len(ids))
        for term in linear:
            a[place[term["id"]]] += scale * _checked_number(term["coeff"])
        i = [place[term["id_tail"]] for term in quadratic]
        j = [place[term["id_head"]] for term in quadratic]
        b = np.array([scale * _checked_number(term["coeff"]) for term in quadratic])
        offset = scale * _checked_number(record.get("offset", 0.0))
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
        raise InvalidFile(f"{path}: not a BQPJSON file ({type(error).__name__}: {error}).") from None
    labels = None if ids == list(range(len(ids))) else tuple(ids)
    couplings = QuadraticModel.from_terms(len(ids), i, j, b, offset, variables, labels)
    return replace(couplings, linear=a + couplings.linear)


def _checked_number(value: Any) -> float:
    """A number that JSON has as one."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"expected a finite number, got {value!r}")
    return float(value)


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object; one that has a key twice means two things."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError(f"a key stands twice among {', '.join(key for key, _ in pairs)[:80]}")
    return found


def write_bqpjson(model: QuadraticModel, path: Path) -> None:
    """Write a problem; labels must be integers of at least 0."""
    ids = list(range(model.n)) if model.labels is None else list(model.labels)
    if not all(isinstance(name, int) and not isinstance(name, bool) and name >= 0 for name in ids):
        raise InvalidInput("BQPJSON names variables by integers of at least 0; relabel the model first.")
    record = {
        "version": "1.0.0",
        "id": 0,
        "metadata": {},
        "variable_ids": ids,
        "variable_domain": "boolean" if model.variables == "binary" else "spin",
        "scale": 1.0,
        "offset": model.offset,
        "linear_terms": [
            {"id": ids[k], "coeff": float(model.linear[k])} for k in np.flatnonzero(model.linear).tolist()
        ],
        "quadratic_terms": [
            {"id_tail": ids[i], "id_head": ids[j], "coeff": b}
            for i, j, b in zip(model.i.tolist(), model.j.tolist(), model.b.tolist(), strict=True)
        ],
    }
    write_text(path, [json.dumps(record)])
