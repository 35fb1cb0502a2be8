"""Objectives from functions of torch and jax, differentiated by them (the extras `torch` and `jax`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from typing import Any

import numpy as np

from flipwise.foundation.arrays import Floats
from flipwise.foundation.checks import Variables
from flipwise.foundation.errors import InvalidInput, MissingDependency
from flipwise.kernels.compile_time import compilation
from flipwise.model.evaluation import Slopes
from flipwise.model.smooth import Smooth


def from_torch(
    function: Callable[..., Any],
    shape: int | tuple[int, ...],
    *,
    variables: Variables = "spin",
    dtype: Any = None,
    device: Any = None,
    lipschitz: float | None = None,
    batches: Iterable[Any] | None = None,
) -> Smooth:
    """The objective `x -> function(tensor of -1 and +1)`, with its gradient by automatic differentiation.

    Parameters
    ----------
    function
        Takes a tensor of the given shape and returns a scalar tensor that depends on it differentiably.
    shape, variables, lipschitz
        As in `flipwise.Smooth`.
    dtype, device
        Of the tensor the function gets: on the CPU by default, in float64, or in torch's default precision if the
        function's own tensors do not go with float64. Gradients stay in single precision if that is what they are in.
    batches
        A `DataLoader` or a list, as in `flipwise.Smooth`: the function is called as `function(x, batch)`.

    Examples
    --------
    >>> import flipwise
    >>> f = flipwise.from_torch(lambda x: ((x - 0.5) ** 2).sum(), 8)  # doctest: +SKIP
    >>> flipwise.minimize(f, seed=0).value  # doctest: +SKIP
    2.0
    """
    try:
        import torch
    except ImportError:
        raise MissingDependency("torch", "torch", "an objective in torch") from None
    precisions = [torch.float64, torch.get_default_dtype()] if dtype is None else [dtype]

    def loss_at(x: Floats, *batch: Any) -> tuple[Any, Any]:
        tensor = torch.from_numpy(x).to(device=device, dtype=precisions[0]).requires_grad_()  # `x` is a copy of our own
        try:
            return tensor, function(tensor, *batch)
        except RuntimeError as error:
            mixed = "dtype" in str(error) or "scalar type" in str(error)
            if not mixed or len(precisions) == 1 or precisions[0] == precisions[1]:
                raise
        del precisions[0]  # the function's own tensors are in torch's default precision; products do not convert them
        return loss_at(x, *batch)

    def value_and_gradient(x: Floats, *batch: Any) -> tuple[float, Slopes]:
        with torch.enable_grad():
            tensor, loss = loss_at(x, *batch)
            if not isinstance(loss, torch.Tensor) or loss.numel() != 1:
                raise InvalidInput("`function` must return a torch tensor with one element.")
            if not loss.requires_grad:
                raise InvalidInput("`function` must depend on its argument differentiably; its result has no gradient.")
            (gradient,) = torch.autograd.grad(loss, tensor)
        if gradient.dtype not in (torch.float32, torch.float64):
            gradient = gradient.to(torch.float32)
        slopes: Slopes = gradient.detach().cpu().numpy()
        return float(loss.detach()), slopes

    return Smooth(value_and_gradient, shape, variables=variables, lipschitz=lipschitz, batches=batches)


def from_jax(
    function: Callable[..., Any],
    shape: int | tuple[int, ...],
    *,
    variables: Variables = "spin",
    jit: bool = True,
    lipschitz: float | None = None,
    batches: Iterable[Any] | None = None,
) -> Smooth:
    """The objective `x -> function(array of -1 and +1)`, with its gradient by `jax.value_and_grad`.

    The array has jax's default precision, float32 unless `jax_enable_x64` is set; this function changes no setting.

    Parameters
    ----------
    function
        Takes a jax array of the given shape and returns a scalar.
    shape, variables, lipschitz
        As in `flipwise.Smooth`.
    jit
        Compile the function with `jax.jit`.
    batches
        As in `flipwise.Smooth`: the function is called as `function(x, batch)`.

    Examples
    --------
    >>> import flipwise
    >>> f = flipwise.from_jax(lambda x: ((x - 0.5) ** 2).sum(), 8)  # doctest: +SKIP
    >>> flipwise.minimize(f, seed=0).value  # doctest: +SKIP
    2.0
    """
    try:
        import jax
    except ImportError:
        raise MissingDependency("jax", "jax", "an objective in jax") from None
    both = jax.value_and_grad(function)
    if jit:
        both = jax.jit(both)
    compiled: set[Any] = set()

    def value_and_gradient(x: Floats, *batch: Any) -> tuple[float, Slopes]:
        kinds = tuple((np.shape(part), getattr(part, "dtype", type(part))) for part in jax.tree_util.tree_leaves(batch))
        # the first call for arrays of these shapes compiles, which no time limit pays for
        with compilation.timed() if jit and kinds not in compiled else nullcontext():
            value, gradient = both(jax.numpy.asarray(x), *batch)
            compiled.add(kinds)
            return float(value), np.asarray(gradient)

    return Smooth(value_and_gradient, shape, variables=variables, lipschitz=lipschitz, batches=batches)
