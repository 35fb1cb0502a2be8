"""The kernel of the projection onto {-1 <= x <= 1, sum x = s}."""

from __future__ import annotations

from flipwise.kernels.jit import kernel


@kernel
def clipped_counts(y, t):
    """For clip(y - t, -1, 1): entries at +1 minus entries at -1, how many lie between, and the sum of y over those.

    The projection of y onto {-1 <= x <= 1, sum x = s} is of this form.
    """
    bound = 0
    between = 0
    total = 0.0
    for i in range(y.size):
        z = y[i] - t
        if z >= 1.0:
            bound += 1
        elif z <= -1.0:
            bound -= 1
        else:
            between += 1
            total += y[i]
    return bound, between, total
