"""Decoder of the BVGraph format (Boldi and Vigna, "The WebGraph Framework I: Compression Techniques", WWW 2004).

For each node in turn the bit stream holds: its outdegree; the distance to an earlier node whose list it refers to
(0: none); with a reference, the lengths of blocks of that list, copied and skipped in turns; then the successors not
copied, as intervals of consecutive nodes and as gaps between the residual ones. Numbers use instantaneous codes:
1 delta, 2 gamma, 3 Golomb, 5 unary, 6 zeta, 7 nibble. Bits are read from the highest of each byte on.

Short codes are looked up in a table by the next `width` bits; an entry is `value * 32 + length`, 0 for "longer". The
buffer is padded with zeros, which are the start of no complete code: a truncated file runs into them and is noticed.
"""

from __future__ import annotations

from flipwise.kernels.jit import helper, kernel

# Codes of problems; the texts stand in graphs/formats/bvgraph.py.
# 1 the stream ends or a code is longer than any number, 2 outdegree, 3 more arcs than announced, 4 reference,
# 5 copied blocks, 6 intervals, 7 residuals, 8 successors that do not ascend


@helper
def _peek_16_bits(buffer, p):
    """The 16 bits from bit p on."""
    q = p >> 3
    three = (int(buffer[q]) << 16) | (int(buffer[q + 1]) << 8) | int(buffer[q + 2])
    return (three >> (8 - (p & 7))) & 65535


@helper
def _read_bits(buffer, p, count):
    """The next `count` bits (at most 62) as a number, and the position behind them."""
    value = 0
    while count > 16:
        value = (value << 16) | _peek_16_bits(buffer, p)
        p += 16
        count -= 16
    return (value << count) | (_peek_16_bits(buffer, p) >> (16 - count)), p + count


@helper
def _read_unary(buffer, limit, p):
    """The number of zeros before the next one, or -1 at the end of the stream."""
    zeros = 0
    while p <= limit:
        window = _peek_16_bits(buffer, p)
        if window != 0:
            while window < 32768:
                window <<= 1
                zeros += 1
                p += 1
            return zeros, p + 1
        zeros += 16
        p += 16
    return -1, p


@helper
def _decode_number(buffer, limit, p, code, k):
    """The number at bit p in the given code (`k`: the parameter of zeta and Golomb), or -1, and the position behind."""
    if code == 7:
        value = 0
        while p <= limit and value < (1 << 58):
            nibble = _peek_16_bits(buffer, p) >> 12
            p += 4
            value = (value << 3) | (nibble & 7)
            if nibble & 8:
                return value, p
        return -1, p
    prefix, p = _read_unary(buffer, limit, p)
    if code == 5 or prefix < 0:
        return prefix, p
    bits = prefix
    if code == 6:
        bits = prefix * k + k - 1
    elif code == 3:
        bits = 0
        while (2 << bits) <= k:
            bits += 1
    if bits > 60:
        return -1, p
    value, p = _read_bits(buffer, p, bits)
    if code == 2 or code == 1:
        value = ((1 << bits) | value) - 1
        if code == 2:
            return value, p
        bits = value  # delta: what was read is the length of the number, in gamma
        if bits > 60:
            return -1, p
        value, p = _read_bits(buffer, p, bits)
        return ((1 << bits) | value) - 1, p
    # zeta and Golomb end with a minimal binary code: the first `short` values take one bit less.
    short = (1 << (prefix * k)) if code == 6 else (2 << bits) - k
    if value >= short:
        value = (value << 1) | (_peek_16_bits(buffer, p) >> 15)
        p += 1
        return (value - 1 if code == 6 else prefix * k + value - short), p
    return (value + short - 1 if code == 6 else prefix * k + value), p


@helper
def _read_number(buffer, limit, p, code, k, tables, width):
    """The number at bit p, by the table where its code is short enough, and the position behind."""
    entry = tables[code, _peek_16_bits(buffer, p) >> (16 - width)]
    if entry != 0:
        return int(entry) >> 5, p + (int(entry) & 31)
    return _decode_number(buffer, limit, p, code, k)


@helper
def _to_signed(value):
    """0, -1, 1, -2, 2, ... from 0, 1, 2, 3, 4, ..."""
    return -((value + 1) >> 1) if value & 1 else value >> 1


@kernel
def fill_code_table(table, width, code, k, scratch):
    """Decode every possible sequence of `width` bits once. `scratch` is a zeroed byte buffer."""
    for window in range(table.size):
        scratch[0] = (window << (16 - width)) >> 8
        scratch[1] = (window << (16 - width)) & 255
        value, length = _decode_number(scratch, width, 0, code, k)
        table[window] = 0
        if value >= 0 and length <= width:
            table[window] = value * 32 + length


