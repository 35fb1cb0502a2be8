"""Methods by name: what each is, where it lives, and what it can solve."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from importlib import import_module
from typing import Any

from flipwise.engine.solver import Solver
from flipwise.foundation.errors import IncompatibleObjective, InvalidInput
from flipwise.model.constraints import Cardinality
from flipwise.model.problem import Problem
from flipwise.model.quadratic import Quadratic
from flipwise.model.rows import LinearConstraints

FOREIGN = {
    "jac": "gradient",
    "x0": "start",
    "maxiter": "max_iterations",
    "maxfev": "max_evaluations",
    "timeout": "time_limit",
    "num_reads": "restarts",
}
"""What other libraries call some of our arguments, for errors that say what was meant."""


@dataclass(frozen=True)
class Method:
    """A method's name, what it is, the class of its solver and what it can solve.

    `needs` is "any" for every differentiable objective, "quadratic" where the formulas need a matrix, and "densest" for
    the methods that find dense subgraphs: `Quadratic(-W, variables="binary")`, W sparse, with `Cardinality(k)`.

    Examples
    --------
    >>> import flipwise
    >>> sgm = next(method for method in flipwise.methods() if method.name == "sgm")
    >>> isinstance(sgm, flipwise.Method), sgm.counts
    (True, False)
    """

    name: str
    summary: str
    solver: str
    free: bool = True
    counts: bool = True
    needs: str = "any"
    rows: bool = True
    """Whether it keeps linear constraints."""

    def load(self) -> type[Any]:
        """The class of the solver; imports its module."""
        module, _, name = self.solver.rpartition(".")
        solver: type[Any] = getattr(import_module(f"flipwise.{module}"), name)
        return solver

    def make(self, options: Mapping[str, Any], also: tuple[str, ...] = ()) -> Solver:
        """A solver with these options; an unknown one is an error that lists the known ones and those in `also`."""
        solver = self.load()
        known = [f.name for f in fields(solver)]
        for name in options:
            if name not in known:
                own = FOREIGN.get(name)
                near = [own] if own in also else difflib.get_close_matches(name, [*known, *also], n=1)
                hint = f" Did you mean `{near[0]}`?" if near else ""
                raise InvalidInput(f"unknown option `{name}`; the options are {', '.join([*known, *also])}.{hint}")
        made: Solver = solver(**options)
        return made

    def check(self, problem: Problem, methods: Mapping[str, Method]) -> None:
        """Raise when the method does not apply to the problem, naming those of `methods` that do."""
        constraint = problem.constraint
        if isinstance(constraint, LinearConstraints) and not self.rows:
            raise IncompatibleObjective(
                f'method="{self.name}" cannot keep linear constraints. '
                f"Use one of: {_methods_for(methods, problem, rows=True)}."
            )
        if constraint.swaps and not self.counts:
            raise IncompatibleObjective(
                f'method="{self.name}" cannot keep an exact number of ones, but the constraint is '
                f"{type(problem.given.constraint).__name__}. Use one of: {_methods_for(methods, problem, counts=True)}."
            )
        if not constraint.swaps and not self.free:
            raise IncompatibleObjective(
                f'method="{self.name}" needs an exact number of ones: pass constraint=flipwise.Cardinality(count).'
            )
        if self.needs != "any" and not isinstance(problem.objective, Quadratic):
            raise IncompatibleObjective(
                f'method="{self.name}" needs a flipwise.Quadratic, got {type(problem.given.objective).__name__}. '
                f"For other objectives use one of: {_methods_for(methods, problem, needs='any')}."
            )
        if self.needs == "densest" and not isinstance(constraint, Cardinality):
            raise IncompatibleObjective(
                f'method="{self.name}" finds dense subgraphs of one size: pass constraint=flipwise.Cardinality(k), '
                f"not {type(constraint).__name__}."
            )


GENERAL: dict[str, Method] = {
    method.name: method
    for method in (
        Method("dpcd", "discrete principal coordinate descent (the paper's method)", "solvers.dpcd.DPCD"),
        Method(
            "portfolio",
            "annealing, tabu search and recombination until a limit",
            "solvers.portfolio.algorithm.Portfolio",
        ),
        Method(
            "momentum",
            "DPCD with averaged gradients, not monotone (the paper's future work)",
            "solvers.dpcd.momentum.MomentumDPCD",
        ),
        Method("cooled", "DPCD with noise that is cooled down, not monotone", "solvers.dpcd.momentum.CooledDPCD"),
        Method("mean-field", "annealed mean fields (Peterson & Anderson 1987)", "solvers.dpcd.momentum.MeanField"),
        Method("sgm", "signed gradient method (Liu et al. 2014)", "solvers.sgm.SGM", counts=False, rows=False),
        Method(
            "adm", "adaptive random signed gradients (Liu et al. 2017)", "solvers.adm.ADM", counts=False, rows=False
        ),
        Method("dcc", "cyclic coordinate descent on bits (Shen et al. 2015)", "solvers.dcc.DCC", rows=False),
        Method("lp", "box relaxation and rounding (Hsieh et al. 2015)", "solvers.lp.LP"),
        Method(
            "spectral",
            "eigenvector relaxation, rounding by sweep (Olsson et al. 2007)",
            "solvers.spectral.Spectral",
            needs="quadratic",
            rows=False,
        ),
        Method(
            "sdp",
            "low-rank semidefinite relaxation, hyperplane rounding (Goemans & Williamson 1995)",
            "solvers.sdp.SDP",
            needs="quadratic",
        ),
        Method("l2box-admm", "box and sphere splitting (Wu & Ghanem 2018)", "solvers.l2box_admm.L2BoxADMM"),
        Method(
            "mpec-epm", "exact penalty on the equilibrium formulation (Yuan & Ghanem 2017)", "solvers.mpec_epm.MPECEPM"
        ),
        Method(
            "mpec-adm",
            "alternating directions on the equilibrium formulation (Yuan & Ghanem 2016)",
            "solvers.mpec_adm.MPECADM",
        ),
        Method(
            "penalty-decomposition",
            "penalty decomposition of the l0 formulation (Lu & Zhang 2013)",
            "solvers.penalty_decomposition.PenaltyDecomposition",
        ),
        Method(
            "l2box-nonseparable",
            "barrier and non-separable penalty (Murray & Ng 2010)",
            "solvers.l2box_nonseparable.L2BoxNonseparable",
        ),
        Method("piecewise", "piecewise separable penalty (Zhang et al. 2007)", "solvers.piecewise.Piecewise"),
        Method("exact", "enumeration or branch and bound, for small problems", "solvers.exact.Exact"),
    )
}
"""The methods that need no application of their own."""


def find_method(name: str, methods: Mapping[str, Method]) -> Method:
    """The method of this name; an unknown one is an error that lists the known ones."""
    if name in methods:
        return methods[name]
    near = difflib.get_close_matches(str(name), methods, n=1)
    hint = f' Did you mean "{near[0]}"?' if near else ""
    raise InvalidInput(f"`method` must be one of {', '.join(methods)}, or a solver, got {name!r}.{hint}")


def as_solver(
    method: str | Solver,
    problem: Problem,
    options: Mapping[str, Any],
    methods: Mapping[str, Method],
    also: tuple[str, ...] = (),
) -> Solver:
    """The solver that a name and its options stand for, or a user's own; refused where it does not fit the problem."""
    if isinstance(method, str):
        known: Method | None = find_method(method, methods)
        solver = known.make(options, also)  # type: ignore[union-attr]
    else:
        if not isinstance(method, Solver) or isinstance(method, type):
            raise InvalidInput(
                f"`method` must be a name or an object with solve(problem, x, rng, run), got {method!r}."
            )
        if options:
            name = next(iter(options))
            raise InvalidInput(f"unknown option `{name}`; give it to the solver: {type(method).__name__}({name}=...).")
        solver, known = method, methods.get(str(getattr(method, "name", "")))
        if known is not None and not isinstance(method, known.load()):
            known = None
    if known is not None:
        known.check(problem, methods)
    return solver


def _methods_for(methods: Mapping[str, Method], problem: Problem, **wanted: Any) -> str:
    """The methods with these properties that also take the problem's constraint."""
    side = "counts" if problem.constraint.swaps else "free"
    fitting = [m for m in methods.values() if getattr(m, side) and m.needs != "densest"]
    return ", ".join(m.name for m in fitting if all(getattr(m, key) == value for key, value in wanted.items()))
