"""The distribution as a whole: the version of the library, light to import, complete."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points, requires, version

import flipwise
import flipwise_studies
from flipwise.cli.app import ENTRY_POINTS, STUDIES


def test_the_studies_go_with_this_version_of_the_library() -> None:
    """Both have one version, and the studies ask for exactly that one: they use more than its public names."""
    assert flipwise_studies.__version__ == version("flipwise-studies") == flipwise.__version__
    assert f"flipwise[hashing]=={flipwise.__version__}" in (requires("flipwise-studies") or [])


def test_the_commands_are_entry_points() -> None:
    """Exactly those that the library names where they are missing."""
    found = {entry.name for entry in entry_points(group=ENTRY_POINTS) if entry.value.startswith("flipwise_studies.")}
    assert found == set(STUDIES)


def test_import_is_light() -> None:
    """Importing the package loads no study and no array library."""
    code = "import sys, flipwise_studies; assert not {'numpy', 'scipy', 'numba', 'sklearn'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_public_name_exists_and_is_documented() -> None:
    """dir(flipwise_studies) is what can be imported, and each has a docstring."""
    for name in dir(flipwise_studies):
        value = getattr(flipwise_studies, name)
        assert name == "__version__" or value.__doc__, name
