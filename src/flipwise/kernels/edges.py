"""Kernels that read numbers from text: edge lists, and rows of integers.

A buffer holds whole lines and ends with a newline, so that every scan stops by itself. Problems are reported as a
code and the byte where they were met; the caller turns that into a line number.

Byte values: 9 tab, 10 newline, 13 return, 32 space, 35 '#', 37 '%', 43 '+', 44 ',', 45 '-', 46 '.', 48-57 digits,
59 ';', 69 'E', 101 'e'.
"""

from __future__ import annotations

from flipwise.kernels.jit import helper, kernel

# Codes in `state[1]`; the texts stand in graphs/formats/edgelist.py.
# 1 no whole number, 2 number too large, 3 too few columns, 4 too many columns, 5 no finite number, 6 empty field,
# 7 number out of range, 8 broken quotes, 9 another separator than in the first line
# `delimiter` is the byte that separates fields beside white space: 44, 59, 9 (a tab alone must then not be doubled), or
# -1 for white space only. No other byte does: in `0,5` the comma would be one of decimals.


@helper
def _next_field(buffer, p, delimiter):
    """Pass separators; return the next position and how many delimiters were among them."""
    passed = 0
    c = int(buffer[p])
    while c == 32 or c == 9 or c == 13 or c == delimiter:
        if c == delimiter:
            passed += 1
        p += 1
        c = int(buffer[p])
    return p, passed


@helper
def _ends_field(c, delimiter):
    """Whether a byte separates fields or lines."""
    return c == 32 or c == 9 or c == 10 or c == 13 or c == delimiter


@helper
def _wrong_separators(passed, delimiter):
    """The code of the problem with so many delimiters between two fields."""
    return 6 if passed > 1 else 9 if passed == 0 and (delimiter == 44 or delimiter == 59) else 0


@helper
def _end_of_line(buffer, p):
    """The position of the newline at or behind p."""
    while buffer[p] != 10:
        p += 1
    return p


@helper
def _whole_number(buffer, p, delimiter):
    """The number at p (or minus the code of the problem) and the position behind it."""
    value = 0
    start = p
    c = int(buffer[p])
    while 48 <= c <= 57:
        if p - start >= 18:
            return -2, start
        value = value * 10 + (c - 48)
        p += 1
        c = int(buffer[p])
    if p == start or not _ends_field(c, delimiter):
        return -1, start
    return value, p


@helper
def _decimal_number(buffer, p, delimiter):
    """The number at p, the position behind it, and 0 exact, 1 needs a careful conversion, 2 is no number.

    w * 10^e is correctly rounded by one operation while w < 2^53 and |e| <= 22 (Clinger 1990).
    """
    negative = False
    c = int(buffer[p])
    if c == 45 or c == 43:
        negative = c == 45
        p += 1
        c = int(buffer[p])
    whole = 0
    digits = 0
    exponent = 0
    careful = 0
    point = False
    while 48 <= c <= 57 or (c == 46 and not point):
        if c == 46:
            point = True
        else:
            digits += 1
            if whole < 900000000000000:
                whole = whole * 10 + (c - 48)
                if point:
                    exponent -= 1
            else:
                careful = 1
        p += 1
        c = int(buffer[p])
    if digits == 0:
        return 0.0, p, 2
    if c == 101 or c == 69:
        p += 1
        c = int(buffer[p])
        downward = c == 45
        if c == 45 or c == 43:
            p += 1
            c = int(buffer[p])
        power = 0
        start = p
        while 48 <= c <= 57:
            if power < 100000:
                power = power * 10 + (c - 48)
            p += 1
            c = int(buffer[p])
        if p == start:
            return 0.0, p, 2
        exponent += -power if downward else power
    if not _ends_field(c, delimiter):
        return 0.0, p, 2
    if exponent > 22 or exponent < -22:
        careful = 1
        exponent = 0
    scale = 1.0
    for _ in range(abs(exponent)):
        scale *= 10.0
    value = whole / scale if exponent < 0 else whole * scale
    if negative:
        value = -value
    return value, p, careful


