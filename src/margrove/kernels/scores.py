"""Scores and costs of all outputs for one example.

    s = W x,   F = Lambda s                                                     (P.1, P.2)
    cost(p, r) = own[p] + other[r] - sum over shared v of (left + right)        (C.2)

`W` is stored by feature (features x nodes): the weights that one nonzero input touches lie side by side.
"""

from __future__ import annotations

import numpy as np

from margrove.kernels.jit import kernel
from margrove.outputs.tables import Attributes, Costs, Floats, Inputs


@kernel
def score_nodes(inputs: Inputs, i: int, W: Floats, base: Floats, s: Floats) -> None:
    """Node scores s = W x_i + base, four nonzeros at a time so that s is read and written less often."""
    m = s.shape[0]
    for v in range(m):
        s[v] = base[v]
    e, end = inputs.ptr[i], inputs.ptr[i + 1]
    while e + 4 <= end:
        w0, w1, w2, w3 = W[inputs.idx[e]], W[inputs.idx[e + 1]], W[inputs.idx[e + 2]], W[inputs.idx[e + 3]]
        x0, x1, x2, x3 = inputs.val[e], inputs.val[e + 1], inputs.val[e + 2], inputs.val[e + 3]
        for v in range(m):
            s[v] += (x0 * w0[v] + x1 * w1[v]) + (x2 * w2[v] + x3 * w3[v])
        e += 4
    while e < end:
        w, x = W[inputs.idx[e]], inputs.val[e]
        for v in range(m):
            s[v] += x * w[v]
        e += 1


@kernel
def score_outputs(attributes: Attributes, s: Floats, T: Floats, F: Floats) -> None:
    """Output scores F = Lambda s, by way of the group scores T."""
    for g in range(T.shape[0]):
        total = s[0] * 0
        for e in range(attributes.ptr[g], attributes.ptr[g + 1]):
            total += attributes.val[e] * s[attributes.idx[e]]
        T[g] = total
    for r in range(F.shape[0]):
        F[r] = attributes.own[r] * s[r] + T[np.uint32(attributes.group[r])]


@kernel
def cost_row(costs: Costs, p: int, out: Floats) -> None:
    """Costs of all outputs against the right output p; zero at p itself."""
    for r in range(out.shape[0]):
        out[r] = costs.own[p] + costs.other[r]
    for e in range(costs.left_ptr[p], costs.left_ptr[p + 1]):
        v, left = costs.left_idx[e], costs.left_val[e]
        for f in range(costs.right_ptr[v], costs.right_ptr[v + 1]):
            out[costs.right_idx[f]] -= left + costs.right_val[f]
    out[p] = 0.0
