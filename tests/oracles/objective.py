"""The training problem once more, contrast by contrast in plain loops.

`W` is features x columns, and dual variables are a dictionary from (example, right, wrong) to alpha.
"""

from __future__ import annotations

import numpy as np


def naive_violation(plain, W, i, y, r):
    """H of Cai 4.24."""
    scores = [sum(plain.X[i, j] * W[j, v] for j in range(W.shape[0])) for v in range(W.shape[1])]
    margin = sum((plain.Lambda[y, v] - plain.Lambda[r, v]) * scores[v] for v in range(W.shape[1]))
    return plain.cost[y, r] * (1 - margin)


def naive_slack(plain, W, i):
    """xi of example i: what its constraints ask for and no more (Cai 4.20)."""
    violations = [max(0.0, naive_violation(plain, W, i, y, r)) for y, r in plain.contrasts(i)]
    return max(violations, default=0.0) if plain.slack == "example" else sum(violations)


def naive_primal(plain, W):
    """The objective of Cai 4.10."""
    penalty = sum(W[j, v] ** 2 for j in range(W.shape[0]) for v in range(W.shape[1])) / 2
    return penalty + sum(plain.bound[i] * naive_slack(plain, W, i) for i in range(len(plain.X)))


def naive_weights(plain, duals):
    """Cai 4.12."""
    W = np.zeros((plain.X.shape[1], plain.Lambda.shape[1]))
    for (i, y, r), alpha in duals.items():
        for j in range(W.shape[0]):
            for v in range(W.shape[1]):
                W[j, v] += alpha * plain.X[i, j] * (plain.Lambda[y, v] - plain.Lambda[r, v])
    return W


def naive_dual(plain, duals):
    """Cai 4.14, with every pair of dual variables (4.16)."""
    quadratic = 0.0
    for (i, y, r), alpha in duals.items():
        for (j, p, s), other in duals.items():
            classes = (plain.Lambda[y] - plain.Lambda[r]) @ (plain.Lambda[p] - plain.Lambda[s])
            quadratic += alpha * other * classes * (plain.X[i] @ plain.X[j])
    return sum(duals.values()) - quadratic / 2


def naive_spent(plain, duals, i):
    """What example i has spent of its bound: of one bound in all, or of one for each contrast (4.13)."""
    return {(y, r): alpha / plain.cost[y, r] for (e, y, r), alpha in duals.items() if e == i}


def naive_infeasibility(plain, duals):
    """By how much Cai's constraints 4.15 are broken, as a share of the bound."""
    worst = max([0.0, *(-alpha for alpha in duals.values())])
    for i, bound in enumerate(plain.bound):
        spent = list(naive_spent(plain, duals, i).values())
        for total in [sum(spent)] if plain.slack == "example" else spent:
            worst = max(worst, (total - bound) / bound)
    return worst


def naive_psi(plain, W, duals, i, tiny=1e-7):
    """l - u of Cai 4.29 to 4.32; for slack "pair" the largest such difference of a single variable."""
    bound, spent = plain.bound[i], naive_spent(plain, duals, i)
    H = {pair: naive_violation(plain, W, i, *pair) for pair in plain.contrasts(i)}
    if plain.slack == "pair":
        rise = [h for pair, h in H.items() if spent.get(pair, 0.0) < bound]
        fall = [-H[pair] for pair in spent if spent[pair] > 0]
        return max([0.0, *rise, *fall])
    lower = [H[pair] for pair in spent if spent[pair] > 0]
    if bound - sum(spent.values()) > tiny * bound:
        lower.append(0.0)
    return max([0.0, *H.values()]) - min(lower)


def naive_share(plain, W, duals, i):
    """The part of the duality gap that is due to example i (E.5)."""
    earned = sum(
        beta * naive_violation(plain, W, i, *pair) for pair, beta in naive_spent(plain, duals, i).items()
    )
    return plain.bound[i] * naive_slack(plain, W, i) - earned
