"""Memory: how much of it can still be had."""

from __future__ import annotations

import os
from pathlib import Path

from flipwise.foundation.errors import InvalidInput


def available_bytes() -> int | None:
    """The bytes that can still be allocated without swapping, or None where the system does not say.

    The least of what the system calls available, what is left of the limits of a container and of the process, and the
    environment variable FLIPWISE_MEMORY (bytes).
    """
    given = os.environ.get("FLIPWISE_MEMORY")
    if given is not None and not given.isdigit():
        raise InvalidInput(f"the environment variable FLIPWISE_MEMORY must be a number of bytes, got {given!r}.")
    limits = [int(given)] if given is not None else []
    found = _bytes_in_field("/proc/meminfo", "MemAvailable:")
    limits += [] if found is None else [found]
    for limit, used in (
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ):
        most, now = _number_in_file(limit), _number_in_file(used)
        limits += [] if most is None or now is None else [max(0, most - now)]
    try:
        import resource
    except ImportError:  # not on this platform
        return min(limits, default=None)
    most, now = resource.getrlimit(resource.RLIMIT_AS)[0], _bytes_in_field("/proc/self/status", "VmSize:")
    if most != resource.RLIM_INFINITY and now is not None:
        limits.append(max(0, most - now))
    return min(limits, default=None)


def shown(size: int) -> str:
    """A number of bytes for people."""
    number = float(size)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if number < 1024.0:
            return f"{number:.3g} {unit}"
        number /= 1024.0
    return f"{number:,.1f} TiB"


def _bytes_in_field(path: str, name: str) -> int | None:
    """The kilobytes that a file of /proc gives to a name, as bytes."""
    try:
        for line in Path(path).read_text(encoding="ascii").splitlines():
            if line.startswith(name):
                return 1024 * int(line.split()[1])
    except (OSError, ValueError):
        pass
    return None


def _number_in_file(path: str) -> int | None:
    """The number in a file of the control groups; None when it is absent or "max"."""
    try:
        return int(Path(path).read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
