"""The functions of `differentiable.py`: each a value and a gradient in spins, with the constraint it has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

import flipwise

FREE = flipwise.Free()
Both = Callable[[np.ndarray], tuple[float, np.ndarray]]


@dataclass(frozen=True)
class Function:
    """A value and a gradient at any point of the cube, and where it may go."""

    name: str
    n: int
    both: Both
    constraint: Any = FREE


def _rows(load: Callable[..., Any], instance: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows and classes of a data set of scikit-learn; half of the rows for the instances that were kept aside."""
    data, classes = load(return_X_y=True)
    if not instance:
        return data, classes
    half = np.random.default_rng(instance).permutation(len(data))[: len(data) // 2]
    return data[half], classes[half]


def network(*hidden: int, name: str, instance: int = 0) -> Function:
    """The loss of a network with weights -1 and +1 on scikit-learn's digits: tanh layers, cross entropy."""
    import torch
    from sklearn.datasets import load_digits

    data, classes = _rows(load_digits, instance)
    inputs, target = torch.tensor(data / 16.0 - 0.3, dtype=torch.float32), torch.tensor(classes)
    widths = (64, *hidden, 10)
    sizes = [a * b for a, b in pairwise(widths)]

    def loss(weights: Any) -> Any:
        h = inputs
        for place, part in enumerate(torch.split(weights, sizes)):
            h = h @ part.reshape(widths[place], widths[place + 1])
            if place < len(sizes) - 1:
                h = torch.tanh(4.0 * h / widths[place] ** 0.5)
        return torch.nn.functional.cross_entropy(4.0 * h / widths[-2] ** 0.5, target)

    return Function(name, sum(sizes), _torch(loss))


def supermask(instance: int, hidden: int = 60) -> Function:
    """Which half of a network's fixed random weights stays on, so that it knows the digits."""
    import torch
    from sklearn.datasets import load_digits

    data, classes = _rows(load_digits, instance)
    inputs, target = torch.tensor(data / 16.0 - 0.3, dtype=torch.float32), torch.tensor(classes)
    rng = np.random.default_rng(instance)
    first = torch.tensor(rng.standard_normal((64, hidden)) * 0.5, dtype=torch.float32)
    second = torch.tensor(rng.standard_normal((hidden, 10)) * 0.5, dtype=torch.float32)
    split = 64 * hidden

    def loss(spins: Any) -> Any:
        on = (spins + 1.0) / 2.0
        h = torch.tanh(inputs @ (first * on[:split].reshape(64, hidden)))
        return torch.nn.functional.cross_entropy(h @ (second * on[split:].reshape(hidden, 10)), target)

    n = split + hidden * 10
    return Function("supermask, half of 4,440 on", n, _torch(loss), flipwise.Cardinality(n // 2))


def _torch(loss: Callable[[Any], Any]) -> Both:
    import torch

    torch.set_num_threads(1)

    def both(x: np.ndarray) -> tuple[float, np.ndarray]:
        tensor = torch.tensor(x, dtype=torch.float32, requires_grad=True)
        value = loss(tensor)
        (gradient,) = torch.autograd.grad(value, tensor)
        return float(value.detach()), gradient.numpy()

    return both


def features(instance: int, count: int = 8) -> Function:
    """Exactly so many features of breast_cancer, each with the sign of its correlation: the logistic loss."""
    from sklearn.datasets import load_breast_cancer

    data, classes = _rows(load_breast_cancer, instance)
    data, signs = (data - data.mean(0)) / data.std(0), 2.0 * classes - 1.0
    Z = data * np.sign(data.T @ signs) * signs[:, None] / 2.0

    def both(x: np.ndarray) -> tuple[float, np.ndarray]:
        t = Z @ ((x + 1.0) / 2.0)
        return float(np.logaddexp(0.0, -t).mean()), -0.5 * (Z.T @ (1.0 / (1.0 + np.exp(t)))) / len(Z)

    return Function(f"logistic features, {count} of 30", 30, both, flipwise.Cardinality(count))


def quartic(instance: int, n: int = 300, terms: int = 3000) -> Function:
    """A spin glass with products of four."""
    rng = np.random.default_rng(instance)
    at = np.stack([rng.choice(n, 4, replace=False) for _ in range(terms)], axis=1)
    w = rng.standard_normal(terms)
    places = at.reshape(-1)

    def both(x: np.ndarray) -> tuple[float, np.ndarray]:
        a, b, c, d = x[at]
        ab, cd = a * b, c * d
        slopes = np.concatenate([w * cd * b, w * cd * a, w * ab * d, w * ab * c])
        return float(w @ (ab * cd)), np.bincount(places, slopes, n)

    return Function("quartic glass, n = 300", n, both)


def sum_of_exponentials(instance: int, n: int = 1_000_000, rows: int = 8) -> Function:
    """log(sum exp) of a few random projections, with a small field, in single precision."""
    rng = np.random.default_rng(instance)
    A = rng.standard_normal((rows, n), dtype=np.float32) * np.float32(10.0 / n**0.5)
    field = rng.standard_normal(n, dtype=np.float32) * np.float32(10.0 / n)

    def both(x: np.ndarray) -> tuple[float, np.ndarray]:
        spins = x.astype(np.float32)
        z = A @ spins
        p = np.exp(z - z.max())
        total = p.sum()
        return float(z.max() + np.log(total) + field @ spins), (p / total) @ A + field

    return Function("log-sum-exp, n = 1,000,000", n, both)


def facilities(instance: int, n: int = 200, clients: int = 400, count: int = 20) -> Function:
    """Which sites to open so that all clients are served well: a sum of logarithms of what reaches each."""
    rng = np.random.default_rng(instance)
    sites, homes = rng.random((n, 2)), rng.random((clients, 2))
    S = np.exp(-np.linalg.norm(sites[:, None] - homes[None], axis=2) / 0.1)

    def both(x: np.ndarray) -> tuple[float, np.ndarray]:
        reach = S.T @ ((x + 1.0) / 2.0) + 1e-9
        return -float(np.log(np.maximum(reach, 1e-9)).sum()), -0.5 * (S @ (1.0 / np.maximum(reach, 1e-9)))

    return Function("facilities, 20 of 200", n, both, flipwise.Cardinality(count))


def coverage(instance: int, n: int = 300, items: int = 1000, count: int = 30) -> Function:
    """The share of items that no chosen set detects, when each detects its own with probability 0.9."""
    rng = np.random.default_rng(instance)
    L = np.log1p(-0.9 * (rng.random((n, items)) < 0.03))

    def both(x: np.ndarray) -> tuple[float, np.ndarray]:
        missed = np.exp(L.T @ ((x + 1.0) / 2.0))
        return float(missed.mean()), 0.5 * (L @ missed) / items

    return Function("coverage, 30 of 300", n, both, flipwise.Cardinality(count))


def low_autocorrelation(n: int = 60) -> Function:
    """The energy of a binary sequence (LABS), by Fourier transforms, as anybody would write it."""

    def both(x: np.ndarray) -> tuple[float, np.ndarray]:
        F = np.fft.rfft(x, 2 * n)
        C = np.fft.irfft(F * np.conj(F), 2 * n)[1:n]
        c = np.zeros(2 * n)
        c[1:n], c[n + 1 :] = C, C[::-1]
        return float((C**2).sum()), 2.0 * np.fft.irfft(np.fft.rfft(c) * F, 2 * n)[:n]

    return Function(f"LABS, n = {n}", n, both)


def glass(n: int, instance: int, *, dense: bool) -> Function:
    """A spin glass that is given as a function only."""
    rng = np.random.default_rng(instance)
    if dense:
        A: Any = np.triu(rng.standard_normal((n, n)), 1)
    else:
        ends = rng.integers(0, n, (2, 3 * n))
        A = sp.csr_array((rng.standard_normal(3 * n), tuple(ends)), shape=(n, n))
        A = sp.csr_array(sp.triu(A, 1) + sp.triu(A.T, 1))
    A = A + A.T

    def both(x: np.ndarray) -> tuple[float, np.ndarray]:
        field = A @ x
        return 0.5 * float(x @ field), field

    return Function(f"{'dense' if dense else 'sparse'} glass, n = {n}", n, both)


def assignment(instance: int, size: int = 40) -> Function:
    """Each row one column, with a penalty where columns are taken twice: an assignment as a function."""
    cost = np.random.default_rng(instance).random((size, size))

    def both(x: np.ndarray) -> tuple[float, np.ndarray]:
        b = (x.reshape(size, size) + 1.0) / 2.0
        excess = b.sum(axis=0) - 1.0
        return float((cost * b).sum() + (excess**2).sum()), (0.5 * (cost + 2.0 * excess[None, :])).reshape(-1)

    rows = np.repeat(np.arange(size), size)
    return Function("assignment, 40 x 40", size * size, both, flipwise.GroupCounts(rows, np.ones(size, dtype=int)))


def jax_regression(instance: int, n: int = 400) -> Function:
    """A robust regression with weights -1 and +1, in jax."""
    import jax
    import jax.numpy as jnp

    rng = np.random.default_rng(instance)
    A = jnp.asarray(rng.standard_normal((300, n)) / n**0.5)
    b = jnp.asarray(rng.standard_normal(300))
    both = jax.jit(jax.value_and_grad(lambda x: jnp.log(jnp.cosh(3.0 * (A @ x - b))).mean()))

    def evaluated(x: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = both(x)
        return float(value), np.asarray(gradient)

    return Function("robust regression in jax, n = 400", n, evaluated)


FUNCTIONS: dict[str, Callable[[int], Function]] = {
    "network2": lambda instance: network(20, name="digits, two layers, 1,480 bits", instance=instance),
    "supermask": supermask,
    "network3": lambda instance: network(40, 20, name="digits, three layers, 3,560 bits", instance=instance),
    "wide": lambda instance: network(650, name="digits, two layers, 48,100 bits", instance=instance),
    "features": features,
    "quartic": quartic,
    "logsumexp": sum_of_exponentials,
    "facilities": facilities,
    "coverage": coverage,
    "labs": lambda instance: low_autocorrelation(60 + 7 * instance),
    "dense": lambda instance: glass(500, instance, dense=True),
    "sparse": lambda instance: glass(3000, instance, dense=False),
    "assignment": assignment,
    "jax": jax_regression,
}
"""Each by its instance: 0 is what the schemes were made with, others were kept aside."""