@kernel
def parse_edges(buffer, delimiter, ignore_extra, lowest, highest, sources, targets, weights, careful, state):
    """Read `source target [weight]` lines with whole numbers from `lowest` to `highest` as nodes.

    Lines that are blank or start with '#' or '%' are passed over. `state` receives: arcs read, the code of the first
    problem, its byte, and the number of rows in `careful` (arc, first byte, end of a weight to convert). Without
    weights `careful` is None: then what reads them is not compiled either.
    """
    arcs = 0
    delicate = 0
    code = 0
    p = state[0] * 0  # no literal: the helpers would be compiled for it by itself
    while p < buffer.size:
        p, passed = _next_field(buffer, p, delimiter)
        c = int(buffer[p])
        if c == 10 and (passed == 0 or delimiter == 9):
            p += 1
            continue
        if c == 35 or c == 37:
            p = _end_of_line(buffer, p) + 1
            continue
        if passed > 0:
            code = 6
            break
        start = p
        value, p = _whole_number(buffer, p, delimiter)
        if value < lowest or value > highest:
            p = start
            code = -value if value < 0 else 7
            break
        sources[arcs] = value
        p, passed = _next_field(buffer, p, delimiter)
        code = 3 if buffer[p] == 10 else _wrong_separators(passed, delimiter)
        if code != 0:
            break
        start = p
        value, p = _whole_number(buffer, p, delimiter)
        if value < lowest or value > highest:
            p = start
            code = -value if value < 0 else 7
            break
        targets[arcs] = value
        p, passed = _next_field(buffer, p, delimiter)
        if careful is not None:
            code = 3 if buffer[p] == 10 else _wrong_separators(passed, delimiter)
            if code != 0:
                break
            start = p
            number, p, kind = _decimal_number(buffer, p, delimiter)
            if kind == 2:
                p = start
                code = 5
                break
            weights[arcs] = number
            if kind == 1:
                careful[delicate, 0] = arcs
                careful[delicate, 1] = start
                careful[delicate, 2] = p
                delicate += 1
            p, passed = _next_field(buffer, p, delimiter)
        if buffer[p] != 10:
            if not ignore_extra:
                code = 4
                break
            p = _end_of_line(buffer, p)
        arcs += 1
        p += 1
    state[0] = arcs
    state[1] = code
    state[2] = p
    state[3] = delicate


@kernel
def parse_rows(buffer, values, ends, state):
    """Read lines of whole numbers: all numbers into `values`, the count at each line's end into `ends`.

    Lines that start with '%' are no rows; blank lines are empty rows. `state` receives: rows, the code of the first
    problem, its byte.
    """
    count = 0
    rows = 0
    code = 0
    p = 0
    while p < buffer.size:
        p, _ = _next_field(buffer, p, -1)
        if buffer[p] == 37:
            p = _end_of_line(buffer, p) + 1
            continue
        while buffer[p] != 10:
            value, p = _whole_number(buffer, p, -1)
            if value < 0:
                code = -value
                break
            values[count] = value
            count += 1
            p, _ = _next_field(buffer, p, -1)
        if code != 0:
            break
        ends[rows] = count
        rows += 1
        p += 1
    state[0] = rows
    state[1] = code
    state[2] = p


@helper
def _text_field(buffer, p, delimiter):
    """The field at p: first byte, end, the position behind it, and the code of a problem.

    `delimiter` -1 means any run of white space. Elsewhere a field may stand in double quotes, which then hold no quote.
    """
    c = int(buffer[p])
    while c == 32 or c == 13 or (c == 9 and delimiter != 9):
        p += 1
        c = int(buffer[p])
    start = p
    if delimiter < 0:
        while c != 32 and c != 9 and c != 13 and c != 10:
            p += 1
            c = int(buffer[p])
        return start, p, p, 0
    if c == 34:
        p += 1
        while buffer[p] != 34:
            if buffer[p] == 10:
                return start, start, start, 8
            p += 1
        end = p
        p += 1
        c = int(buffer[p])
        while c == 32 or c == 13 or (c == 9 and delimiter != 9):
            p += 1
            c = int(buffer[p])
        if c == delimiter:
            return start + 1, end, p + 1, 0
        return start + 1, end, p, 0 if c == 10 else 8
    while c != delimiter and c != 10:
        p += 1
        c = int(buffer[p])
    end = p
    while end > start and (buffer[end - 1] == 32 or buffer[end - 1] == 13 or buffer[end - 1] == 9):
        end -= 1
    return start, end, p + 1 if c == delimiter else p, 0


