"""Kernels on a polynomial of spins or bits, at a point and its gradient.

    f = sum_t c_t prod_{i in t} v_i,        v_i = x_i for spins (`binary` False), v_i = (x_i + 1)/2 for bits

All variables of a term are different. Term t has the variables `members[offsets[t] : offsets[t + 1]]`, increasing;
variable i is in the terms `incident[starts[i] : starts[i + 1]]`. f is linear in every single variable, so a flip of i
changes it by exactly -2 x_i g_i with g the gradient in x; `x` and `g` are float64.
"""

from __future__ import annotations

from flipwise.kernels.jit import helper, kernel


@kernel
def term_gradient(offsets, members, c, v, products, g):
    """Add the gradient of f in v, at any real v, to `g`; `products` has room for the longest term."""
    for t in range(c.size):
        first = offsets[t]
        size = offsets[t + 1] - first
        product = c[t]
        for k in range(size):  # the product of all before k, then times all behind it
            products[k] = product
            product *= v[members[first + k]]
        product = 1.0
        for k in range(size - 1, -1, -1):
            g[members[first + k]] += products[k] * product
            product *= v[members[first + k]]


@helper
def _flip_slopes(offsets, members, c, starts, incident, binary, i, x, g):
    """Flip x_i and bring the gradient along."""
    if binary:
        step = -0.5 * x[i]
        for e in range(starts[i], starts[i + 1]):
            t = incident[e]
            missing = 0  # members other than i that are 0
            which = -1
            for k in range(offsets[t], offsets[t + 1]):
                j = members[k]
                if j != i and x[j] < 0.0:
                    missing += 1
                    which = j
            if missing == 0:
                for k in range(offsets[t], offsets[t + 1]):
                    j = members[k]
                    if j != i:
                        g[j] += step * c[t]
            elif missing == 1:
                g[which] += step * c[t]
    else:
        for e in range(starts[i], starts[i + 1]):
            t = incident[e]
            product = -2.0 * c[t]
            for k in range(offsets[t], offsets[t + 1]):
                product *= x[members[k]]
            for k in range(offsets[t], offsets[t + 1]):
                j = members[k]
                if j != i:
                    g[j] += product * x[j]
    x[i] = -x[i]


@kernel
def flip_terms(offsets, members, c, starts, incident, binary, batch, x, g):
    """Flip every index of `batch`, one after another; returns the change of f."""
    change = 0.0
    for b in range(batch.size):
        i = batch[b]
        change -= 2.0 * x[i] * g[i]
        _flip_slopes(offsets, members, c, starts, incident, binary, i, x, g)
    return change


@kernel
def batch_change(offsets, members, c, starts, incident, binary, batch, flips, x):
    """The change of f if all of `batch`, which `flips` marks, flipped; each term is looked at once."""
    change = 0.0
    for b in range(batch.size):
        i = batch[b]
        for e in range(starts[i], starts[i + 1]):
            t = incident[e]
            mine = True
            before = 1.0
            after = 1.0
            for k in range(offsets[t], offsets[t + 1]):
                j = members[k]
                if flips[j] and j < i:
                    mine = False  # another index of the batch has looked at this term
                    break
                sign = x[j]
                turned = -sign if flips[j] else sign
                if binary:
                    sign = 0.5 * (sign + 1.0)
                    turned = 0.5 * (turned + 1.0)
                before *= sign
                after *= turned
            if mine:
                change += c[t] * (after - before)
    return change


