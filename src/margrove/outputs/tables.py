"""The arrays in which every table-driven output states its training problem to the engine.

A named tuple for each thing, so that plain NumPy code and compiled kernels read the same names. All floating
arrays of one problem share one type; indices are int32, pointers int64.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]
Indices = NDArray[np.int32]
Pointers = NDArray[np.int64]

HINGE, SQUARED_HINGE, LOGISTIC = range(3)  # the losses of Targets.loss


class Inputs(NamedTuple):
    """Examples as compressed sparse rows, with the squared norm of each in full.

    Inputs that no other example has are left out of the rows. `private` is the squared norm of these: their
    part of the example's node scores is that times the sum of its own beta d a (E.11).

    With a similarity in place of inputs, row i is a single one in column i: what the engine keeps by "input"
    are then the scores of all examples, and `gram[at[i]]` is what a step of example i adds to them (E.12).
    """

    ptr: Pointers
    idx: Indices
    val: Floats
    sqnorm: Floats
    private: Floats
    gram: Floats
    at: Indices


class Targets(NamedTuple):
    """The right outputs of each example, and `bound`, what its slack costs: C times its weight.

    Right output p is compared with the outputs from first[p] up to last[p] that are not right.
    """

    ptr: Pointers
    idx: Indices
    bound: Floats
    first: Indices
    last: Indices
    loss: int


class Attributes(NamedTuple):
    """Lambda (outputs x columns): what each output has alone, and what it shares with the rest of its group.

    Column r < q belongs to output r alone, with weight own[r]. Outputs whose other attributes are the same
    (siblings in a tree) form a group, and group g has val[ptr[g]:ptr[g + 1]] in columns idx[...] >= q.
    So F[r] = own[r] s[r] + T[group[r]], with T computed once for each group (E.9). `base` is added to the
    scores of the columns.
    """

    own: Floats
    group: Indices
    ptr: Pointers
    idx: Indices
    val: Floats
    base: Floats


class Costs(NamedTuple):
    """cost(p, r) = own[p] + other[r] - sum over shared v of (left[p, v] + right[v, r]); see (C.2)."""

    own: Floats
    other: Floats
    left_ptr: Pointers
    left_idx: Indices
    left_val: Floats
    right_ptr: Pointers
    right_idx: Indices
    right_val: Floats


class Slots(NamedTuple):
    """The active contrasts: example i owns slots ptr[i] .. ptr[i + 1], of which the first used[i] are filled.

    A slot is the contrast of right output `pos` against wrong output `neg`, its cost, and its dual variable
    beta in [0, bound] (alpha = cost * beta).
    """

    ptr: Pointers
    used: Indices
    pos: Indices
    neg: Indices
    cost: Floats
    beta: Floats


class Problem(NamedTuple):
    """A training problem: examples, what is right for them, how outputs score, what errors cost."""

    inputs: Inputs
    targets: Targets
    attributes: Attributes
    costs: Costs
