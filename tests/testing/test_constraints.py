"""The contract of a constraint finds each broken rule, and the library's own constraints keep it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import flipwise
from flipwise import Cardinality, ColumnCounts, Free, GroupCounts
from flipwise.testing import check_constraint


class FirstUp(Free):
    """A right one, to be broken: entry 0 is +1."""

    def random(self, shape: Any, rng: Any) -> Any:
        return self.project(rng.standard_normal(shape))

    def project(self, y: Any) -> Any:
        x = super().project(y)
        x.reshape(-1)[0] = 1.0
        return x

    def violation(self, x: Any) -> Any:
        return None if np.asarray(x).reshape(-1)[0] > 0 else "entry 0 must be 1"

    def contains(self, x: Any) -> bool:
        return self.violation(x) is None

    def pair(self, plus: Any, minus: Any, g: Any) -> Any:
        moves = super().pair(plus, minus, g)
        return moves[moves != 0]


class Refuses(FirstUp):
    def check(self, shape: Any) -> None:
        raise flipwise.InvalidInput("no shape will do.")


class InfeasibleDraw(FirstUp):
    def random(self, shape: Any, rng: Any) -> Any:
        return Free.random(self, shape, rng)


class OwnRandomness(FirstUp):
    def random(self, shape: Any, rng: Any) -> Any:
        return self.project(np.random.default_rng().standard_normal(shape))


class Bits(FirstUp):
    def random(self, shape: Any, rng: Any) -> Any:
        return (super().random(shape, rng) + 1.0) / 2.0


class Integers(FirstUp):
    def random(self, shape: Any, rng: Any) -> Any:
        return super().random(shape, rng).astype(int)


class Inherited(FirstUp):
    def contains(self, x: Any) -> bool:
        return True


class SpinsOnly(FirstUp):
    def violation(self, x: Any) -> Any:
        return None if np.asarray(x).reshape(-1)[0] > -1 else "entry 0 must be 1"


class NoSentence(FirstUp):
    def violation(self, x: Any) -> Any:
        return None if np.asarray(x).reshape(-1)[0] > 0 else False


class InfeasibleProjection(FirstUp):
    def project(self, y: Any) -> Any:
        return Free.project(self, y)

    def random(self, shape: Any, rng: Any) -> Any:
        return FirstUp().random(shape, rng)


class FarProjection(FirstUp):
    def project(self, y: Any) -> Any:
        return np.ones(y.shape)

    def random(self, shape: Any, rng: Any) -> Any:
        return FirstUp().random(shape, rng)


class LosesPair(FirstUp):
    def pair(self, plus: Any, minus: Any, g: Any) -> Any:
        return Free.pair(self, plus, minus, g)


class InventsMoves(FirstUp):
    def pair(self, plus: Any, minus: Any, g: Any) -> Any:
        return np.arange(1, g.size)


class TwiceTheSame(FirstUp):
    def pair(self, plus: Any, minus: Any, g: Any) -> Any:
        return np.repeat(super().pair(plus, minus, g), 2)


class PairsWithoutSwaps(FirstUp):
    def pair(self, plus: Any, minus: Any, g: Any) -> Any:
        return super().pair(plus, minus, g).reshape(-1, 1)


class Even(Free):
    """An even number of ones: two flips together keep it, one alone does not."""

    def random(self, shape: Any, rng: Any) -> Any:
        return self.project(rng.standard_normal(shape))

    def violation(self, x: Any) -> Any:
        return "the number of ones must be even" if np.count_nonzero(np.asarray(x) > 0) % 2 else None

    def contains(self, x: Any) -> bool:
        return self.violation(x) is None

    def project(self, y: Any) -> Any:
        x = super().project(y)
        if self.violation(x):
            x.reshape(-1)[np.abs(y).argmin()] *= -1.0
        return x

    def pair(self, plus: Any, minus: Any, g: Any) -> Any:
        moves = super().pair(plus, minus, g)
        return moves[: moves.size // 2 * 2]


class TakesTooMuch(FirstUp):
    def gauge(self, g: Any) -> Any:
        return g - g.mean()


class ShortLabels(FirstUp):
    def labels(self, shape: Any) -> Any:
        return np.zeros(1, dtype=np.int64)


class LooseSwaps(FirstUp):
    """Swaps, but the number of ones is open."""

    @property
    def swaps(self) -> bool:
        return True

    def pair(self, plus: Any, minus: Any, g: Any) -> Any:
        return np.empty((0, 2), dtype=np.int64)


BROKEN = [
    (object(), "it has no `swaps`"),
    (Refuses(), "`check` refuses the shape .*: no shape will do"),
    (InfeasibleDraw(), "`random` must give a feasible array; `violation` says of one: entry 0 must be 1"),
    (OwnRandomness(), "`random` must take its randomness from `rng` only"),
    (Bits(), "`random` must give entries -1.0 and 1.0 only, not 0.0"),
    (Integers(), "`random` must give a float64 array of shape .*, not int64"),
    (Inherited(), "`contains` says True of an array of which `violation` says 'entry 0 must be 1'"),
    (SpinsOnly(), "of the same array of 0 and 1: look at `x > 0`"),
    (NoSentence(), "`violation` must be None or a sentence, it is False"),
    (InfeasibleProjection(), "`project` must give a feasible array"),
    (FarProjection(), "`project` must give the nearest feasible array"),
    (LosesPair(), "the moves of `pair` must keep feasibility, .*: entry 0 must be 1"),
    (InventsMoves(), "an entry that was not selected"),
    (TwiceTheSame(), "every entry at most once"),
    (PairsWithoutSwaps(), "`pair` must give indices, as `swaps` says"),
    (Even(), "made alone they led to an array of which `violation` says: the number of ones must be even"),
    (TakesTooMuch(), "`gauge` may take out only what is the same for all feasible arrays"),
    (ShortLabels(), "one for each of the 8 entries"),
    (LooseSwaps(), "a fixed number of ones"),
]


@pytest.mark.parametrize("shape", [8, (4, 2)], ids=["vector", "matrix"])
@pytest.mark.parametrize(("constraint", "sentence"), BROKEN, ids=lambda part: type(part).__name__)
def test_a_broken_rule_is_named(constraint: Any, sentence: str, shape: Any) -> None:
    """The error begins with the class and says which rule is broken."""
    with pytest.raises(AssertionError, match=f"(?s)^{type(constraint).__name__}: .*{sentence}"):
        check_constraint(constraint, shape)


def test_what_the_search_cannot_keep_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where DPCD ends outside the set, the error says that it was DPCD, and what is wrong."""

    def failing(*_: Any, **__: Any) -> None:
        raise flipwise.InfeasibleAnswer("the answer breaks it")

    monkeypatch.setattr("flipwise.testing.constraints.minimize", failing)
    with pytest.raises(AssertionError, match="FirstUp: DPCD could not keep it: the answer breaks it"):
        check_constraint(FirstUp(), 8)


@pytest.mark.parametrize(
    ("constraint", "shape"),
    [
        (FirstUp(), 8),
        (Free(), (3, 4)),
        (Cardinality(3), 8),
        (Cardinality(0), 8),
        (Cardinality(40), 100),
        (ColumnCounts(2), (4, 2)),
        (GroupCounts(np.repeat([0, 1, 2], 4), [1, 0, 4]), (4, 3)),
    ],
    ids=lambda part: str(part) if isinstance(part, tuple | int) else type(part).__name__,
)
def test_right_constraints_pass(constraint: Any, shape: Any) -> None:
    """Nothing is raised."""
    check_constraint(constraint, shape)
