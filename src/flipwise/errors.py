"""Every exception and warning the library raises on purpose.

A message names the argument, states the rule, shows what was given and says what to do.
"""

from __future__ import annotations


class FlipwiseError(Exception):
    """Base class of everything raised on purpose by this library."""


class InvalidInput(FlipwiseError, ValueError):
    """An argument breaks a rule that is stated in the message."""


class IncompatibleObjective(FlipwiseError, TypeError):
    """The chosen method cannot solve this kind of objective or constraint."""


class InvalidFile(FlipwiseError, ValueError):
    """A file is malformed; the message names the file and the line or byte."""


class MissingDependency(FlipwiseError, ImportError):
    """An optional package is needed; the message carries the exact install line."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs the package `{package}`, which is not installed. "
            f'Install it with: pip install "flipwise[{extra}]"'
        )


class FlipwiseWarning(UserWarning):
    """Something was repaired or assumed; the message says what."""
