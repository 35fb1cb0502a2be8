"""Kernels on a symmetric matrix in CSR form, for f(x) = x'Ax + c'x + d on {-1,+1}^n.

Notation: `indptr, indices, data` are A; `diag` its diagonal; `x` the spins; `g` = 2Ax + c the gradient, kept exact by
every kernel that flips. Flipping i alone changes f by `4*A_ii - 2*x_i*g_i`.
"""

from __future__ import annotations

import numpy as np

from flipwise.kernels import sparse_vectorised
from flipwise.kernels.blocks import block_kernel
from flipwise.kernels.heaps import push, sift
from flipwise.kernels.jit import NUMPY, entries_in_rows, helper, kernel

FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
"""The multipliers of SplitMix64 (Steele, Lea and Flood 2014), a mixer of 64 bits."""
SHORT, MIDDLE, LONG = np.uint64(27), np.uint64(30), np.uint64(31)


@block_kernel(vectorised=sparse_vectorised.csr_gradient, speed=NUMPY)
def csr_gradient(start, stop, indptr, indices, data, x, c, g):
    """Write 2Ax + c into `g`."""
    for i in range(start, stop):
        total = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            total += data[p] * x[indices[p]]
        g[i] = 2.0 * total + c[i]


@kernel
def csr_fields(indptr, indices, J, h, s, f):
    """f = h + J s."""
    for i in range(s.size):
        total = h[i]
        for p in range(indptr[i], indptr[i + 1]):
            total += J[p] * s[indices[p]]
        f[i] = total


@block_kernel(vectorised=sparse_vectorised.csr_row_sums, speed=NUMPY)
def csr_row_sums(start, stop, indptr, data, c, sums):
    """Write the row sums of |A|, doubled, plus |c| into `sums`: the largest size a gradient entry can have."""
    for i in range(start, stop):
        total = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            total += abs(data[p])
        sums[i] = 2.0 * total + abs(c[i])


@helper
def _mix_bits(z):
    """64 bits, each of which depends on each of z."""
    z = (z ^ (z >> MIDDLE)) * FIRST
    z = (z ^ (z >> SHORT)) * SECOND
    return z ^ (z >> LONG)


@block_kernel
def csr_fingerprint(start, stop, indptr, indices, bits, sums):
    """Write, for each row, the mixed entries above the diagonal less those below, as if these stood above.

    `bits` are the entries of A as unsigned integers. All arithmetic is modulo 2^64; the sums add up to 0 when A = A',
    and to anything when it is not.
    """
    for i in range(start, stop):
        row = np.uint64(i)
        total = np.uint64(0)
        for p in range(indptr[i], indptr[i + 1]):
            column = np.uint64(indices[p])
            if column > row:
                total += _mix_bits(row + _mix_bits(column + _mix_bits(bits[p])))
            elif column < row:
                total -= _mix_bits(column + _mix_bits(row + _mix_bits(bits[p])))
        sums[i] = total


@kernel(vectorised=sparse_vectorised.csr_is_symmetric, speed=NUMPY)
def csr_is_symmetric(indptr, indices, data, cursor):
    """Whether A = A'. With sorted rows, row j meets its own entries in the order in which the rows i name j.

    `cursor` starts as a copy of `indptr[:-1]` and is used up.
    """
    for i in range(cursor.size):
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            q = cursor[j]
            if q >= indptr[j + 1] or indices[q] != i or data[q] != data[p]:
                return False
            cursor[j] = q + 1
    return True


@helper
def _flip_bit(indptr, indices, data, i, x, g):
    """Flip x_i and bring the gradient along: g += 2 A[:, i] (-2 x_i)."""
    step = -4.0 * x[i]
    for p in range(indptr[i], indptr[i + 1]):
        g[indices[p]] += step * data[p]
    x[i] = -x[i]


@helper
def _matrix_entry(indptr, indices, data, i, j):
    """A_ij, by scanning the shorter of the two rows."""
    if indptr[i + 1] - indptr[i] > indptr[j + 1] - indptr[j]:
        i, j = j, i
    total = 0.0
    for p in range(indptr[i], indptr[i + 1]):
        if indices[p] == j:
            total += data[p]
    return total


