"""The rivals of `differentiable.py`, each after its publication, on the same value and gradient.

All take (function, seconds of processor time, generator) and return the least value at a feasible point they met.
Those that are defined without constraints only are not run under exact counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from differentiable_functions import Function

import flipwise
from flipwise.solvers.dpcd.budget import budget_within
from flipwise.solvers.dpcd.schemes import SCHEMES


class Budget:
    """Seconds of processor time, and how much of them is over."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.began = time.process_time()

    @property
    def spent(self) -> float:
        """From 0 to 1 and beyond."""
        return (time.process_time() - self.began) / self.seconds


class _Adam:
    def __init__(self, n: int, rate: float) -> None:
        self.m, self.v, self.t, self.rate = np.zeros(n), np.zeros(n), 0, rate

    def step(self, g: np.ndarray) -> np.ndarray:
        """What to subtract."""
        self.t += 1
        self.m = 0.9 * self.m + 0.1 * g
        self.v = 0.999 * self.v + 0.001 * g * g
        return self.rate * (self.m / (1 - 0.9**self.t)) / (np.sqrt(self.v / (1 - 0.999**self.t)) + 1e-12)


def straight_through(function: Function, seconds: float, rng: np.random.Generator, rate: float = 0.01) -> float:
    """Bengio et al. 2013, Hubara et al. 2016: Adam on real weights, the gradient of their signs (or of their top k)."""
    budget, w, adam, best = Budget(seconds), 0.1 * rng.standard_normal(function.n), _Adam(function.n, rate), np.inf
    while budget.spent < 1.0:
        value, g = function.both(function.constraint.project(w))
        best = min(best, value)
        w = np.clip(w - adam.step(g), -1.0, 1.0)
    return best


def bop(function: Function, seconds: float, rng: np.random.Generator) -> float:
    """Helwegen et al. 2019: flip where the averaged gradient agrees with the sign and is above a threshold."""
    budget, best = Budget(seconds), np.inf
    x, m = function.constraint.random((function.n,), rng), np.zeros(function.n)
    threshold = None
    while budget.spent < 1.0:
        value, g = function.both(x)
        best = min(best, value)
        m = 0.99 * m + 0.01 * g
        if threshold is None:  # the best of eight settings on the two-layer network, the glass and log-sum-exp
            threshold = 0.03 * float(np.sqrt((g * g).mean()))
        x = np.where((np.abs(m) > threshold) & (np.sign(m) == x), -x, x)
    return best


def mean_field(
    function: Function, seconds: float, rng: np.random.Generator, rate: float = 0.02, hot: float = 1.0
) -> float:
    """Shen et al. 2025 (FEM): Adam on the fields of the free energy while the temperature falls, then rounding."""
    budget, n, best = Budget(seconds), function.n, np.inf
    h, adam, scale, looks = 0.01 * rng.standard_normal(n), _Adam(n, rate), None, 0
    labels = function.constraint.labels((n,)) if function.constraint.swaps else None
    ones = None if labels is None else np.bincount(labels[function.constraint.project(np.zeros(n)) > 0])
    while (spent := budget.spent) < 1.0:
        if labels is None:
            mu = np.tanh(h)
            width = 1.0 - mu * mu
        elif (ones == 1).all():  # a Potts variable a group: softmax, as in FEM
            e = np.exp(h - np.maximum.reduceat(h, np.flatnonzero(np.diff(labels, prepend=-1)))[labels])
            p = e / np.bincount(labels, e)[labels]
            mu, width = 2.0 * p - 1.0, 2.0 * p * (1.0 - p)
        else:
            level = np.partition(h, n - int(ones[0]))[n - int(ones[0])]
            mu = np.tanh(h - level)
            width = 1.0 - mu * mu
        g = function.both(mu)[1]
        scale = float(np.sqrt((g * g).mean())) + 1e-30 if scale is None else max(scale, float(np.sqrt((g * g).mean())))
        entropy = 0.5 * np.log((1.0 + mu + 1e-9) / (1.0 - mu + 1e-9))
        h = h - adam.step((g + hot * scale * (1.0 - spent) * entropy) * width)
        if spent * 50 >= looks:
            looks += 1
            best = min(best, function.both(function.constraint.project(h))[0])
    return min(best, function.both(function.constraint.project(h))[0])


