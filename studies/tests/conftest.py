"""The fixtures of the library's own tests."""

from __future__ import annotations

from tests.conftest import data_folder as data_folder
