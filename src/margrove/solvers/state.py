"""The arrays of an ascent: slots for contrasts, working space for each thread, findings, similarities."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from margrove.kernels.block import Block
from margrove.kernels.passes import Scratch, Statistics
from margrove.outputs.tables import Attributes, Inputs, Slots


def empty_slots(capacity: NDArray[np.int64], dtype: Any) -> Slots:
    """Room for `capacity[i]` contrasts of example i, none taken."""
    ptr = np.concatenate([[0], np.cumsum(capacity)]).astype(np.int64)
    size = int(ptr[-1])
    return Slots(
        ptr,
        np.zeros(len(capacity), np.int32),
        np.zeros(size, np.int32),
        np.zeros(size, np.int32),
        np.zeros(size, dtype),
        np.zeros(size, dtype),
    )


def filled(slots: Slots) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The example and the place of every slot that is taken."""
    used = slots.used.astype(np.int64)
    example = np.repeat(np.arange(len(used)), used)
    place = np.arange(len(example)) + np.repeat(slots.ptr[:-1] - (np.cumsum(used) - used), used)
    return example, place


def moved(slots: Slots, capacity: NDArray[np.int64]) -> Slots:
    """The same contrasts in slots of other capacities."""
    target = empty_slots(capacity, slots.beta.dtype)
    target.used[:] = slots.used
    _, old = filled(slots)
    _, new = filled(target)
    for source, place in zip(slots[2:], target[2:], strict=True):
        place[new] = source[old]
    return target


def scratch(attributes: Attributes, slots: Slots, n_columns: int, offers: int) -> Scratch:
    """Working space for one thread."""
    dtype = slots.beta.dtype
    q, n_groups = len(attributes.own), len(attributes.ptr) - 1
    deepest = int(np.diff(slots.ptr).max(initial=1))
    longest = 2 + 2 * int(np.diff(attributes.ptr).max(initial=0))
    # one place more than needed: an entry is written before it is known to be zero
    entries = deepest * longest + 1

    def floats(size: int) -> NDArray[Any]:
        return np.zeros(size, dtype)

    def ints(size: int) -> NDArray[np.int32]:
        return np.zeros(size, np.int32)

    def places(size: int) -> NDArray[np.uint32]:
        return np.zeros(size, np.uint32)

    block = Block(
        H=floats(deepest),
        ptr=places(deepest + 1),
        idx=places(entries),
        val=floats(entries),
        nodes=places(entries),
        local=ints(n_columns) - np.int32(1),
        score=floats(entries),
        change=floats(entries),
        line=floats(entries),
    )
    return Scratch(
        s=floats(n_columns),
        T=floats(n_groups),
        F=floats(q),
        d=floats(q),
        worst=ints(offers),
        block=block,
    )


def no_findings(n: int) -> Statistics:
    """Room for what the passes find out about n examples."""
    loss, gap, psi, norm, linear = np.zeros((5, n))
    fresh, missed = np.zeros((2, n), np.int32)
    return Statistics(loss, gap, psi, norm, linear, fresh, missed)


def with_similarities(
    inputs: Inputs,
    order: NDArray[np.int64],
    rows_of: Callable[[NDArray[np.int64]], NDArray[Any]],
    at_once: int,
) -> Iterator[tuple[NDArray[np.int64], Inputs]]:
    """Examples in this order with their similarities to all, of which about `at_once` are at hand."""
    size = max(1, at_once // len(inputs.at))
    for start in range(0, len(order), size):
        part = order[start : start + size]
        gram = np.ascontiguousarray(rows_of(part))
        inputs.at[part] = np.arange(len(part))
        yield part, inputs._replace(gram=gram)