def gibbs_with_gradients(function: Function, seconds: float, rng: np.random.Generator) -> float:
    """Grathwohl et al. 2021: flips proposed by their slopes, Metropolis-Hastings, here with a falling temperature."""
    budget, constraint = Budget(seconds), function.constraint
    x = constraint.random((function.n,), rng)
    value, g = function.both(x)
    best, scale = value, float(np.sqrt((g * g).mean())) + 1e-30
    while (spent := budget.spent) < 1.0:
        T = scale * 2.0 * (0.01 ** min(spent, 1.0))
        move, forward = _proposed(constraint, x, g, T, rng, None)
        y = x.copy()
        y[move] *= -1.0
        other, h = function.both(y)
        _, backward = _proposed(constraint, y, h, T, rng, move)
        if np.log(rng.random()) < (value - other) / T + backward - forward:
            x, value, g = y, other, h
            best = min(best, value)
    return best


def _proposed(
    constraint: object, x: np.ndarray, g: np.ndarray, T: float, rng: np.random.Generator, move: np.ndarray | None
) -> tuple[np.ndarray, float]:
    """A flip (or exchange within a group) drawn by its slope, and the logarithm of its probability."""
    logits = x * g / T
    if not constraint.swaps:  # type: ignore[attr-defined]
        log_p = logits - np.logaddexp.reduce(logits)
        if move is None:
            move = np.array([int(np.argmax(logits + rng.gumbel(size=x.size)))])
        return move, float(log_p[move[0]])
    labels = constraint.labels(x.shape)  # type: ignore[attr-defined]
    ups = np.flatnonzero(x > 0)
    up = logits[ups] - np.logaddexp.reduce(logits[ups])
    out = (
        ups[int(np.argmax(up + rng.gumbel(size=ups.size)))]
        if move is None
        else (move[0] if x[move[0]] > 0 else move[1])
    )
    downs = np.flatnonzero((x < 0) & (labels == labels[out]))
    down = logits[downs] - np.logaddexp.reduce(logits[downs])
    into = (
        downs[int(np.argmax(down + rng.gumbel(size=downs.size)))]
        if move is None
        else (move[0] if x[move[0]] < 0 else move[1])
    )
    return np.array([out, into]), float(up[ups == out][0] + down[downs == into][0])


def langevin(function: Function, seconds: float, rng: np.random.Generator) -> float:
    """Zhang et al. 2022 (discrete Langevin, unadjusted), with a falling temperature: all may flip at once."""
    budget, x = Budget(seconds), function.constraint.random((function.n,), rng)
    value, g = function.both(x)
    best, scale = value, float(np.sqrt((g * g).mean())) + 1e-30
    while (spent := budget.spent) < 1.0:
        T = scale * 2.0 * (0.01 ** min(spent, 1.0))
        p = 1.0 / (1.0 + np.exp(np.clip(-x * g / T + 2.0 / 0.8, -50.0, 50.0)))
        x = np.where(rng.random(x.size) < p, -x, x)
        value, g = function.both(x)
        best = min(best, value)
    return best


def reinforce(function: Function, seconds: float, rng: np.random.Generator) -> float:
    """Williams 1992: the score function of independent bits, ten samples a step, their mean as baseline, Adam."""
    budget, theta, adam, best = Budget(seconds), np.zeros(function.n), _Adam(function.n, 0.05), np.inf
    while budget.spent < 1.0:
        p = 1.0 / (1.0 + np.exp(-theta))
        samples = rng.random((10, function.n)) < p
        values = np.array([function.both(np.where(s, 1.0, -1.0))[0] for s in samples])
        best = min(best, float(values.min()))
        theta = theta - adam.step(((values - values.mean())[:, None] * (samples - p)).mean(axis=0))
    return best


def _random_move(constraint: object, x: np.ndarray, labels: np.ndarray, rng: np.random.Generator) -> np.ndarray | None:
    i = int(rng.integers(x.size))
    if not constraint.swaps:  # type: ignore[attr-defined]
        return np.array([i])
    others = np.flatnonzero((labels == labels[i]) & (x != x[i]))
    return np.array([i, int(rng.choice(others))]) if others.size else None


def annealing(function: Function, seconds: float, rng: np.random.Generator) -> float:
    """Kirkpatrick et al. 1983: single flips or exchanges, each a call, the temperature falling geometrically."""
    budget, constraint = Budget(seconds), function.constraint
    x, labels = constraint.random((function.n,), rng), constraint.labels((function.n,))
    value, g = function.both(x)
    best, scale = value, 2.0 * float(np.sqrt((g * g).mean())) + 1e-30
    while (spent := budget.spent) < 1.0:
        move = _random_move(constraint, x, labels, rng)
        if move is None:
            continue
        x[move] *= -1.0
        other = function.both(x)[0]
        if other <= value or rng.random() < np.exp((value - other) / (scale * 0.005 ** min(spent, 1.0))):
            value = other
            best = min(best, value)
        else:
            x[move] *= -1.0
    return best


