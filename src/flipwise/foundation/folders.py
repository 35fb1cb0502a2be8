"""Folders from which code or data may be taken: only those that no other user can write to."""

from __future__ import annotations

import os
import stat
from pathlib import Path


def is_private(folder: Path, *, trusted: Path | None = None) -> bool:
    """Whether only this user, root, or the owner of the folder `trusted` can change what is in `folder`.

    Of folders above it, one that others can write to counts unless it is sticky, as /tmp is. A group can write where it
    is the user's own. The first folder that exists counts for those that do not yet.
    """
    if not hasattr(os, "geteuid"):  # other systems have no such rights
        return True
    owners = {0, os.geteuid()}
    if trusted is not None and trusted.exists():
        owners.add(trusted.stat().st_uid)
    path = Path(os.path.realpath(folder))
    for step in (path, *path.parents):
        try:
            found = step.stat()
        except FileNotFoundError:
            continue
        except OSError:
            return False
        shared = bool(found.st_mode & stat.S_IWOTH) or (
            bool(found.st_mode & stat.S_IWGRP) and found.st_gid not in (0, os.getegid())
        )
        passable = step != path and bool(found.st_mode & stat.S_ISVTX)
        if found.st_uid not in owners or (shared and not passable):
            return False
    return True