@kernel
def flip_improving_terms(
    offsets, members, c, starts, incident, binary, slack, queue, waiting, count, follow, x, g
):  # fmt: skip
    """Flip the queued indices one after another wherever the exact change is still below `-slack`.

    With `follow`, coordinates that a flip has made improving join the queue. Returns (number of flips, change of f).
    """
    n = x.size
    head = 0
    flips = 0
    change = 0.0
    while count > 0:
        i = queue[head]
        head += 1
        if head == n:
            head = 0
        count -= 1
        waiting[i] = False
        gain = 2.0 * x[i] * g[i]
        if gain <= slack[i]:
            continue
        _flip_slopes(offsets, members, c, starts, incident, binary, i, x, g)
        flips += 1
        change -= gain
        if not follow:
            continue
        all_of_them = starts[i + 1] - starts[i] >= n  # more terms than variables: look at each variable once
        looks = 1 if all_of_them else starts[i + 1] - starts[i]
        for e in range(looks):
            t = incident[starts[i] + e]
            first = 0 if all_of_them else offsets[t]
            last = n if all_of_them else offsets[t + 1]
            for k in range(first, last):
                j = k if all_of_them else members[k]
                if not waiting[j] and 2.0 * x[j] * g[j] > slack[j]:
                    tail = head + count
                    if tail >= n:
                        tail -= n
                    queue[tail] = j
                    waiting[j] = True
                    count += 1
    return flips, change


@helper
def _shared_terms(offsets, members, c, binary, t, i, j, x):
    """What term t, of i and j, adds to the change of a swap (i from +1, j from -1) beyond those of the two flips."""
    if binary:
        for k in range(offsets[t], offsets[t + 1]):
            m = members[k]
            if m != j and x[m] < 0.0:
                return 0.0
        return -c[t]  # j alone was 0: its flip would have counted a term that i now holds at 0
    product = 4.0 * c[t]
    for k in range(offsets[t], offsets[t + 1]):
        product *= x[members[k]]
    return product


@kernel
def swap_improving_terms(offsets, members, c, starts, incident, binary, slack, pairs, x, g):
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
        total = 2.0 * (g[j] - g[i])
        for e in range(starts[i], starts[i + 1]):
            t = incident[e]
            for k in range(offsets[t], offsets[t + 1]):
                if members[k] == j:
                    total += _shared_terms(offsets, members, c, binary, t, i, j, x)
        if total >= -(slack[i] + slack[j]):
            continue
        _flip_slopes(offsets, members, c, starts, incident, binary, i, x, g)
        _flip_slopes(offsets, members, c, starts, incident, binary, j, x, g)
        swaps += 1
        change += total
    return swaps, change


@kernel
def best_partners(
    offsets, members, c, starts, incident, binary, slack, labels, ones, order, order_start, shared, mark, x, g,
    partner, best,
):  # fmt: skip
    """For every i of `ones` the j at -1 of its group with which a swap lowers f most, or -1; `best` is the change.

    `order` has the indices at -1 by group and, in a group, by the cost of their flip; group q begins at
    `order_start[q]`. `shared` (float64) and `mark` (int64, all -1) are of size n.
    """
    for a in range(ones.size):
        i = ones[a]
        cost = -2.0 * g[i]
        for e in range(starts[i], starts[i + 1]):
            t = incident[e]
            for k in range(offsets[t], offsets[t + 1]):
                j = members[k]
                if x[j] < 0.0 and labels[j] == labels[i]:
                    if mark[j] != i:
                        mark[j] = i
                        shared[j] = 0.0
                    shared[j] += _shared_terms(offsets, members, c, binary, t, i, j, x)
        partner[a] = -1
        best[a] = 0.0
        for e in range(starts[i], starts[i + 1]):
            t = incident[e]
            for k in range(offsets[t], offsets[t + 1]):
                j = members[k]
                if mark[j] == i:
                    total = cost + 2.0 * g[j] + shared[j]
                    if total < -(slack[i] + slack[j]) and total < best[a]:
                        best[a] = total
                        partner[a] = j
        for b in range(order_start[labels[i]], order_start[labels[i] + 1]):
            j = order[b]
            if mark[j] != i:  # the first that shares no term with i is the best of those
                total = cost + 2.0 * g[j]
                if total < -(slack[i] + slack[j]) and total < best[a]:
                    best[a] = total
                    partner[a] = j
                break
