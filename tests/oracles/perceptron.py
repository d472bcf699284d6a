"""Perceptrons as they are printed, in plain loops over examples, classes and stored pasts.

Scores, contrasts and costs are dense arrays; a weight vector is kept for every step, and means are means.
"""

from __future__ import annotations

import numpy as np

# ---- twins of the kernels


def naive_lowest_right(right, F):
    return min(sorted(right), key=lambda p: F[p]) if right else -1


def naive_highest_wrong(right, F, known):
    wrong = [r for r in range(known) if r not in right]
    return max(wrong, key=lambda r: F[r]) if wrong else -1


def naive_dearest_pair(right, cost, F, known):
    pairs = [(p, r) for p in sorted(right) for r in range(known) if r not in right]
    return max(pairs, key=lambda pr: np.sqrt(cost[pr]) + F[pr[1]] - F[pr[0]], default=(-1, -1))


def naive_step_length(rule, cost, margin, sq):
    """Perceptron: the cost where the pair is wrong. Hieron: what a margin of the cost's root takes."""
    if rule == "perceptron":
        return cost if margin <= 0 else 0.0
    if rule == "hieron" and margin > 0:
        return 0.0
    return max(0.0, np.sqrt(cost) - margin) / sq if sq > 0 else 0.0


def naive_score_example(x, Lambda, pasts):
    """By the mean of several weights, columns x inputs."""
    return Lambda @ (np.mean(pasts, axis=0) @ x)


def naive_find_worst(rights, known, scores):
    """The example whose wrong class is the most above its right one."""
    margins = {}
    for i, (right, F) in enumerate(zip(rights, scores, strict=True)):
        p, r = naive_lowest_right(right, F), naive_highest_wrong(right, F, known[i])
        if p >= 0 and r >= 0:
            margins[i] = F[p] - F[r]
    return min(margins, key=margins.get) if margins else -1


def naive_learn(X, rights, Lambda, cost, rule, order, known=None, W=None):
    """All weights of a pass, the first before any step, and (right, wrong, step) of each visit."""
    W = np.zeros((Lambda.shape[1], X.shape[1])) if W is None else W
    pasts, log = [W], []
    for i in order:
        F = Lambda @ (W @ X[i])
        limit = len(Lambda) if known is None else known[i]
        if rule == "hieron-batch":
            p, r = naive_dearest_pair(rights[i], cost, F, limit)
        else:
            p, r = naive_lowest_right(rights[i], F), naive_highest_wrong(rights[i], F, limit)
        tau = 0.0
        if p >= 0 and r >= 0:
            a = Lambda[p] - Lambda[r]
            tau = naive_step_length(rule, cost[p, r], F[p] - F[r], (a @ a) * (X[i] @ X[i]))
            W = W + tau * np.outer(a, X[i])
        pasts.append(W)
        log.append((p, r, tau))
    return pasts, log


# ---- whole algorithms


def naive_minover(X, rights, Lambda, cost, most):
    """Algorithm 7 without anything kept: all scores anew at every step."""
    W, updates = np.zeros((Lambda.shape[1], X.shape[1])), 0
    while updates < most:
        scores = [Lambda @ (W @ x) for x in X]
        i = naive_find_worst(rights, [len(Lambda)] * len(X), scores)
        pasts, log = naive_learn(X, rights, Lambda, cost, "perceptron", [i], W=W)
        if log[0][2] == 0:
            return W, updates, True
        W, updates = pasts[-1], updates + 1
    return W, updates, False


def naive_dual(K, rights, Lambda, cost, order):
    """Algorithm 5: dual variables of contrasts alone, and inner products in place of inputs (Cai 5.7)."""
    alpha = {}
    for i in order:
        F = np.zeros(len(Lambda))
        for (j, y, r), value in alpha.items():
            F += value * K[i, j] * (Lambda @ (Lambda[y] - Lambda[r]))
        p, r = naive_lowest_right(rights[i], F), naive_highest_wrong(rights[i], F, len(Lambda))
        if p >= 0 and r >= 0 and F[p] - F[r] <= 0:
            alpha[i, p, r] = alpha.get((i, p, r), 0.0) + cost[p, r]
    return alpha
