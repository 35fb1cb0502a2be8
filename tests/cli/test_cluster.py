"""`--cluster`: the answers of one process, from processes that end with the command."""

from __future__ import annotations

import http.client
import itertools
import json
import urllib.request
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from flipwise.cli.app import app
from flipwise.cli.cluster import connected
from flipwise.distributed.shards import write_shards
from tests.distributed.test_shards import random_graph

pytest.importorskip("distributed")
psutil = pytest.importorskip("psutil")


def test_subgraph_on_a_local_cluster(tmp_path: Path) -> None:
    """A graph file and a folder of shards give the nodes of one process; nonsense is a usage error."""
    graph = random_graph(300, 2500)
    lines = [f"{i} {j}" for i in range(graph.n) for j in graph.indices[graph.indptr[i] : graph.indptr[i + 1]] if i < j]
    (tmp_path / "graph.txt").write_text("\n".join(lines))
    write_shards(graph, tmp_path / "shards", 3)
    command = ["subgraph", str(tmp_path / "graph.txt"), "-k", "15", "--effort", "0", "--json", "-q"]
    alone = json.loads(CliRunner().invoke(app, command).stdout)["results"][0]
    shared = CliRunner().invoke(app, [*command, "--cluster", "local:1"])
    assert shared.exit_code == 0, shared.output
    assert json.loads(shared.stdout)["results"][0]["nodes"] == alone["nodes"]
    for wrong in ("local:no", "somewhere", "local:0"):
        assert CliRunner().invoke(app, [*command, "--cluster", wrong]).exit_code == 2
    assert np.isfinite(alone["density"])


def test_hash_fit_on_a_local_cluster(tmp_path: Path) -> None:
    """The answer for machines is JSON here too, and the model is one that `encode` reads."""
    pytest.importorskip("sklearn")
    np.save(tmp_path / "vectors.npy", np.random.default_rng(0).standard_normal((60, 8)))
    model, codes = str(tmp_path / "model.safetensors"), str(tmp_path / "codes.npy")
    command = ["hash", "fit", str(tmp_path / "vectors.npy"), "--bits", "16", "-o", model, "--cluster", "local:1"]
    ended = CliRunner().invoke(app, [*command, "--json"])
    assert ended.exit_code == 0, ended.output
    told = json.loads(ended.stdout)
    assert (told["loss"], told["bits"], told["features"], told["model"]) == ("ITQ", 16, 8, model)
    ended = CliRunner().invoke(app, ["hash", "encode", model, str(tmp_path / "vectors.npy"), "-o", codes])
    assert ended.exit_code == 0 and np.load(codes).shape == (60, 2)


def test_a_local_cluster_is_for_this_machine_only() -> None:
    """Every port that `--cluster local:2` opens is on the loopback device, and no page answers there."""
    ours = psutil.Process()
    before = {c.laddr for c in ours.net_connections("tcp") if c.status == psutil.CONN_LISTEN}
    with connected("local:2"):
        open_ports = [
            c.laddr
            for process in [ours, *ours.children(recursive=True)]
            for c in process.net_connections("tcp")
            if c.status == psutil.CONN_LISTEN and c.laddr not in before
        ]
        assert len(open_ports) >= 3  # the scheduler and two workers
        assert {address.ip for address in open_ports} == {"127.0.0.1"}
        for address, page in itertools.product(open_ports, ("/", "/status", "/info/main/workers.html")):
            with pytest.raises((OSError, http.client.HTTPException)):  # 404, or not the language of pages
                urllib.request.urlopen(f"http://{address.ip}:{address.port}{page}", timeout=1)
