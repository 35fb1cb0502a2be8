"""The public API from a typed user's side."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.typed_program import main

PROGRAM = Path(__file__).parent / "typed_program.py"


def test_a_typed_program_runs(tmp_path: Path) -> None:
    """The sample program does what it says."""
    main(tmp_path)


def test_a_typed_program_passes_mypy_strict(tmp_path: Path) -> None:
    """mypy --strict finds nothing in a program that only uses public names."""
    pytest.importorskip("mypy", reason='needs the lint tools: pip install "flipwise[lint]"')
    strict = ["--strict", "--config-file", "", "--follow-imports", "silent", "--cache-dir", str(tmp_path)]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *strict, str(PROGRAM)], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert done.returncode == 0, done.stdout
