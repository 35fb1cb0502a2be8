"""The paper's public data: graphs of the Laboratory for Web Algorithmics, and CIFAR-10.

A file is looked for in the folder FLIPWISE_DATA names, then in the cache, then downloaded (with pooch) and checked.
Where none of this works, the error says which file to put where.
"""

from __future__ import annotations

import os
import tarfile
from pathlib import Path

import numpy as np
import numpy.typing as npt

from flipwise.foundation.errors import InvalidFile, InvalidInput
from flipwise.foundation.folders import is_private
from flipwise.graphs.graph import Graph

LAW = "http://data.law.di.unimi.it/webdata"
LAW_GRAPHS: dict[str, dict[str, str]] = {
    "uk-2007-05@100000": {
        ".graph": "sha256:affa340d5643f83ccd086aaa68c061dd13c01ecd6bf0bd952e0f6900bbf133fb",
        ".properties": "sha256:4323a7bf520bed17cbfbc2a9db0d8508ddd127b30c6cac0916a599817aa611bd",
    },
    "dblp-2010": {
        ".graph": "sha256:343cd9024a8c87f7fbd279a09a608dd6bf073ffd294541f700c3c001702971c6",
        ".properties": "sha256:a8f5770c5fea9e8c82a676f16d209a35cfa2d1cd9f0b4f974c749b71c43a01a0",
    },
    "eswiki-2013": {},
    "hollywood-2009": {},
}
"""The paper's four graphs. For the two without checksums here, those that the site publishes beside them are used."""
CIFAR10 = "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz"
CIFAR10_CHECKSUM = "md5:c32a1d4ab5d03f1284b67883e8d87530"


def law_graph(name: str, *, download: bool = True) -> Graph:
    """One of the paper's graphs, as a simple undirected graph.

    Parameters
    ----------
    name
        "uk-2007-05@100000", "dblp-2010", "eswiki-2013" or "hollywood-2009".
    download
        Whether the network may be used.
    """
    from flipwise.graphs.formats.bvgraph import read_bvgraph

    if name not in LAW_GRAPHS:
        raise InvalidInput(f"`name` must be one of {', '.join(LAW_GRAPHS)}, got {name!r}.")
    known = LAW_GRAPHS[name]
    if not known and download and _find_local(f"graphs/{name}.graph") is None:
        known = _published_checksums(name)
    parts = {
        suffix: fetch(f"{LAW}/{name}/{name}{suffix}", f"graphs/{name}{suffix}", known.get(suffix), download=download)
        for suffix in (".properties", ".graph")
    }
    return read_bvgraph(parts[".graph"])


def cifar10_images(*, download: bool = True) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """All 60,000 images as (n, 32, 32, 3) bytes and their classes, training images first."""
    archive = fetch(CIFAR10, "hashing/cifar-10-binary.tar.gz", CIFAR10_CHECKSUM, download=download)
    names = [f"cifar-10-batches-bin/data_batch_{i}.bin" for i in range(1, 6)] + ["cifar-10-batches-bin/test_batch.bin"]
    batches = []
    with tarfile.open(archive) as tar:
        for name in names:
            file = tar.extractfile(name)
            if file is None:
                raise InvalidFile(f"{archive}: {name} is not a file.")
            batches.append(np.frombuffer(file.read(), dtype=np.uint8).reshape(-1, 3073))
    rows = np.concatenate(batches)
    images = rows[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
    return np.ascontiguousarray(images), rows[:, 0].astype(np.int64)


def fetch(url: str, relative: str, checksum: str | None, *, download: bool = True) -> Path:
    """A file: from FLIPWISE_DATA, from the cache, or from the network, checked against its checksum."""
    local = _find_local(relative)
    if local is not None:
        return local
    import pooch

    cache = Path(pooch.os_cache("flipwise"))
    if checksum is None and not is_private(cache):
        raise InvalidInput(f"others can write to {cache}, and {Path(relative).name} has no checksum here: not used.")
    name = Path(relative).name
    if not download and not (cache / name).is_file():
        raise InvalidInput(f"{name} is not at hand and `download` is False. {_what_to_do(url, relative, cache)}")
    try:
        return Path(pooch.retrieve(url, known_hash=checksum, fname=name, path=cache, progressbar=False))
    except ValueError as error:  # a checksum that does not match
        raise InvalidFile(f"{url}: {error} Delete {cache / name} if it is there, and try again.") from None
    except OSError as error:  # requests' exceptions are OSErrors
        raise InvalidInput(f"{name} could not be downloaded ({error}). {_what_to_do(url, relative, cache)}") from None


def _find_local(relative: str) -> Path | None:
    """The file in the folder that FLIPWISE_DATA names, if it is there."""
    folder = os.environ.get("FLIPWISE_DATA", "")
    path = Path(folder) / relative
    return path if folder and path.is_file() else None


def _what_to_do(url: str, relative: str, cache: Path) -> str:
    """Where to put a file that was downloaded by other means."""
    return (
        f"Download {url} by other means and put it at {cache / Path(relative).name}, "
        f"or in a folder of your own at {relative} and set the variable FLIPWISE_DATA to that folder."
    )


def _published_checksums(name: str) -> dict[str, str]:
    """The MD5 sums that the site publishes beside the graph."""
    path = fetch(f"{LAW}/{name}/{name}.md5sums", f"graphs/{name}.md5sums", None)
    sums = {}
    for line in path.read_text().splitlines():
        words = line.split()
        if len(words) == 2:
            sums[words[1].lstrip("*").removeprefix(name)] = f"md5:{words[0]}"
    return sums
