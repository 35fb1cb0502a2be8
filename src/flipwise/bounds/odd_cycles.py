"""The odd-cycle relaxation of a sparse integer model, by linear programmes whose bounds are proven in integers.

With x_e = 1 where the ends of edge e differ, E = sum_e J_e (1 - 2 x_e), and every cycle C with an odd part F satisfies
    x(F) - x(C without F) <= |F| - 1.                                                               (Barahona, Mahjoub)
Rows are added when x violates them (shortest paths, `kernels.odd_cycles`) and dropped when they no longer bind. For any
multipliers y >= 0 and bounds l <= x <= u,
    sum_e J_e x_e <= sum_r y_r (|F_r| - 1) + sum_e max over x_e in [l_e, u_e] of (J_e - sum_r y_r a_re) x_e,      (1)
which is summed in integers after y is rounded to a multiple of a power of two: a bound whatever the solver did. HiGHS
solves the programmes: `highspy` goes on from the last basis; without it scipy's own copy begins anew each time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.optimize
import scipy.sparse as sp

from flipwise.bounds.parts import Allowance
from flipwise.foundation.arrays import Floats, Ints
from flipwise.kernels import odd_cycles as kernels

VIOLATED = 1e-4
"""A row is added when it is violated by more than this."""
SAME = 1e-9
"""Nodes so near to each other are on the same violated cycles."""
IDLE_SLACK, IDLE_MULTIPLIER = 0.05, 1e-6
"""A row with more slack than this, and no larger multiplier, is dropped now and then."""
DROPPED_EVERY = 6
"""Rounds between two looks for rows that do not bind."""
NEAR = 4000
"""States that a shortest path may look at before the nodes are searched in full."""
BITS, REFINED_BITS = 40, 160
"""Multipliers are rounded to this many bits below the largest coupling."""
PIVOT_WORK, PIVOTS_OF_A_CALL = 3e-8, 50
"""What a step of the simplex method takes for each row and column (see `Allowance`), and what a call takes besides."""
STEP_WORK = 1.7e-6
"""What a step of the interior-point method takes for each row and column."""
REFINEMENTS, CLEAR_BITS = 4, 16
"""How often multipliers are refined, and the bits of a coupling beyond which what they leave counts as nothing."""

Row = tuple[int, ...]
"""The edges of a cycle as 2e, or 2e + 1 for those of F, sorted."""


@dataclass(eq=False)
class CycleGraph:
    """A graph whose cycles are looked for: edges `first`, `second`, and the arcs of each node."""

    n: int
    first: Ints
    second: Ints
    indptr: Ints = field(init=False)
    neighbours: Ints = field(init=False)
    edges: Ints = field(init=False)

    def __post_init__(self) -> None:
        m = self.first.size
        tails, heads = np.concatenate([self.first, self.second]), np.concatenate([self.second, self.first])
        order = np.argsort(tails, kind="stable")
        self.indptr = np.concatenate([[0], np.cumsum(np.bincount(tails, minlength=self.n))]).astype(np.int64)
        self.neighbours = heads[order].astype(np.int64)
        self.edges = (order % m).astype(np.int64) if m else order.astype(np.int64)
        states, arcs = 2 * self.n, 4 * tails.size + 4
        before, parent, touched = np.zeros((3, states + 1), np.int64)
        self._scratch = np.full(states, 2.0), before, parent, touched, np.zeros(arcs), np.zeros(arcs, np.int64)

    def violated(self, x: Floats, starts: Ints, most: int) -> list[Row]:
        """The inequalities of shortest odd cycles through `starts` that x violates, each once."""
        lengths = np.clip(x, 0.0, 1.0)
        walks, ends = np.zeros(64 * starts.size + 4 * self.n, np.int64), np.zeros(starts.size, np.int64)
        arcs = self.indptr, self.neighbours, self.edges
        clear = np.zeros(self.n, np.uint8)
        kernels.odd_walks(*arcs, lengths, starts, 1.0 - VIOLATED, most, SAME, *self._scratch, clear, walks, ends)
        found: dict[Row, None] = {}
        begin = 0
        for v, end in zip(starts.tolist(), ends.tolist(), strict=True):
            if end > begin:
                found[self._simple_cycle(v, walks[begin:end].tolist())] = None
            begin = end
        return list(found)

    def _simple_cycle(self, v: int, marks: list[int]) -> Row:
        """A simple cycle with an odd F in a closed walk from v: even pieces are left out."""
        place, path, kept = {v: 0}, [v], []
        for mark in marks:
            e = mark >> 1
            node = int(self.second[e]) if int(self.first[e]) == path[-1] else int(self.first[e])
            kept.append(mark)
            if node in place:
                at = place[node]
                if sum(m & 1 for m in kept[at:]) % 2:
                    return tuple(sorted(kept[at:]))
                for gone in path[at + 1 :]:
                    del place[gone]
                del path[at + 1 :], kept[at:]
            else:
                place[node] = len(path)
                path.append(node)
        raise AssertionError("an odd closed walk holds an odd cycle")


class CycleProgramme:
    """max w'x over the rows so far and l <= x <= u; `w` are couplings in units of the largest."""

    def __init__(self, J: list[int]) -> None:
        self.J = J
        self.unit = max(map(abs, J), default=1) or 1
        self.w = np.array([j / self.unit for j in J])
        self.lower, self.upper = np.zeros(len(J)), np.ones(len(J))
        self.rows: list[Row] = []
        self.known: set[Row] = set()
        self.x, self.y = np.zeros(len(J)), np.zeros(0)
        self.multipliers: tuple[int, list[int]] = 0, []
        """Of the rows, of the last proof: integers in units of the couplings divided by 2^(the first)."""
        self._highs = _Highs(self.w) if _has_highspy() else None

    def fix(self, fixed: dict[int, int]) -> None:
        """Let the edges named be 0 or 1, and all others free."""
        lower, upper = np.zeros(self.w.size), np.ones(self.w.size)
        for e, value in fixed.items():
            lower[e] = upper[e] = value
        changed = np.flatnonzero((lower != self.lower) | (upper != self.upper))
        self.lower, self.upper = lower, upper
        if self._highs is not None:
            self._highs.set_bounds(changed, lower, upper)

    def add(self, rows: list[Row]) -> None:
        """Add the rows that are not there yet."""
        fresh = [row for row in rows if row not in self.known]
        self.known.update(fresh)
        self.rows.extend(fresh)
        if self._highs is not None and fresh:
            self._highs.add(fresh)

    def drop_idle(self) -> None:
        """Drop rows that are far from binding."""
        slack = self._right_sides() - self._row_matrix() @ self.x
        idle = np.flatnonzero((slack > IDLE_SLACK) & (self.y[: slack.size] <= IDLE_MULTIPLIER))
        if idle.size < 50:
            return
        gone = set(idle.tolist())
        self.known -= {self.rows[r] for r in gone}
        self.rows = [row for r, row in enumerate(self.rows) if r not in gone]
        self.y = np.delete(self.y, idle)
        if self._highs is not None:
            self._highs.drop(idle)

    def solve(self, allowed: Allowance, *, interior: bool = False) -> bool:
        """x and y of the optimum, as the solver says; False when it did not end.

        An `interior` one lies in the middle of the optima: more rows are violated by it, and deeper, than at a vertex,
        and a programme of thousands of rows has it in a tenth of the time. Its y are bound to be less exact.
        """
        if interior and self._highs is not None:
            done, self.x, self.y, taken = self._highs.solve_inside(allowed.seconds_left())
            allowed.spend(taken * STEP_WORK * (len(self.rows) + self.w.size))
            if done or allowed.is_over:
                return done
        seconds, pivot = allowed.seconds_left(), PIVOT_WORK * (len(self.rows) + self.w.size)
        pivots = min(allowed.work_left / pivot + 1.0, 2.0**30)
        if self._highs is not None:
            done, self.x, self.y, taken = self._highs.solve(seconds, int(pivots))
            allowed.spend((taken + PIVOTS_OF_A_CALL) * pivot)
            return done
        options: dict[str, Any] = {"maxiter": int(pivots)}
        if not math.isinf(seconds):
            options["time_limit"] = max(seconds, 1e-3)
        bounds = np.stack([self.lower, self.upper], axis=1)
        solve: Any = scipy.optimize.linprog
        rows = (self._row_matrix(), self._right_sides()) if self.rows else (None, None)
        answer = solve(-self.w, A_ub=rows[0], b_ub=rows[1], bounds=bounds, method="highs", options=options)
        allowed.spend((int(answer.nit) + PIVOTS_OF_A_CALL) * pivot)
        if answer.x is None or answer.status != 0:
            return False
        self.x = answer.x
        self.y = np.maximum(-answer.ineqlin.marginals, 0.0) if self.rows else np.zeros(0)
        return True

    def _row_matrix(self) -> sp.csr_array:
        lengths = [len(row) for row in self.rows]
        marks = np.array([mark for row in self.rows for mark in row], dtype=np.int64)
        indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        return sp.csr_array((2.0 * (marks & 1) - 1.0, marks >> 1, indptr), shape=(len(self.rows), self.w.size))

    def _right_sides(self) -> Floats:
        return np.array([float(sum(mark & 1 for mark in row) - 1) for row in self.rows])

    def is_empty(self) -> bool:
        """Whether the bounds of x contradict the rows: multipliers prove that 0'x cannot be as large as 0."""
        y = None if self._highs is None or not self.rows else self._highs.ray()
        if y is None:
            return False
        size = float(np.abs(y).max(initial=0.0)) or 1.0
        for sign in (-1.0, 1.0):
            whole = [max(0, round(sign * z / size * 2.0**40)) for z in y.tolist()]
            if self._bound_of_multipliers(0, whole, [0] * len(self.J))[0] < 0:
                self.multipliers = 0, whole
                return True
        return False

    def most(self) -> int:
        """The largest integer that sum_e J_e x_e can be, proven by (1) for the multipliers of the last solution."""
        shift, whole = self.multipliers = self._rounded_multipliers(BITS)
        return self._bound_of_multipliers(shift, whole)[0] >> shift

    def proof(self) -> list[tuple[Row, int]]:
        """The rows that the last proof needs, with their multipliers."""
        return [(row, y) for row, y in zip(self.rows, self.multipliers[1], strict=True) if y]

    def refined_most(self) -> int:
        """The same with more digits: for weights that have no lattice, where x is a cut and nothing is violated.

        What is left of the objective after the multipliers is made large and solved again, where rows that have one
        must bind: each time the multipliers gain the digits of the solver (Gleixner, Steffy, Wolter: Iterative
        refinement for linear programming, INFORMS J. Comput. 28, 2016).
        """
        shift, whole = self.multipliers = self._rounded_multipliers(REFINED_BITS)
        best, reduced = self._bound_of_multipliers(shift, whole)
        if self._highs is None or not self.rows:
            return best >> shift
        for _ in range(REFINEMENTS):
            clear = (self.unit << shift) >> CLEAR_BITS  # what no correction will turn round
            size = max((abs(left) for left in reduced if abs(left) < clear), default=0)
            if size == 0:
                break
            cost = np.array([left / size if abs(left) < clear else 0.0 for left in reduced])
            held = np.flatnonzero([abs(left) >= clear for left in reduced])
            y = self._highs.correction(cost, np.array([w > 0 for w in whole]), self._right_sides(), held, self.x)
            if y is None:
                break
            whole = [max(0, w + round(z * 2.0**60) * size // 2**60) for w, z in zip(whole, y.tolist(), strict=True)]
            total, reduced = self._bound_of_multipliers(shift, whole)
            if total < best:
                best, self.multipliers = total, (shift, whole)
        self._highs.restore(self.w, self.lower, self.upper)
        return best >> shift

    def _rounded_multipliers(self, bits: int) -> tuple[int, list[int]]:
        """The multipliers as integers, in units of the couplings divided by 2^shift."""
        shift = max(0, bits - self.unit.bit_length())
        large = self.unit << shift
        return shift, [round(y * 2.0**60) * large // 2**60 if y > 1e-11 else 0 for y in self.y.tolist()]

    def _bound_of_multipliers(self, shift: int, whole: list[int], J: list[int] | None = None) -> tuple[int, list[int]]:
        """(1) for these multipliers, and what they leave of each coupling."""
        reduced = [j << shift for j in J or self.J]
        total = 0
        for row, y in zip(self.rows, whole, strict=True):
            if y:
                total += y * (sum(mark & 1 for mark in row) - 1)
                for mark in row:
                    reduced[mark >> 1] -= y if mark & 1 else -y
        for e, left in enumerate(reduced):
            total += left * int(self.upper[e]) if left > 0 else left * int(self.lower[e])
        return total, reduced


def _has_highspy() -> bool:
    try:
        import highspy  # noqa: F401
    except ImportError:
        return False
    return True


class _Highs:
    """The programme inside HiGHS, which keeps its basis from one solution to the next."""

    def __init__(self, w: Floats) -> None:
        import highspy

        self.highs: Any = highspy.Highs()
        self.highs.setOptionValue("output_flag", False)
        self.highs.setOptionValue("threads", 1)
        self.highs.setOptionValue("presolve", "off")
        self.highs.addVars(w.size, np.zeros(w.size), np.ones(w.size))
        self.highs.changeColsCost(w.size, np.arange(w.size, dtype=np.int32), -w)
        self.optimal = highspy.HighsModelStatus.kOptimal

    def add(self, rows: list[Row]) -> None:
        marks = np.array([mark for row in rows for mark in row], dtype=np.int64)
        starts = np.concatenate([[0], np.cumsum([len(row) for row in rows])[:-1]]).astype(np.int32)
        right = np.array([float(sum(mark & 1 for mark in row) - 1) for row in rows])
        lower = np.full(len(rows), -np.inf)
        values = 2.0 * (marks & 1) - 1.0
        self.highs.addRows(len(rows), lower, right, marks.size, starts, (marks >> 1).astype(np.int32), values)

    def drop(self, rows: Ints) -> None:
        self.highs.deleteRows(rows.size, rows.astype(np.int32))

    def set_bounds(self, columns: Ints, lower: Floats, upper: Floats) -> None:
        for e in columns.tolist():
            self.highs.changeColBounds(e, float(lower[e]), float(upper[e]))

    def solve(self, seconds: float, pivots: int) -> tuple[bool, Floats, Floats, int]:
        limit = min(self.highs.getRunTime() + max(seconds, 1e-2), 1e9)
        self.highs.setOptionValue("time_limit", limit)
        self.highs.setOptionValue("simplex_iteration_limit", pivots)
        self.highs.run()
        self.highs.setOptionValue("simplex_iteration_limit", 2**31 - 1)
        solution = self.highs.getSolution()
        x, y = np.array(solution.col_value), np.maximum(-np.array(solution.row_dual), 0.0)
        taken = int(self.highs.getInfo().simplex_iteration_count)
        return self.highs.getModelStatus() == self.optimal, x, y, taken

    def solve_inside(self, seconds: float) -> tuple[bool, Floats, Floats, int]:
        """The optimum by the interior-point method, and its steps."""
        limit = min(self.highs.getRunTime() + max(seconds, 1e-2), 1e9)
        self.highs.setOptionValue("time_limit", limit)
        self.highs.setOptionValue("solver", "ipm")
        self.highs.setOptionValue("run_crossover", "off")
        self.highs.run()
        self.highs.setOptionValue("solver", "choose")
        self.highs.setOptionValue("run_crossover", "on")
        solution = self.highs.getSolution()
        x, y = np.clip(solution.col_value, 0.0, 1.0), np.maximum(-np.array(solution.row_dual), 0.0)
        taken = max(int(self.highs.getInfo().ipm_iteration_count), 1)
        return self.highs.getModelStatus() == self.optimal, x, y, taken

    def ray(self) -> Floats | None:
        """Multipliers of the rows that prove that there is no x, as the solver says; None where it does not."""
        found = self.highs.getDualRay()
        return np.array(found[2]) if len(found) > 2 and found[1] else None

    def correction(self, cost: Floats, binding: Any, right: Floats, held: Ints, x: Floats) -> Floats | None:
        """Multipliers of max cost'x with some rows as equations and some x held: they may have any sign there."""
        rows = np.arange(right.size, dtype=np.int32)
        self.right = right
        self.highs.changeRowsBounds(rows.size, rows, np.where(binding, right, -np.inf), right)
        self.highs.changeColsCost(cost.size, np.arange(cost.size, dtype=np.int32), -cost)
        whole = np.rint(x)
        self.set_bounds(held, whole, whole)
        self.highs.run()
        done = self.highs.getModelStatus() == self.optimal
        return -np.array(self.highs.getSolution().row_dual) if done else None

    def restore(self, w: Floats, lower: Floats, upper: Floats) -> None:
        """The programme as it was before corrections."""
        rows = np.arange(self.right.size, dtype=np.int32)
        self.highs.changeRowsBounds(rows.size, rows, np.full(rows.size, -np.inf), self.right)
        self.highs.changeColsCost(w.size, np.arange(w.size, dtype=np.int32), -w)
        self.set_bounds(np.arange(w.size), lower, upper)
