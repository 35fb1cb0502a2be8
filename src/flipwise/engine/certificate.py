"""The proof of a bound as an object of its own: what is claimed of which problem, and what it takes to check that.

It is written to a file of plain values and arrays, and checked by `flipwise.verify`, whose code shares nothing with the
code that found it (see the page on certificates).
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from flipwise.foundation.atomic import write_atomically
from flipwise.foundation.container import decode, encode
from flipwise.foundation.errors import InvalidFile

VERSION = 1
"""Of what is in the file, beside the version of its container."""
PREFIX = "proof."


@dataclass(frozen=True, eq=False)
class Certificate:
    """What is proven, and how.

    Attributes
    ----------
    function
        Whose problem it is: "maxcut", "bisect", "qubo", "ising", "minimize" or "subgraph".
    kind
        The proof that it holds, such as "parts" or "loads".
    bound
        No point has a better value than this, in the unit of `result.value`.
    problem
        The number of variables or nodes and a hash of the numbers; also `k` or `count`, where there is one.
    proof
        Plain values and arrays.

    Examples
    --------
    >>> import flipwise
    >>> result = flipwise.maxcut((5, [[0, 1], [1, 2], [2, 3], [3, 4], [4, 0]]), seed=0)
    >>> result.certificate
    Certificate(function='maxcut', kind='parts', bound=4.0)
    """

    function: str
    kind: str
    bound: float
    problem: dict[str, Any] = field(repr=False)
    proof: dict[str, Any] = field(repr=False)

    def save(self, path: str | Path) -> None:
        """Write it to a file, whole or not at all."""
        plain = {"version": VERSION, "function": self.function, "kind": self.kind, "bound": self.bound}
        proof = {PREFIX + name: value for name, value in self.proof.items()}
        write_atomically(Path(path), encode("certificate", {**plain, "problem": self.problem, **proof}))

    @classmethod
    def load(cls, path: str | Path) -> Certificate:
        """Read one written by `save`; a file that is anything else is refused."""
        state = decode("certificate", Path(path).read_bytes(), str(path))
        version = state.pop("version", None)
        if version != VERSION:
            raise InvalidFile(f"{path}: a certificate of version {version!r}; this flipwise reads version {VERSION}.")
        own = {name: state.pop(name, None) for name in ("function", "kind", "bound", "problem")}
        kinds = {"function": str, "kind": str, "bound": float | int, "problem": dict}
        for name, kind in kinds.items():
            if not isinstance(own[name], kind) or isinstance(own[name], bool):
                raise InvalidFile(f"{path}: `{name}` of the certificate is missing or of another kind.")
        strange = [name for name in state if not name.startswith(PREFIX)]
        if strange or not math.isfinite(own["bound"]):
            raise InvalidFile(f"{path}: the certificate has an unknown part ({', '.join(strange) or 'bound'}).")
        return cls(
            own["function"],
            own["kind"],
            float(own["bound"]),
            own["problem"],
            {name.removeprefix(PREFIX): value for name, value in state.items()},
        )


def couplings_hash(n: int, couplings: Iterable[tuple[int, int, int]], exponent: int) -> str:
    """A hash of n spins and couplings i < j, J, in units of 2^exponent: of the numbers, however they are scaled."""
    hashed = hashlib.sha256(f"quadratic {n}\n".encode())
    for i, j, w in sorted(couplings):
        zeros = (w & -w).bit_length() - 1
        hashed.update(f"{i} {j} {w >> zeros} {exponent + zeros}\n".encode())
    return hashed.hexdigest()


def graph_hash(indptr: npt.NDArray[Any], indices: npt.NDArray[Any], weights: npt.NDArray[Any] | None) -> str:
    """A hash of a graph in rows of neighbours, ascending."""
    hashed = hashlib.sha256(f"graph {indptr.size - 1}\n".encode())
    hashed.update(np.ascontiguousarray(indptr, dtype=np.int64).data)
    hashed.update(np.ascontiguousarray(indices, dtype=np.int64).data)
    if weights is not None:
        hashed.update(np.ascontiguousarray(weights, dtype=np.float64).data)
    return hashed.hexdigest()