def local_search(function: Function, seconds: float, rng: np.random.Generator, *, restarts: bool = True) -> float:
    """Single flips or exchanges in the order of their slopes, kept when they improve, with restarts."""
    budget, constraint, best = Budget(seconds), function.constraint, np.inf
    labels = constraint.labels((function.n,)) if constraint.swaps else None
    while budget.spent < 1.0:
        x = constraint.random((function.n,), rng)
        value, g = function.both(x)
        best = min(best, value)
        improved = True
        while improved and budget.spent < 1.0:
            improved = False
            for move in _slope_order(x, g, labels):
                if budget.spent >= 1.0:
                    break
                if move.size == 2 and not x[move[0]] > x[move[1]]:
                    continue
                x[move] *= -1.0
                other, h = function.both(x)
                if other < value - 1e-12 * abs(value):
                    value, g, improved = other, h, True
                else:
                    x[move] *= -1.0
            best = min(best, value)
        if not restarts:
            break
    return best


def _slope_order(x: np.ndarray, g: np.ndarray, labels: np.ndarray | None) -> np.ndarray:
    """All flips, or all exchanges of a +1 with a -1 of its group, best slope first."""
    if labels is None:
        return np.argsort(-x * g)[:, None]
    i, j = (each.reshape(-1) for each in np.meshgrid(np.flatnonzero(x > 0), np.flatnonzero(x < 0), indexing="ij"))
    same = labels[i] == labels[j]
    pairs = np.stack([i[same], j[same]], axis=1)
    if len(pairs) > 2_000_000:
        pairs = pairs[np.random.default_rng(0).choice(len(pairs), 2_000_000, replace=False)]
    return pairs[np.argsort(g[pairs[:, 1]] - g[pairs[:, 0]])]


def flipwise_method(method: str) -> Callable[[Function, float, np.random.Generator], float]:
    """A method of the library until its time is over, from one random start after another."""

    def run(function: Function, seconds: float, rng: np.random.Generator) -> float:
        f = flipwise.Smooth(function.both, function.n)
        restarts = 1 if method in ("auto", "momentum", "cooled", "mean-field") else 1_000_000
        return flipwise.minimize(
            f, constraint=function.constraint, method=method, time_limit=seconds, restarts=restarts, seed=rng
        ).value

    return run


@dataclass(frozen=True)
class Alone:
    """One of the schemes that `minimize` lets share the time, with all of it to itself."""

    scheme: str
    name: ClassVar[str] = "alone"

    def solve(self, problem: Any, x: np.ndarray, rng: np.random.Generator, run: Any) -> Any:
        """From `x` until the time is over."""
        run.offer(x, problem.objective.value(x))
        *_, stop = SCHEMES[self.scheme](problem, x, rng, run, budget_within(run, 1000, share=1.0))
        return flipwise.Status.CONVERGED if stop is None else stop


def alone(scheme: str) -> Callable[[Function, float, np.random.Generator], float]:
    """That scheme as a rival."""

    def run(function: Function, seconds: float, rng: np.random.Generator) -> float:
        f = flipwise.Smooth(function.both, function.n)
        return flipwise.minimize(
            f, constraint=function.constraint, method=Alone(scheme), time_limit=seconds, seed=rng
        ).value

    return run


SCHEMES_ALONE = {scheme: alone(scheme) for scheme in SCHEMES}
RIVALS = {
    "flipwise": flipwise_method("auto"),
    "straight-through Adam": straight_through,
    "Bop": bop,
    "mean field (FEM)": mean_field,
    "tanh with Adam": lambda function, seconds, rng: mean_field(function, seconds, rng, hot=0.0),
    "Gibbs with gradients": gibbs_with_gradients,
    "discrete Langevin": langevin,
    "REINFORCE": reinforce,
    "simulated annealing": annealing,
    "local search": local_search,
    "one local optimum": lambda function, seconds, rng: local_search(function, seconds, rng, restarts=False),
    "dpcd": flipwise_method("dpcd"),
    "adm": flipwise_method("adm"),
    "dcc": flipwise_method("dcc"),
    "mpec-adm": flipwise_method("mpec-adm"),
    "l2box-admm": flipwise_method("l2box-admm"),
}
FREE_ONLY = ("Bop", "discrete Langevin", "REINFORCE", "adm")
