"""A slow BVGraph encoder and decoder on strings of bits, written from the format's definition: the oracle."""

from __future__ import annotations

from pathlib import Path

import numpy as np

PARTS = ["OUTDEGREES", "REFERENCES", "BLOCK_COUNT", "BLOCKS", "RESIDUALS"]


def binary(value: int, bits: int) -> str:
    return format(value, f"0{bits}b") if bits else ""


def encode(code: str, value: int, k: int) -> str:
    """`value` in an instantaneous code."""
    if code == "UNARY":
        return "0" * value + "1"
    if code == "GAMMA":
        top = (value + 1).bit_length() - 1
        return encode("UNARY", top, k) + binary(value + 1 - (1 << top), top)
    if code == "DELTA":
        top = (value + 1).bit_length() - 1
        return encode("GAMMA", top, k) + binary(value + 1 - (1 << top), top)
    if code == "ZETA":
        h = ((value + 1).bit_length() - 1) // k
        left = 1 << (h * k)
        rest, span = value + 1 - left, left * ((1 << k) - 1)
        return encode("UNARY", h, k) + minimal_binary(rest, span)
    if code == "GOLOMB":
        return encode("UNARY", value // k, k) + minimal_binary(value % k, k)
    digits = [int(d) for d in oct(value)[2:]]
    return "".join(("1" if p == len(digits) - 1 else "0") + binary(d, 3) for p, d in enumerate(digits))


def minimal_binary(value: int, span: int) -> str:
    """A number below `span` in as few bits as possible, small ones in one bit less."""
    bits = max(1, span).bit_length() - 1
    short = (2 << bits) - span
    return binary(value, bits) if value < short else binary(value + short, bits + 1)


def natural(value: int) -> int:
    return 2 * value if value >= 0 else -2 * value - 1


def write(
    base: Path,
    lists: list[list[int]],
    rng: np.random.Generator,
    *,
    window: int = 7,
    shortest: int = 4,
    k: int = 3,
    codes: dict[str, str] | None = None,
) -> None:
    """Write ascending successor lists, with references chosen at random."""
    chosen = dict(zip(PARTS, ["GAMMA", "UNARY", "GAMMA", "GAMMA", "ZETA"])) | (codes or {})
    out = []
    for x, successors in enumerate(lists):
        out.append(encode(chosen["OUTDEGREES"], len(successors), k))
        if not successors:
            continue
        reference = int(rng.integers(0, min(window, x) + 1)) if window else 0
        if window:
            out.append(encode(chosen["REFERENCES"], reference, k))
        rest = list(successors)
        if reference:
            mine, theirs = set(successors), lists[x - reference]
            kept = [s in mine for s in theirs]
            blocks, current, run = [], True, 0
            for keep in kept:
                if keep == current:
                    run += 1
                else:
                    blocks.append(run)
                    current, run = keep, 1
            # The last run is left out: after an even number of blocks the rest is copied, after an odd one skipped.
            out.append(encode(chosen["BLOCK_COUNT"], len(blocks), k))
            out.extend(encode(chosen["BLOCKS"], b - (p > 0), k) for p, b in enumerate(blocks))
            copied = {s for s, keep in zip(theirs, kept) if keep}
            rest = [s for s in successors if s not in copied]
        if not rest:
            continue
        intervals: list[tuple[int, int]] = []
        residuals = list(rest)
        if shortest:
            residuals, p = [], 0
            while p < len(rest):
                q = p
                while q + 1 < len(rest) and rest[q + 1] == rest[q] + 1:
                    q += 1
                if q - p + 1 >= shortest:
                    intervals.append((rest[p], q - p + 1))
                else:
                    residuals.extend(rest[p : q + 1])
                p = q + 1
            out.append(encode("GAMMA", len(intervals), k))
            previous = 0
            for p, (left, length) in enumerate(intervals):
                out.append(encode("GAMMA", natural(left - x) if p == 0 else left - previous - 1, k))
                out.append(encode("GAMMA", length - shortest, k))
                previous = left + length
        for p, r in enumerate(residuals):
            out.append(encode(chosen["RESIDUALS"], natural(r - x) if p == 0 else r - residuals[p - 1] - 1, k))
    bits = "".join(out)
    bits += "0" * (-len(bits) % 8)
    base.with_suffix(".graph").write_bytes(bytes(int(bits[p : p + 8], 2) for p in range(0, len(bits), 8)))
    flags = " | ".join(f"{part}_{code}" for part, code in (codes or {}).items())
    lines = {
        "graphclass": "it.unimi.dsi.webgraph.BVGraph",
        "version": 0,
        "nodes": len(lists),
        "arcs": sum(map(len, lists)),
        "windowsize": window,
        "minintervallength": shortest,
        "zetak": k,
        "compressionflags": flags,
    }
    text = "#BVGraph properties\n" + "".join(f"{key}={value}\n" for key, value in lines.items())
    base.with_suffix(".properties").write_text(text)
