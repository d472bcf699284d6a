"""The two passes over the examples that dual ascent is made of.

`search` looks at every contrast of every example, changes no weights, and fills free slots with the worst
contrasts it met; its sums are the primal and the dual. `ascend` visits examples in the order given and solves
the small problem of each (block.py), over its slots alone or, with `full`, after looking at every contrast
first.

The problem in full is in docs/maths.md, E.1 to E.4. An example's share of the duality gap is

    bound_i xi_i - sum_b beta_b H_b                                                               (E.5)

and the shares add up to primal minus dual exactly, because |W|^2 = sum_i sum_b beta_b (d_b - H_b). A
share is at most bound_i psi_i with slack "example" (E.6), and that for each contrast with slack "pair" (E.7).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from margrove.kernels.block import (
    Block,
    Places,
    add_private,
    ascend_pairs,
    ascend_shared,
    dot,
    load_contrasts,
    unload_contrasts,
    write_contrast,
)
from margrove.kernels.jit import kernel
from margrove.kernels.losses import conjugate, loss_at, spare_violation
from margrove.kernels.scores import cost_row, score_nodes, score_outputs
from margrove.outputs.tables import LOGISTIC, SQUARED_HINGE, Floats, Indices, Inputs, Pointers, Problem, Slots

CHUNK = 64  # outputs tested together for any violation worth a closer look
STREAM = 12  # reading a weight in passing costs about this much less than fetching it alone


class Scratch(NamedTuple):
    """Working space of one thread, by output (q), node (m) or slot."""

    s: Floats  # node scores (m)
    T: Floats  # group scores
    F: Floats  # output scores (q)
    d: Floats  # costs against one right output, then violations (q)
    worst: Indices  # the outputs to offer to the slots
    block: Block


class Statistics(NamedTuple):
    """What a pass found out about each example (n)."""

    loss: NDArray[np.float64]  # phi of the largest violation, or the sum of phi: xi for the hinge loss
    gap: NDArray[np.float64]  # share of the duality gap (E.5)
    psi: NDArray[np.float64]  # optimality measure (E.3)
    norm: NDArray[np.float64]  # part of |W|^2
    linear: NDArray[np.float64]  # part of sum alpha
    fresh: Indices  # 1 where a contrast without a slot was violated most
    missed: Indices  # 1 where a violated contrast found none


@kernel
def offer(slots: Slots, i: int, p: int, r: int, cost: float, h: float, H: Floats) -> bool:
    """Put the contrast (p, r) of violation h into a slot of example i; H holds its slots' violations.

    A full example gives up its least violated slot without weight, if that is less violated than h.
    """
    start = slots.ptr[i]
    b = slots.used[i]
    if start + b < slots.ptr[i + 1]:
        slots.used[i] += 1
    else:
        b = -1
        lowest = h
        for other in range(slots.used[i]):
            if slots.beta[start + other] == 0 and H[other] < lowest:
                b, lowest = other, H[other]
        if b < 0:
            return False
    slots.pos[start + b], slots.neg[start + b] = p, r
    slots.cost[start + b], slots.beta[start + b] = cost, 0.0
    H[b] = h
    return True


@kernel
def drop_idle(slots: Slots, i: int, H: Floats, floor: float) -> None:
    """Empty the slots of example i that carry no weight and are violated no more than `floor`."""
    start = slots.ptr[i]
    kept = 0
    for b in range(slots.used[i]):
        if slots.beta[start + b] > 0 or H[b] > floor:
            for side in (slots.pos, slots.neg):
                side[start + kept] = side[start + b]
            slots.cost[start + kept], slots.beta[start + kept] = slots.cost[start + b], slots.beta[start + b]
            H[kept] = H[b]
            kept += 1
    slots.used[i] = kept


@kernel
def violations(d: Floats, base: float, F: Floats) -> None:
    """From costs to violations d (base + F), base = 1 - F of the right output (E.1); none without cost."""
    for r in range(F.shape[0]):
        d[r] = d[r] * (base + F[r]) if d[r] > 0 else -np.inf


@kernel
def any_above(part: Floats, least: float) -> bool:
    """Whether any of a few numbers is above `least`; without a branch, so many at a time."""
    hits = np.uint32(0)
    for r in range(part.shape[0]):
        hits |= np.uint32(part[r] > least)
    return bool(hits > 0)


@kernel
def keep_worst(worst: Indices, count: int, H: Floats, r: int) -> int:
    """Insert r into the outputs sorted by falling H; a full list loses its last. Return the length."""
    if count < worst.shape[0]:
        count += 1
    e = count - 1
    while e > 0 and H[worst[e - 1]] < H[r]:
        worst[e] = worst[e - 1]
        e -= 1
    worst[e] = r
    return count


@kernel
def add_private_everywhere(problem: Problem, slots: Slots, i: int, block: Block, s: Floats) -> None:
    """Add to all node scores what inputs that only example i has contribute (E.11)."""
    private = problem.inputs.private[i]
    if private == 0:
        return
    for b in range(slots.ptr[i], slots.ptr[i] + slots.used[i]):
        if slots.beta[b] > 0:
            end = write_contrast(problem.attributes, slots.pos[b], slots.neg[b], block.idx, block.val, 0)
            for e in range(end):
                s[block.idx[e]] += private * slots.beta[b] * slots.cost[b] * block.val[e]


@kernel
def look_at_all(
    problem: Problem, slots: Slots, i: int, W: Floats, scratch: Scratch, shared: bool, found: Statistics
) -> None:
    """Score everything for example i, offer its worst contrasts to its slots, and note what was found."""
    s, T, F, d = scratch.s, scratch.T, scratch.F, scratch.d
    worst, H = scratch.worst, scratch.block.H
    targets = problem.targets
    score_nodes(problem.inputs, i, W, problem.attributes.base, s)
    add_private_everywhere(problem, slots, i, scratch.block, s)
    score_outputs(problem.attributes, s, T, F)
    start = slots.ptr[i]
    bound: float = np.float64(targets.bound[i])
    zero = bound * 0
    total, low, psi = zero, zero + np.inf, zero
    worst_yet, loss, weighted, norm, linear = zero - np.inf, zero, zero, zero, zero
    endless = targets.loss == SQUARED_HINGE
    for b in range(slots.used[i]):
        cost, beta = slots.cost[start + b], slots.beta[start + b]
        H[b] = cost * (1 - F[slots.pos[start + b]] + F[slots.neg[start + b]])
        weighted += beta * H[b]
        norm += beta * (cost - H[b])
        linear += beta * cost
        total += beta
        if shared:
            worst_yet = max(worst_yet, H[b])
        else:
            level = spare_violation(targets.loss, beta / bound)
            loss += loss_at(targets.loss, np.float64(H[b]))
            weighted -= bound * conjugate(targets.loss, beta / bound)
            if endless or beta < bound:
                psi = max(psi, H[b] - level)
            if beta > 0:
                psi = max(psi, level - H[b])
        if beta > 0:
            low = min(low, H[b])
    floor = zero
    if shared:
        level = spare_violation(targets.loss, total / bound)
        weighted -= bound * conjugate(targets.loss, total / bound)
        # no contrast above the lowest that carries weight is missed, so the loss is that of the highest
        floor = low if low < np.inf else zero - np.inf
        if targets.loss != LOGISTIC:
            floor = max(floor, zero)
        if endless or bound - total > 1e-7 * bound:
            low = min(low, level)
    drop_idle(slots, i, H, floor)
    known = worst_yet if shared else loss
    missed = 0
    for a in range(targets.ptr[i], targets.ptr[i + 1]):
        p = targets.idx[a]
        base = 1 - F[p]
        first, last = targets.first[p], targets.last[p]
        cost_row(problem.costs, p, d)
        for other in range(targets.ptr[i], targets.ptr[i + 1]):
            d[targets.idx[other]] = 0.0
        for b in range(slots.used[i]):
            if slots.pos[start + b] == p:
                d[slots.neg[start + b]] = 0.0
        violations(d[first:last], base, F[first:last])
        count, least = 0, floor
        for chunk in range(first, last, CHUNK):
            chunk_end = min(chunk + CHUNK, last)
            if not any_above(d[chunk:chunk_end], least):
                continue
            for r in range(chunk, chunk_end):
                if not d[r] > least:
                    continue
                if shared:
                    count = keep_worst(worst, count, d, r)
                    if count == worst.shape[0]:
                        least = d[worst[count - 1]]
                else:
                    worst[count] = r
                    count += 1
                    loss += loss_at(targets.loss, np.float64(d[r]))
                    psi = max(psi, d[r])
        if shared and count > 0:
            worst_yet = max(worst_yet, d[worst[0]])
        for e in range(count):
            r = worst[e]
            lack = base + F[r]
            if not offer(slots, i, p, r, d[r] / lack if lack != 0 else 1.0, d[r], H):
                missed = 1
                break
    if shared:
        loss = loss_at(targets.loss, worst_yet)
        top = max(worst_yet, spare_violation(targets.loss, total / bound))
        psi = top - min(low, top)
    found.loss[i] = loss
    found.gap[i] = bound * loss - weighted
    found.psi[i] = psi
    found.norm[i], found.linear[i] = norm, linear
    found.fresh[i] = int(worst_yet > known if shared else loss > known)
    found.missed[i] = missed


@kernel
def gather_scores(inputs: Inputs, i: int, W: Floats, base: Floats, nodes: Places, score: Floats) -> None:
    """Scores of a few nodes only."""
    for u in range(nodes.shape[0]):
        score[u] = base[nodes[u]]
    for e in range(inputs.ptr[i], inputs.ptr[i + 1]):
        w, x = W[inputs.idx[e]], inputs.val[e]
        for u in range(nodes.shape[0]):
            score[u] += x * w[nodes[u]]


@kernel
def add_to_weights(inputs: Inputs, i: int, W: Floats, nodes: Places, change: Floats) -> None:
    """W += x_i change' on a few nodes; `change` is cleared, both lists are compacted to skip zeros.

    With a similarity, W holds scores, and what they gain is the similarity to example i.
    """
    count = 0
    for u in range(nodes.shape[0]):
        if change[u] != 0:
            nodes[count], change[count] = nodes[u], change[u]
            count += 1
    if inputs.gram.shape[0] > 0:
        row = inputs.gram[inputs.at[i]]
        for j in range(row.shape[0]):
            w, x = W[j], row[j]
            for u in range(count):
                w[nodes[u]] += x * change[u]
    else:
        for e in range(inputs.ptr[i], inputs.ptr[i + 1]):
            w, x = W[inputs.idx[e]], inputs.val[e]
            for u in range(count):
                w[nodes[u]] += x * change[u]
    change[: nodes.shape[0]] = 0.0


@kernel
def search(
    problem: Problem,
    slots: Slots,
    order: Pointers,
    W: Floats,
    scratch: Scratch,
    shared: bool,
    found: Statistics,
) -> None:
    """Look at every contrast of the examples in `order`; weights stay as they are."""
    for i in order:
        look_at_all(problem, slots, i, W, scratch, shared, found)


@kernel
def ascend(
    problem: Problem,
    slots: Slots,
    order: Pointers,
    W: Floats,
    scratch: Scratch,
    shared: bool,
    found: Statistics,
    full: bool,
    eps: float,
    max_steps: int,
) -> None:
    """Solve the small problem of each example in `order`; psi before the visit goes to `found.psi`."""
    block = scratch.block
    for i in order:
        if full:
            look_at_all(problem, slots, i, W, scratch, shared, found)
        start, end = slots.ptr[i], slots.ptr[i] + slots.used[i]
        if start == end:
            continue
        pos, neg = slots.pos[start:end], slots.neg[start:end]
        cost, beta = slots.cost[start:end], slots.beta[start:end]
        n_nodes = load_contrasts(block, problem.attributes, pos, neg)
        nodes = block.nodes[:n_nodes]
        stream = W.shape[1] < n_nodes * STREAM
        base = problem.attributes.base
        if not full and stream:
            score_nodes(problem.inputs, i, W, base, scratch.s)
        if full or stream:
            for u in range(n_nodes):
                block.score[u] = scratch.s[nodes[u]]
        else:
            gather_scores(problem.inputs, i, W, base, nodes, block.score)
        if not full and problem.inputs.private[i] > 0:
            add_private(block, beta, cost, problem.inputs.private[i])
        for b in range(beta.shape[0]):
            block.H[b] = cost[b] * (1 - dot(block, b, block.score))
        bound, sq = problem.targets.bound[i], problem.inputs.sqnorm[i]
        loss = problem.targets.loss
        if shared:
            psi = ascend_shared(block, beta, cost, bound, loss, sq, eps, max_steps)
        else:
            psi = ascend_pairs(block, beta, cost, bound, loss, sq, eps, max_steps)
        found.psi[i] = psi
        unload_contrasts(block, n_nodes)
        if psi > eps:
            add_to_weights(problem.inputs, i, W, nodes, block.change)
