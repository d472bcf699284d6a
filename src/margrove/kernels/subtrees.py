"""Passes over examples whose outputs are closed sets of nodes (maths.md, U).

Nodes stand parents first; `parent` is -1 at the top. In a tree, with node scores s,

    g_v = s_v + sum over children c of max(0, g_c),    best set = {v : g > 0 at v and all above}   (U.2)

and the second best turns one node at the border of the best set, that of least |g_v| (U.4).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from margrove.kernels.block import Block, Places, ascend_shared
from margrove.kernels.jit import kernel
from margrove.kernels.passes import add_to_weights
from margrove.kernels.scores import score_nodes
from margrove.outputs.tables import HINGE, Floats, Indices, Inputs, Pointers

Booleans = NDArray[np.bool_]


class SetSlots(NamedTuple):
    """The sets that are held against each example: i has the first used[i] of `sets[i]`.

    The violation of a set is H = loss - factor <y - z, s>, and its dual variable beta (U.12).
    """

    used: Indices  # n
    sets: Booleans  # n x slots x outputs
    factor: Floats  # n x slots
    loss: Floats
    beta: Floats


class Sets(NamedTuple):
    """The right set of each example, the tree, and what a mistake costs."""

    right: Booleans  # n x outputs
    parent: Pointers
    miss: Floats
    extra: Floats
    bound: Floats  # n


class Room(NamedTuple):
    """Working space for one example. `zero` is zero, and between visits so is `change`."""

    zero: Floats
    s: Floats
    r: Floats
    g: Floats
    change: Floats
    nodes: Places
    towards: Booleans
    away: Booleans


@kernel
def add_column(ptr: Indices, idx: Indices, val: Floats, features: Indices, x: Floats, column: Floats) -> None:
    """column = X x for a sparse x; X is stored by feature."""
    column[:] = 0.0
    for e in range(features.shape[0]):
        j = features[e]
        for f in range(ptr[j], ptr[j + 1]):
            column[idx[f]] += x[e] * val[f]


@kernel
def gains(s: Floats, parent: Pointers, g: Floats) -> None:
    """The best sum below each node with it (U.2)."""
    for v in range(s.shape[0]):
        g[v] = s[v]
    for v in range(s.shape[0] - 1, -1, -1):
        if g[v] > 0 and parent[v] >= 0:
            g[parent[v]] += g[v]


@kernel
def best_set(g: Floats, parent: Pointers, z: Booleans) -> None:
    """The best set, from its gains."""
    for v in range(g.shape[0]):
        z[v] = g[v] > 0 and (parent[v] < 0 or z[parent[v]])


@kernel
def rival(s: Floats, right: Booleans, parent: Pointers, g: Floats, z: Booleans) -> float:
    """Put the best set but the right one into z; return <y - z, s>, by how much the right one leads."""
    gains(s, parent, g)
    best_set(g, parent, z)
    same, lead, border, least = True, 0.0, -1, np.inf
    for v in range(g.shape[0]):
        if z[v] != right[v]:
            same = False
            lead += s[v] if right[v] else -s[v]
        elif abs(g[v]) < least and (parent[v] < 0 or z[parent[v]]):
            border, least = v, abs(g[v])
    if not same:
        return 2 * lead
    for v in range(border, g.shape[0]):
        if v == border:
            z[v] = not z[v]
        elif parent[v] >= border:  # below it, or beside
            z[v] = g[v] > 0 and z[parent[v]]
    return 2 * least


@kernel
def follow(
    S: Floats,
    column: Floats,
    change: Floats,
    right: Booleans,
    parent: Pointers,
    first: int,
    last: int,
    g: Floats,
    z: Booleans,
    lead: Floats,
) -> None:
    """Add column[i] * change to the node scores of examples first .. last, and find their leads anew."""
    for i in range(first, last):
        if column[i] != 0.0:
            for v in range(change.shape[0]):
                S[i, v] += column[i] * change[v]
            lead[i] = rival(S[i], right[i], parent, g, z)


@kernel
def ascend_sets(
    inputs: Inputs,
    problem: Sets,
    slots: SetSlots,
    order: Pointers,
    W: Floats,
    room: Room,
    block: Block,
    eps: float,
    max_steps: int,
    psi: Floats,
) -> None:
    """Solve the small problems (E.4) of these examples over the sets in their slots, one after the other."""
    s, right = room.s, problem.right
    for i in order:
        used = slots.used[i]
        score_nodes(inputs, i, W, room.zero, s)
        end = 0
        block.ptr[0] = 0
        for b in range(used):
            along = 0.0
            for v in range(s.shape[0]):
                if slots.sets[i, b, v] != right[i, v]:
                    block.idx[end] = v
                    block.val[end] = 2.0 if right[i, v] else -2.0
                    along += block.val[end] * s[v]
                    end += 1
            block.ptr[b + 1] = end
            block.H[b] = slots.loss[i, b] - slots.factor[i, b] * along
        psi[i] = ascend_shared(
            block,
            slots.beta[i, :used],
            slots.factor[i, :used],
            problem.bound[i],
            HINGE,
            inputs.sqnorm[i],
            eps,
            max_steps,
        )
        if psi[i] > eps:
            for v in range(s.shape[0]):
                block.nodes[v] = v
            add_to_weights(inputs, i, W, block.nodes, block.change)


@kernel
def extreme_on_face(r: Floats, mu: Floats, parent: Pointers, sign: float, g: Floats, z: Booleans) -> None:
    """The set of highest sign * <r, z> on the least face that holds mu: z has the ties of mu (U.15)."""
    for v in range(r.shape[0]):
        g[v] = sign * r[v]
    for v in range(r.shape[0] - 1, -1, -1):
        p = parent[v]
        if p >= 0 and mu[v] > 0 and (g[v] > 0 or mu[v] == mu[p]):
            g[p] += g[v]
    for v in range(r.shape[0]):
        p = parent[v]
        above = 1.0 if p < 0 else mu[p]
        if mu[v] == above:
            z[v] = p < 0 or z[p]
        else:
            z[v] = mu[v] > 0 and g[v] > 0 and (p < 0 or z[p])


@kernel
def conditional_gradient(
    inputs: Inputs,
    problem: Sets,
    mu: Floats,
    order: Pointers,
    W: Floats,
    room: Room,
    steps: int,
    eps: float,
    gap: Floats,
) -> None:
    """Steps in the marginals of one example after the other: from the worst set to the best (U.14 to U.16).

    A step moves mu along the difference of two sets to the maximum on that line, or to the border.
    """
    right, parent, bound = problem.right, problem.parent, problem.bound
    s, r, g, change, towards, away = room.s, room.r, room.g, room.change, room.towards, room.away
    m = s.shape[0]
    for i in order:
        score_nodes(inputs, i, W, room.zero, s)
        moved = False
        for step in range(steps):
            inside, best = 0.0, 0.0
            for v in range(m):
                loss = -problem.miss[v] if right[i, v] else problem.extra[v]
                r[v] = 2 * s[v] + loss
                inside += r[v] * mu[i, v]
            gains(r, parent, g)
            best_set(g, parent, towards)
            for v in range(m):
                if towards[v]:
                    best += r[v]
            if step == 0:
                gap[i] = bound[i] * (best - inside)
            if not best - inside > eps:
                break
            extreme_on_face(r, mu[i], parent, -1.0, g, away)
            slope, size, limit = 0.0, 0, np.inf
            for v in range(m):
                d = int(towards[v]) - int(away[v])
                p = parent[v]
                d_above = 0 if p < 0 else int(towards[p]) - int(away[p])
                above = 1.0 if p < 0 else mu[i, p]
                slope += r[v] * d
                size += d * d
                if d < 0:
                    limit = min(limit, mu[i, v])
                if d > d_above:
                    limit = min(limit, (above - mu[i, v]) / (d - d_above))
            curvature = 4 * bound[i] * inputs.sqnorm[i] * size
            t = min(limit, slope / curvature) if curvature > 0 else limit
            if not t > 0:
                break
            moved = True
            for v in range(m):
                d = int(towards[v]) - int(away[v])
                p = parent[v]
                above = 1.0 if p < 0 else mu[i, p]
                new = mu[i, v] + t * d
                if new < 1e-13:
                    new = 0.0
                if new > above - 1e-13:
                    new = above  # ties are exact, or faces would not be seen
                weight = 2 * bound[i] * (mu[i, v] - new)
                s[v] += inputs.sqnorm[i] * weight
                change[v] += weight
                mu[i, v] = new
        if moved:
            for v in range(m):
                room.nodes[v] = v
            add_to_weights(inputs, i, W, room.nodes, change)


@kernel
def worst_by_products(
    S: Floats, right: Booleans, preorder: Pointers, size: Pointers, value: Floats, Z: Booleans, H: Floats
) -> None:
    """For each row, the set of highest H = k (1 - <y - z, s>), k the nodes in which it differs from y (U.11).

    value[p, k] is the highest <z - y, s> / 2 of the nodes that stand from place p on in preorder, with k
    differences: a node in the set is followed by the next one, one out of it by the first not below it.
    """
    m = S.shape[1]
    for i in range(S.shape[0]):
        s, y, z = S[i], right[i], Z[i]
        value[m, :] = -np.inf
        value[m, 0] = 0.0
        for p in range(m - 1, -1, -1):
            v = preorder[p]
            missed, lost = 0, 0.0
            for q in range(p, p + size[p]):
                if y[preorder[q]]:
                    missed += 1
                    lost += s[preorder[q]]
            new, won = (0, 0.0) if y[v] else (1, s[v])
            for k in range(m + 1):
                inside = value[p + 1, k - new] + won if k >= new else -np.inf
                outside = value[p + size[p], k - missed] - lost if k >= missed else -np.inf
                value[p, k] = max(inside, outside)
        best, highest = 0, 0.0
        for k in range(1, m + 1):
            if k * (1 + 2 * value[0, k]) > highest:
                best, highest = k, k * (1 + 2 * value[0, k])
        H[i] = highest
        for v in range(m):
            z[v] = y[v]
        p = 0 if best > 0 else m
        while p < m:
            v = preorder[p]
            new, won = (0, 0.0) if y[v] else (1, s[v])
            z[v] = best >= new and value[p, best] == value[p + 1, best - new] + won
            if z[v]:
                best -= new
                p += 1
            else:
                end = p + size[p]
                while p < end:
                    if y[preorder[p]]:
                        best -= 1
                        z[preorder[p]] = False
                    p += 1
