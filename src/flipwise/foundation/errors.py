"""Every exception and warning the library raises on purpose.

A message names the argument, states the rule, shows what was given and says what to do.
"""

from __future__ import annotations

from collections.abc import Sequence


class FlipwiseError(Exception):
    """Base class of everything raised on purpose by this library.

    Examples
    --------
    >>> import flipwise
    >>> try:
    ...     flipwise.Cardinality(-1)
    ... except flipwise.FlipwiseError as error:
    ...     print(error)
    `count` must be an integer of at least 0, got -1.
    """


class InvalidInput(FlipwiseError, ValueError):
    """An argument breaks a rule that is stated in the message. Also a `ValueError`.

    Examples
    --------
    >>> import flipwise, numpy as np
    >>> flipwise.minimize(np.eye(2), restarts=0)
    Traceback (most recent call last):
    flipwise.foundation.errors.InvalidInput: `restarts` must be an integer of at least 1, got 0.
    """


class IncompatibleObjective(FlipwiseError, TypeError):
    """The chosen method cannot solve this kind of objective or constraint. Also a `TypeError`.

    Examples
    --------
    >>> import flipwise, numpy as np
    >>> flipwise.minimize(np.eye(2), method="sgm", constraint=flipwise.Cardinality(1))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    flipwise.foundation.errors.IncompatibleObjective: method="sgm" cannot keep an exact number of ones, ...
    """


class InfeasibleAnswer(FlipwiseError, RuntimeError):
    """The point that a method ended with breaks the constraint, which a rule of one's own can cause. A `RuntimeError`.

    Examples
    --------
    >>> import flipwise
    >>> issubclass(flipwise.InfeasibleAnswer, flipwise.FlipwiseError)
    True
    """


class InfeasibleModel(InvalidInput):
    """No point keeps all linear rows and counts, or none was found. Also a `ValueError`.

    Attributes
    ----------
    rows
        Which rows conflict, by name or number: as few as were found.
    proven
        Whether it is proven that there is no such point.

    Examples
    --------
    >>> import flipwise, numpy as np
    >>> rows = flipwise.LinearConstraints([[1, 1, 0], [0, 1, 1], [1, 0, 1]], 1, 1)
    >>> try:
    ...     flipwise.solve_qubo(np.eye(3), rows=rows, seed=0)
    ... except flipwise.InfeasibleModel as error:
    ...     print(error.rows)
    ['0', '1', '2']
    """

    def __init__(self, message: str, *, rows: Sequence[str] = (), proven: bool = True) -> None:
        super().__init__(message)
        self.rows = list(rows)
        self.proven = proven


class InvalidFile(FlipwiseError, ValueError):
    """A file is malformed; the message names the file and the line or byte. Also a `ValueError`.

    Examples
    --------
    >>> import flipwise, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "edges.txt")
    ...     _ = path.write_text("0 1\\n1\\n")
    ...     try:
    ...         flipwise.read_graph(path)
    ...     except flipwise.InvalidFile as error:
    ...         print("line 2" in str(error))
    True
    """


class InvalidCertificate(FlipwiseError, ValueError):
    """A certificate does not prove what it claims of this problem. Also a `ValueError`.

    Examples
    --------
    >>> import flipwise
    >>> pair = flipwise.maxcut((2, [[0, 1]]), seed=0).certificate
    >>> try:
    ...     flipwise.verify((3, [[0, 1], [1, 2]]), pair)
    ... except flipwise.InvalidCertificate as error:
    ...     print(error)
    the certificate is refused: it is of another problem.
    """


class NotEnoughMemory(FlipwiseError, MemoryError):
    """What was asked for would not fit into memory; nothing was allocated. Also a `MemoryError`.

    The message has the bytes that are needed and the bytes that are available.

    Examples
    --------
    >>> import flipwise
    >>> issubclass(flipwise.NotEnoughMemory, MemoryError)
    True
    """


class MissingDependency(FlipwiseError, ImportError):
    """An optional package is needed; the message carries the exact install line. Also an `ImportError`.

    Examples
    --------
    >>> import flipwise
    >>> print(flipwise.MissingDependency("torch", "torch", "This"))
    This needs the package `torch`, which is not installed. Install it with: pip install "flipwise[torch]"
    """

    def __init__(self, package: str, extra: str = "", purpose: str = "this", *, install: str = "") -> None:
        line = install or f'pip install "flipwise[{extra}]"'
        super().__init__(f"{purpose} needs the package `{package}`, which is not installed. Install it with: {line}")


class FlipwiseWarning(UserWarning):
    """Something was repaired or assumed; the message says what.

    Examples
    --------
    >>> import flipwise, warnings, numpy as np
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", flipwise.FlipwiseWarning)  # repairs become errors
    ...     result = flipwise.minimize(np.array([[0.0, 1.0], [1.0, 0.0]]), seed=0)
    >>> result.value
    -2.0
    """
