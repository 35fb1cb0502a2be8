"""Quadratic models: energies agree in both kinds of variables, terms in any order give the same model."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import flipwise
from flipwise.foundation.errors import InvalidInput
from flipwise.qubo.models import QuadraticModel


@st.composite
def models(draw: st.DrawFn) -> QuadraticModel:
    """Small models whose coefficients are multiples of 1/4."""
    n = draw(st.integers(1, 6))
    quarters = st.integers(-40, 40).map(lambda v: v / 4)
    pairs = list(itertools.combinations(range(n), 2))
    chosen = [p for p in pairs if draw(st.booleans())]
    linear = np.array([draw(quarters) for _ in range(n)])
    b = np.array([draw(quarters) for _ in chosen], dtype=np.float64)
    i, j = (np.array([p[k] for p in chosen], dtype=np.int64) for k in (0, 1))
    return QuadraticModel(linear, i, j, b, draw(quarters), draw(st.sampled_from(["spin", "binary"])))


@given(models())
def test_change_of_variables_keeps_every_energy(model: QuadraticModel) -> None:
    """Spins and bits give the same energy at corresponding points, exactly."""
    for bits in itertools.product([0, 1], repeat=model.n):
        x = np.array(bits)
        assert model.to_binary().energy(x) == model.to_spin().energy(2 * x - 1)


@given(models())
def test_there_and_back_gives_the_same_coefficients(model: QuadraticModel) -> None:
    """Changing the variables twice returns the model bit by bit (coefficients here are dyadic)."""
    other = model.to_spin().to_binary() if model.variables == "binary" else model.to_binary().to_spin()
    assert np.array_equal(other.linear, model.linear)
    assert np.array_equal(other.b, model.b)
    assert other.offset == model.offset


@given(models())
def test_objective_has_the_same_values(model: QuadraticModel) -> None:
    """The Quadratic of a model equals its energy."""
    objective = model.objective()
    for bits in itertools.product([-1.0, 1.0], repeat=model.n):
        s = np.array(bits)
        own = s if model.variables == "spin" else (s + 1) / 2
        assert objective.value(s) == model.energy(own)


def test_any_triangle_is_the_same_qubo() -> None:
    """Upper, lower, symmetric, dense, sparse and dict forms of one QUBO are one model."""
    rng = np.random.default_rng(0)
    upper = np.triu(rng.integers(-5, 6, (6, 6))).astype(float)
    symmetric = np.diag(np.diag(upper)) + (np.triu(upper, 1) + np.triu(upper, 1).T) / 2
    forms = [upper, upper.T, symmetric, sp.csr_array(upper), sp.coo_matrix(symmetric)]
    forms.append({(i, j): upper[i, j] for i in range(6) for j in range(i, 6)})
    x = rng.integers(0, 2, 6)
    energies = {QuadraticModel.from_qubo(form).energy(x) for form in forms}
    assert energies == {float(x @ upper @ x)}


def test_repeated_terms_add_up_and_spin_diagonals_are_constant() -> None:
    """b x_i x_j given twice counts twice; s_i^2 = 1."""
    model = QuadraticModel.from_terms(3, [0, 1, 2], [1, 0, 2], [1.0, 2.0, 5.0], 1.0, "spin")
    assert model.b.tolist() == [3.0]
    assert model.offset == 6.0


@pytest.mark.parametrize(
    "given",
    [
        {"linear": np.zeros(2), "i": np.array([1]), "j": np.array([0]), "b": np.array([1.0])},
        {"linear": np.zeros(2), "i": np.array([0]), "j": np.array([2]), "b": np.array([1.0])},
        {"linear": np.zeros(2), "i": np.array([0]), "j": np.array([1]), "b": np.array([np.nan])},
        {"linear": np.zeros(2), "i": np.array([0]), "j": np.array([1]), "b": np.array([1.0]), "labels": ("a",)},
    ],
)
def test_wrong_models_are_refused(given: dict[str, object]) -> None:
    """Indices out of order or range, NaN and missing labels are errors."""
    with pytest.raises(InvalidInput):
        flipwise.QuadraticModel(**given)  # type: ignore[arg-type]
