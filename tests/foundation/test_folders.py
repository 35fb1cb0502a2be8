"""Folders that others can write to are not trusted."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from flipwise.foundation.folders import is_private

pytestmark = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="rights of POSIX")


def test_rights_decide(tmp_path: Path) -> None:
    """A folder for all is none, neither is one below it; one that is not there yet is as good as where it would be."""
    own, shared = tmp_path / "own", tmp_path / "shared"
    own.mkdir(0o755)
    (shared / "inner").mkdir(parents=True)
    shared.chmod(0o777)
    assert is_private(own) and is_private(own / "new" / "deeper")
    assert not is_private(shared) and not is_private(shared / "inner") and not is_private(shared / "new")
    shared.chmod(0o1777)
    assert not is_private(shared) and is_private(shared / "inner")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give folders away")
def test_owners_decide(tmp_path: Path) -> None:
    """A folder of another user is none, unless the program itself belongs to that user."""
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    os.chown(foreign, 12345, 12345)
    assert not is_private(foreign) and is_private(foreign, trusted=foreign)


def test_kernels_are_not_loaded_from_a_folder_for_all(tmp_path: Path) -> None:
    """Machine code is neither read from nor written to a cache that others can write to; elsewhere it is."""
    program = (
        "import numpy as np\nfrom flipwise.kernels.arcs import rows_are_simple as tried\ntried.compile()\n"
        "tried(np.zeros(2, np.int64), np.zeros(0, np.int32), np.zeros(1, np.bool_))\n"
    )
    for mode, kept in ((0o777, False), (0o755, True)):
        cache = tmp_path / f"cache{mode:o}"
        cache.mkdir()
        cache.chmod(mode)
        environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
        subprocess.run([sys.executable, "-c", program], env=environment, check=True)
        assert any(cache.rglob("*.nbi")) is kept
