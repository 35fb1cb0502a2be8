"""Files that appear whole or not at all, and what is never replaced by one."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from flipwise.foundation.atomic import atomic_file, check_writable

ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
posix = pytest.mark.skipif(sys.platform == "win32", reason="links, pipes and devices of POSIX")


def write(path: Path, content: bytes = b"new") -> None:
    """One file, whole or not at all."""
    with atomic_file(path) as file:
        file.write(content)


def test_a_block_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    """An exception in the middle: the old bytes are there, nothing else is."""
    path = tmp_path / "answer"
    write(path, b"old")
    with pytest.raises(RuntimeError), atomic_file(path) as file:
        file.write(b"half")
        raise RuntimeError
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]


@posix
def test_rights_are_kept_and_new_files_follow_the_umask(tmp_path: Path) -> None:
    """What only its owner could read stays so when it is replaced."""
    secret, other = tmp_path / "secret", tmp_path / "other"
    write(secret)
    secret.chmod(0o600)
    write(secret, b"newer")
    write(other)
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    assert stat.S_IMODE(other.stat().st_mode) == 0o666 & ~mask


def test_long_names_are_written(tmp_path: Path) -> None:
    """The temporary file of a name at the system's limit has a shorter name."""
    path = tmp_path / ("x" * 250)
    write(path)
    assert path.read_bytes() == b"new"


@posix
def test_a_link_stays_a_link(tmp_path: Path) -> None:
    """The file it points to is replaced, also in another folder, also one that is not there yet."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    target, link = folder / "target", tmp_path / "link"
    link.symlink_to(target)
    for content in (b"first", b"second"):
        write(link, content)
        assert link.is_symlink() and target.read_bytes() == content
    assert list(folder.iterdir()) == [target]


@posix
def test_devices_and_pipes_are_written_to(tmp_path: Path) -> None:
    """A device stays one, and a pipe hands the bytes to its reader."""
    write(Path("/dev/null"))
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    write(pipe, b"through")
    reader.join(10)
    assert got == [b"through"] and stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="descriptors as files")
@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_standard_output_by_name_goes_on_where_it_was(name: str, tmp_path: Path) -> None:
    """What was printed before and after stays; the file that standard output goes to is not replaced."""
    program = (
        "import sys, pathlib\nfrom flipwise.foundation.atomic import atomic_file\nprint('one', flush=True)\n"
        f"with atomic_file(pathlib.Path({name!r})) as file:\n    file.write(b'two\\n')\nprint('three')\n"
    )
    path = tmp_path / "out"
    with path.open("wb") as out:
        inode = os.fstat(out.fileno()).st_ino
        subprocess.run([sys.executable, "-c", program], stdout=out, check=True)
    assert path.read_text() == "one\ntwo\nthree\n" and path.stat().st_ino == inode


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs the device that is always full")
def test_a_full_device_is_named() -> None:
    """The error of a full disk says which file could not be written."""
    with pytest.raises(OSError, match="/dev/full"):
        write(Path("/dev/full"))


@posix
def test_what_cannot_be_written_is_known_before(tmp_path: Path) -> None:
    """A missing folder, a folder in the file's place, no rights: `check_writable` raises what writing would."""
    (tmp_path / "file").write_bytes(b"")
    wrong = [tmp_path / "no" / "x", tmp_path, tmp_path / "file" / "x"]
    if not ROOT:  # nothing is forbidden to root
        locked = tmp_path / "locked"
        locked.mkdir(0o500)
        (tmp_path / "kept").write_bytes(b"old")
        (tmp_path / "kept").chmod(0o400)
        wrong += [locked / "x", tmp_path / "kept"]
    for path in wrong:
        with pytest.raises((FileNotFoundError, NotADirectoryError, IsADirectoryError, PermissionError)) as checked:
            check_writable(path)
        with pytest.raises(type(checked.value)):
            write(path)
        assert checked.value.filename == str(path)
    for path in (tmp_path / "new", tmp_path / "file", Path("/dev/null")):
        check_writable(path)
