"""The small problem of one example: its active contrasts, all other dual variables held fixed.

    maximise over beta   sum_b beta_b H_b  -  1/2 |x|^2 |sum_b (beta_b - old_b) d_b a_b|^2        (E.4)
    slack "example"      beta >= 0,  sum beta <= bound
    slack "pair"         0 <= beta_b <= bound

with H_b = d_b (1 - <a_b, W x>) at the start. Both solvers move along one line at a time, to the exact maximum
on it, and keep H up to date. They return psi = l - u as it was before the first step (Cai 4.32): zero exactly
when nothing is to be gained from this example.

Contrasts live in a small space of their own: the nodes that they touch, numbered 0, 1, .. `n_nodes`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from margrove.kernels.jit import kernel
from margrove.kernels.losses import best_step, spare_violation
from margrove.outputs.tables import HINGE, SQUARED_HINGE, Attributes, Floats, Indices

Places = NDArray[np.uint32]  # without a sign, so that no index has to be checked for counting from the end


class Block(NamedTuple):
    """Working space for one example's contrasts; one for each thread, filled anew at each visit."""

    H: Floats  # violation of each contrast
    ptr: Places  # contrast b is idx[ptr[b]:ptr[b + 1]], val[...]
    idx: Places  # local nodes
    val: Floats
    nodes: Places  # local node -> column of W
    local: Indices  # column of W -> local node, or -1
    score: Floats  # node scores at the start, by local node
    change: Floats  # what the step adds to the node space: sum of (beta - old) d a
    line: Floats  # the direction of the current step; zero between steps


@kernel
def write_contrast(attributes: Attributes, p: int, r: int, idx: Places, val: Floats, start: int) -> int:
    """Write Lambda[p] - Lambda[r], without its zeros, from `start` on; return where it ends."""
    end = start
    idx[end], val[end] = p, attributes.own[p]
    end += int(val[end] != 0.0)
    idx[end], val[end] = r, -attributes.own[r]
    end += int(val[end] != 0.0)
    g, h = attributes.group[p], attributes.group[r]
    if g == h:
        return end
    a, a_end = attributes.ptr[g], attributes.ptr[g + 1]
    b, b_end = attributes.ptr[h], attributes.ptr[h + 1]
    while a < a_end or b < b_end:
        if b == b_end or (a < a_end and attributes.idx[a] < attributes.idx[b]):
            idx[end], val[end] = attributes.idx[a], attributes.val[a]
            a += 1
        elif a == a_end or attributes.idx[b] < attributes.idx[a]:
            idx[end], val[end] = attributes.idx[b], -attributes.val[b]
            b += 1
        else:
            idx[end], val[end] = attributes.idx[a], attributes.val[a] - attributes.val[b]
            a += 1
            b += 1
        end += int(val[end] != 0.0)
    return end


@kernel
def load_contrasts(block: Block, attributes: Attributes, pos: Indices, neg: Indices) -> int:
    """Write the contrasts (pos[b], neg[b]) in local nodes; return how many nodes they touch.

    `block.local` is -1 everywhere before the call; `unload_contrasts` makes it so again.
    """
    n_nodes = end = 0
    block.ptr[0] = 0
    for b in range(pos.shape[0]):
        start = end
        end = write_contrast(attributes, pos[b], neg[b], block.idx, block.val, start)
        block.ptr[b + 1] = end
        for e in range(start, end):
            v = block.idx[e]
            if block.local[v] < 0:
                block.local[v] = n_nodes
                block.nodes[n_nodes] = v
                n_nodes += 1
            block.idx[e] = block.local[v]
    return n_nodes


@kernel
def unload_contrasts(block: Block, n_nodes: int) -> None:
    """Forget the numbering of local nodes."""
    for u in range(n_nodes):
        block.local[block.nodes[u]] = -1


@kernel
def dot(block: Block, b: int, dense: Floats) -> float:
    """Inner product of contrast b with a vector over the local nodes."""
    total: float = dense[0] * 0
    for e in range(block.ptr[b], block.ptr[b + 1]):
        total += block.val[e] * dense[block.idx[e]]
    return total


@kernel
def add_private(block: Block, beta: Floats, cost: Floats, private: float) -> None:
    """Add to the scores what inputs that only this example has contribute (E.11)."""
    for b in range(beta.shape[0]):
        if beta[b] > 0:
            for e in range(block.ptr[b], block.ptr[b + 1]):
                block.score[block.idx[e]] += private * beta[b] * cost[b] * block.val[e]


