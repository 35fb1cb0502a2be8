"""The dimod sampler: dimod's own test kit, exact conversions, initial states, and counts of a CQM kept exactly."""

from __future__ import annotations

import unittest

import numpy as np
import pytest

pytest.importorskip("dimod")
import dimod
import dimod.testing

from flipwise.foundation.errors import IncompatibleObjective, InfeasibleModel
from flipwise.interop.dimod import FlipwiseSampler
from flipwise.model.constraints import Cardinality
from flipwise.qubo.formats.bqm import bqm_from_model, model_from_bqm


@dimod.testing.load_sampler_bqm_tests(FlipwiseSampler)
class TestKit(unittest.TestCase):
    """dimod's checks of any sampler."""

    def test_sampler_api(self) -> None:
        """The sampler has the attributes and parameters dimod asks for."""
        dimod.testing.assert_sampler_api(FlipwiseSampler())


def random_bqm(n: int, vartype: str, seed: int = 0) -> dimod.BinaryQuadraticModel:
    """A dense random model with string labels."""
    rng = np.random.default_rng(seed)
    bqm = dimod.BinaryQuadraticModel(vartype)
    for i in range(n):
        bqm.add_variable(f"v{i}", float(rng.normal()))
        for j in range(i):
            bqm.add_quadratic(f"v{i}", f"v{j}", float(rng.normal()))
    bqm.offset = 0.25
    return bqm


@pytest.mark.parametrize("vartype", ["SPIN", "BINARY"])
def test_samples_are_optimal_and_energies_true(vartype: str) -> None:
    """On a small model the best sample is the exact solver's, and every energy is that of its sample."""
    bqm = random_bqm(9, vartype)
    found = FlipwiseSampler().sample(bqm, num_reads=3, seed=1)
    dimod.testing.assert_sampleset_energies(found, bqm)
    assert found.first.energy == pytest.approx(dimod.ExactSolver().sample(bqm).first.energy)
    assert set(found.info["timing"]) == {"conversion_s", "search_s", "total_s"}


def test_conversion_there_and_back_is_exact() -> None:
    """A BQM becomes a model and a BQM again without a changed coefficient."""
    bqm = random_bqm(8, "SPIN")
    assert bqm_from_model(model_from_bqm(bqm)) == bqm


def test_same_seed_same_samples() -> None:
    """Without a time limit a seed determines the samples."""
    bqm = random_bqm(12, "BINARY", 3)
    runs = [FlipwiseSampler().sample(bqm, num_reads=2, seed=5, effort=2 / 10).record.sample for _ in range(2)]
    assert np.array_equal(runs[0], runs[1])


def test_initial_states_are_used() -> None:
    """With the optimum as the initial state the sample is at least as good."""
    bqm = random_bqm(12, "SPIN", 4)
    best = dimod.ExactSolver().sample(bqm).first
    found = FlipwiseSampler().sample(bqm, initial_states=best.sample, seed=0, effort=1 / 10)
    assert len(found) == 1
    assert found.first.energy <= best.energy + 1e-9


def test_counts_of_a_cqm_are_kept_exactly() -> None:
    """Every sample is feasible and the best is the exact one."""
    bqm = random_bqm(8, "BINARY", 6)
    cqm = dimod.ConstrainedQuadraticModel.from_bqm(bqm)
    names = list(bqm.variables)
    cqm.add_constraint(sum(dimod.Binary(v) for v in names[:5]) == 2, label="first")
    cqm.add_constraint(sum(2 * dimod.Binary(v) for v in names[5:]) == 4, label="second")
    found = FlipwiseSampler().sample_cqm(cqm, num_reads=4, seed=0)
    assert found.record.is_feasible.all()
    exact = dimod.ExactCQMSolver().sample_cqm(cqm).filter(lambda d: d.is_feasible)
    assert found.first.energy == pytest.approx(exact.first.energy)


@pytest.mark.parametrize("seed", range(6))
def test_constraints_of_every_kind_are_kept(seed: int) -> None:
    """Binary, spin and integer variables, overlapping rows, a product in a constraint: feasible, and the optimum."""
    rng = np.random.default_rng(seed)
    x = [dimod.Binary(f"b{k}") for k in range(3)]
    given = [*x, dimod.Spin("s"), dimod.Integer("i", lower_bound=-1, upper_bound=4)]
    cqm = dimod.ConstrainedQuadraticModel()
    numbers = rng.integers(-5, 6, (5, 5))
    cqm.set_objective(
        sum(int(numbers[a, b]) * given[a] * given[b] for a in range(5) for b in range(a + 1, 5)) + given[4] * given[4]
    )
    cqm.add_constraint(2 * x[0] + 3 * x[1] + given[4] <= 4, label="at most")
    cqm.add_constraint(x[1] + x[2] - given[3] >= 0, label="at least")
    cqm.add_constraint(x[0] * given[3] + x[2] + given[4] == 2, label="product")
    found = FlipwiseSampler().sample_cqm(cqm, num_reads=2, seed=0, effort=0.3)
    assert all(cqm.check_feasible(sample) for sample in found.samples())
    exact = dimod.ExactCQMSolver().sample_cqm(cqm).filter(lambda d: d.is_feasible)
    assert found.first.energy == pytest.approx(exact.first.energy)
    fixed = exact.first.sample
    assert FlipwiseSampler().sample_cqm(cqm, fixed=fixed, seed=0, effort=0.1).first.sample == fixed


def test_a_discrete_group_beside_free_variables() -> None:
    cqm = dimod.ConstrainedQuadraticModel()
    cqm.add_discrete(["red", "green", "blue"], label="colour")
    cqm.set_objective(-dimod.Binary("other") - 2 * dimod.Binary("green"))
    assert FlipwiseSampler().sample_cqm(cqm, seed=0, effort=0.1).first.energy == -3


def test_what_a_cqm_cannot_have_is_refused_by_name() -> None:
    """Real variables, soft constraints, integers without limits, constraints that conflict."""
    x, y = dimod.Binary("x"), dimod.Binary("y")
    for extra, message in ((dimod.Real("r"), "'r'.*REAL"), (dimod.Integer("wide"), "'wide'.*upper_bound")):
        cqm = dimod.ConstrainedQuadraticModel()
        cqm.add_constraint(x + extra <= 1, label="one")
        with pytest.raises(IncompatibleObjective, match=message):
            FlipwiseSampler().sample_cqm(cqm)
    cqm = dimod.ConstrainedQuadraticModel()
    cqm.add_constraint(x + y <= 1, label="gentle", weight=2.0)
    with pytest.raises(IncompatibleObjective, match="'gentle' is soft"):
        FlipwiseSampler().sample_cqm(cqm)
    cqm = dimod.ConstrainedQuadraticModel()
    cqm.add_constraint(x + y <= 1, label="few")
    cqm.add_constraint(x + 2 * y == 3, label="both")
    with pytest.raises(InfeasibleModel, match=r"'few'.*'both'"):
        FlipwiseSampler().sample_cqm(cqm)


def test_a_count_can_be_passed_with_a_bqm() -> None:
    """`constraint` keeps the number of ones in every read."""
    found = FlipwiseSampler().sample(random_bqm(10, "BINARY"), constraint=Cardinality(4), num_reads=3, seed=0)
    assert (found.record.sample.sum(axis=1) == 4).all()
