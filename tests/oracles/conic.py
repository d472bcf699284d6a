"""Cai's programmes as they are printed, solved by a conic solver that shares nothing with this project."""

from __future__ import annotations

import cvxpy as cp
import numpy as np


def naive_optimum(plain):
    """(4.10) in node weights: the optimal value, and the class weights, one row a class.

    With slack "pair" every contrast has a slack of its own, as the document proposes after Proposition 2.
    """
    w = cp.Variable((plain.Lambda.shape[1], plain.X.shape[1]))
    value = _solve(0.5 * cp.sum_squares(w), plain.Lambda @ w, plain)
    return value, plain.Lambda @ w.value


def naive_optimum_in_class_weights(plain, classes, nodes, is_ancestor):
    """(4.48): class weights W alone, under the regulariser that the taxonomy gives them (4.40, 4.42).

    `plain.Lambda` has a column for each of `nodes`; `is_ancestor(o, y)` tells whether o is in anc(y).
    """
    inner = [node for node in nodes if node not in classes]
    q, count = len(classes), len(inner)

    def attribute(node, y):
        return plain.Lambda[y, nodes.index(node)]

    own = [attribute(label, y) for y, label in enumerate(classes)]
    A, U = np.zeros((count, count)), np.zeros((count, q))
    for k in range(count):
        for y, label in enumerate(classes):
            if not is_ancestor(inner[k], label):
                continue
            U[k, y] = attribute(inner[k], y) / own[y] ** 2  # u_k = sum of U[k, y] W_y  (4.42)
            for t in range(count):
                if is_ancestor(inner[t], label):
                    A[k, t] += attribute(inner[k], y) * attribute(inner[t], y) / own[y] ** 2  # (4.40)
        A[k, k] += 1.0
    coupling = np.diag(1 / np.square(own)) - U.T @ np.linalg.solve(A, U)
    root = np.linalg.cholesky((coupling + coupling.T) / 2).T
    W = cp.Variable((q, plain.X.shape[1]))
    return _solve(0.5 * cp.sum_squares(root @ W), W, plain), W.value


def _solve(penalty, W, plain):
    """Minimise penalty + sum of bound xi, where class weights W rank with margins 1 - xi / cost."""
    triples = [(i, y, r) for i in range(len(plain.X)) for y, r in plain.contrasts(i)]
    i, y, r = np.array(triples).T
    slack_of = i if plain.slack == "example" else np.arange(len(i))
    price = plain.bound if plain.slack == "example" else plain.bound[i]
    xi = cp.Variable(len(price), nonneg=True)
    pick = np.eye(len(plain.cost))
    margin = cp.sum(cp.multiply((pick[y] - pick[r]) @ W, plain.X[i]), axis=1)
    problem = cp.Problem(
        cp.Minimize(penalty + price @ xi), [margin >= 1 - cp.multiply(1 / plain.cost[y, r], xi[slack_of])]
    )
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    assert problem.status == cp.OPTIMAL
    return problem.value
