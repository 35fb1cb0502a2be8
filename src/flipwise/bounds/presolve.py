"""Variables that are decided before any search or proof, exactly, and what remains.

On E(s) = sum_{i<j} J_ij s_i s_j (see `integers`), where the spin that carries the linear part is one like the others:

    degree 0      any value
    heavy edge    |J_ij| >= the sum of the other |J_ik|: s_i = -sgn(J_ij) s_j in some minimum; i and j become one.
                  Degree 1 is a special case, and so is a linear part that outweighs all couplings.
    degree 2      min over s_i of s_i (a s_j + b s_k) = -max(|a|, |b|) - sgn(ab) min(|a|, |b|) s_j s_k
    degree 3      likewise a constant and three couplings, where these are integers
    components    what does not hang together is solved apart

All in integers, multiplied by `SCALE` first so that the halves of degree 3 are integers too. `restored` turns a minimum
of what remains into one of the whole.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field

import numpy as np

from flipwise.bounds.integers import IntegerModel, Row
from flipwise.foundation.arrays import Signs

SCALE = 256
"""What all couplings are multiplied by."""


@dataclass(eq=False)
class Presolved:
    """What remains of a model: `rows` of the spins that are left, and the constant; SCALE * E = constant + the rest."""

    n: int
    rows: dict[int, Row]
    constant: int = 0
    decided: list[tuple[int, list[tuple[int, int]]]] = field(default_factory=list)
    """Each decided spin with (j, a): it is minus the sign of sum a s_j, in reverse order."""
    rules: Counter[str] = field(default_factory=Counter)

    def components(self) -> list[list[int]]:
        """The spins that are left, by component, the largest last."""
        seen: set[int] = set()
        found = []
        for first in self.rows:
            if first in seen:
                continue
            seen.add(first)
            members = [first]
            for i in members:
                fresh = self.rows[i].keys() - seen
                seen |= fresh
                members.extend(sorted(fresh))
            found.append(members)
        return sorted(found, key=len)

    def restored(self, left: dict[int, int]) -> Signs:
        """The n spins of the whole, from those that are left."""
        s = dict(left)
        for i, parts in reversed(self.decided):
            s[i] = -1 if sum(a * s[j] for j, a in parts) > 0 else 1
        sign = s[self.n]
        return np.array([sign * s[i] for i in range(self.n)], dtype=np.int8)

    def report(self) -> dict[str, int]:
        """How many spins each rule has decided, and how many are left (for `result.info`)."""
        left = [len(part) - 1 for part in self.components()]  # one of each may have any value
        return {**self.rules, "left": sum(left), "components": len(left)}


def presolve(model: IntegerModel) -> Presolved:
    """Apply the rules until none applies."""
    return _Presolver(model).run()


class _Presolver:
    def __init__(self, model: IntegerModel) -> None:
        self.rows = {i: {j: SCALE * J for j, J in row.items()} for i, row in enumerate(model.rows)}
        self.found = Presolved(model.n, self.rows)
        self.sums = {i: sum(map(abs, row.values())) for i, row in self.rows.items()}
        # no less than the largest |J_ij| of a row: rows are looked through only where this may be a heavy edge
        self.largest = {i: max(map(abs, row.values()), default=0) for i, row in self.rows.items()}
        self.queue = deque(self.rows)
        self.waiting = set(self.rows)

    def run(self) -> Presolved:
        stars: list[int] = []  # last, for they only exchange couplings for others
        while self.queue or stars:
            if not self.queue:
                i = stars.pop()
                if i in self.rows and len(self.rows[i]) == 3:
                    self._replace_star(i)
                continue
            i = self.queue.popleft()
            self.waiting.discard(i)
            if i in self.rows:
                self._try_rules(i)
                if i in self.rows and len(self.rows[i]) == 3:
                    stars.append(i)
        return self.found

    def _try_rules(self, i: int) -> None:
        row = self.rows[i]
        if not row:
            self._take_out_spin(i, "alone" if i < self.found.n else "")
            return
        if 2 * self.largest[i] >= self.sums[i]:
            j = max(row, key=lambda k: abs(row[k]))
            self.largest[i] = abs(row[j])
            if 2 * abs(row[j]) >= self.sums[i]:
                self._contract_edge(i, j)
                return
        if len(row) == 2:
            (j, a), (k, b) = row.items()
            smaller = min(abs(a), abs(b)) if (a > 0) == (b > 0) else -min(abs(a), abs(b))
            self.found.constant -= max(abs(a), abs(b))
            self._take_out_spin(i, "degree 2")
            self._add_coupling(j, k, -smaller)

    def _replace_star(self, i: int) -> None:
        """A spin with three neighbours and no heavy edge: |a s_j + b s_k + c s_l| is linear in their products."""
        (j, a), (k, b), (m, c) = self.rows[i].items()
        p, q, r = abs(a), abs(b), abs(c)
        if (p + q + r) % 2:
            return
        sign_jk, sign_jm, sign_km = ((a > 0) == (b > 0), (a > 0) == (c > 0), (b > 0) == (c > 0))
        self.found.constant -= (p + q + r) // 2
        self._take_out_spin(i, "degree 3")
        for u, v, w, same in ((j, k, p + q - r, sign_jk), (j, m, p + r - q, sign_jm), (k, m, q + r - p, sign_km)):
            self._add_coupling(u, v, -w // 2 if same else w // 2)

    def _contract_edge(self, i: int, j: int) -> None:
        """s_i = -sgn(J_ij) s_j: the couplings of i go to j."""
        row, J = self.rows[i], self.rows[i][j]
        sign = -1 if J > 0 else 1
        self.found.constant -= abs(J)
        others = [(k, sign * w) for k, w in row.items() if k != j]
        rule = "degree 1" if len(row) == 1 else "fixed" if j == self.found.n else "heavy edge"
        self._take_out_spin(i, rule, [(j, J)])
        for k, w in others:
            self._add_coupling(j, k, w)

    def _take_out_spin(self, i: int, rule: str, follows: list[tuple[int, int]] | None = None) -> None:
        row = self.rows.pop(i)
        for j, w in row.items():
            del self.rows[j][i]
            self.sums[j] -= abs(w)
            self._look_at_again(j)
        self.found.decided.append((i, list(row.items()) if follows is None else follows))
        if rule:
            self.found.rules[rule] += 1

    def _add_coupling(self, i: int, j: int, w: int) -> None:
        before = self.rows[i].get(j, 0)
        now = before + w
        for u, v in ((i, j), (j, i)):
            if now:
                self.rows[u][v] = now
            else:
                self.rows[u].pop(v, None)
            self.sums[u] += abs(now) - abs(before)
            self.largest[u] = max(self.largest[u], abs(now))
            self._look_at_again(u)

    def _look_at_again(self, i: int) -> None:
        if i not in self.waiting:
            self.waiting.add(i)
            self.queue.append(i)
