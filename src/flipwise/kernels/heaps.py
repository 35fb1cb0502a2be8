"""Binary heaps in two arrays, the least key at the top: for kernels."""

from __future__ import annotations

from flipwise.kernels.jit import helper


@helper
def push(keys, items, size, key, item):
    """Add to a binary heap of `size` entries."""
    at = size
    while at > 0:
        above = (at - 1) >> 1
        if keys[above] <= key:
            break
        keys[at] = keys[above]
        items[at] = items[above]
        at = above
    keys[at] = key
    items[at] = item


@helper
def sift(keys, items, size):
    """Move the last of `size` entries to the top, whose entry has been taken, and down to its place."""
    key = keys[size - 1]
    item = items[size - 1]
    last = size - 1
    at = 0
    while True:
        below = 2 * at + 1
        if below >= last:
            break
        if below + 1 < last and keys[below + 1] < keys[below]:
            below += 1
        if keys[below] >= key:
            break
        keys[at] = keys[below]
        items[at] = items[below]
        at = below
    keys[at] = key
    items[at] = item
