"""Packed codes in shards: a folder of `.npy` files of bytes and a manifest, searched shard by shard."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from flipwise.atomic import atomic_file
from flipwise.distributed.crew import Crew, ask_each
from flipwise.distributed.shards import prepare, read_array, write_array
from flipwise.errors import InvalidFile
from flipwise.hashing.codes import Codes
from flipwise.hashing.search import Neighbours, hamming_search

FORMAT = "flipwise codes 1"


@dataclass(frozen=True)
class CodeShards:
    """A folder of packed codes; `rows` and `checksums` are those of each shard, in the order of the rows."""

    folder: Path
    n_bits: int
    rows: tuple[int, ...] = ()
    checksums: tuple[int, ...] = ()

    @classmethod
    def begin(cls, folder: Path, n_bits: int) -> CodeShards:
        """A new folder; refuses one that is in use."""
        prepare(folder)
        return cls(folder.resolve(), int(n_bits))

    @classmethod
    def open(cls, folder: str | Path) -> CodeShards:
        """The shards that were written to a folder."""
        path = Path(folder) / "manifest.json"
        try:
            content = json.loads(path.read_bytes())
            if content["format"] != FORMAT:
                raise ValueError("not a folder of codes")
            return cls(Path(folder), int(content["n_bits"]), tuple(content["rows"]), tuple(content["checksums"]))
        except (OSError, KeyError, TypeError, ValueError) as error:
            raise InvalidFile(f"{path}: not a manifest of codes in shards ({error}).") from None

    @staticmethod
    def write(folder: Path, s: int, packed: npt.NDArray[np.uint8]) -> tuple[int, int]:
        """Write one shard; returns its rows and its checksum."""
        (crc,) = write_array(folder / f"codes-{s:05d}.npy", packed).values()
        return len(packed), crc

    def finish(self, written: list[tuple[int, int]]) -> CodeShards:
        """Write the manifest."""
        rows, checksums = zip(*written, strict=True)
        manifest = {"format": FORMAT, "n_bits": self.n_bits, "bit_order": "big", "rows": rows, "checksums": checksums}
        with atomic_file(self.folder / "manifest.json") as file:
            file.write(json.dumps(manifest).encode())
        return CodeShards(self.folder, self.n_bits, rows, checksums)

    def codes(self, s: int) -> Codes:
        """The codes of one shard, mapped and checked."""
        return Codes(read_array(self.folder / f"codes-{s:05d}.npy", self.checksums[s]), self.n_bits)

    def search(self, queries: Codes, k: int, client: Any = None) -> Neighbours:
        """The k nearest codes of each query over all shards, by (Hamming distance, row); on a cluster with a client."""
        tasks = [(self, s, queries, k) for s in range(len(self.rows))]
        found = ask_each(None if client is None else Crew(client), "search", _nearest, tasks)
        starts = np.concatenate([[0], np.cumsum(self.rows)])
        ids = np.concatenate([each.ids + starts[s] for s, each in enumerate(found)], axis=1)
        distances = np.concatenate([each.values for each in found], axis=1)
        order = np.lexsort((ids, distances), axis=1)[:, :k]
        return Neighbours(np.take_along_axis(ids, order, axis=1), np.take_along_axis(distances, order, axis=1))


def _nearest(shards: CodeShards, s: int, queries: Codes, k: int) -> Neighbours:
    return hamming_search(queries, shards.codes(s), min(k, shards.rows[s]))
