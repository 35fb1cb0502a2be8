"""Objectives in torch: value and gradient by autodiff, exact counts, clear errors."""

from __future__ import annotations

import numpy as np
import pytest

import flipwise

torch = pytest.importorskip("torch", reason="torch is tested in an environment of its own")


def test_a_torch_loss_is_minimised() -> None:
    """A torch quadratic gives the same optimum as the same quadratic in NumPy."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((10, 10))
    A = A + A.T
    matrix = torch.tensor(A)
    f = flipwise.from_torch(lambda x: x @ matrix @ x, 10)
    assert flipwise.check_objective(f).ok
    options = {"seed": 0, "restarts": 20, "constraint": flipwise.Cardinality(4)}
    assert flipwise.minimize(f, **options).value == pytest.approx(flipwise.minimize(A, **options).value)


def test_matrix_variables_and_single_precision() -> None:
    """A loss of an n x r tensor in float32 works."""
    target = torch.randn(6, 3, generator=torch.Generator().manual_seed(0))
    f = flipwise.from_torch(lambda B: ((B - target) ** 2).sum(), (6, 3), dtype=torch.float32)
    assert np.array_equal(flipwise.minimize(f, seed=0).x, np.where(target.numpy() >= 0, 1, -1))


@pytest.mark.parametrize("function", [lambda x: 3.0, lambda x: x, lambda x: torch.tensor(1.0)])
def test_functions_without_a_scalar_gradient_are_refused(function) -> None:  # type: ignore[no-untyped-def]
    """Not a tensor, not a scalar, not depending on x: each a clear error."""
    with pytest.raises(flipwise.InvalidInput, match="function"):
        flipwise.minimize(flipwise.from_torch(function, 3), seed=0)


def test_a_data_loader_makes_batches() -> None:
    """The value is the mean over all data whatever the batches are; gradients in float32 stay so; calls are counted."""
    rng = np.random.default_rng(0)
    data = torch.tensor(rng.standard_normal((50, 20)), dtype=torch.float32)
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(data), batch_size=16)
    calls = 0

    def loss(x, batch):  # type: ignore[no-untyped-def]
        nonlocal calls
        calls += 1
        return torch.nn.functional.softplus(-(batch[0] @ x)).mean()

    f = flipwise.from_torch(loss, 20, dtype=torch.float32, batches=loader)
    result = flipwise.minimize(f, seed=0)
    assert result.evaluations == calls
    whole = torch.nn.functional.softplus(-(data @ torch.tensor(result.x, dtype=torch.float32))).mean()
    assert result.value == pytest.approx(float(whole), rel=1e-5)
    assert f.sampled_gradient(np.ones(20)).dtype == np.float32


def test_tensors_of_single_precision_are_understood() -> None:
    """Without `dtype`, a function whose own tensors are float32 gets float32, as a module's parameters are."""
    rng = np.random.default_rng(0)
    matrix = torch.tensor(rng.standard_normal((5, 12)), dtype=torch.float32)
    f = flipwise.from_torch(lambda x: torch.tanh(matrix @ x).sum(), 12)
    value, gradient = f.value_and_gradient(np.ones(12))
    assert gradient.dtype == np.float32
    assert value == pytest.approx(float(np.tanh(matrix.numpy().sum(axis=1)).sum()), rel=1e-6)
    assert flipwise.check_objective(f).ok


def test_errors_of_the_function_itself_stay_its_own() -> None:
    """What is wrong in both precisions, or has nothing to do with them, is torch's message."""
    f = flipwise.from_torch(lambda x: (torch.zeros(3, 4) @ x).sum(), 12)
    with pytest.raises(RuntimeError, match=r"size|shape"):
        f.value(np.ones(12))
