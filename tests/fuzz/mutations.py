"""Changes that turn a valid file into a hostile one: of bytes, of words and lines, and behind checksums made right."""

from __future__ import annotations

import hashlib
import json
import re
import struct
import zlib

import numpy as np

from flipwise.foundation.container import MAGIC

TOKENS = [b"0", b"-1", b"1e308", b"nan", b"inf", b"9223372036854775807", b"99999999999999999999", b"4294967296", b"\n"]
TOKENS += [b" ", b"\t", b",", b"%", b"#", b"\x00", b"\xff\xff\xff\xff", b"1000000000 1000000000", b"%%MatrixMarket"]
TOKENS += [
    b"p qubo 0 5 5 5",
    json.dumps({"a": [1] * 3}).encode(),
    b"1.5",
    b"name",
    b"\r\n",
    b"\r",
    b"0,5",
    b"1_0",
    b"--",
]
TOKENS += [
    b"<!DOCTYPE x [<!ENTITY a 'b'>]>",
    b"&#1;",
    b"<graph>",
    b"]",
    b'"a b"',
    b"{",
    b"<?xml",
    b"source target\n",
    b";",
    b"5e-324",
    b"-0.0",
    b"1e-400",
    b"\xc3",
    b"\xd9\xa3",
    b"null",
]
TOKENS += [b"true", b"[]", b"[[[", b"# 3 nodes, 2 edges\n", b"e 1 2\n", b"1e16", b"2.5", b"+1"]
_WORD = re.compile(rb"[^\s,;:\[\]{}\"]+")


def mutated(seed: bytes, rng: np.random.Generator) -> bytes:
    """One to four random changes."""
    data = bytearray(seed)
    for _ in range(int(rng.integers(1, 5))):
        kind = int(rng.integers(9))
        at = int(rng.integers(0, len(data) + 1))
        if kind == 0 and data:
            data[min(at, len(data) - 1)] ^= 1 << int(rng.integers(8))
        elif kind == 1:
            del data[at:]
        elif kind == 2:
            del data[at : at + int(rng.integers(1, 9))]
        elif kind == 3:
            data[at:at] = _token(rng)
        elif kind == 4:
            end = min(len(data), at + int(rng.integers(1, 40)))
            data[at:at] = data[at:end] * int(rng.integers(1, 5))
        elif kind == 5:
            data[at:at] = rng.bytes(int(rng.integers(1, 16)))
        elif kind in (6, 7):
            words = list(_WORD.finditer(bytes(data[:100_000])))
            if words:
                first, second = (words[int(k)] for k in rng.integers(len(words), size=2))
                data[first.start() : first.end()] = _token(rng) if kind == 6 else second[0]
        else:
            lines = bytes(data).split(b"\n")
            one, two = (int(k) for k in rng.integers(len(lines), size=2))
            lines[one], lines[two] = lines[two], lines[one if rng.integers(2) else two]
            data = bytearray(b"\n".join(lines))
    return bytes(data)


def _token(rng: np.random.Generator) -> bytes:
    """An awkward word."""
    return TOKENS[int(rng.integers(len(TOKENS)))]


def repaired_container(content: bytes) -> bytes:
    """A result or checkpoint whose length of header and checksum fit again."""
    if not content.startswith(MAGIC) or len(content) < len(MAGIC) + 40:
        return content
    start = len(MAGIC) + 8
    end = content.find(b"}]}", start) + 3
    size = end - start if end > start + 3 else int.from_bytes(content[len(MAGIC) : start], "little")
    body = MAGIC + (size % 2**64).to_bytes(8, "little") + content[start:-32]
    return body + hashlib.sha256(body).digest()


def repaired_index(content: bytes) -> bytes:
    """The file of an index with the length and the checksum of its head made right, and its end where arrays end."""
    from flipwise.hashing.index_file import MAGIC

    begin = content.find(b'{"kind"')
    end = content.find(b"]}", content.find(b'"arrays"')) + 2
    if begin < 0 or end < begin:
        return content
    head = content[begin:end]
    start = -(-(len(MAGIC) + 40 + len(head)) // 64) * 64
    old_start = -(-end // 64) * 64
    first = MAGIC + len(head).to_bytes(8, "little") + hashlib.sha256(head).digest() + head
    return first.ljust(start, b"\0") + content[old_start:]


def repaired_store(content: bytes) -> bytes:
    """A compact graph whose checksums fit again, as far as its header can be read."""
    try:
        magic, version, length, _ = struct.unpack("<8sIII", content[:20])
        header = json.loads(content[20 : 20 + length])
        body = content[20 + length :]
        for section in header["arrays"].values():
            part = body[section["at"] : section["at"] + section["size"] * np.dtype(section["type"]).itemsize]
            section["crc"] = zlib.crc32(part)
        text = json.dumps(header).encode()
        text += b" " * (-(20 + len(text)) % 64)
        return struct.pack("<8sIII", magic, version, len(text), zlib.crc32(text)) + text + body
    except (ValueError, TypeError, KeyError, struct.error, AttributeError, OverflowError, SyntaxError):
        return content
