"""Model files: what is written reads back bit by bit, signs are those of the formats, broken files name the place."""

from __future__ import annotations

import io
import json
import lzma
import tarfile
from pathlib import Path

import dimod
import dimod.serialization.coo
import numpy as np
import pytest

import flipwise
from flipwise.foundation.errors import InvalidFile, InvalidInput
from flipwise.qubo.models import QuadraticModel


def example(variables: str, offset: float = 0.3) -> QuadraticModel:
    """A model with coefficients that have no short binary form."""
    rng = np.random.default_rng(1)
    i, j = np.triu_indices(7, 1)
    keep = rng.random(i.size) < 0.5
    return QuadraticModel(rng.normal(size=7), i[keep], j[keep], rng.normal(size=int(keep.sum())), offset, variables)  # type: ignore[arg-type]


def same(a: QuadraticModel, b: QuadraticModel) -> bool:
    """Whether two models are equal bit by bit."""
    arrays = all(np.array_equal(getattr(a, k), getattr(b, k)) for k in ("linear", "i", "j", "b"))
    return arrays and a.offset == b.offset and a.variables == b.variables


@pytest.mark.parametrize("variables", ["spin", "binary"])
@pytest.mark.parametrize("name", ["m.json", "m.mtx", "m.coo", "m.bqm", "m.mtx.gz", "m.json.xz"])
def test_formats_with_offset_round_trip(tmp_path: Path, name: str, variables: str) -> None:
    """Formats that know both kinds of variables give everything back."""
    model = example(variables)
    flipwise.write_model(model, tmp_path / name)
    assert same(flipwise.read_model(tmp_path / name), model)


@pytest.mark.parametrize(
    ("name", "offset"), [("m.qubo", -0.7), ("m.bqp", 0.0), ("m.bq", 0.0), ("m.qs.xz", 0.3), ("m.qubo.bz2", 1e-300)]
)
def test_binary_formats_round_trip(tmp_path: Path, name: str, offset: float) -> None:
    """Formats for 0/1 give everything back; halving and doubling a coupling is exact."""
    model = example("binary", offset)
    flipwise.write_model(model, tmp_path / name)
    assert same(flipwise.read_model(tmp_path / name), model)


def test_rudy_round_trips_and_counts_the_cut(tmp_path: Path) -> None:
    """The energy of a Max-Cut file is minus the weight of the cut."""
    path = tmp_path / "g.rud"
    path.write_text("4 3\n1 2 1.1\n2 3 -2\n1 4 3\n")
    model = flipwise.read_model(path)
    assert model.energy([1, -1, -1, -1]) == pytest.approx(-4.1)
    flipwise.write_model(model, tmp_path / "h.rud")
    assert same(flipwise.read_model(tmp_path / "h.rud"), model)


def test_dimod_reads_what_is_written(tmp_path: Path) -> None:
    """dimod's own readers give the same energies for our COO and binary files."""
    model = example("spin", 0.0)
    x = np.array([1, -1, 1, 1, -1, -1, 1])
    flipwise.write_model(model, tmp_path / "m.coo")
    flipwise.write_model(model, tmp_path / "m.bqm")
    with (tmp_path / "m.coo").open() as file:
        text = dimod.serialization.coo.load(file)
    with (tmp_path / "m.bqm").open("rb") as file:
        binary = dimod.BinaryQuadraticModel.from_file(file)
    for bqm in (text, binary):
        assert bqm.energy((x, range(7))) == pytest.approx(model.energy(x))


def test_bqpjson_applies_its_scale(tmp_path: Path) -> None:
    """The energy is scale * (terms + offset), and ids become labels."""
    record = {
        "version": "1.0.0",
        "id": 1,
        "metadata": {},
        "variable_ids": [4, 9],
        "variable_domain": "spin",
        "scale": 2.0,
        "offset": 1.5,
        "linear_terms": [{"id": 9, "coeff": 1.0}],
        "quadratic_terms": [{"id_tail": 4, "id_head": 9, "coeff": -3.0}],
    }
    path = tmp_path / "m.json"
    path.write_text(json.dumps(record))
    model = flipwise.read_model(path)
    assert model.labels == (4, 9)
    assert model.energy([1, 1]) == 2.0 * (1.0 - 3.0 + 1.5)


