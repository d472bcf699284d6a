"""What every fit does around its mathematics."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np


@contextmanager
def unchanged_on_failure(estimator: Any) -> Iterator[None]:
    """Leave the estimator as it was, fitted or not, if the block ends with an error or an interrupt."""
    before = vars(estimator).copy()
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


def check_positive(estimator: Any, *names: str) -> None:
    """Raise unless these parameters are finite numbers above zero."""
    for name in names:
        value = getattr(estimator, name)
        if not (_is_a(value, int | float | np.number) and np.isfinite(value) and value > 0):
            raise ValueError(f"{name} is {value!r}; expected a finite number above 0")


def check_count(estimator: Any, *names: str) -> None:
    """Raise unless these parameters are whole numbers of at least zero."""
    for name in names:
        value = getattr(estimator, name)
        if not (_is_a(value, int | np.integer) and value >= 0):
            raise ValueError(f"{name} is {value!r}; expected a whole number of at least 0")


def check_choice(estimator: Any, **choices: tuple[str, ...]) -> None:
    """Raise unless these parameters are among what there is to choose from."""
    for name, known in choices.items():
        value = getattr(estimator, name)
        if not (isinstance(value, str) and value in known):
            raise ValueError(f"{name} is {value!r}; expected {' or '.join(map(repr, known))}")


def _is_a(value: Any, kinds: Any) -> bool:
    return isinstance(value, kinds) and not isinstance(value, bool | np.bool_)


def n_threads(n_jobs: int | None) -> int:
    """scikit-learn's convention: None is 1, -1 is all cores."""
    from joblib import effective_n_jobs

    return int(effective_n_jobs(n_jobs))
