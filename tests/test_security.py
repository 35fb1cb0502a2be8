"""What SECURITY.md promises: every test that it names exists; no code in files, no connections but to clusters."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCES = sorted((ROOT / "src" / "flipwise").rglob("*.py"))
NETWORK = {
    "socket",
    "ssl",
    "http",
    "urllib",
    "ftplib",
    "smtplib",
    "requests",
    "httpx",
    "aiohttp",
    "pooch",
    "websockets",
}
CODE_IN_FILES = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "marshal", "shelve"}
EVALUATING = {"eval", "exec", "compile", "__import__"}


def _imports(tree: ast.AST) -> set[str]:
    """The outermost names of the modules that are imported anywhere in a file."""
    found = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    found |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    return {name.split(".")[0] for name in found}


def test_the_tests_that_are_named_exist() -> None:
    """A promise names the file and the function of its proof."""
    named = re.findall(r"`((?:studies/)?tests/[\w/]+\.py)::(\w+)`", (ROOT / "SECURITY.md").read_text(encoding="utf-8"))
    assert len(named) > 10
    for file, test in named:
        assert f"def {test}(" in (ROOT / file).read_text(encoding="utf-8"), (file, test)


def test_nothing_is_unpickled_or_evaluated() -> None:
    """No module for objects in files, no evaluation of text, and NumPy's files are read without objects."""
    for path in SOURCES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        assert not _imports(tree) & CODE_IN_FILES or "distributed" in path.parts, path  # messages between own processes
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            name = ast.unparse(call.func)
            assert name not in EVALUATING, (path, name)
            if name in ("np.load", "numpy.load"):
                assert {key.arg: ast.unparse(key.value) for key in call.keywords}.get(
                    "allow_pickle", "False"
                ) == "False", path


def test_only_clusters_use_the_network() -> None:
    """No module for connections is imported; `distributed` is where clusters are."""
    for path in SOURCES:
        used = _imports(ast.parse(path.read_text(encoding="utf-8")))
        assert not used & NETWORK, path
        if {"distributed", "dask"} & used:
            assert {"distributed", "cli"} & set(path.relative_to(ROOT / "src" / "flipwise").parts), path
