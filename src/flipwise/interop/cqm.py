"""Constrained quadratic models of dimod as problems of bits with linear rows.

Spins are 2b - 1. An integer from l to u is l + b_0 + 2 b_1 + 4 b_2 + ... with a last bit that makes up for the rest, so
that every value of its bits is within its limits. A product of two bits inside a constraint becomes a bit of its own,
tied to the two by rows. What cannot be translated is refused by name.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from flipwise.foundation.arrays import Floats
from flipwise.foundation.errors import IncompatibleObjective, InvalidInput, MissingDependency
from flipwise.model.groups import GroupCounts
from flipwise.model.problem import Problem, as_problem
from flipwise.model.rows import LinearConstraints
from flipwise.qubo.models import QuadraticModel

try:
    import dimod
except ImportError:
    raise MissingDependency("dimod", "dimod", "constrained quadratic models") from None

WIDEST = 2**31
"""The widest range of an integer variable: dimod's own default has no use in bits."""


@dataclass
class _Bits:
    """A polynomial of degree 2 in bits: its constant, linear part and products i < j."""

    constant: float = 0.0
    linear: dict[int, float] = field(default_factory=dict)
    products: dict[tuple[int, int], float] = field(default_factory=dict)

    def add(self, bit: int, coefficient: float) -> None:
        self.linear[bit] = self.linear.get(bit, 0.0) + coefficient

    def add_product(self, i: int, j: int, coefficient: float) -> None:
        if i == j:  # b b = b
            self.add(i, coefficient)
            return
        key = (min(i, j), max(i, j))
        self.products[key] = self.products.get(key, 0.0) + coefficient


class Encoding:
    """The bits of every variable of a model: value = constant + sum of coefficient * bit."""

    def __init__(self, cqm: dimod.ConstrainedQuadraticModel) -> None:
        self.labels: list[Hashable] = list(cqm.variables)
        self.constants: dict[Hashable, float] = {}
        self.bits: dict[Hashable, list[tuple[int, float]]] = {}
        self.n = 0
        for label in self.labels:
            kind = cqm.vartype(label)
            if kind is dimod.BINARY:
                self._add_encoding(label, 0.0, [1.0])
            elif kind is dimod.SPIN:
                self._add_encoding(label, -1.0, [2.0])
            elif kind is dimod.INTEGER:
                low, high = math.ceil(cqm.lower_bound(label)), math.floor(cqm.upper_bound(label))
                if high - low > WIDEST:
                    raise IncompatibleObjective(
                        f"the integer variable {label!r} of `cqm` ranges from {low} to {high}: give it an upper bound "
                        f"at most {WIDEST} above the lower one, dimod.Integer({label!r}, upper_bound=...)."
                    )
                self._add_encoding(label, float(low), _bit_weights(high - low))
            else:
                raise IncompatibleObjective(
                    f"the variable {label!r} of `cqm` is {kind.name}: only whole numbers can be."
                )

    def _add_encoding(self, label: Hashable, constant: float, coefficients: list[float]) -> None:
        """A variable is this constant plus its new bits, each times its coefficient."""
        self.constants[label] = constant
        self.bits[label] = [(self.n + k, coefficient) for k, coefficient in enumerate(coefficients)]
        self.n += len(coefficients)

    def expanded(self, model: Any) -> _Bits:
        """A quadratic expression of the model's variables in bits."""
        made = _Bits(float(model.offset))
        for label, bias in model.linear.items():
            made.constant += float(bias) * self.constants[label]
            for bit, coefficient in self.bits[label]:
                made.add(bit, float(bias) * coefficient)
        for u, v, given in model.iter_quadratic():
            bias = float(given)
            made.constant += bias * self.constants[u] * self.constants[v]
            for bit, coefficient in self.bits[u]:
                made.add(bit, bias * coefficient * self.constants[v])
            for bit, coefficient in self.bits[v]:
                made.add(bit, bias * coefficient * self.constants[u])
            for i, a in self.bits[u]:
                for j, b in self.bits[v]:
                    made.add_product(i, j, bias * a * b)
        return made

    def decoded(self, samples: npt.NDArray[Any]) -> Floats:
        """The values of the variables, a row for each sample."""
        values = np.empty((len(samples), len(self.labels)))
        for column, label in enumerate(self.labels):
            values[:, column] = self.constants[label]
            for bit, coefficient in self.bits[label]:
                values[:, column] += coefficient * samples[:, bit]
        return values

    def fixed(self, given: Mapping[Any, Any] | None) -> dict[int, int]:
        """The bits of variables that have one value."""
        found: dict[int, int] = {}
        for label, value in (given or {}).items():
            if label not in self.bits:
                raise InvalidInput(
                    f"`fixed` names the variable {label!r}, which is none of the {len(self.labels)} there are."
                )
            left = value - self.constants[label]
            for bit, coefficient in sorted(self.bits[label], key=lambda each: -each[1]):
                found[bit] = int(left >= coefficient)
                left -= found[bit] * coefficient
            if left != 0:
                raise InvalidInput(f"`fixed` gives the variable {label!r} the value {value!r}, which it cannot have.")
        return found


