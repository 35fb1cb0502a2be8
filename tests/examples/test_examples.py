"""Every example runs by itself, in an empty folder, in seconds; the notebooks are those of the examples and run too."""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
PROGRAMS = sorted(path for path in EXAMPLES.glob("*.py") if path.name != "make_notebooks.py")
MAKER = runpy.run_path(str(EXAMPLES / "make_notebooks.py"))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_the_example_runs(program: Path, tmp_path: Path) -> None:
    """The program ends without an error and says something; its own asserts hold."""
    done = subprocess.run(
        [sys.executable, "-W", "error::DeprecationWarning:__main__", str(program)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=200,
        env=os.environ | {"MPLBACKEND": "Agg"},
        check=False,
    )
    said = done.stdout + done.stderr
    if "pip install" in said:
        pytest.skip(said.strip().splitlines()[-1])
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


@pytest.mark.parametrize("name", MAKER["CHOSEN"])
def test_the_notebook_is_that_of_the_example(name: str) -> None:
    """The committed notebook is what make_notebooks.py writes, and its cells are valid Python."""
    stored = (EXAMPLES / "notebooks" / f"{name}.ipynb").read_text(encoding="utf-8")
    assert stored == MAKER["notebook"]((EXAMPLES / f"{name}.py").read_text(encoding="utf-8"))
    code = ["".join(cell["source"]) for cell in json.loads(stored)["cells"] if cell["cell_type"] == "code"]
    compile("\n".join(code), name, "exec")
    assert "sys.argv" not in "\n".join(code)


@pytest.mark.parametrize("name", MAKER["CHOSEN"])
def test_the_notebook_runs(name: str, tmp_path: Path) -> None:
    """A Jupyter kernel runs every cell of the notebook without an error, and the cells print."""
    nbclient = pytest.importorskip("nbclient", reason="needs nbclient and ipykernel")
    pytest.importorskip("ipykernel", reason="needs nbclient and ipykernel")
    nbformat = pytest.importorskip("nbformat", reason="needs nbclient and ipykernel")
    book = nbformat.read(EXAMPLES / "notebooks" / f"{name}.ipynb", as_version=4)
    nbclient.NotebookClient(book, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    said = [output for cell in book.cells if cell.cell_type == "code" for output in cell.outputs]
    assert any(output.output_type == "stream" for output in said)
