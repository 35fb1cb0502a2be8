"""dimod's polynomials: converted exactly, sampled as they are, against dimod's own exhaustive sampler."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import flipwise

dimod = pytest.importorskip("dimod")
from flipwise.interop.dimod import FlipwiseSampler  # noqa: E402
from flipwise.interop.dimod_polynomials import polynomial_from_dimod  # noqa: E402


def _poly(vartype: str, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    terms = {
        tuple(rng.choice(list("abcdefg"), rng.integers(1, 5), replace=False)): rng.standard_normal() for _ in range(20)
    }
    return dimod.BinaryPolynomial({**terms, (): 0.5}, vartype)


@pytest.mark.parametrize("vartype", ["SPIN", "BINARY"])
def test_samples_have_the_least_energy_that_dimod_finds(vartype: str) -> None:
    """Energies are dimod's own, and the best is that of all samples."""
    poly = _poly(vartype)
    found = FlipwiseSampler().sample_poly(poly, num_reads=2, seed=0)
    least = dimod.ExactPolySolver().sample_poly(poly).first.energy
    assert found.first.energy == pytest.approx(least) and len(found) == 2
    assert np.allclose(found.record.energy, poly.energies((found.record.sample, found.variables)))
    assert set(found.variables) == set(poly.variables) and found.vartype is poly.vartype


@pytest.mark.parametrize("vartype", ["SPIN", "BINARY"])
def test_the_converted_polynomial_has_the_same_values(vartype: str) -> None:
    """At every point, in the order of the labels that come with it."""
    poly = _poly(vartype, 1)
    f, labels = polynomial_from_dimod(poly)
    low = -1 if vartype == "SPIN" else 0
    points = np.random.default_rng(0).choice([low, 1], (20, len(labels)))
    values = [f.value(np.where(p > 0, 1.0, -1.0)) for p in points]
    assert np.allclose(values, poly.energies((points, list(labels))))


def test_hising_and_hubo_go_the_same_way() -> None:
    """dimod's short forms of sample_poly work, names of several kinds too."""
    sampler = FlipwiseSampler()
    assert sampler.sample_hising({"a": 1.0}, {("a", "b", "c"): -2.0}, seed=0).first.energy == -3.0
    assert sampler.sample_hubo({("a", "b", 1): -2.0, (1,): 1.0}, seed=0).first.energy == -1.0


def test_counts_and_time_limits_hold() -> None:
    """An exact count is kept in every read; a time limit is for all reads together."""
    found = FlipwiseSampler().sample_poly(
        _poly("BINARY"), num_reads=3, seed=0, constraint=flipwise.Cardinality(3), time_limit=0.3
    )
    assert (found.record.sample.sum(axis=1) == 3).all()


def test_an_empty_polynomial_is_refused() -> None:
    """Without variables there is nothing to sample."""
    with pytest.raises(flipwise.InvalidInput, match="no variables"):
        FlipwiseSampler().sample_poly(dimod.BinaryPolynomial({}, "SPIN"))
    with pytest.raises(flipwise.InvalidInput, match="num_reads"):
        FlipwiseSampler().sample_poly(_poly("SPIN"), num_reads=0)
