"""How a call ends: each kind of error has its exit status and one message."""

from __future__ import annotations

import contextlib
import errno
import sys
import traceback
from collections.abc import Iterator
from enum import IntEnum
from typing import Any

import typer

from margrove.cli.console import note
from margrove.errors import MargroveError


class Status(IntEnum):
    """Exit statuses; 65, 66 and 73 are those of sysexits.h."""

    DONE = 0
    FAILED = 1
    WRONG_CALL = 2
    BAD_DATA = 65
    NO_INPUT = 66
    CANNOT_WRITE = 73
    INTERRUPTED = 130


class CommandError(Exception):
    """A command cannot go on; the program ends with this status."""

    def __init__(self, status: Status, message: str) -> None:
        super().__init__(message)
        self.status = status


@contextlib.contextmanager
def options_in_doubt() -> Iterator[None]:
    """Take a ValueError that is not Margrove's own, as estimators and readers raise, for a wrong option."""
    try:
        yield
    except MargroveError:
        raise
    except ValueError as error:
        raise CommandError(Status.WRONG_CALL, str(error)) from error


def status_of(error: BaseException, debug: bool = False) -> int:
    """Tell standard error what went wrong and return the exit status."""
    if isinstance(error, typer.Exit):
        return error.exit_code
    if debug:
        traceback.print_exception(error, file=sys.stderr)
    if _is_wrong_call(error):
        error.show()  # type: ignore[attr-defined]
        return Status.WRONG_CALL
    status, message = _explained(error)
    note(message if status == Status.INTERRUPTED else f"error: {message}")
    return status


def _explained(error: BaseException) -> tuple[Status, str]:
    match error:
        case CommandError():
            return error.status, str(error)
        case MargroveError():
            return Status.BAD_DATA, str(error)
        case FileNotFoundError() | IsADirectoryError() | NotADirectoryError() | PermissionError():
            return Status.NO_INPUT, f"cannot read {error.filename}: {error.strerror}"
        case KeyboardInterrupt():
            return Status.INTERRUPTED, "interrupted"
        case MemoryError():
            return Status.FAILED, f"not enough memory ({error})" if str(error) else "not enough memory"
        case OSError(errno=errno.ENOSPC | errno.EDQUOT | errno.EFBIG | errno.EROFS):
            what = error.filename or "the output"
            return Status.CANNOT_WRITE, f"cannot write {what}: {error.strerror}"
        case ImportError() | OSError():
            return Status.FAILED, str(error)
        case _:
            what = f"{type(error).__name__}: {error}"
            return Status.FAILED, f"{what}\nThis should not happen; MARGROVE_DEBUG=1 shows where it did."


def _is_wrong_call(error: Any) -> bool:
    """Tell typer's own complaints, whose class has moved between its versions."""
    return hasattr(error, "format_message") and hasattr(error, "show")
