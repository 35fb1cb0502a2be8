"""`flipwise.verify`: a problem and a certificate in, the bound out, or a refusal."""

from __future__ import annotations

import os
from fractions import Fraction
from pathlib import Path
from typing import Any

from flipwise.cuts.api import cut_objective
from flipwise.engine.certificate import Certificate
from flipwise.foundation.errors import FlipwiseError, InvalidCertificate
from flipwise.graphs.convert import as_graph
from flipwise.model.problem import as_problem
from flipwise.model.quadratic import Quadratic
from flipwise.qubo.solve import ising_objective, qubo_objective
from flipwise.verification.quadratic import proven_value
from flipwise.verification.refusing import claim
from flipwise.verification.subgraph import proven_weight


def verify(
    problem: Any,
    certificate: Certificate | str | Path,
    *,
    offset: float = 0.0,
    count: int | None = None,
    k: int | None = None,
) -> float:
    """Check a certificate in exact arithmetic, with code that shares nothing with what found it.

    Parameters
    ----------
    problem
        What was given to the function that found it: the graph of `maxcut`, `bisect` or `densest_subgraph`, the matrix,
        dictionary, model or path of `solve_qubo`, the (h, J) of `solve_ising`, the objective or matrix of `minimize`.
    certificate
        `result.certificate`, or the path of a file that it was saved to.
    offset, count
        What `solve_qubo`, `solve_ising` or `minimize` were given beside it: a certificate of another is refused.
    k
        How many nodes a dense subgraph has; without it, those that `certificate.problem` says.

    Returns
    -------
    float
        The bound: no point of the problem has a better value. Anything that does not prove it is an
        `InvalidCertificate`.

    Examples
    --------
    >>> import flipwise
    >>> ring = (5, [[0, 1], [1, 2], [2, 3], [3, 4], [4, 0]])
    >>> flipwise.verify(ring, flipwise.maxcut(ring, seed=0).certificate)
    4.0
    """
    if isinstance(certificate, str | os.PathLike):
        certificate = Certificate.load(certificate)
    claim(isinstance(certificate, Certificate), f"a certificate is wanted, got {type(certificate).__name__}")
    try:
        claim(k is None or certificate.problem.get("k") == k, f"it is not of k = {k!r:.40}")
        if certificate.function == "subgraph":
            return _verified_density(2 * proven_weight(as_graph(problem), certificate), certificate)
        return _verified_value(_minimised_objective(problem, certificate, offset, count), certificate)
    except FlipwiseError:
        raise
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, ZeroDivisionError) as error:
        raise InvalidCertificate(f"the certificate is refused: it is damaged ({error!r:.120}).") from None


def _minimised_objective(problem: Any, certificate: Certificate, offset: float, count: int | None) -> Quadratic:
    """What was minimised; the certificate must be of the same points and the same offset."""
    function, known = certificate.function, certificate.problem
    if function in ("maxcut", "bisect"):
        graph = as_graph(problem)
        claim(function == "maxcut" or known.get("count") == graph.n // 2, "it is not of halves")
        claim(function == "bisect" or known.get("count") is None, "it is of cuts of one size only")
        return cut_objective(graph, -1.0 if function == "maxcut" else 1.0)
    claim(known.get("count") == count, f"it is of count={known.get('count')!r:.40}, not {count!r:.40}")
    named = known.get("offset", 0.0)
    claim(named == offset, f"it is of offset={named!r:.40}, not {offset!r:.40}")
    made: Any
    if function == "qubo":
        made = qubo_objective(problem, offset)[0]
    elif function == "ising":
        h, J = problem if isinstance(problem, tuple) else (problem, None)
        made = ising_objective(h, J, offset)[0]
    else:
        claim(function == "minimize", f"the function {function!r:.40} is unknown")
        made = as_problem(problem, None, None).objective
    claim(isinstance(made, Quadratic), "only quadratics have certificates")
    return made  # type: ignore[no-any-return]


def _verified_density(double: Fraction, certificate: Certificate) -> float:
    """The bound of k nodes, compared with twice the proven weight by k, where both may be rounded as densities are."""
    k, claimed = int(certificate.problem["k"]), certificate.bound
    holds = Fraction(claimed) >= double / k or claimed == float(double) / k
    claim(holds, f"it proves {float(double) / k!r}, and claims {claimed!r}")
    return claimed


def _verified_value(objective: Quadratic, certificate: Certificate) -> float:
    """The bound of a quadratic, compared with what is proven after one rounding, as values are."""
    sign = -1.0 if certificate.function == "maxcut" else 1.0
    proven, claimed = proven_value(objective, certificate), sign * certificate.bound
    holds = Fraction(claimed) <= proven or claimed == float(proven)
    claim(holds, f"it proves {sign * float(proven)!r}, and claims {certificate.bound!r}")
    return certificate.bound
