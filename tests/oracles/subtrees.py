"""Slow twins of the subtrees output: every closed set is looked at."""

from __future__ import annotations

import numpy as np


def naive_closed_sets(parents):
    """All sets that hold the parents of their members, as rows of booleans; `parents` has a list a node."""
    m = len(parents)
    rows = np.arange(1 << m)[:, None] >> np.arange(m) & 1 > 0
    closed = [rows[:, p] >= rows[:, v] for v in range(m) for p in parents[v]]
    return rows[np.all(closed, axis=0)] if closed else rows


def naive_score(z, s):
    """<z, s> with z coded by -1 and 1 (U.1)."""
    return sum(a if inside else -a for a, inside in zip(s, z, strict=True))


def naive_ranked_sets(parents, s):
    """All closed sets, best first, and their scores."""
    sets = naive_closed_sets(parents)
    scores = np.where(sets, 1.0, -1.0) @ s
    order = np.argsort(-scores, kind="stable")
    return sets[order], scores[order]


def naive_recursion(children, roots, s):
    """Liu's recursions (3.5) as they stand there: the highest and second highest <z, s> of a forest."""

    def lowest(v):
        return -s[v] + sum(lowest(k) for k in children[v])

    def top_two(v):
        first, second = combined([top_two(k) for k in children[v]])
        values = sorted([lowest(v), s[v] + first, s[v] + second], reverse=True)
        return values[0], values[1]

    def combined(parts):
        """The two highest sums of one value from each part."""
        first = sum(a for a, _ in parts)
        return first, max((first - a + b for a, b in parts), default=-np.inf)

    return combined([top_two(v) for v in roots])


def naive_margins(parents, s):
    """For each node the best score with it less the best without."""
    sets, scores = naive_ranked_sets(parents, s)
    return np.array([scores[sets[:, v]].max() - scores[~sets[:, v]].max() for v in range(len(parents))])


def best(parents, s):
    return naive_ranked_sets(parents, s)[0][0]


# ---- kernels/subtrees.py; `parents` has a list a node, as above


def naive_add_column(X, x):
    return [float(np.dot(row, x)) for row in X]


def naive_gains(parents, s):
    """The best sum of a set at or below each node that holds it, nodes above it aside."""
    gains = []
    for v in range(len(s)):
        below = [v]
        for u in range(v + 1, len(s)):
            if parents[u] and parents[u][0] in below:
                below.append(u)
        own = [[below.index(parents[u][0])] if u != v else [] for u in below]
        sets = naive_closed_sets(own)
        gains.append((sets[sets[:, 0]] @ np.take(s, below)).max())
    return gains


def naive_best_set(parents, s):
    return best(parents, s)


def naive_rival(parents, s, right):
    """The best set but the right one, and by how much the right one leads."""
    sets, scores = naive_ranked_sets(parents, s)
    other = next(k for k in range(len(sets)) if (sets[k] != right).any())
    return sets[other], naive_score(right, s) - scores[other]


def naive_follow(parents, S, column, change, right):
    S = np.array(S) + np.outer(column, change)
    return S, [naive_rival(parents, s, y)[1] for s, y in zip(S, right, strict=True)]


def naive_worst_by_products(parents, s, right):
    """The highest k (1 - <y - z, s>)."""
    sets = naive_closed_sets(parents)
    count = (sets != right).sum(axis=1)
    H = count * (1 - naive_score(right, s) + np.where(sets, 1.0, -1.0) @ s)
    return sets[H.argmax()], H.max()


def naive_extreme_on_face(parents, r, mu, sign):
    """The set of highest sign * <r, z> among those that have every tie of mu."""
    sets = naive_closed_sets(parents)
    above = [mu[p[0]] if p else 1.0 for p in parents]
    fits = np.ones(len(sets), bool)
    for v, p in enumerate(parents):
        if mu[v] == 0:
            fits &= ~sets[:, v]
        elif mu[v] == above[v]:
            fits &= sets[:, v] == (sets[:, p[0]] if p else True)
    values = sign * (sets @ r)
    return sets[np.where(fits, values, -np.inf).argmax()]


def naive_small_problem(contrasts, losses, factors, start, bound, s, sq):
    """(E.4) by a general solver: the variables, and what they raise it to."""
    from scipy.optimize import minimize

    A = np.array(contrasts) * np.array(factors)[:, None]
    H = np.array(losses) - A @ s

    def value(beta):
        change = (beta - start) @ A
        return -(beta @ H) + 0.5 * sq * change @ change

    def slope(beta):
        return -H + sq * A @ ((beta - start) @ A)

    found = minimize(
        value, start, jac=slope, bounds=[(0, None)] * len(H), method="SLSQP",
        constraints={"type": "ineq", "fun": lambda b: bound - b.sum(), "jac": lambda b: -np.ones(len(b))},
        options={"ftol": 1e-14, "maxiter": 500},
    )  # fmt: skip
    return found.x, -found.fun


