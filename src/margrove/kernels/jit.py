"""The one decorator of all kernels.

Kernels own no memory, so Numba need not count who holds each array. That counting, and calls between kernels
that hand over dozens of arrays, would take most of the time of a pass over few outputs (search among 22 took
1.4 microseconds a row with both, 0.2 without). Compiled without the counter, a kernel that allocates, or
assigns one array to another, does not compile: it says so by `allocates`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

import numba

P = ParamSpec("P")
R = TypeVar("R")


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile `function`: cached on disk, free of the interpreter lock, division by zero as NumPy has it."""
    return _compiled(function, _nrt=False, forceinline=True)


def allocates(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a kernel that makes its own working space and result, for calls with much to do."""
    return _compiled(function)


def _compiled(function: Callable[P, R], **options: Any) -> Callable[P, R]:
    options |= {"cache": True, "nogil": True, "error_model": "numpy"}
    return cast("Callable[P, R]", numba.njit(**options)(function))
