"""Training problems of descents as the documents print them, node by node, for a conic solver."""

from __future__ import annotations

import cvxpy as cp
import numpy as np


def naive_children(taxonomy, labels):
    """The children of each node that have a label at or below them."""
    needed = {node for label in labels for node in taxonomy.path(label)}
    return {v: [c for c in taxonomy.children(v) if c in needed] for v in needed}


def naive_flat_optimum(X, y, classes, bound, loss="hinge"):
    """Zhou (12): a flat multi-class SVM among `classes`; the value and the weights, one row a class."""
    w = cp.Variable((len(classes), X.shape[1]))
    total = 0.5 * cp.sum_squares(w)
    for x, label, price in zip(X, y, bound, strict=True):
        right = classes.index(label)
        H = [1 - (w[right] - w[r]) @ x for r in range(len(classes)) if r != right]
        total += price * _phi(loss, cp.maximum(*H) if len(H) > 1 else H[0])
    return _value(total), w.value


def naive_separate_slacks(taxonomy, X, y, bound, loss="hinge"):
    """One programme for the whole tree, in which each row has a slack at each parent on its path (S.4)."""
    children = naive_children(taxonomy, y)
    nodes = sorted(children)
    w = cp.Variable((len(nodes), X.shape[1]))
    total = 0.5 * cp.sum_squares(w)
    for x, label, price in zip(X, y, bound, strict=True):
        for t in taxonomy.path(label)[1:]:
            brothers = [j for j in children[taxonomy.parents(t)[0]] if j != t]
            H = [1 - (w[nodes.index(t)] - w[nodes.index(j)]) @ x for j in brothers]
            if H:
                total += price * _phi(loss, cp.maximum(*H) if len(H) > 1 else H[0])
    return _value(total)


def naive_treeloss(taxonomy, X, y, classes, bound):
    """Zhou's TREELOSS: increments u of all nodes but the root, margins 1 - xi / (half the distance)."""
    nodes = sorted({node for label in classes for node in taxonomy.path(label)[1:]})
    u = cp.Variable((len(nodes), X.shape[1]))
    xi = cp.Variable(len(X), nonneg=True)

    def total(label):
        return cp.sum(u[[nodes.index(v) for v in taxonomy.path(label)[1:]]], axis=0)

    constraints = [
        (total(y[k]) - total(r)) @ X[k] >= 1 - xi[k] / naive_half_distance(taxonomy, y[k], r)
        for k in range(len(X))
        for r in classes
        if r != y[k]
    ]
    return _value(0.5 * cp.sum_squares(u) + np.asarray(bound) @ xi, constraints)


def naive_half_distance(taxonomy, a, b):
    """Half the number of edges between two nodes of a tree."""
    mine, theirs = taxonomy.path(a), taxonomy.path(b)
    shared = sum(u == v for u, v in zip(mine, theirs, strict=False))
    return (len(mine) + len(theirs) - 2 * shared) / 2


def _phi(loss, m):
    return {"hinge": cp.pos, "squared-hinge": lambda m: cp.square(cp.pos(m)),
            "logistic": lambda m: cp.logistic(m - 1)}[loss](m)  # fmt: skip


def _value(total, constraints=()):
    program = cp.Problem(cp.Minimize(total), list(constraints))
    program.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    assert program.status == cp.OPTIMAL
    return program.value
