"""Contract tests for what you write yourself: an objective, a constraint, a method.

Each function raises an `AssertionError` whose sentence says which rule is broken, where and how, and returns nothing
when all rules are kept. Call them from your own tests.
"""

from flipwise.testing.constraints import check_constraint as check_constraint
from flipwise.testing.objectives import check_objective as check_objective
from flipwise.testing.solvers import check_solver as check_solver
