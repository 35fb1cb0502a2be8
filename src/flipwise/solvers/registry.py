"""The methods by name. A method is a module with `solve(problem, x, rng, run, options)` and a class `Options`."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass, fields
from importlib import import_module
from typing import Any

from flipwise.arrays import Floats
from flipwise.errors import IncompatibleObjective, InvalidInput
from flipwise.problem import Problem
from flipwise.result import Status

Solve = Callable[[Problem, Floats, Any, Any, Any], Status]
"""(problem, feasible start, random generator, run, options) -> why it ended."""


@dataclass(frozen=True)
class Method:
    """A method's name, what it is, where it lives and what it can solve.

    `needs` is "any" for every differentiable objective and "quadratic" where the formulas need a matrix.
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
        from flipwise.objectives.quadratic import Quadratic

        if problem.constraint.swaps and not self.counts:
            raise IncompatibleObjective(
                f'method="{self.name}" cannot keep an exact number of ones, but the constraint is '
                f"{type(problem.constraint).__name__}. Use one of: {_names(counts=True)}."
            )
        if not problem.constraint.swaps and not self.free:
            raise IncompatibleObjective(
                f'method="{self.name}" needs an exact number of ones: pass constraint=flipwise.Cardinality(r).'
            )
        if self.needs == "quadratic" and not isinstance(problem.objective, Quadratic):
            raise IncompatibleObjective(
                f'method="{self.name}" needs a flipwise.Quadratic, got {type(problem.objective).__name__}. '
                f"For other objectives use one of: {_names(needs='any')}."
            )


_METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method("dpcd", "discrete principal coordinate descent (the paper's method)", "flipwise.dpcd"),
        Method("sgm", "signed gradient method (Liu et al. 2014)", "flipwise.solvers.sgm", counts=False),
    )
}


def methods() -> tuple[Method, ...]:
    """All methods with what each supports.

    Examples
    --------
    >>> import flipwise
    >>> [method.name for method in flipwise.methods()][:2]
    ['dpcd', 'sgm']
    """
    return tuple(_METHODS.values())


def find_method(name: str) -> Method:
    """The method of this name."""
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


def _names(**wanted: Any) -> str:
    return ", ".join(m.name for m in _METHODS.values() if all(getattr(m, k) == v for k, v in wanted.items()))
