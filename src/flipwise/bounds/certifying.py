"""The certificate of a bound on a quadratic: the steps of the presolve, and for each part what proves its bound.

Everything is in integers: energies are sum_{i<j} J_ij s_i s_j with the couplings of `integers`, times `SCALE`. How each
kind of proof is checked stands in the documentation and, in code of its own, in `flipwise.verification`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from flipwise.bounds.integers import IntegerModel
from flipwise.bounds.parts import Part
from flipwise.bounds.presolve import SCALE, Presolved
from flipwise.engine.certificate import Certificate, couplings_hash
from flipwise.foundation.arrays import Ints

ENUMERATED = 23
"""Parts of so many spins are enumerated anew by who checks the certificate."""


def identity(model: IntegerModel) -> dict[str, Any]:
    """Which quadratic is spoken of."""
    first, second, J = model.edges
    couplings = zip(first.tolist(), second.tolist(), J, strict=True)
    return {"n": model.n, "hash": couplings_hash(model.n, couplings, model.exponent)}


def parts_certificate(
    model: IntegerModel, presolved: Presolved, parts: list[Part], least: int, bound: float
) -> Certificate | None:
    """That no energy is below `least`, and no value below `bound`; None where a part's proof was too large to keep."""
    described = []
    for part in parts:
        nodes = _tree_nodes(part)
        if nodes is None:
            return None
        proven = _trivial_bound(part) if part.bound is None else part.bound
        described.append({"members": part.members, "bound": proven, "nodes": nodes})
    steps = [[i, *([follows[0][0]] if len(follows) == 1 else [])] for i, follows in presolved.decided]
    proof = {"exponent": model.exponent, "scale": SCALE, "steps": steps, "parts": described, "energy": least}
    return Certificate("minimize", "parts", bound, identity(model), proof)


def enumeration_certificate(model: IntegerModel, count: int, bound: float) -> Certificate | None:
    """That no point with so many ones has a value below `bound`; None where there are too many to look at again."""
    if model.n > ENUMERATED:
        return None
    return Certificate("minimize", "enumeration", bound, {**identity(model), "count": count}, {})


def _trivial_bound(part: Part) -> int:
    return part.lift(-sum(map(abs, part.J)))


def _tree_nodes(part: Part) -> list[dict[str, Any]] | None:
    """The nodes of a tree that proves the bound of a part."""
    if part.bound is None or part.bound <= _trivial_bound(part):
        return [{"shift": 0, "rows": []}]
    ranks = np.empty(part.first.size, dtype=np.int64)
    ranks[np.lexsort((np.maximum(part.first, part.second), np.minimum(part.first, part.second)))] = np.arange(
        ranks.size
    )
    for journal in part.journals:
        nodes = journal.tree(part.bound, lambda proof: _node_in_numbers(proof, ranks))
        if nodes is not None:
            return nodes
    return [{"enumerate": True}] if part.n <= ENUMERATED + 1 else None


def _node_in_numbers(proof: dict[str, Any], ranks: Ints) -> dict[str, Any]:
    """A node's proof in plain numbers; the edges of a part are numbered in the order of their ends."""
    if "rows" in proof:
        rows = [[y, *(2 * int(ranks[mark >> 1]) + (mark & 1) for mark in row)] for row, y in proof["rows"]]
        return {**proof, "rows": rows}
    if "U" in proof:
        forms = [[int(number) for p in np.flatnonzero(row) for number in (p, row[p])] for row in proof["b"]]
        return {"shift": proof["shift"], "U": proof["U"], "Z": proof["Z"], "forms": forms}
    return proof