@kernel(operations=lambda indptr, indices, data, batch, *_: batch.size + entries_in_rows(indptr, batch))
def csr_flip(indptr, indices, data, batch, x, g):
    """Flip every index of `batch`; return the exact change of f."""
    change = 0.0
    for b in range(batch.size):
        i = batch[b]
        change += x[i] * g[i]
    for b in range(batch.size):
        _flip_bit(indptr, indices, data, batch[b], x, g)
    # f(x+s) - f(x) = s'(g(x) + g(x+s))/2 for a quadratic, with s = -2x = +2(x+s) on the batch
    for b in range(batch.size):
        i = batch[b]
        change -= x[i] * g[i]
    return -change


@kernel
def csr_flip_improving(indptr, indices, data, diag, no_diagonal, slack, queue, waiting, count, follow, x, g):
    """Flip the queued indices one after another wherever the exact change is still below `-slack`.

    With `follow`, neighbours that a flip has made improving join the queue, so the kernel ends at a point that no
    single flip of a coordinate reached from the queue improves. `queue` is circular, `waiting` marks its members.
    A long queue is worked off by plain passes over all coordinates first: they touch memory in order.
    Returns (number of flips, change of f).
    """
    head = 0
    flips = 0
    change = 0.0
    capacity = queue.size
    while follow and 32 * count > capacity:
        count = 0
        for i in range(capacity):
            gain = 2.0 * x[i] * g[i] - 4.0 * diag[i]
            if gain > slack[i]:
                _flip_bit(indptr, indices, data, i, x, g)
                flips += 1
                count += 1
                change -= gain
        if 32 * count <= capacity:
            count = 0
            for i in range(capacity):
                waiting[i] = 2.0 * x[i] * g[i] - 4.0 * diag[i] > slack[i]
                if waiting[i]:
                    queue[count] = i
                    count += 1
    while count > 0:
        i = queue[head]
        head += 1
        if head == capacity:
            head = 0
        count -= 1
        waiting[i] = False
        gain = 2.0 * x[i] * g[i] - 4.0 * diag[i]
        if gain <= slack[i]:
            continue
        _flip_bit(indptr, indices, data, i, x, g)
        flips += 1
        change -= gain
        if not follow:
            continue
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            gain = 2.0 * x[j] * g[j]
            if gain <= 0.0 and no_diagonal:  # most neighbours leave here, having touched two arrays only
                continue
            if gain - 4.0 * diag[j] > slack[j] and not waiting[j]:
                tail = head + count
                if tail >= capacity:
                    tail -= capacity
                queue[tail] = j
                waiting[j] = True
                count += 1
    return flips, change


@kernel(
    operations=lambda indptr, indices, data, diag, slack, pairs, *_: (
        len(pairs) + entries_in_rows(indptr, pairs.reshape(-1))
    )
)
def csr_swap_improving(indptr, indices, data, diag, slack, pairs, x, g):
    """Carry out the listed swaps (i: +1 to -1, j: -1 to +1) one after another wherever the exact change is below zero.

    Returns (number of swaps, change of f).
    """
    swaps = 0
    change = 0.0
    for b in range(pairs.shape[0]):
        i = pairs[b, 0]
        j = pairs[b, 1]
        if x[i] < 0.0 or x[j] > 0.0:
            continue
        gain = 2.0 * (g[i] - g[j]) - 4.0 * (diag[i] + diag[j])
        # the cross term 2 A_ij s_i s_j with s_i = -2, s_j = +2
        gain += 8.0 * _matrix_entry(indptr, indices, data, i, j)
        if gain <= slack[i] + slack[j]:
            continue
        _flip_bit(indptr, indices, data, i, x, g)
        _flip_bit(indptr, indices, data, j, x, g)
        swaps += 1
        change -= gain
    return swaps, change


@kernel
def csr_best_partners(indptr, indices, data, loss, slack, labels, ones, zeros, zero_start, mark, x, partner, best):
    """For every index of `ones`, the index of the same group whose exchange with it lowers f the most.

    `loss[i]` is the change of f when i alone flips. `ones` and `zeros` are sorted by group, then by loss;
    `zero_start[q]` is where group q begins in `zeros`. Writes `partner` (-1: none improves) and `best` (the change).
    A pair that is not joined changes f by loss_i + loss_j, so the first unjoined zero in order is the best of them;
    the joined ones are looked at singly. `mark` is scratch, all -1.
    """
    for a in range(ones.size):
        i = ones[a]
        q = labels[i]
        partner[a] = -1
        best[a] = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            if data[p] > 0.0 and x[j] < 0.0 and labels[j] == q:
                total = loss[i] + loss[j] - 8.0 * data[p]
                if total < best[a] and total < -(slack[i] + slack[j]):
                    best[a] = total
                    partner[a] = j
        first = zero_start[q]
        if first == zero_start[q + 1] or loss[i] + loss[zeros[first]] >= best[a]:
            continue  # no zero, joined by a negative entry or not at all, can do better
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            mark[j] = a
            if data[p] < 0.0 and x[j] < 0.0 and labels[j] == q:
                total = loss[i] + loss[j] - 8.0 * data[p]
                if total < best[a] and total < -(slack[i] + slack[j]):
                    best[a] = total
                    partner[a] = j
        for b in range(zero_start[q], zero_start[q + 1]):
            j = zeros[b]
            total = loss[i] + loss[j]
            if total >= best[a]:
                break
            if mark[j] != a and total < -(slack[i] + slack[j]):
                best[a] = total
                partner[a] = j
                break


