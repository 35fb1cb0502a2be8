"""The contract of a constraint."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from flipwise.foundation.arrays import Floats, Ints
from flipwise.foundation.errors import FlipwiseError, InfeasibleAnswer
from flipwise.minimization import minimize
from flipwise.model.constraints import Constraint
from flipwise.model.quadratic import Quadratic
from flipwise.model.smooth import checked_shape
from flipwise.model.terms import LowRank

MEMBERS = ("swaps", "check", "random", "violation", "contains", "project", "gauge", "pair", "labels")
DRAWS = 20
"""Random points, directions and pairings that are tried."""
LISTED = 10
"""Up to so many variables all feasible points are listed, so that nothing nearer than a projection is overlooked."""


def check_constraint(constraint: Any, shape: int | tuple[int, ...], *, seed: int = 0) -> None:
    """Raise an `AssertionError` when a constraint breaks a rule for arrays of this shape.

    The rules: `check` accepts the shape; `random` draws feasible arrays of -1.0 and 1.0, the same from the same
    generator; `violation` and `contains` agree, on -1/+1 and on 0/1; `project` gives the nearest feasible array and
    leaves feasible ones as they are; `pair` keeps feasibility, all moves together and each alone; `gauge` takes out
    only what is the same for all feasible arrays; `labels` has a group for each entry, and where moves are swaps every
    group has a fixed number of ones. At the end DPCD is run on a small quadratic and must keep the rule too.

    Examples
    --------
    >>> import flipwise
    >>> from flipwise.testing import check_constraint
    >>> check_constraint(flipwise.Cardinality(3), 8)
    >>> class Bad(flipwise.Free):
    ...     def violation(self, x):
    ...         return None if x[0] > 0 else "entry 0 must be 1"
    >>> check_constraint(Bad(), 8)
    Traceback (most recent call last):
    AssertionError: Bad: `random` must give a feasible array; `violation` says of one: entry 0 must be 1.
    """
    name = type(constraint).__name__
    missing = [member for member in MEMBERS if not hasattr(constraint, member)]
    if missing:
        raise AssertionError(f"{name}: it has no `{missing[0]}`; a constraint has {', '.join(MEMBERS)}.")
    assert isinstance(constraint, Constraint)
    checked = checked_shape("shape", shape)
    try:
        constraint.check(checked)
    except FlipwiseError as error:
        raise AssertionError(f"{name}: `check` refuses the shape {checked}: {error}") from None
    contract = _Contract(name, constraint, checked, np.random.default_rng(seed))
    contract.check_random()
    contract.check_membership()
    contract.check_projection()
    contract.check_labels()
    contract.check_pairing()
    contract.check_gauge()
    contract.check_in_use(seed)


@dataclass
class _Contract:
    """A constraint under test, for arrays of one shape."""

    name: str
    constraint: Constraint
    shape: tuple[int, ...]
    rng: np.random.Generator

    def fail(self, rule: str) -> AssertionError:
        """The error that says which rule is broken."""
        return AssertionError(f"{self.name}: {rule}")

    def drawn(self) -> Floats:
        """A random feasible array."""
        return self.constraint.random(self.shape, self.rng)

    def anything(self) -> Floats:
        """A random array, feasible or not."""
        return np.where(self.rng.random(self.shape) < 0.5, 1.0, -1.0)

    def check_array(self, x: Any, source: str) -> None:
        """`source` has given a feasible array of the right shape with entries -1.0 and 1.0."""
        if not isinstance(x, np.ndarray) or x.dtype != np.float64 or x.shape != self.shape:
            what = f"{x.dtype} of shape {x.shape}" if isinstance(x, np.ndarray) else type(x).__name__
            raise self.fail(f"{source} must give a float64 array of shape {self.shape}, not {what}.")
        if not (np.abs(x) == 1.0).all():
            raise self.fail(f"{source} must give entries -1.0 and 1.0 only, not {x[np.abs(x) != 1.0][0]}.")
        broken = self.constraint.violation(x)
        if broken is not None:
            raise self.fail(f"{source} must give a feasible array; `violation` says of one: {broken}.")

    def check_random(self) -> None:
        """`random` draws feasible arrays by the generator alone."""
        for _ in range(DRAWS):
            state = self.rng.bit_generator.state
            x = self.drawn()
            self.check_array(x, "`random`")
            twin = np.random.default_rng()
            twin.bit_generator.state = state
            if not np.array_equal(self.constraint.random(self.shape, twin), x):
                raise self.fail("`random` must take its randomness from `rng` only: one state gave two arrays.")

    def check_membership(self) -> None:
        """`violation` and `contains` say the same, of spins and of bits."""
        for x in [*(self.drawn() for _ in range(DRAWS)), *(self.anything() for _ in range(DRAWS))]:
            before = x.copy()
            broken, inside = self.constraint.violation(x), self.constraint.contains(x)
            if not (broken is None or isinstance(broken, str)):
                raise self.fail(f"`violation` must be None or a sentence, it is {broken!r}.")
            if inside != (broken is None):
                raise self.fail(f"`contains` says {inside} of an array of which `violation` says {broken!r}.")
            of_bits = self.constraint.violation((x > 0).astype(np.int8))
            if (of_bits is None) != (broken is None):
                raise self.fail(
                    f"`violation` says {broken!r} of an array of -1 and 1, and {of_bits!r} of the same array of 0 and "
                    "1: look at `x > 0`."
                )
            if not np.array_equal(x, before):
                raise self.fail("`violation` and `contains` must leave the array they are given as it is.")

    def check_projection(self) -> None:
        """`project` gives the nearest feasible array and leaves the feasible ones."""
        others = self.feasible()
        for scale in np.geomspace(0.01, 100.0, DRAWS):
            y = scale * self.rng.standard_normal(self.shape)
            before = y.copy()
            x = self.constraint.project(y)
            if not np.array_equal(y, before):
                raise self.fail("`project` must leave the array it is given as it is.")
            self.check_array(x, "`project`")
            gained = max(float(((other - x) * y).sum()) for other in others)  # |x - y|^2 = |x|^2 + |y|^2 - 2 x'y
            if gained > 1e-9 * float(np.abs(y).sum()):
                raise self.fail("`project` must give the nearest feasible array, but another one is nearer.")
        self.check_array(self.constraint.project(np.zeros(self.shape)), "`project`")
        for x in others[:DRAWS]:
            if not np.array_equal(self.constraint.project(x), x):
                raise self.fail("`project` must leave a feasible array as it is, but it has changed one.")

    def feasible(self) -> list[Floats]:
        """All feasible arrays where they are few enough to be listed, otherwise some."""
        n = int(np.prod(self.shape))
        if n > LISTED:
            return [self.drawn() for _ in range(DRAWS)]
        points = (np.array(signs).reshape(self.shape) for signs in product((-1.0, 1.0), repeat=n))
        return [x for x in points if self.constraint.violation(x) is None]

    def check_labels(self) -> None:
        """`labels` has a group for each entry; where moves are swaps the number of ones in each is fixed."""
        labels: Any = self.constraint.labels(self.shape)
        n = int(np.prod(self.shape))
        if not (isinstance(labels, np.ndarray) and labels.shape == (n,) and np.issubdtype(labels.dtype, np.integer)):
            raise self.fail(f"`labels` must be an array of integers, one for each of the {n} entries.")
        if labels.min() < 0:
            raise self.fail("`labels` must be groups 0, 1, 2, ..., but one is negative.")
        if not self.constraint.swaps:
            return
        counts = {tuple(np.bincount(labels, weights=self.drawn().reshape(-1) > 0)) for _ in range(DRAWS)}
        if len(counts) > 1:
            raise self.fail(
                "with `swaps` every group of `labels` must have a fixed number of ones, but two feasible arrays "
                "differ: swaps could never lead from one to the other. Let `swaps` be False."
            )

    def check_pairing(self) -> None:
        """`pair` makes moves of selected entries that keep feasibility, together and each alone."""
        for draw in range(DRAWS):
            x, g = self.drawn(), self.rng.standard_normal(self.shape)
            selected = self.rng.random(x.size) < (0.0, 0.3, 0.8, 1.0)[draw % 4]
            plus = np.flatnonzero((x.reshape(-1) > 0) & selected)
            minus = np.flatnonzero((x.reshape(-1) < 0) & selected)
            moves = self.constraint.pair(plus.copy(), minus.copy(), g.copy())
            self.check_moves(moves, plus, minus)
            chosen = self.rng.permutation(len(moves))[:DRAWS]
            for part, how in [(moves, "together"), *((moves[[i]], "alone") for i in chosen)]:
                moved = x.copy()
                moved.reshape(-1)[part.reshape(-1)] *= -1.0
                broken = self.constraint.violation(moved)
                if broken is not None:
                    raise self.fail(
                        f"the moves of `pair` must keep feasibility, together and each alone; made {how} they led to "
                        f"an array of which `violation` says: {broken}. Leave out what may break the rule."
                    )

    def check_moves(self, moves: Any, plus: Ints, minus: Ints) -> None:
        """Moves are selected entries, each at most once: indices, or pairs of a +1 and a -1 in rows."""
        form = "pairs (an entry at +1, one at -1) in rows" if self.constraint.swaps else "indices"
        if not isinstance(moves, np.ndarray) or not np.issubdtype(moves.dtype, np.integer):
            raise self.fail(f"`pair` must give an array of integers: {form}.")
        if moves.ndim != (2 if self.constraint.swaps else 1) or (self.constraint.swaps and moves.shape[1] != 2):
            raise self.fail(f"`pair` must give {form}, as `swaps` says; it gave an array of shape {moves.shape}.")
        if self.constraint.swaps:
            belongs = bool(np.isin(moves[:, 0], plus).all() and np.isin(moves[:, 1], minus).all())
        else:
            belongs = bool(np.isin(moves, np.concatenate([plus, minus])).all())
        if not belongs:
            raise self.fail("`pair` must choose among `plus` and `minus`, but it gave an entry that was not selected.")
        if np.unique(moves).size < moves.size:
            raise self.fail("`pair` must use every entry at most once.")

    def check_gauge(self) -> None:
        """`gauge` changes a linear function by something that is the same for all feasible arrays."""
        for _ in range(DRAWS):
            g, x, other = self.rng.standard_normal(self.shape), self.drawn(), self.drawn()
            before = g.copy()
            gauged: Any = self.constraint.gauge(g)
            if not np.array_equal(g, before):
                raise self.fail("`gauge` must leave the array it is given as it is.")
            if not isinstance(gauged, np.ndarray) or gauged.shape != self.shape:
                raise self.fail(f"`gauge` must give an array of shape {self.shape}.")
            taken = gauged - g
            if abs(float((taken * (x - other)).sum())) > 1e-8 * (1.0 + float(np.abs(taken).sum())):
                raise self.fail(
                    "`gauge` may take out only what is the same for all feasible arrays, but what it took out tells "
                    "two of them apart. Where nothing is undetermined, return `g`."
                )

    def check_in_use(self, seed: int) -> None:
        """DPCD keeps the rule on a quadratic of low rank, also when it follows the paper to the letter."""
        n = int(np.prod(self.shape))
        quadratic = Quadratic(LowRank(self.rng.standard_normal((n, 3)), [1.0, -1.0, -0.5]), shape=self.shape)
        for literal in (False, True):
            try:
                minimize(quadratic, constraint=self.constraint, seed=seed, restarts=3, literal=literal)
            except InfeasibleAnswer as error:
                raise self.fail(f"DPCD could not keep it: {error}") from None
