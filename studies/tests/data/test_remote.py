"""Public data: the local folder first, then the cache, then the network; errors say what to do."""

from __future__ import annotations

import hashlib
import io
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from flipwise.foundation.errors import InvalidFile, InvalidInput
from flipwise_studies.data import remote

pooch = pytest.importorskip("pooch")


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No data folder, an empty cache, and a network that is down."""

    def down(url: str, **options: Any) -> str:
        raise OSError("the network is down")

    monkeypatch.delenv("FLIPWISE_DATA", raising=False)
    monkeypatch.setattr(pooch, "os_cache", lambda name: tmp_path / "cache")
    monkeypatch.setattr(pooch, "retrieve", down)


def test_without_network_the_error_says_what_to_put_where() -> None:
    """Address, place in the cache, and the variable are all in the message."""
    with pytest.raises(InvalidInput) as caught:
        remote.cifar10_images()
    for part in ("network is down", remote.CIFAR10, "cache", "FLIPWISE_DATA", "hashing/cifar-10-binary.tar.gz"):
        assert part in str(caught.value)


def test_downloads_can_be_forbidden() -> None:
    """With download=False nothing is asked of the network."""
    with pytest.raises(InvalidInput, match="`download` is False"):
        remote.law_graph("dblp-2010", download=False)
    with pytest.raises(InvalidInput, match="dblp-2010"):
        remote.law_graph("dblp-2011")


def test_a_wrong_checksum_is_an_invalid_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """pooch's complaint becomes ours, with the file to delete."""

    def wrong(url: str, **options: Any) -> str:
        raise ValueError("hash does not match.")

    monkeypatch.setattr(pooch, "retrieve", wrong)
    with pytest.raises(InvalidFile, match="Delete"):
        remote.fetch("http://host/file", "graphs/file", "md5:00")


def test_published_checksums_are_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """For graphs without a checksum of ours, the site's own list is fetched and passed on."""
    asked: dict[str, str | None] = {}

    def retrieve(url: str, known_hash: str | None, fname: str, path: Path, **options: Any) -> str:
        asked[fname] = known_hash
        if fname.endswith(".md5sums"):
            (tmp_path / fname).write_text("0a  hollywood-2009.graph\n0b  hollywood-2009.properties\n")
            return str(tmp_path / fname)
        raise OSError("stop here")

    monkeypatch.setattr(pooch, "retrieve", retrieve)
    with pytest.raises(InvalidInput, match="stop here"):
        remote.law_graph("hollywood-2009")
    assert asked["hollywood-2009.properties"] == "md5:0b"


def test_the_local_folder_comes_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An archive in FLIPWISE_DATA is read without pooch: images and classes in the order of the batches."""
    records = np.zeros((2, 3073), dtype=np.uint8)
    records[:, 0] = [7, 3]
    records[1, 1:1025] = 255  # the second image is all red
    archive = tmp_path / "data" / "hashing" / "cifar-10-binary.tar.gz"
    archive.parent.mkdir(parents=True)
    with tarfile.open(archive, "w:gz") as tar:
        for name in [*(f"data_batch_{i}.bin" for i in range(1, 6)), "test_batch.bin"]:
            info = tarfile.TarInfo(f"cifar-10-batches-bin/{name}")
            info.size = records.nbytes
            tar.addfile(info, io.BytesIO(records.tobytes()))
    monkeypatch.setenv("FLIPWISE_DATA", str(tmp_path / "data"))
    images, classes = remote.cifar10_images()
    assert images.shape == (12, 32, 32, 3) and classes.tolist() == [7, 3] * 6
    assert images[1, 0, 0].tolist() == [255, 0, 0]


def test_the_papers_graphs_have_the_known_checksums(data_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files at hand are those the checksums were taken from, and read as the graph of the paper's table."""
    monkeypatch.setenv("FLIPWISE_DATA", str(data_folder))
    for name, parts in remote.LAW_GRAPHS.items():
        for suffix, checksum in parts.items():
            content = (data_folder / "graphs" / f"{name}{suffix}").read_bytes()
            assert checksum == f"sha256:{hashlib.sha256(content).hexdigest()}"
    graph = remote.law_graph("dblp-2010")
    assert (graph.n, graph.n_arcs) == (326_186, 1_615_400)