def test_symmetric_matrix_market_counts_entries_twice(tmp_path: Path) -> None:
    """x'Qx of a symmetric file, as scipy would read it."""
    path = tmp_path / "q.mtx"
    path.write_text("%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 -1\n2 1 3\n")
    assert flipwise.read_model(path).energy([1, 1]) == 5.0


def test_qs_files_are_symmetric_and_have_an_offset(tmp_path: Path) -> None:
    """A market split, (5 - 2a - 3b)^2 + (3 - a - 2b)^2, as ZIMPL writes it: the point that fits has energy 0."""
    path = tmp_path / "split.qs"
    path.write_text("# minimize obj: ...;\n# ObjectiveOffset 34\n# Vars Non-zeros\n2 3\n1 1 -21\n1 2 8\n2 2 -29\n")
    model = flipwise.read_model(path)
    assert [model.energy(x) for x in ([0, 0], [1, 0], [0, 1], [1, 1])] == [34.0, 13.0, 5.0, 0.0]


JSON = """{"variable_ids": [0, 1], "variable_domain": "spin", "scale": 1.0, "linear_terms": [],
"quadratic_terms": [{"id_tail": 0, "id_head": 1, "coeff": 2.0}]}"""


@pytest.mark.parametrize(
    ("name", "text", "place"),
    [
        ("a.rud", "3 2\n1 2 1\n1 x 1\n", "line 3"),
        ("a.rud", "3 2\n1 2 1\n", "promises 2"),
        ("a.rud", "3 1\n1 4 1\n", "between 1 and 3"),
        ("a.qubo", "0 0 1\n", "missing"),
        ("a.qubo", "p qubo 1 1 1 0\n0 0 1\n", "line 1"),
        ("a.bq", "2 2\n1 1 1\n", "line 1"),
        ("a.bqp", "2\n1 1\n1 1 1\n", "ends"),
        ("a.mtx", "%%MatrixMarket matrix array real general\n1 1\n1\n", "line 1"),
        ("a.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 3,5\n", "line 3"),
        ("a.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 3 4\n", "line 3"),
        ("a.coo", "0 0 1\n", "vartype"),
        ("a.qs", "2 1\n1 2 1\n", "ObjectiveOffset"),
        ("a.qs", "# Vars Non-zeros Offset\n2 1 0\n1 2 1\n", "ObjectiveOffset"),
        ("a.qs", "# ObjectiveOffset 1\n# ObjectiveOffset 1\n2 1\n1 2 1\n", "ObjectiveOffset"),
        ("a.qs", "# ObjectiveOffset 1_0\n2 1\n1 2 1\n", "ObjectiveOffset"),
        ("a.qs", "# maximize obj: x;\n# ObjectiveOffset 1\n2 1\n1 2 1\n", "of a maximum"),
        ("a.qs", "# ObjectiveOffset 0\n2 1 0\n1 2 1\n", "whole numbers"),
        ("a.qs", "# ObjectiveOffset 0\n2 1\n2 1 1\n", "i <= j"),
        ("a.qs", "# ObjectiveOffset 0\n2 2\n1 2 1\n1.0 2 1\n", "stand once"),
        ("a.qs", "# ObjectiveOffset 0\n2 1\n1 2 1\nWARNING: unconnected\n", "1 lines follow"),
        ("a.qs", "# ObjectiveOffset 0\n2 2\n1 2 1\n", "line 1.*2 entries"),
        ("a.json", "{}", "KeyError"),
        # numbers that would be taken for others
        ("a.rud", "2.9 1\n1 2 1\n", "line 1.*whole numbers"),
        ("a.rud", "3 2\n1 2 1 2\n1 3\n", "line 2"),
        ("a.rud", "2 1\n1 2 1_0\n", "line 2"),
        ("a.rud", "3 1\n1 2.5 1\n", "between 1 and 3"),
        ("a.rud", "2 1\n1 2 nan\n", "line 2"),
        ("a.rud", "2 1\n1 2 1e400\n", "line 2"),
        ("a.rud", "2 2\n1 2 1e308\n2 1 1e308\n1 2 1e308\n", "promises 2"),
        ("a.qubo", "p qubo 0 2 1 0\np qubo 0 3 1 0\n0 0 1\n", "line 2.*second"),
        ("a.qubo", "p qubo 0 9999999999 0 0\n", "more than a file"),
        ("a.bqp", "1\n1 1\n1 1 1\n2 2 2\n", "1 lines follow"),
        ("a.bqp", "99999\n1 0\n", "ends before"),
        ("a.coo", "# vartype=SPIN\n# variables=1e3\n0 0 1\n", "whole number"),
        (
            "a.mtx",
            "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 3\n% variables = bits\n",
            "square matrix|variables",
        ),
        ("a.json", JSON.replace("[0, 1]", "[0, 0]"), "each once"),
        ("a.json", JSON.replace("[0, 1]", '["0", 1]'), "whole numbers"),
        ("a.json", JSON.replace("2.0", '"2.0"'), "finite number"),
        ("a.json", JSON.replace("2.0", "NaN"), "finite number"),
        ("a.json", JSON.replace("2.0", "true"), "finite number"),
        ("a.json", JSON.replace("2.0", "1" + "0" * 400), "BQPJSON"),
        ("a.json", JSON.replace('"scale": 1.0', '"scale": 1.0, "scale": 2.0'), "stands twice"),
        ("a.json", "[" * 100_000, "BQPJSON"),
    ],
)
def test_broken_files_name_the_place(tmp_path: Path, name: str, text: str, place: str) -> None:
    """The message says where the file is wrong."""
    (tmp_path / name).write_text(text)
    with pytest.raises(InvalidFile, match=place):
        flipwise.read_model(tmp_path / name)


