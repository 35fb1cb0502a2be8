"""dimod's polynomials: to ours, and a sampler that takes them as they are."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from flipwise.engine.limits import Limits
from flipwise.engine.solve import solve
from flipwise.foundation.checks import Variables, as_generator, check_whole
from flipwise.foundation.errors import InvalidInput, MissingDependency
from flipwise.foundation.interrupts import guarded_interrupts
from flipwise.kernels.compile_time import working_time
from flipwise.model.constraints import Constraint
from flipwise.model.polynomial import Polynomial
from flipwise.model.problem import as_problem
from flipwise.solvers.portfolio.algorithm import Portfolio

try:
    import dimod
except ImportError:
    raise MissingDependency("dimod", "dimod", "dimod's polynomials") from None

EFFORT_OF_A_READ = 1.0 / 3.0
"""The portfolio's effort for one read, at effort 1: ten rounds."""


def polynomial_from_dimod(poly: dimod.BinaryPolynomial) -> tuple[Polynomial, tuple[Hashable, ...]]:
    """The polynomial of a `dimod.BinaryPolynomial`, and its variables in their order.

    Examples
    --------
    >>> import dimod
    >>> polynomial_from_dimod(dimod.BinaryPolynomial({"abc": -1.0, "c": 2.0}, "SPIN"))[0]
    Polynomial(3 spin variables, 2 terms, degree 3)
    """
    labels = list(poly.variables)
    try:
        labels.sort()
    except TypeError:  # names of several kinds: sorted by how they are written, so that a seed stays one
        labels.sort(key=repr)
    places = {label: place for place, label in enumerate(labels)}
    terms = ((tuple(places[label] for label in term), value) for term, value in poly.items())
    variables: Variables = "spin" if poly.vartype is dimod.SPIN else "binary"
    return Polynomial.from_terms(terms, len(labels) or None, variables=variables), tuple(labels)


class PolynomialSampling(dimod.PolySampler):  # type: ignore[misc]
    """`sample_poly`, and with it dimod's `sample_hising` and `sample_hubo`."""

    def sample_poly(
        self,
        poly: dimod.BinaryPolynomial,
        *,
        num_reads: int = 1,
        seed: int | None = None,
        time_limit: float | None = None,
        threads: int | None = None,
        effort: float = 1.0,
        constraint: Constraint | None = None,
    ) -> dimod.SampleSet:
        """Sample a polynomial of any degree as it is, without new variables for its products.

        Parameters
        ----------
        poly
            The polynomial.
        num_reads
            Number of samples, each an independent run of the portfolio. Ctrl-C returns those that are there.
        seed, time_limit, threads, effort
            As in `sample`.
        constraint
            `flipwise.Cardinality(count)` or another exact count, over the variables in the order of the samples'.
        """
        started = working_time()
        check_whole("num_reads", num_reads, 1)
        objective, labels = polynomial_from_dimod(poly)
        if not labels:
            raise InvalidInput("`poly` is empty: it has no variables.")
        problem = as_problem(objective, None, constraint)
        samples = np.empty((num_reads, len(labels)), dtype=np.int8)
        done = 0
        info: dict[str, Any] = {"iterations": 0}
        with guarded_interrupts() as interrupts:
            for k, own in enumerate(as_generator(seed).spawn(num_reads)):
                left = None if time_limit is None else max(0.0, time_limit - (working_time() - started))
                limits = Limits(time_limit=None if left is None else left / (num_reads - k))
                try:
                    result = solve(
                        problem, Portfolio(effort * EFFORT_OF_A_READ), limits=limits, seed=own, threads=threads
                    )
                except KeyboardInterrupt:
                    if done == 0:
                        raise
                    break
                samples[k], done = result.x, k + 1
                info["iterations"] += result.iterations
                if interrupts.requested:
                    break
        info["timing"] = {"total_s": working_time() - started}
        energies = poly.energies((samples[:done], list(labels)))
        return dimod.SampleSet.from_samples((samples[:done], list(labels)), poly.vartype, energies, info=info)
