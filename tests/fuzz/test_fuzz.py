"""Every reader survives hostile files: no crash, no hang, no allocation beyond reason, only our own errors.

A second each by default; FLIPWISE_FUZZ_SECONDS=600 pytest tests/fuzz --timeout 700 for a long run.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.fuzz.corpus import READERS

SECONDS = float(os.environ.get("FLIPWISE_FUZZ_SECONDS", "1"))
ROOT = Path(__file__).parent.parent.parent


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits memory by Linux means")
@pytest.mark.parametrize("name", sorted(READERS))
def test_a_reader_survives_mutated_files(name: str, tmp_path: Path) -> None:
    """The fuzzing process ends by itself with exit code 0."""
    seed = int(np.random.SeedSequence().generate_state(1)[0]) if SECONDS > 5 else 0
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzz.worker", name, str(SECONDS), str(seed), str(tmp_path)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=SECONDS + 120,
        check=False,
    )
    kept = tmp_path / "input"
    shown = kept.read_bytes()[:500] if kept.exists() else b""
    assert done.returncode == 0, f"exit {done.returncode}, seed {seed}, input {shown!r}\n{done.stderr[-3000:]}"