def test_formats_refuse_what_they_cannot_say(tmp_path: Path) -> None:
    """Spins in .qubo, offsets in OR-Library files, linear parts in rudy and unknown endings are errors."""
    with pytest.raises(InvalidInput, match="to_binary"):
        flipwise.write_model(example("spin"), tmp_path / "m.qubo")
    with pytest.raises(InvalidInput, match="offset"):
        flipwise.write_model(example("binary"), tmp_path / "m.bqp")
    with pytest.raises(InvalidInput, match="Max-Cut"):
        flipwise.write_model(example("spin"), tmp_path / "m.rud")
    with pytest.raises(InvalidInput, match="format"):
        flipwise.read_model(tmp_path / "m.unknown")


def test_real_files_reach_their_published_optima(data_folder: Path, tmp_path: Path) -> None:
    """The signs are right: bqp50's ten optima and G11's best cut come out as published."""
    best = json.loads((data_folder / "best_known.json").read_text())
    with tarfile.open(data_folder / "qubo" / "orlib_bqp.tar.xz") as archive:
        member = archive.extractfile("bqp50.txt")
        assert isinstance(member, io.BufferedReader)
        (tmp_path / "bqp50.bqp").write_bytes(member.read())
    for k in range(1, 11):
        model = flipwise.read_model(tmp_path / "bqp50.bqp", index=k - 1)
        result = flipwise.solve_qubo(model, seed=0, max_iterations=3, bound="none")
        assert -result.value == best[f"bqp50.{k}"]["best"]
    text = lzma.decompress((data_folder / "qubo" / "gset" / "G11.txt.xz").read_bytes())
    (tmp_path / "G11.rud").write_bytes(text)
    found = flipwise.solve_ising(tmp_path / "G11.rud", seed=0, time_limit=20.0, target=-564.0, bound="none")
    assert found.value == -564.0
