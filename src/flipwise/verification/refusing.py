"""What a check is made of: claims that hold, or a refusal."""

from __future__ import annotations

from typing import Any

from flipwise.foundation.errors import InvalidCertificate


def claim(holds: bool, otherwise: str) -> None:
    """Refuse the certificate unless this holds."""
    if not holds:
        raise InvalidCertificate(f"the certificate is refused: {otherwise}.")


def whole(value: Any, least: int | None = None, most: int | None = None) -> int:
    """An integer in a range."""
    claim(isinstance(value, int) and not isinstance(value, bool), f"{value!r:.40} is no integer")
    claim((least is None or value >= least) and (most is None or value <= most), f"{value!r:.40} is out of range")
    return int(value)


def listed(value: Any, length: int | None = None) -> list[Any]:
    """A list, of so many items."""
    claim(isinstance(value, list) and (length is None or len(value) == length), "a list in it has another length")
    return list(value)