@kernel
def decode_graph(
    buffer, limit, window, shortest, codes, k, tables, width, indptr, indices, blocks, lefts, lengths, state
):
    """Decode all successor lists into `indptr` and `indices`.

    `codes` holds the codes of outdegrees, references, block counts, blocks and residuals; `shortest` is the minimum
    length of an interval (0: none are used); `blocks`, `lefts`, `lengths` are scratch. `state` receives the code of the
    first problem, its node, its bit, and the arcs decoded.
    """
    n = indptr.size - 1
    filled = 0
    p = 0
    problem = 0
    node = 0
    indptr[0] = 0
    for x in range(n):
        node = x
        degree, p = _read_number(buffer, limit, p, codes[0], k, tables, width)
        if degree < 0 or degree > n:
            problem = 1 if degree < 0 else 2
            break
        if filled + degree > indices.size:
            problem = 3
            break
        indptr[x + 1] = filled + degree
        if degree == 0:
            continue
        end = filled + degree

        # Copied blocks
        reference = 0
        if window > 0:
            reference, p = _read_number(buffer, limit, p, codes[1], k, tables, width)
            if reference < 0 or reference > window or reference > x:
                problem = 1 if reference < 0 else 4
                break
        copied = 0
        n_blocks = 0
        source = 0
        source_end = 0
        if reference > 0:
            source = indptr[x - reference]
            source_end = indptr[x - reference + 1]
            n_blocks, p = _read_number(buffer, limit, p, codes[2], k, tables, width)
            if n_blocks < 0 or n_blocks > source_end - source + 1:
                problem = 1 if n_blocks < 0 else 5
                break
            total = 0
            for b in range(n_blocks):
                value, p = _read_number(buffer, limit, p, codes[3], k, tables, width)
                if value < 0 or value > n:
                    problem = 1 if value < 0 else 5
                    break
                if b > 0:
                    value += 1
                blocks[b] = value
                total += value
                if b & 1 == 0:
                    copied += value
            if problem == 0 and total > source_end - source:
                problem = 5
            if problem != 0:
                break
            if n_blocks & 1 == 0:
                copied += source_end - source - total
            if copied > degree:
                problem = 5
                break
        rest = degree - copied

        # Intervals
        n_intervals = 0
        if rest > 0 and shortest > 0:
            n_intervals, p = _read_number(buffer, limit, p, 2, k, tables, width)
            if n_intervals < 0 or n_intervals > rest // shortest:
                problem = 1 if n_intervals < 0 else 6
                break
            previous = x
            for t in range(n_intervals):
                value, p = _read_number(buffer, limit, p, 2, k, tables, width)
                if value < 0 or value > 2 * n:
                    problem = 1 if value < 0 else 6
                    break
                left = x + _to_signed(value) if t == 0 else previous + value + 1
                value, p = _read_number(buffer, limit, p, 2, k, tables, width)
                if value < 0 or value > n:
                    problem = 1 if value < 0 else 6
                    break
                value += shortest
                rest -= value
                previous = left + value
                if left < 0 or previous > n or rest < 0:
                    problem = 6
                    break
                lefts[t] = left
                lengths[t] = value
            if problem != 0:
                break

        # The three ascending sequences are merged as they come; n stands for "no more".
        residual = n
        if rest > 0:
            value, p = _read_number(buffer, limit, p, codes[4], k, tables, width)
            if value < 0 or value > 2 * n:
                problem = 1 if value < 0 else 7
                break
            residual = x + _to_signed(value)
            rest -= 1
            if residual < 0 or residual >= n:
                problem = 7
                break
        block = 0
        block_end = source_end
        if n_blocks > 0:
            block_end = source + blocks[0]
        if source == block_end and block < n_blocks:  # an empty first block: the list starts with a skip
            block = 2
            if n_blocks > 1:
                source += blocks[1]
                block_end = source + blocks[2] if n_blocks > 2 else source_end
            else:
                source = source_end
                block_end = source_end
        copy = int(indices[source]) if source < block_end else n
        interval = 0
        inside = lefts[0] if n_intervals > 0 else n
        before = -1
        while filled < end:
            if copy < inside and copy < residual:
                successor = copy
                source += 1
                if source == block_end and block < n_blocks:
                    if block + 1 < n_blocks:
                        source += blocks[block + 1]
                        block_end = source + blocks[block + 2] if block + 2 < n_blocks else source_end
                    else:
                        source = source_end
                        block_end = source_end
                    block += 2
                copy = int(indices[source]) if source < block_end else n
            elif inside < residual:
                successor = inside
                inside += 1
                if inside == lefts[interval] + lengths[interval]:
                    interval += 1
                    inside = lefts[interval] if interval < n_intervals else n
            else:
                successor = residual
                residual = n
                if rest > 0:
                    value, p = _read_number(buffer, limit, p, codes[4], k, tables, width)
                    residual = successor + value + 1
                    rest -= 1
                    if value < 0 or value > n or residual >= n:
                        problem = 1 if value < 0 else 7
                        break
            if successor <= before or successor >= n:
                problem = 8
                break
            before = successor
            indices[filled] = successor
            filled += 1
        if problem != 0:
            break
    if problem == 0 and p > limit:
        problem = 1
    state[0] = problem
    state[1] = node
    state[2] = p
    state[3] = filled
