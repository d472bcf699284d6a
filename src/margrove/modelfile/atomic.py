"""Replace a file by a new one, or not at all."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import secrets
import stat
from collections.abc import Iterator
from glob import escape
from pathlib import Path
from typing import BinaryIO


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file to be written in the place of `path`.

    It takes that place at the end of the block, in one step and safely on the disk; if the block raises, it
    vanishes. The permissions are those of the file replaced, or of any new file. A symbolic link stays one.
    """
    target = Path(os.path.realpath(path))
    mode = _replaceable_mode(target)
    _sweep(target)
    temporary, descriptor = _create_beside(target)
    try:
        with open(descriptor, "wb") as file:
            if mode is not None:
                os.fchmod(descriptor, mode)
            yield file
            file.flush()
            os.fsync(descriptor)
            os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_directory(target.parent)


def _replaceable_mode(target: Path) -> int | None:
    """Return the permissions of the file to be replaced, if there is one."""
    try:
        status = target.stat()
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(status.st_mode):  # as root, replacing /dev/null would even succeed
        code = errno.EISDIR if stat.S_ISDIR(status.st_mode) else errno.EINVAL
        raise OSError(code, "only a regular file can be replaced by a model", str(target))
    return stat.S_IMODE(status.st_mode)


def _create_beside(target: Path) -> tuple[Path, int]:
    """Create a temporary file in the same directory, locked for as long as it is open."""
    while True:
        temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}.tmp")
        try:
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        except OSError as error:
            error.filename = str(target)  # what the caller knows of
            raise
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink:  # else another process took it for abandoned before the lock
            return temporary, descriptor
        os.close(descriptor)


def _sweep(target: Path) -> None:
    """Remove what killed processes left behind: temporary files that nobody has locked."""
    for abandoned in target.parent.glob(f".{escape(target.name)}.{'[0-9a-f]' * 16}.tmp"):
        with contextlib.suppress(OSError):
            descriptor = os.open(abandoned, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                abandoned.unlink()
            finally:
                os.close(descriptor)


def _sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
