"""The package as a whole: light to import, layered, usable without a compiler cache, complete."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import flipwise

SOURCE = Path(flipwise.__file__).parent


def _run(code: str, **environment: str) -> str:
    inherited = {key: value for key, value in os.environ.items() if key != "NUMBA_DISABLE_JIT"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=inherited | environment, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_import_is_light() -> None:
    """`import flipwise` and a small solve load neither numba nor scikit-learn nor the command line's libraries."""
    code = (
        "import sys, flipwise\n"
        "assert not {'numpy', 'scipy', 'numba', 'sklearn', 'rich', 'click'} & set(sys.modules)\n"
        "import numpy as np\n"
        "rng = np.random.default_rng(0); A = rng.standard_normal((200, 200)); A = A + A.T\n"
        "r = flipwise.minimize(A, seed=0)\n"
        "k = flipwise.minimize(A, seed=0, constraint=flipwise.Cardinality(40))\n"
        "assert r.success and k.success\n"
        "assert not {'numba', 'sklearn', 'rich', 'click', 'matplotlib'} & set(sys.modules)\n"
    )
    _run(code)


def test_a_read_only_installation_without_a_home_works() -> None:
    """Where no cache folder is writable the compiled tier still works."""
    code = (
        "import numpy as np, scipy.sparse as sp, flipwise\n"
        "A = sp.random_array((20000, 20000), density=5e-4, rng=np.random.default_rng(0), format='csr')\n"
        "print(flipwise.minimize(A + A.T, seed=0).success)\n"
    )
    # an unusable cache folder is what a read-only installation without HOME amounts to, also for root
    assert _run(code, NUMBA_CACHE_DIR="/dev/null/none", HOME="/nonexistent").strip() == "True"


def test_the_documents_name_this_version() -> None:
    """The changelog begins with it, the citation has it with the same date, and the guide shows a log of it."""
    root = Path(__file__).parents[1]
    changelog, citation = ((root / name).read_text(encoding="utf-8") for name in ("CHANGELOG.md", "CITATION.cff"))
    heading = re.search(r"^## (\S+) \((.*)\)$", changelog, re.M)
    assert heading and heading[1] == flipwise.__version__
    assert f"\nversion: {flipwise.__version__}\n" in citation
    assert heading[2] == "unreleased" or f"\ndate-released: {heading[2]}\n" in citation
    guide = (root / "docs" / "guides" / "command-line.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^Flipwise (\S+)", guide, re.M)) == {flipwise.__version__}


def test_every_public_name_exists_and_is_documented() -> None:
    """dir(flipwise) is what can be imported, and each has a docstring."""
    for name in dir(flipwise):
        value = getattr(flipwise, name)
        assert name == "__version__" or value.__doc__, name


def test_unknown_names_are_refused() -> None:
    """A name that does not exist is an AttributeError."""
    with pytest.raises(AttributeError, match="nonsense"):
        _ = flipwise.nonsense


LAYERS = [
    "foundation",
    "kernels",
    "model",
    "engine",
    "bounds",
    "solvers",
    "graphs",
    "densest",
    "minimization",
    "testing",
    "cuts",
    "qubo",
    "verification",
    "hashing",
    "interop",
    "distributed",
    "pages",
    "warming",
    "cli",
]
"""A module imports only from its own room and the rooms before it, inside functions too."""


def test_every_room_has_a_layer() -> None:
    """No room stands outside, and import-linter is told the same order."""
    rooms = {path.stem for path in SOURCE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert rooms - {"__init__", "__main__"} == set(LAYERS)
    settings = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["tool"][
        "importlinter"
    ]
    assert settings["contracts"][0]["layers"] == ["__main__", *reversed(LAYERS)]


@pytest.mark.parametrize("room", LAYERS)
def test_data_flows_one_way(room: str) -> None:
    """No module imports from a room to its right, and none below the command line asks the package for a name."""
    paths = [SOURCE / f"{room}.py"] if (SOURCE / f"{room}.py").exists() else sorted((SOURCE / room).rglob("*.py"))
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module == "flipwise":
                names = [f"flipwise.{alias.name}" for alias in node.names]
            else:
                names = [str(node.module)] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                if name.split(".")[0] == "flipwise" and name != "flipwise.__version__" and room != "cli":
                    there = (name.split(".") + ["the package"])[1]
                    assert there in LAYERS[: LAYERS.index(room) + 1], f"{path.name} imports {name}"


def test_no_numba_outside_the_kernels_and_no_fastmath() -> None:
    """Numba is imported in one file, and never with fastmath."""
    for path in SOURCE.rglob("*.py"):
        text = path.read_text()
        assert "fastmath=True" not in text
        if path != SOURCE / "kernels" / "jit.py":
            assert "import numba" not in text and "from numba" not in text, path


def test_no_print_in_the_library() -> None:
    """The library logs; only the command line writes to the terminal."""
    for path in SOURCE.rglob("*.py"):
        if "cli" in path.parts:
            continue
        calls = [
            node.lineno
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
        ]
        assert not calls, f"{path}: print at lines {calls}"


def test_tests_stand_where_their_subjects_do() -> None:
    """In the folder of a room a file of tests is called after a module or folder there, with or without an aspect."""
    tests = Path(__file__).parent
    for room in [path for path in tests.iterdir() if (SOURCE / path.name).is_dir()]:
        for path in room.rglob("test_*.py"):
            folder = SOURCE / path.parent.relative_to(tests)
            subjects = [
                each.stem for each in folder.iterdir() if each.suffix == ".py" or (each / "__init__.py").exists()
            ]
            assert any(f"{path.stem}_".startswith(f"test_{subject}_") for subject in subjects), (
                f"{path}: tests of no module there"
            )


def test_tests_use_public_names() -> None:
    """What has an underscore is for its own module: a test that needs it needs a public name."""
    for path in Path(__file__).parent.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        imports = [
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("flipwise")
        ]
        names = [alias.name for node in imports for alias in node.names]
        bound = {alias.asname or alias.name for node in imports for alias in node.names}
        names += [
            node.attr
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in bound
        ]
        private = [name for name in names if name.startswith("_") and not name.endswith("_")]
        assert not private, f"{path}: {private}"
