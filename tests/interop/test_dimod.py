"""The dimod sampler: dimod's own test kit, exact conversions, initial states, and counts of a CQM kept exactly."""

from __future__ import annotations

import unittest

import numpy as np
import pytest

pytest.importorskip("dimod")
import dimod
import dimod.testing

from flipwise.foundation.errors import IncompatibleObjective
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


def test_other_constraints_are_refused() -> None:
    """An inequality is not a count."""
    cqm = dimod.ConstrainedQuadraticModel.from_bqm(random_bqm(3, "BINARY"))
    cqm.add_constraint(dimod.Binary("v0") + dimod.Binary("v1") <= 1, label="at most")
    with pytest.raises(IncompatibleObjective, match="at most"):
        FlipwiseSampler().sample_cqm(cqm)


def test_a_count_can_be_passed_with_a_bqm() -> None:
    """`constraint` keeps the number of ones in every read."""
    found = FlipwiseSampler().sample(random_bqm(10, "BINARY"), constraint=Cardinality(4), num_reads=3, seed=0)
    assert (found.record.sample.sum(axis=1) == 4).all()