def _bit_weights(width: int) -> list[float]:
    """1, 2, 4, ... and a rest, which add up to `width`."""
    steps: list[float] = []
    while width > 0:
        step = min(1 << len(steps), width)
        steps.append(float(step))
        width -= step
    return steps


@dataclass
class _Rows:
    """Rows of bits as they are collected, with the bits that stand for products."""

    n: int
    entries: list[tuple[int, int, float]] = field(default_factory=list)
    lower: list[float] = field(default_factory=list)
    upper: list[float] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    products: dict[tuple[int, int], int] = field(default_factory=dict)

    def add(self, name: str, linear: Mapping[int, float], lower: float, upper: float) -> None:
        row = len(self.lower)
        self.entries += [(row, bit, coefficient) for bit, coefficient in linear.items() if coefficient != 0.0]
        self.lower.append(lower)
        self.upper.append(upper)
        self.names.append(name)

    def product(self, i: int, j: int) -> int:
        """The bit that is b_i b_j."""
        if (i, j) not in self.products:
            z = self.products[i, j] = self.n
            self.n += 1
            for one in (i, j):
                self.add(f"product of bits {i} and {j}", {z: 1.0, one: -1.0}, -np.inf, 0.0)
            self.add(f"product of bits {i} and {j}", {i: 1.0, j: 1.0, z: -1.0}, -np.inf, 1.0)
        return self.products[i, j]

    def of(self, label: Hashable, comparison: Any, encoding: Encoding) -> None:
        """Add a constraint of the model."""
        if comparison.lhs.is_soft():
            raise IncompatibleObjective(f"constraint {label!r} is soft: put its penalty into the objective.")
        made = encoding.expanded(comparison.lhs)
        for (i, j), coefficient in made.products.items():
            if coefficient != 0.0:
                made.add(self.product(i, j), coefficient)
        right = float(comparison.rhs) - made.constant
        senses = dimod.sym.Sense
        lower = -np.inf if comparison.sense is senses.Le else right
        self.add(str(label), made.linear, lower, np.inf if comparison.sense is senses.Ge else right)

    def made(self) -> LinearConstraints | None:
        """The rows; None where there is none."""
        if not self.lower:
            return None
        at = np.array([row for row, _, _ in self.entries], dtype=np.int64)
        columns = np.array([bit for _, bit, _ in self.entries], dtype=np.int64)
        values = np.array([value for _, _, value in self.entries], dtype=np.float64)
        matrix: Any = sp.csr_array((values, (at, columns)), shape=(len(self.lower), self.n))
        return LinearConstraints(matrix, self.lower, self.upper, variables="binary", names=self.names)


def problem_of(cqm: dimod.ConstrainedQuadraticModel, fixed: Mapping[Any, Any] | None) -> tuple[Problem, Encoding]:
    """The problem of bits that a constrained model is, and how its points are values of the model's variables."""
    encoding = Encoding(cqm)
    if encoding.n == 0:
        raise InvalidInput("`cqm` has no variables that can change.")
    goal = encoding.expanded(cqm.objective)
    counts = _counts_of(cqm)
    rows = _Rows(encoding.n)
    if counts is None:
        for label, comparison in cqm.constraints.items():
            rows.of(label, comparison, encoding)
    own = [(i, i, value) for i, value in goal.linear.items()]
    terms = own + [(i, j, value) for (i, j), value in goal.products.items()]
    i, j, values = (np.array(part) for part in zip(*terms, strict=True)) if terms else (np.zeros(0, np.int64),) * 3
    model = QuadraticModel.from_terms(rows.n, i, j, values, goal.constant, "binary")
    return as_problem(model.objective(), None, counts, None, encoding.fixed(fixed), rows.made()), encoding


def _counts_of(cqm: dimod.ConstrainedQuadraticModel) -> GroupCounts | None:
    """The constraints as exact counts, where that is what they are: every variable is binary and in one of them."""
    order = list(cqm.variables)
    if not cqm.constraints or any(cqm.vartype(v) is not dimod.BINARY for v in order):
        return None
    place = {v: k for k, v in enumerate(order)}
    groups = np.full(len(order), -1, dtype=np.int64)
    ones: list[int] = []
    for comparison in cqm.constraints.values():
        left = comparison.lhs
        biases = {v: b for v, b in left.linear.items() if b != 0.0}
        factor = next(iter(biases.values()), 0.0)
        same = bool(biases) and all(b == factor for b in biases.values())
        if comparison.sense is not dimod.sym.Sense.Eq or left.num_interactions or not same or left.is_soft():
            return None
        count = (comparison.rhs - left.offset) / factor
        inside = [place[v] for v in biases]
        if (groups[inside] >= 0).any() or count != int(count) or not 0 <= count <= len(inside):
            return None
        groups[inside] = len(ones)
        ones.append(int(count))
    return None if (groups < 0).any() else GroupCounts(groups, np.array(ones, dtype=np.int64))
