"""Wang's programmes (2.4), (2.12) and (4.1) as they are printed, solved by a conic solver."""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from oracles.taxonomy import naive_ancestors, naive_nodes

TIGHT = {"tol_gap_abs": 1e-9, "tol_gap_rel": 1e-9, "tol_feas": 1e-9}


class Tree:
    """Nodes but the root, the siblings of each, and the nodes on the path to a label."""

    def __init__(self, edges, labels):
        self.edges = edges
        root = (naive_nodes(edges) - {child for _, child in edges}).pop()
        used = set().union(*(naive_ancestors(edges, label) for label in labels)) - {root}
        self.nodes = sorted(used, key=str)
        self.parent = {child: parent for parent, child in edges}

    def number(self, node):
        return self.nodes.index(node)

    def siblings(self, node):
        return [v for v in self.nodes if v != node and self.parent[v] == self.parent[node]]

    def pairs(self, label):
        """Q(y) of (2.12): a node of the path, and a sibling of it."""
        path = [v for v in self.nodes if v in naive_ancestors(self.edges, label)]
        return [(self.number(j), self.number(t)) for j in path for t in self.siblings(j)]

    def groups(self):
        return {tuple(sorted(self.number(v) for v in [node, *self.siblings(node)])) for node in self.nodes}

    def step_down(self, scores):
        """From the root to the best child, until there is none."""
        at, children = None, [v for v in self.nodes if self.parent[v] not in self.nodes]
        while children:
            at = max(children, key=lambda v: scores[self.number(v)])
            children = [v for v in self.nodes if self.parent[v] == at]
        return at


def naive_margin(tree, scores, label):
    """u_min."""
    return min((scores[j] - scores[t] for j, t in tree.pairs(label)), default=np.inf)


def naive_path_margins(tree, X, terms, loss="hinge", bias=True, held=()):
    """The least of (2.4), and W and b, for `terms` of (row, label, price), with sums of siblings zero.

    With `held`, of (row, j, t, price), the convex problem (2.12): price times the margin is added.
    """
    W = cp.Variable((len(tree.nodes), X.shape[1]))
    b = cp.Variable(len(tree.nodes)) if bias else np.zeros(len(tree.nodes))
    value, constraints = 0.5 * cp.sum_squares(W), []
    for i, label, price in terms:
        f = W @ X[i] + b
        margins = [f[j] - f[t] for j, t in tree.pairs(label)]
        if not margins:
            continue
        u = margins[0] if len(margins) == 1 else cp.minimum(*margins)
        value += price * (cp.pos(1 - u) if loss == "hinge" else cp.logistic(-u))
    for i, j, t, price in held:
        f = W @ X[i] + b
        value += price * (f[j] - f[t])
    for group in tree.groups():
        if len(group) > 1:
            constraints += [cp.sum((W @ X.T)[list(group)], axis=0) + (cp.sum(b[list(group)])) == 0]
    problem = cp.Problem(cp.Minimize(value), constraints)
    problem.solve(solver=cp.CLARABEL, **TIGHT)
    assert problem.status in (cp.OPTIMAL, cp.OPTIMAL_INACCURATE)
    return problem.value, W.value, b.value if bias else b
