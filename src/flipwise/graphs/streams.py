"""Bytes of a file, plain or compressed, in blocks: no file is ever held whole.

Compression (gzip, bzip2, xz, zstd) is recognised by content, and chosen by the suffix when a file is written. A small
file that unpacks to something enormous is refused: at most `64 MiB + 250 x` its size, unless the caller allows more.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, NoReturn

from flipwise.foundation.atomic import atomic_file
from flipwise.foundation.errors import InvalidFile, MissingDependency

BLOCK_BYTES = 1 << 22
"""Bytes handed out at a time."""
EXPANSION = 250
"""What a file may grow to when unpacked, as a multiple of its size ..."""
EXPANSION_FLOOR = 1 << 26
"""... on top of this many bytes."""
XZ_MEMORY = 1 << 28
"""Memory an xz dictionary may take (xz -9 needs 65 MiB)."""
LONGEST_LINE = 1 << 20
"""Bytes in a line of an edge list; a longer one means that the file is no edge list."""

_MAGIC = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
COMPRESSED_SUFFIXES = (".gz", ".bz2", ".xz", ".zst", ".zstd")


class TextPiece(NamedTuple):
    """Whole lines of a file: their bytes, and how many lines came before."""

    data: bytes
    lines_before: int


def compression_of(path: Path) -> str | None:
    """The compression of the file, by its first bytes."""
    with path.open("rb") as file:
        head = file.read(6)
    return next((kind for magic, kind in _MAGIC.items() if head.startswith(magic)), None)


def plain_suffix(path: Path) -> str:
    """The suffix, lower-case, under that of a compression."""
    name = path.name.lower()
    for packed in COMPRESSED_SUFFIXES:
        name = name.removesuffix(packed)
    return Path(name).suffix


def expansion_limit(path: Path, max_bytes: int | None) -> int:
    """The bytes (or 4-byte arcs) that this file may turn into."""
    return EXPANSION_FLOOR + EXPANSION * path.stat().st_size if max_bytes is None else max_bytes


def blocks(path: Path, max_bytes: int | None = None) -> Iterator[bytes]:
    """The unpacked bytes of the file, in blocks of about 4 MiB (never empty)."""
    kind = compression_of(path)
    limit = expansion_limit(path, max_bytes) if kind else None
    total = 0
    with path.open("rb") as file:
        try:
            for block in _unpacked_blocks(file, kind):
                total += len(block)
                if limit is not None and total > limit:
                    raise InvalidFile(
                        f"{path}: unpacks to more than {limit:,} bytes from {path.stat().st_size:,}; "
                        "if that is right, pass a larger `max_bytes`."
                    )
                if block:
                    yield block
        except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise InvalidFile(f"{path}: broken {kind} data after {total:,} unpacked bytes: {error}") from None


def lines(
    path: Path, max_bytes: int | None = None, longest: int | None = LONGEST_LINE, skip: int = 0
) -> Iterator[TextPiece]:
    """The file from line `skip + 1` on in pieces of whole lines; each ends with a newline, also if the file does not.

    A byte order mark at the start of the file is passed over.
    """
    for data, before in _whole_lines(path, max_bytes, longest):
        _refuse_stray_bytes(path, data, before)
        if before == 0:
            data = data.removeprefix(b"\xef\xbb\xbf")
        while before < skip and data:
            data = data[data.index(b"\n") + 1 :]
            before += 1
        if data:
            yield TextPiece(data, before)


def _whole_lines(path: Path, max_bytes: int | None, longest: int | None) -> Iterator[TextPiece]:
    """The file in pieces of whole lines, whatever it begins with."""
    carry: list[bytes] = []
    carried = 0
    before = 0
    for block in blocks(path, max_bytes):
        cut = block.rfind(b"\n") + 1
        if not cut:
            carry.append(block)
            carried += len(block)
            if longest is not None and carried > longest:
                _refuse_line(path, before + 1, longest)
            continue
        data = b"".join([*carry, block[:cut]])
        if longest is not None and carried and data.find(b"\n") > longest:
            _refuse_line(path, before + 1, longest)
        yield TextPiece(data, before)
        before += data.count(b"\n")
        carry, carried = [block[cut:]], len(block) - cut
    if carried:
        yield TextPiece(b"".join(carry) + b"\n", before)


def _refuse_stray_bytes(path: Path, data: bytes, before: int) -> None:
    """Raise for carriage returns that end no line, as in files of old Macs, and for zero bytes, which no text has."""
    if b"\0" not in data and (b"\r" not in data or data.count(b"\r") == data.count(b"\r\n")):
        return
    found = re.search(rb"\0|\r(?!\n)", data)
    if found:
        line = before + data.count(b"\n", 0, found.start()) + 1
        problem = "a zero byte: this is no text file, or one in UTF-16. Save it in UTF-8."
        if found[0] == b"\r":
            problem = "a carriage return inside the line. Convert the line ends of the file to LF or CR LF."
        raise InvalidFile(f"{path}, line {line:,}: {problem}")


def _refuse_line(path: Path, line: int, longest: int) -> NoReturn:
    """Raise for a line longer than any of this format."""
    raise InvalidFile(f"{path}, line {line:,}: longer than {longest:,} bytes; this is no text file of this format.")


def _unpacked_blocks(file: BinaryIO, kind: str | None) -> Iterator[bytes]:
    """The unpacked bytes of an open file."""
    if kind == "xz":
        yield from _xz_blocks(file)
    elif kind == "zstd":
        yield from _zstd_blocks(file)
    else:
        stream = gzip.GzipFile(fileobj=file) if kind == "gzip" else bz2.BZ2File(file) if kind == "bzip2" else file
        while block := stream.read(BLOCK_BYTES):
            yield block


def _xz_blocks(file: BinaryIO) -> Iterator[bytes]:
    """Concatenated xz streams, with a bound on the dictionary."""
    decoder = lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=XZ_MEMORY)
    packed = file.read(BLOCK_BYTES)
    while True:
        block = decoder.decompress(packed, max_length=BLOCK_BYTES)
        packed = b""
        yield block
        if decoder.eof:
            packed = decoder.unused_data.lstrip(b"\0") or file.read(BLOCK_BYTES).lstrip(b"\0")
            if not packed:
                return
            decoder = lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=XZ_MEMORY)
        elif decoder.needs_input:
            packed = file.read(BLOCK_BYTES)
            if not packed:
                raise EOFError("the file ends inside the compressed data")


def _zstd_blocks(file: BinaryIO) -> Iterator[bytes]:
    """Concatenated zstd frames. 1 KiB at a time: a zstd block of 4 bytes can stand for 128 KiB."""
    try:
        import zstandard
    except ImportError:
        raise MissingDependency("zstandard", "graphs", "Reading zstd files") from None
    decoder = zstandard.ZstdDecompressor(max_window_size=XZ_MEMORY).decompressobj()
    gathered: list[bytes] = []
    size = 0
    packed = file.read(1024)
    while packed:
        try:
            block = decoder.decompress(packed)
        except zstandard.ZstdError as error:
            raise EOFError(str(error)) from None
        gathered.append(block)
        size += len(block)
        if size >= BLOCK_BYTES:
            yield b"".join(gathered)
            gathered, size = [], 0
        packed = b""
        if decoder.eof:
            packed = decoder.unused_data or file.read(1024)
            if packed:
                decoder = zstandard.ZstdDecompressor(max_window_size=XZ_MEMORY).decompressobj()
        else:
            packed = file.read(1024)
            if not packed:
                raise EOFError("the file ends inside the compressed data")
    if gathered:
        yield b"".join(gathered)


@contextmanager
def packed_file(path: Path) -> Iterator[BinaryIO]:
    """A file to write to, moved into place when it is complete; packed as its suffix says."""
    with atomic_file(path) as file:
        match path.suffix.lower():
            case ".gz":
                stream: Any = gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0)
            case ".bz2":
                stream = bz2.BZ2File(file, "wb")
            case ".xz":
                stream = lzma.LZMAFile(file, "wb")  # noqa: SIM115
            case ".zst" | ".zstd":
                try:
                    import zstandard
                except ImportError:
                    raise MissingDependency("zstandard", "graphs", "Writing zstd files") from None
                stream = zstandard.ZstdCompressor(write_checksum=True).stream_writer(file, closefd=False)
            case _:
                yield file
                return
        with stream, io.BufferedWriter(stream) as buffered:
            yield buffered
