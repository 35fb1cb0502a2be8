"""A walk among cliques with penalties on their nodes (the dynamic local search of Pullan and Hoos 2006).

`missing[i]` counts the members that node i is not joined to. Nodes with 0 can be added, nodes with 1 can take the place
of the one member they are not joined to; both kinds are kept in lists. What changes at a move are the nodes that are
*not* joined to the node that moves: `start, others` lists these for each node.
"""

from __future__ import annotations

from flipwise.kernels.jit import helper, kernel

NOISE, LAST, ROUND, UPDATES, BEST = 0, 1, 2, 3, 4
"""Where the walk keeps its place: random numbers, the node added last, rounds, penalties, the largest size."""
ADDABLE, SWAPPABLE, MEMBERS = 0, 1, 2
"""The lists, by the rows of `lists` and the entries of `sizes`."""


@helper
def _append_to_list(lists, sizes, slot, row, node):
    """Append a node to a list."""
    lists[row, sizes[row]] = node
    slot[node] = sizes[row]
    sizes[row] += 1


@helper
def _remove_from_list(lists, sizes, slot, row, node):
    """Take a node out of a list."""
    sizes[row] -= 1
    last = lists[row, sizes[row]]
    lists[row, slot[node]] = last
    slot[last] = slot[node]


@helper
def _add_member(start, others, node, member, missing, lists, sizes, slot):
    """Add a node that is joined to all members."""
    _remove_from_list(lists, sizes, slot, 0, node)
    member[node] = 1
    _append_to_list(lists, sizes, slot, 2, node)
    for p in range(start[node], start[node + 1]):
        u = others[p]
        if missing[u] < 2:
            _remove_from_list(lists, sizes, slot, missing[u], u)
        missing[u] += 1
        if missing[u] < 2:
            _append_to_list(lists, sizes, slot, missing[u], u)


@helper
def _remove_member(start, others, node, member, missing, lists, sizes, slot):
    """Remove a member."""
    _remove_from_list(lists, sizes, slot, 2, node)
    member[node] = 0
    _append_to_list(lists, sizes, slot, 0, node)
    for p in range(start[node], start[node + 1]):
        u = others[p]
        if missing[u] < 2:
            _remove_from_list(lists, sizes, slot, missing[u], u)
        missing[u] -= 1
        if missing[u] < 2:
            _append_to_list(lists, sizes, slot, missing[u], u)


@helper
def _next_below(place, most):
    """The next random number below `most`."""
    place[0] = place[0] * 48271 % 2147483647
    return place[0] % most


@helper
def _least_penalised(lists, sizes, row, penalties, used, now, place):
    """A node of a list with the least penalty, not used in this round, ties at random; -1 where there is none."""
    count = sizes[row]
    found = -1
    if count > 0:
        begin = _next_below(place, count)
        for t in range(count):
            node = lists[row, (begin + t) % count]
            if used[node] != now and (found < 0 or penalties[node] < penalties[found]):
                found = node
    return found


@kernel(operations=lambda start, others, *more: others.size + more[-1] * (1.0 + others.size / start.size))
def clique_walk(
    start, others, member, missing, lists, sizes, slot, penalties, used, stamp, place, best, wanted, delay, moves
):
    """Walk for `moves` moves, or until a clique of `wanted` nodes is in `best`; returns the size of the largest so far.

    A round adds nodes while it can, and swaps while the clique still shares a member with where the swaps began. Then
    the penalties of its members rise, and after every `delay` rounds all fall by one. A new round begins from the last
    node alone (delay > 1) or with a random node and the members joined to it.
    """
    n = member.size
    made = 0
    while made < moves and place[BEST] < wanted:
        now = place[ROUND]
        stuck = False
        while not stuck:
            while sizes[ADDABLE] > 0:
                node = _least_penalised(lists, sizes, 0, penalties, used, now, place)
                if node < 0:
                    break
                _add_member(start, others, node, member, missing, lists, sizes, slot)
                used[node] = now
                place[LAST] = node
                made += 1
            if sizes[MEMBERS] > place[BEST]:
                place[BEST] = sizes[MEMBERS]
                for t in range(sizes[MEMBERS]):
                    best[t] = lists[MEMBERS, t]
                if place[BEST] >= wanted:
                    break
            shared = sizes[MEMBERS]
            for t in range(shared):
                stamp[lists[MEMBERS, t]] = made + 1
            began = made + 1
            stuck = True
            while shared > 0:
                node = _least_penalised(lists, sizes, 1, penalties, used, now, place)
                if node < 0:
                    break
                out = node
                for p in range(start[node], start[node + 1]):
                    if member[others[p]]:
                        out = others[p]
                        break
                _remove_member(start, others, out, member, missing, lists, sizes, slot)
                if stamp[out] == began:
                    shared -= 1
                _add_member(start, others, node, member, missing, lists, sizes, slot)
                used[node] = now
                place[LAST] = node
                made += 1
                if _least_penalised(lists, sizes, 0, penalties, used, now, place) >= 0:
                    stuck = False
                    break
            for t in range(sizes[MEMBERS]):
                stamp[lists[MEMBERS, t]] = 0
        if place[BEST] >= wanted:
            break
        place[ROUND] += 1
        for t in range(sizes[MEMBERS]):
            penalties[lists[MEMBERS, t]] += 1
        place[UPDATES] += 1
        if place[UPDATES] >= delay:
            place[UPDATES] = 0
            for i in range(n):
                if penalties[i] > 0:
                    penalties[i] -= 1
        if delay > 1:
            kept = place[LAST]
            t = 0
            while sizes[MEMBERS] > 1:
                if lists[MEMBERS, t] == kept:
                    t = 1
                _remove_member(start, others, lists[MEMBERS, t], member, missing, lists, sizes, slot)
                t = 0
        else:
            node = _next_below(place, n)
            if not member[node]:
                for p in range(start[node], start[node + 1]):
                    if member[others[p]]:
                        _remove_member(start, others, others[p], member, missing, lists, sizes, slot)
                _add_member(start, others, node, member, missing, lists, sizes, slot)
                place[LAST] = node
        made += 1
    return place[BEST]
