"""Random numbers of kernels: xorshift64 (Marsaglia, Journal of Statistical Software 8, 2003), one uint64 of state."""

from __future__ import annotations

import numpy as np

from flipwise.kernels.jit import helper


@helper
def next_random(state):
    """One step of xorshift64 (period 2^64 - 1, the state is never zero)."""
    state ^= state << np.uint64(13)
    state ^= state >> np.uint64(7)
    state ^= state << np.uint64(17)
    return state


@helper
def random_below(random, size):
    """A number from 0 to size - 1 out of the upper bits."""
    return np.int64((random >> np.uint64(33)) % np.uint64(size))
