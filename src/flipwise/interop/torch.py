"""An objective from a torch function, differentiated by torch (the `torch` extra)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from flipwise.arrays import Floats
from flipwise.errors import InvalidInput, MissingDependency
from flipwise.objectives.protocol import Variables
from flipwise.objectives.smooth import Smooth


def from_torch(
    function: Callable[[Any], Any],
    shape: int | tuple[int, ...],
    *,
    variables: Variables = "spin",
    dtype: Any = None,
    device: Any = None,
    lipschitz: float | None = None,
) -> Smooth:
    """The objective `x -> function(tensor of -1 and +1)`, with its gradient by automatic differentiation.

    Parameters
    ----------
    function
        Takes a tensor of the given shape and returns a scalar tensor that depends on it differentiably.
    shape, variables, lipschitz
        As in `flipwise.Smooth`.
    dtype, device
        Of the tensor the function gets: float64 on the CPU by default.

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
    chosen = torch.float64 if dtype is None else dtype

    def value_and_gradient(x: Floats) -> tuple[float, Floats]:
        tensor = torch.tensor(x, dtype=chosen, device=device, requires_grad=True)
        with torch.enable_grad():
            loss = function(tensor)
            if not isinstance(loss, torch.Tensor) or loss.numel() != 1:
                raise InvalidInput("`function` must return a torch tensor with one element.")
            if not loss.requires_grad:
                raise InvalidInput("`function` must depend on its argument differentiably; its result has no gradient.")
            (gradient,) = torch.autograd.grad(loss, tensor)
        return float(loss.detach()), np.asarray(gradient.detach().cpu().numpy(), dtype=np.float64)

    return Smooth(value_and_gradient, shape, variables=variables, lipschitz=lipschitz)