@helper
def _hash_name(data, start, end):
    """FNV-1a, 32 bits: the products stay below 2^57."""
    h = 2166136261
    for p in range(start, end):
        h = ((h ^ int(data[p])) * 16777619) & 4294967295
    return h


@helper
def _name_index(buffer, start, end, table, pool, offsets, count):
    """The number of this name, which is `count` and now stored when it is new."""
    slot = _hash_name(buffer, start, end) & (table.size - 1)
    while table[slot] >= 0:
        known = table[slot]
        begin = offsets[known]
        same = offsets[known + 1] - begin == end - start
        q = 0
        while same and q < end - start:
            same = pool[begin + q] == buffer[start + q]
            q += 1
        if same:
            return known
        slot = (slot + 1) & (table.size - 1)
    table[slot] = count
    begin = offsets[count]
    for q in range(end - start):
        pool[begin + q] = buffer[start + q]
    offsets[count + 1] = begin + end - start
    return count


@kernel
def parse_named_edges(
    buffer, delimiter, weighted, ignore_extra, table, pool, offsets, sources, targets, weights, careful, state
):
    """As `parse_edges` for nodes with names, numbered as they come.

    `table` is a hash table of name numbers (-1 free, a power of two in size), `pool` the bytes of all names, name i at
    `offsets[i]:offsets[i + 1]`; all have room for what this buffer can bring. `state[4]` is the number of names.
    """
    arcs = 0
    delicate = 0
    code = 0
    names = state[4]
    p = 0
    while p < buffer.size:
        q = p
        while buffer[q] == 32 or buffer[q] == 9 or buffer[q] == 13:
            q += 1
        if buffer[q] == 10:
            p = q + 1
            continue
        if buffer[q] == 35 or buffer[q] == 37:
            p = _end_of_line(buffer, q) + 1
            continue
        for side in range(2):
            if buffer[p] == 10:
                code = 3
                break
            start, end, p, code = _text_field(buffer, p, delimiter)
            if code == 0 and start == end:
                code = 3 if buffer[p] == 10 else 6
            if code != 0:
                break
            index = _name_index(buffer, start, end, table, pool, offsets, names)
            names = max(names, index + 1)
            if side == 0:
                sources[arcs] = index
            else:
                targets[arcs] = index
        if code != 0:
            break
        if weighted:
            c = int(buffer[p])
            while c == 32 or c == 13 or (c == 9 and delimiter != 9):
                p += 1
                c = int(buffer[p])
            code = 3 if c == 10 else 6 if c == delimiter else 0
            if code != 0:
                break
            start = p
            number, p, kind = _decimal_number(buffer, p, delimiter)
            if kind == 2:
                p = start
                code = 5
                break
            weights[arcs] = number
            if kind == 1:
                careful[delicate, 0] = arcs
                careful[delicate, 1] = start
                careful[delicate, 2] = p
                delicate += 1
        p, passed = _next_field(buffer, p, delimiter)
        if buffer[p] != 10:
            if weighted and passed == 0 and delimiter >= 0:
                code = 9
                break
            if not ignore_extra:
                code = 4
                break
            p = _end_of_line(buffer, p)
        arcs += 1
        p += 1
    state[0] = arcs
    state[1] = code
    state[2] = p
    state[3] = delicate
    state[4] = names


@kernel
def rehash_names(table, pool, offsets, count):
    """Enter the first `count` names into an empty, larger table."""
    for i in range(count):
        slot = _hash_name(pool, offsets[i], offsets[i + 1]) & (table.size - 1)
        while table[slot] >= 0:
            slot = (slot + 1) & (table.size - 1)
        table[slot] = i
