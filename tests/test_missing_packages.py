"""Without an optional package the error carries the install line."""

from __future__ import annotations

import builtins
from typing import Any

import pytest

import flipwise


@pytest.mark.parametrize(("package", "call"), [("torch", "from_torch"), ("jax", "from_jax")])
def test_the_install_line_is_in_the_error(package: str, call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """pip install "flipwise[...]" is named."""
    real = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name.split(".")[0] == package:
            raise ImportError(name)
        return real(name, *rest, **more)

    function = getattr(flipwise, call)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(flipwise.MissingDependency, match=rf'pip install "flipwise\[{package}\]"'):
        function(lambda x: x.sum(), 3)