def naive_ascend_sets(X, W, i, right, sets, losses, factors, beta, bound):
    """The weights after example i's small problem is solved."""
    contrasts = [2.0 * (right[i].astype(float) - z) for z in sets]
    new, _ = naive_small_problem(contrasts, losses, factors, beta, bound, X[i] @ W, X[i] @ X[i])
    moved = ((new - beta) * factors) @ np.array(contrasts)
    return W + np.outer(X[i], moved)


def naive_conditional_gradient(parents, X, W, i, right, mu, miss, extra, bound):
    """The weights after example i's marginals are best for it: the small problem over all sets."""
    sets = naive_closed_sets(parents)
    other = sets[(sets != right[i]).any(axis=1)]
    losses = np.where(right[i] & ~other, miss, 0).sum(axis=1) + np.where(~right[i] & other, extra, 0).sum(
        axis=1
    )
    pull = 2 * bound * (right[i] - mu)
    s = X[i] @ (W - np.outer(X[i], pull))  # without what the example has given
    contrasts = 2.0 * (right[i].astype(float) - other)
    zero = np.zeros(len(other))
    new, _ = naive_small_problem(contrasts, losses, np.ones(len(other)), zero, bound, s, X[i] @ X[i])
    return W + np.outer(X[i], new @ contrasts - pull)


# ---- objective/subtrees.py and the solvers


def naive_loss(right, z, miss, extra):
    """What the nodes cost in which two sets differ (U.7)."""
    return sum((a if y else b) for y, inside, a, b in zip(right, z, miss, extra, strict=True) if y != inside)


def naive_violation_of_set(parents, s, right, z, miss, extra, scaling):
    lead = naive_score(right, s) - naive_score(z, s)
    loss = naive_loss(right, z, miss, extra)
    return loss - lead if scaling == "margin" else loss * (1 - lead)


def naive_subtree_primal(parents, X, W, right, miss, extra, bound, scaling):
    """(U.8), with every set looked at."""
    sets = naive_closed_sets(parents)
    value = 0.5 * (W**2).sum()
    for x, y, b in zip(X, right, bound, strict=True):
        value += b * max(naive_violation_of_set(parents, x @ W, y, z, miss, extra, scaling) for z in sets)
    return value


def naive_subtree_optimum(parents, X, right, miss, extra, bound, scaling):
    """The least value of (U.8) by a conic solver that has every set as a constraint."""
    import cvxpy as cp

    sets = naive_closed_sets(parents)
    W, xi = cp.Variable((X.shape[1], len(parents))), cp.Variable(len(X), nonneg=True)
    constraints = []
    for i, (x, y) in enumerate(zip(X, right, strict=True)):
        losses = np.array([naive_loss(y, z, miss, extra) for z in sets])
        wrong = (sets != y).any(axis=1)
        lead = 2.0 * (y.astype(float) - sets[wrong]) @ (W.T @ x)
        if scaling == "margin":
            constraints.append(lead >= losses[wrong] - xi[i])
        else:
            constraints.append(lead >= 1 - cp.multiply(1 / losses[wrong], xi[i]))
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(W) + bound @ xi), constraints)
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    assert problem.status == cp.OPTIMAL
    return problem.value


def naive_margin(parents, X, W, right):
    """The least <y - z, s> over all examples and other sets."""
    sets = naive_closed_sets(parents)
    signs = np.where(sets, 1.0, -1.0)
    leads = []
    for x, y in zip(X, right, strict=True):
        other = (sets != y).any(axis=1)
        leads.append(naive_score(y, x @ W) - (signs[other] @ (x @ W)).max())
    return min(leads)


def naive_largest_margin(parents, X, right):
    """delta of Liu's Definition 1, by a conic solver."""
    import cvxpy as cp

    sets = naive_closed_sets(parents)
    W, margin = cp.Variable((X.shape[1], len(parents))), cp.Variable()
    constraints = [cp.norm(W, "fro") <= 1]
    for x, y in zip(X, right, strict=True):
        other = sets[(sets != y).any(axis=1)]
        constraints.append(2.0 * (y.astype(float) - other) @ (W.T @ x) >= margin)
    problem = cp.Problem(cp.Maximize(margin), constraints)
    problem.solve(solver=cp.CLARABEL)
    assert problem.status == cp.OPTIMAL
    return float(margin.value)


def naive_perceptron(output, X, right, update, T, eta, unit, rng):
    """Algorithms 1 and 2 as printed, for features in units in which the longest contrast has length one.

    Of equally good sets `output` chooses.
    """
    X = X / unit
    total, mean = np.zeros((2, X.shape[1], len(output)))
    u = np.ones(len(X))
    for _ in range(T):
        w = total / max(1.0, np.linalg.norm(total))
        mean += w / T
        first, second = output.best_two(X @ w)
        rival = np.where((first == right).all(axis=1)[:, None], second, first)
        gap = X @ w * (2.0 * (right.astype(float) - rival))
        v = gap.sum(axis=1)
        if update == "hard":
            i = int(v.argmin())
            if v[i] > 0:
                return w
        else:
            i = int(np.searchsorted(np.cumsum(u / u.sum()), rng.random(), side="right"))
            u = u * (1 - eta * v + eta**2 * v**2)
        total = total + np.outer(X[i], 2.0 * (right[i].astype(float) - rival[i])) / np.sqrt(T)
    return mean
