"""A stream of sparse rows, in small parts: seconds, and how memory grows with what has been seen."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

import margrove as mg

PAGE = os.sysconf("SC_PAGE_SIZE")


class Stream(NamedTuple):
    """How large the stream is; classes and features turn up as chance has it."""

    name: str
    rows: int = 100_000
    values: int = 60
    features: int = 20_000
    classes: int = 1000
    part: int = 500


def full() -> Stream:
    return Stream("100,000 rows of 60 values, 1,000 classes")


def parts(stream: Stream, seed: int = 0) -> Any:
    """Rows that resemble the words of their class and of its parents, made as they are asked for."""
    rng = np.random.default_rng(seed)
    side = round(stream.classes ** (1 / 3))
    words = rng.integers(0, stream.features, (stream.classes, 40))
    topics = rng.integers(0, stream.features, (side * side, 40))
    for start in range(0, stream.rows, stream.part):
        n = min(stream.part, stream.rows - start)
        y = rng.integers(0, stream.classes, n)
        own = words[y[:, None], rng.integers(0, 40, (n, 6))]
        above = topics[(y // side % (side * side))[:, None], rng.integers(0, 40, (n, 6))]
        noise = (stream.features * rng.random((n, stream.values - 12)) ** 3).astype(int)
        indices = np.concatenate([own, above, noise], axis=1)
        values = rng.random(indices.shape).astype(np.float32)
        values /= np.sqrt((values**2).sum(axis=1, keepdims=True))
        ptr = np.arange(0, indices.size + 1, stream.values)
        X = sp.csr_array((values.ravel(), indices.ravel(), ptr), shape=(n, stream.features))
        X.sum_duplicates()
        yield X, [f"{k // side**2}/{k // side}/{k}" for k in y.tolist()]


def resident() -> float:
    """Megabytes of this process."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * PAGE / 2**20


def measure(stream: Stream, make: Callable[[], Any] = mg.HierarchicalPerceptron) -> dict[str, Any]:
    """Seconds of `partial_fit` alone, and the slope of memory over the second half of the stream.

    The first half is left out of the slope: a page of the weights is taken when the first of its features
    turns up. The error is that of rows before they are learned, over the last tenth.
    """
    for X, y in parts(stream._replace(rows=50, part=50), seed=1):
        make().partial_fit(X, y)  # loads compiled kernels
    model = make()
    seconds = wall = 0.0
    seen, memory, errors = [], [], []
    done = 0
    for X, y in parts(stream):
        if done >= 0.9 * stream.rows and not errors:
            errors.append(1 - model.score(X, y))
        began, clock = time.process_time(), time.perf_counter()
        model.partial_fit(X, y)
        seconds, wall = seconds + time.process_time() - began, wall + time.perf_counter() - clock
        done += X.shape[0]
        seen.append(done)
        memory.append(resident())
    half = len(seen) // 2
    slope = np.polyfit(seen[half:], memory[half:], 1)[0] if half > 1 else 0.0
    return {
        "problem": stream.name,
        "rows": done,
        "classes": len(model.classes_),
        "columns": model.attributes_.shape[1],
        "cpu_seconds": seconds,
        "seconds": wall,
        "megabytes_per_10,000_rows": float(slope * 10_000),
        "megabytes_at_half": memory[half],
        "megabytes": memory[-1],
        "error_on_new_rows": errors[0] if errors else None,
        "updates": model.n_updates_,
    }