@kernel
def add_to_line(block: Block, b: int, factor: float) -> None:
    """Add `factor` times contrast b to the direction of the step."""
    for e in range(block.ptr[b], block.ptr[b + 1]):
        block.line[block.idx[e]] += factor * block.val[e]


@kernel
def take_step(block: Block, b: int, t: float) -> None:
    """Add t times the direction to `change` at the nodes of contrast b, and clear the direction there."""
    for e in range(block.ptr[b], block.ptr[b + 1]):
        u = block.idx[e]
        block.change[u] += t * block.line[u]
        block.line[u] = 0.0


@kernel
def ascend_shared(
    block: Block, beta: Floats, cost: Floats, bound: float, loss: int, sq: float, eps: float, max_steps: int
) -> float:
    """Slack "example": move weight from the lowest violation that has any to the highest, until psi <= eps.

    The unused part of the bound, `spare`, is weight on a contrast of violation phi*' (index -1): zero for the
    hinge loss.
    """
    k = beta.shape[0]
    zero = bound * 0
    bound, sq, total = np.float64(bound), np.float64(sq), np.float64(beta.sum())
    endless = loss == SQUARED_HINGE
    before = zero
    for step in range(max_steps):
        spare = zero + np.inf if endless else bound - total
        if spare <= 1e-7 * bound:
            spare = zero
        level = spare_violation(loss, total / bound)
        hi, top = -1, level
        lo, low = -1, level if spare > 0 else zero + np.inf
        for b in range(k):
            if block.H[b] > top:
                hi, top = b, block.H[b]
            if beta[b] > 0 and block.H[b] < low:
                lo, low = b, block.H[b]
        psi = top - low
        if step == 0:
            before = psi
        if not (psi > eps and hi != lo):
            break
        if hi >= 0:
            add_to_line(block, hi, cost[hi])
        if lo >= 0:
            add_to_line(block, lo, -cost[lo])
        slope = zero
        if hi >= 0:
            slope += cost[hi] * dot(block, hi, block.line)
        if lo >= 0:
            slope -= cost[lo] * dot(block, lo, block.line)
        limit = np.float64(beta[lo]) if lo >= 0 else spare
        t = limit
        if loss == HINGE or (hi >= 0 and lo >= 0):
            if psi < sq * slope * limit:
                t = psi / (sq * slope)
        elif hi >= 0:
            t = best_step(loss, bound, total, np.float64(block.H[hi]), sq * slope, zero, limit)
        else:
            t = -best_step(loss, bound, total, np.float64(block.H[lo]), sq * slope, -limit, zero)
        if hi >= 0:
            beta[hi] += t
        else:
            total -= t
        if lo >= 0:
            beta[lo] = beta[lo] - t if t < limit else zero
        else:
            total += t
        for b in range(k):
            block.H[b] -= t * sq * cost[b] * dot(block, b, block.line)
        if hi >= 0:
            take_step(block, hi, t)
        if lo >= 0:
            take_step(block, lo, t)
    return before


@kernel
def ascend_pairs(
    block: Block, beta: Floats, cost: Floats, bound: float, loss: int, sq: float, eps: float, max_steps: int
) -> float:
    """Slack "pair": move the variable with the largest psi of its own, until that is <= eps."""
    zero = bound * 0
    bound, sq = np.float64(bound), np.float64(sq)
    most = zero + np.inf if loss == SQUARED_HINGE else bound
    before = zero
    for step in range(max_steps):
        best, psi = -1, zero
        for b in range(beta.shape[0]):
            h = block.H[b] - spare_violation(loss, beta[b] / bound)
            if (h > psi and beta[b] < most) or (-h > psi and beta[b] > 0):
                best, psi = b, abs(h)
        if step == 0:
            before = psi
        if not psi > eps:
            break
        add_to_line(block, best, cost[best])
        slope = sq * cost[best] * dot(block, best, block.line)
        old = np.float64(beta[best])
        t = best_step(loss, bound, old, np.float64(block.H[best]), slope, -old, most - old)
        beta[best] = old + t if t > -old else zero
        if t == most - old:
            beta[best] = most
        for b in range(beta.shape[0]):
            block.H[b] -= t * sq * cost[b] * dot(block, b, block.line)
        take_step(block, best, t)
    return before
