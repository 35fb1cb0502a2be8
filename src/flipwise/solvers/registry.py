"""The methods by name. A method is a module with `solve(problem, x, rng, run, options)` and a class `Options`."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass, fields
from importlib import import_module
from typing import Any

from flipwise.engine.result import Status
from flipwise.foundation.arrays import Floats
from flipwise.foundation.errors import IncompatibleObjective, InvalidInput
from flipwise.model.problem import Problem

Solve = Callable[[Problem, Floats, Any, Any, Any], Status]
"""(problem, feasible start, random generator, run, options) -> why it ended."""


@dataclass(frozen=True)
class Method:
    """A method's name, what it is, where it lives and what it can solve.

    `needs` is "any" for every differentiable objective, "quadratic" where the formulas need a matrix, and "densest" for
    the methods that find dense subgraphs: `Quadratic(-W, variables="binary")`, W sparse, with `Cardinality(k)`.
    """

    name: str
    summary: str
    module: str
    free: bool = True
    counts: bool = True
    needs: str = "any"

    def load(self) -> tuple[Solve, type[Any]]:
        """The solve function and the class of its options; imports the module."""
        module = import_module(self.module)
        return module.solve, module.Options

    def check(self, problem: Problem) -> None:
        """Raise when the method does not apply to the problem."""
        from flipwise.model.quadratic import Quadratic

        if problem.constraint.swaps and not self.counts:
            raise IncompatibleObjective(
                f'method="{self.name}" cannot keep an exact number of ones, but the constraint is '
                f"{type(problem.constraint).__name__}. Use one of: {_names(problem, counts=True)}."
            )
        if not problem.constraint.swaps and not self.free:
            raise IncompatibleObjective(
                f'method="{self.name}" needs an exact number of ones: pass constraint=flipwise.Cardinality(r).'
            )
        if self.needs != "any" and not isinstance(problem.objective, Quadratic):
            raise IncompatibleObjective(
                f'method="{self.name}" needs a flipwise.Quadratic, got {type(problem.objective).__name__}. '
                f"For other objectives use one of: {_names(problem, needs='any')}."
            )
        if self.needs == "densest":
            from flipwise.model.constraints import Cardinality

            if not isinstance(problem.constraint, Cardinality):
                raise IncompatibleObjective(
                    f'method="{self.name}" finds dense subgraphs of one size: pass constraint=flipwise.Cardinality(k), '
                    f"not {type(problem.constraint).__name__}."
                )


def _solver(name: str, summary: str, **kind: Any) -> Method:
    """A method of this package, in the module of its name."""
    return Method(name, summary, f"flipwise.solvers.{name.replace('-', '_')}", **kind)


def _rival(name: str, summary: str, **kind: Any) -> Method:
    """A method made for dense subgraphs, in the room of that application."""
    return Method(name, summary, f"flipwise.densest.{name.replace('-', '_')}", **kind)


_METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method("dpcd", "discrete principal coordinate descent (the paper's method)", "flipwise.solvers.dpcd"),
        Method(
            "portfolio",
            "annealing, tabu search and recombination until a limit",
            "flipwise.solvers.portfolio.algorithm",
        ),
        _solver("sgm", "signed gradient method (Liu et al. 2014)", counts=False),
        _solver("adm", "adaptive random signed gradients (Liu et al. 2017)", counts=False),
        _solver("dcc", "cyclic coordinate descent on bits (Shen et al. 2015)"),
        _solver("lp", "box relaxation and rounding (Hsieh et al. 2015)"),
        _solver("spectral", "eigenvector relaxation, rounding by sweep (Olsson et al. 2007)", needs="quadratic"),
        _solver(
            "sdp",
            "low-rank semidefinite relaxation, hyperplane rounding (Goemans & Williamson 1995)",
            needs="quadratic",
        ),
        _solver("l2box-admm", "box and sphere splitting (Wu & Ghanem 2018)"),
        _solver("mpec-epm", "exact penalty on the equilibrium formulation (Yuan & Ghanem 2017)"),
        _solver("mpec-adm", "alternating directions on the equilibrium formulation (Yuan & Ghanem 2016)"),
        _solver("penalty-decomposition", "penalty decomposition of the l0 formulation (Lu & Zhang 2013)"),
        _solver("l2box-nonseparable", "barrier and non-separable penalty (Murray & Ng 2010)"),
        _solver("piecewise", "piecewise separable penalty (Zhang et al. 2007)"),
        _rival("ravi", "greedy dispersion (Ravi et al. 1994)", free=False, needs="densest"),
        _rival("tpm", "truncated power method (Yuan & Zhang 2013)", free=False, needs="densest"),
        _rival("frank-wolfe", "Frank-Wolfe with diagonal loading (Lu et al. 2025)", free=False, needs="densest"),
        _rival("peeling", "greedy peeling (Asahiro et al. 2000)", free=False, needs="densest"),
        _solver("exact", "enumeration or branch and bound, for small problems"),
    )
}


def methods() -> tuple[Method, ...]:
    """All methods with what each supports.

    Examples
    --------
    >>> import flipwise
    >>> [method.name for method in flipwise.methods()][:2]
    ['dpcd', 'portfolio']
    """
    return tuple(_METHODS.values())


def find_method(name: str) -> Method:
    if name in _METHODS:
        return _METHODS[name]
    near = difflib.get_close_matches(str(name), _METHODS, n=1)
    hint = f' Did you mean "{near[0]}"?' if near else ""
    raise InvalidInput(f"`method` must be one of {', '.join(_METHODS)}, got {name!r}.{hint}")


def make_options(options_class: type[Any], given: dict[str, Any], also: tuple[str, ...] = ()) -> Any:
    """The options of a method from keywords; an unknown keyword is an error that lists the known ones."""
    known = [f.name for f in fields(options_class)]
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(name, [*known, *also], n=1)
            hint = f" Did you mean `{near[0]}`?" if near else ""
            raise InvalidInput(f"unknown option `{name}`; the options are {', '.join([*known, *also])}.{hint}")
    return options_class(**given)


def _names(problem: Problem, **wanted: Any) -> str:
    """The methods with these properties that also take the problem's constraint."""
    side = "counts" if problem.constraint.swaps else "free"
    fitting = [m for m in _METHODS.values() if getattr(m, side) and m.needs != "densest"]
    return ", ".join(m.name for m in fitting if all(getattr(m, key) == value for key, value in wanted.items()))