@helper
def _flip_gain(diag, i, x, g):
    """How much f falls when i alone flips."""
    return 2.0 * x[i] * g[i] - 4.0 * diag[i]


@helper
def _drop_stale(keys, members, size, diag, side, x, g):
    """Drop stale entries from the top: those that changed sides or whose gain is another now."""
    while size > 0:
        i = members[0]
        if x[i] * side > 0.0 and _flip_gain(diag, i, x, g) == -keys[0]:
            break
        sift(keys, members, size)
        size -= 1
    return size


@kernel
def csr_exchange(indptr, indices, data, diag, slack, up_keys, up, down_keys, down, x, g):
    """Exchange the best +1 and -1 again and again, under one exact count, until the best pair no longer improves.

    `gain_i` is how much f falls when i alone flips. Exchanging i and j lowers f by `gain_i + gain_j + 8 A_ij`. The best
    candidates of both sides wait in two heaps, keyed by minus their gain; an entry whose gain has changed since is
    stale and dropped.

    `up_keys, up` and `down_keys, down` are room for the two heaps. The kernel also ends when a heap is full; it may
    then be called again. Pairs that improve only because they are joined are left to the search over all pairs.
    Returns (number of swaps, change of f).
    """
    n = x.size
    capacity = up.size
    best_up = -np.inf
    best_down = -np.inf
    for i in range(n):
        gain = _flip_gain(diag, i, x, g)
        if x[i] > 0.0:
            best_up = max(best_up, gain)
        else:
            best_down = max(best_down, gain)
    ups = 0
    downs = 0
    for i in range(n):
        gain = _flip_gain(diag, i, x, g)
        if x[i] > 0.0:
            if gain + best_down > 0.0:
                push(up_keys, up, ups, -gain, i)
                ups += 1
        elif gain + best_up > 0.0:
            push(down_keys, down, downs, -gain, i)
            downs += 1
    swaps = 0
    change = 0.0
    while True:
        ups = _drop_stale(up_keys, up, ups, diag, 1.0, x, g)
        downs = _drop_stale(down_keys, down, downs, diag, -1.0, x, g)
        if ups == 0 or downs == 0:
            break
        i = up[0]
        j = down[0]
        total = -(up_keys[0] + down_keys[0])
        if total <= slack[i] + slack[j]:
            break
        gain = total + 8.0 * _matrix_entry(indptr, indices, data, i, j)
        if gain <= slack[i] + slack[j]:
            # joined in a way that spoils the exchange: set aside the end that has less to offer
            if up_keys[0] > down_keys[0]:
                sift(up_keys, up, ups)
                ups -= 1
            else:
                sift(down_keys, down, downs)
                downs -= 1
            continue
        room = indptr[i + 1] - indptr[i] + indptr[j + 1] - indptr[j] + 2
        if ups + room > capacity or downs + room > capacity:
            break
        best_up = -up_keys[0]
        best_down = -down_keys[0]
        _flip_bit(indptr, indices, data, i, x, g)
        _flip_bit(indptr, indices, data, j, x, g)
        swaps += 1
        change -= gain
        for end in range(2):
            a = i if end == 0 else j
            for p in range(indptr[a], indptr[a + 1]):
                b = indices[p]
                fresh = _flip_gain(diag, b, x, g)
                if x[b] > 0.0:
                    if fresh + best_down > 0.0:
                        push(up_keys, up, ups, -fresh, b)
                        ups += 1
                elif fresh + best_up > 0.0:
                    push(down_keys, down, downs, -fresh, b)
                    downs += 1
    return swaps, change
