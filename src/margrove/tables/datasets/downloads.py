"""Data sets that scikit-learn downloads: what a user is told where that is impossible."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from margrove.errors import DownloadError


@contextlib.contextmanager
def downloading(what: str) -> Iterator[None]:
    """Turn the failure of a download, or a file that is not there, into one that says what to do."""
    try:
        yield
    except OSError as error:  # URLError and FileNotFoundError are such
        raise DownloadError(
            f"{what} is not on this machine, and could not be downloaded ({error}). Call this once where "
            "there is an internet connection; then copy scikit-learn's folder of data, ~/scikit_learn_data, "
            "to this machine, or name it with data_home=... or the variable SCIKIT_LEARN_DATA"
        ) from error
