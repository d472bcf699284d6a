"""A slow twin of every kernel, on dense arrays, dictionaries and lists; `x` is one dense row of inputs.

A contrast is a dictionary from column to coefficient. The twins say what a kernel computes, not how: where a
kernel climbs step by step, its twin tries every face of the feasible set and takes the best.
"""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
from scipy.special import xlog1py, xlogy

from oracles.objective import (
    naive_psi,
    naive_share,
    naive_slack,
    naive_violation,
)

# ---- scores.py


def naive_score_nodes(x, W, base):
    return [base[v] + sum(x[j] * W[j, v] for j in range(len(x))) for v in range(W.shape[1])]


def naive_score_outputs(Lambda, s):
    return [sum(weight * score for weight, score in zip(row, s, strict=True)) for row in Lambda]


def naive_cost_row(cost, p):
    return list(cost[p])


# ---- block.py


def naive_write_contrast(Lambda, p, r):
    """Lambda[p] - Lambda[r], its nonzeros."""
    difference = [a - b for a, b in zip(Lambda[p], Lambda[r], strict=True)]
    return {v: a for v, a in enumerate(difference) if a != 0}


def naive_load_contrasts(Lambda, pairs):
    """The contrasts, and the columns that any of them touches."""
    contrasts = [naive_write_contrast(Lambda, p, r) for p, r in pairs]
    return contrasts, set().union(*contrasts)


def naive_unload_contrasts(n_columns):
    """No column has a local number."""
    return [-1] * n_columns


def naive_dot(contrast, dense):
    return sum(a * dense[v] for v, a in contrast.items())


def naive_add_private(contrasts, beta, cost, private):
    """What an example's duals add to scores by way of inputs that nobody else has, by column."""
    added = {}
    for contrast, b, d in zip(contrasts, beta, cost, strict=True):
        for v, a in contrast.items():
            added[v] = added.get(v, 0.0) + private * b * d * a
    return added


def naive_add_private_everywhere(plain, duals, s, private):
    """The same for all columns; `duals` are the example's, by contrast."""
    contrasts = [naive_write_contrast(plain.Lambda, *pair) for pair in duals]
    costs = [plain.cost[pair] for pair in duals]
    added = naive_add_private(contrasts, duals.values(), costs, private)
    return [score + added.get(v, 0.0) for v, score in enumerate(s)]


def naive_add_to_line(line, contrast, factor):
    return [value + factor * contrast.get(v, 0.0) for v, value in enumerate(line)]


def naive_take_step(change, line, contrast, t):
    """`change` and `line` after the step: the direction is used up where the contrast is."""
    moved = [c + t * d if v in contrast else c for v, (c, d) in enumerate(zip(change, line, strict=True))]
    return moved, [0.0 if v in contrast else d for v, d in enumerate(line)]


def naive_gram(contrasts, cost, sq):
    """Q of (E.4): how the violations fall as the dual variables rise."""
    k = len(contrasts)
    Q = np.zeros((k, k))
    for b in range(k):
        for c in range(k):
            inner = sum(a * contrasts[c].get(v, 0.0) for v, a in contrasts[b].items())
            Q[b, c] = sq * cost[b] * cost[c] * inner
    return Q


def naive_ascend_shared(H, Q, beta, bound):
    """psi at `beta`, and the best variables with beta >= 0 and a sum of at most `bound`."""
    low = [h for h, b in zip(H, beta, strict=True) if b > 0]
    if sum(beta) < bound * (1 - 1e-7):
        low.append(0.0)
    psi = max(0.0, *H) - min(low)
    best = _best(H, Q, beta, product((0.0, None), repeat=len(H)), total=bound)
    return psi, best


def naive_ascend_pairs(H, Q, beta, bound):
    """The same with every variable between 0 and `bound`."""
    rise = [h for h, b in zip(H, beta, strict=True) if b < bound]
    fall = [-h for h, b in zip(H, beta, strict=True) if b > 0]
    best = _best(H, Q, beta, product((0.0, bound, None), repeat=len(H)), each=bound)
    return max([0.0, *rise, *fall]), best


def naive_value(H, Q, old, beta):
    """The objective of (E.4), less its value at `old`."""
    step = np.subtract(beta, old)
    return float(step @ H - step @ Q @ step / 2)


def _best(H, Q, old, faces, total=np.inf, each=np.inf):
    """The best stationary point of a face: variables are fixed or free (None), their sum free or total."""
    H, old = np.asarray(H, float), np.asarray(old, float)
    slope = H + Q @ old  # the gradient is slope - Q beta
    found = old
    for face in faces:
        free = np.array([value is None for value in face], bool)
        fixed = np.array([0.0 if value is None else value for value in face])
        for tight in (False, True) if np.isfinite(total) else (False,):
            m = int(free.sum())
            system, right = np.zeros((m + tight, m + tight)), np.zeros(m + tight)
            system[:m, :m] = Q[np.ix_(free, free)]
            right[:m] = (slope - Q @ fixed)[free]
            if tight:
                system[m, :m] = system[:m, m] = 1.0
                right[m] = total
            beta = fixed.copy()
            beta[free] = np.linalg.lstsq(system, right, rcond=None)[0][:m]
            slip = 1e-9 * (1 + abs(beta).max())
            feasible = beta.min() >= -slip and beta.max() <= each + slip and beta.sum() <= total + slip
            if feasible and naive_value(H, Q, old, beta) > naive_value(H, Q, old, found):
                found = beta
    return found


# ---- passes.py


def naive_offer(slots, capacity, contrast, h):
    """`slots` maps contrasts to (beta, violation); what it is after an offer, and if that was taken."""
    if len(slots) < capacity:
        return {**slots, contrast: (0.0, h)}, True
    idle = {key: old for key, (beta, old) in slots.items() if beta == 0 and old < h}
    if not idle:
        return slots, False
    leaves = min(idle, key=idle.get)
    return {**{key: entry for key, entry in slots.items() if key != leaves}, contrast: (0.0, h)}, True


def naive_drop_idle(slots, floor):
    """Only contrasts with weight, or violated more than `floor`, in the order that they had."""
    return {key: (beta, h) for key, (beta, h) in slots.items() if beta > 0 or h > floor}


def naive_keep_worst(worst, limit, H, r):
    """The most violated outputs, most violated first, after r has come; of equals the earlier stays first."""
    return sorted([*worst[: limit - 1], r], key=lambda output: -H[output])


def naive_look_at_all(plain, W, duals, i):
    """What there is to find out about example i, by name."""
    mine = {(y, r): alpha for (e, y, r), alpha in duals.items() if e == i}
    H = {pair: naive_violation(plain, W, i, *pair) for pair in mine}
    cost = plain.cost
    return {
        "loss": naive_slack(plain, W, i),
        "gap": naive_share(plain, W, duals, i),
        "psi": naive_psi(plain, W, duals, i),
        "norm": sum(alpha * (1 - H[pair] / cost[pair]) for pair, alpha in mine.items()),
        "linear": sum(mine.values()),
    }


def naive_gather_scores(x, W, base, nodes):
    scores = naive_score_nodes(x, W, base)
    return [scores[v] for v in nodes]


def naive_add_to_weights(x, W, nodes, change):
    W = np.array(W, dtype=float)
    for v, step in zip(nodes, change, strict=True):
        for j in range(len(x)):
            W[j, v] += x[j] * step
    return W


def naive_search(plain, W, duals, order):
    return {i: naive_look_at_all(plain, W, duals, i) for i in order}


def naive_ascend(plain, W, active, order):
    """Solve the problem of each example over its active contrasts, one after the other.

    `active` maps an example to {contrast: beta}. Returns W, and psi of each example before its visit.
    """
    W = np.array(W, dtype=float)
    psi = {}
    for i in order:
        pairs, beta = list(active[i]), list(active[i].values())
        if not pairs:
            continue
        contrasts, _ = naive_load_contrasts(plain.Lambda, pairs)
        cost = [plain.cost[pair] for pair in pairs]
        sq = sum(value**2 for value in plain.X[i])
        H = [naive_violation(plain, W, i, *pair) for pair in pairs]
        solve = naive_ascend_shared if plain.slack == "example" else naive_ascend_pairs
        psi[i], best = solve(H, naive_gram(contrasts, cost, sq), beta, plain.bound[i])
        for contrast, d, new, old in zip(contrasts, cost, best, beta, strict=True):
            step = {v: (new - old) * d * a for v, a in contrast.items()}
            W = naive_add_to_weights(plain.X[i], W, list(step), list(step.values()))
    return W, psi


def naive_violations(d, base, F):
    return [cost * (base + score) if cost > 0 else -np.inf for cost, score in zip(d, F, strict=True)]


def naive_any_above(part, least):
    return any(value > least for value in part)


# ---- strings.py


def naive_subsequence_pairs(pairs, length, decay):
    """For each pair of strings, over all pairs of equal subsequences: decay to the number of gaps."""
    return [
        sum(
            decay ** (i[-1] - i[0] + 1 - length + j[-1] - j[0] + 1 - length)
            for i in combinations(range(len(s)), length)
            for j in combinations(range(len(t)), length)
            if [s[e] for e in i] == [t[e] for e in j]
        )
        for s, t in pairs
    ]


def naive_meet(x, y, below, total):
    equal = [float(p == r) for p, r in zip(x, y, strict=True)]
    return equal, [a + e * b for a, e, b in zip(total, equal, below, strict=True)]


def naive_advance(run, equal, below, above, decay):
    run = [decay * r + e * b for r, e, b in zip(run, equal, below, strict=True)]
    return run, [r + decay * a for r, a in zip(run, above, strict=True)]


# ---- losses.py


def naive_loss_at(loss, m):
    positive = max(0.0, m)
    return {"hinge": positive, "squared-hinge": positive**2, "logistic": np.log1p(np.exp(m - 1))}[loss]


def naive_conjugate(loss, t):
    """The largest t m - phi(m), over a fine grid of m."""
    m = np.linspace(-40.0, 40.0, 160_001)
    return max(t * m - np.array([naive_loss_at(loss, value) for value in m]))


def naive_spare_violation(loss, t):
    """The slope of the conjugate, by a small difference of its closed form."""
    closed = {
        "hinge": lambda t: 0.0,
        "squared-hinge": lambda t: t**2 / 4,
        "logistic": lambda t: t + t * np.log(t) + (1 - t) * np.log(1 - t),
    }[loss]
    return (closed(t + 1e-6) - closed(t - 1e-6)) / 2e-6


def naive_best_step(loss, bound, total, h, slope, low, high):
    """Where  h t - slope t^2 / 2 - bound phi*((total + t) / bound)  is largest, by ever finer grids."""
    closed = {
        "hinge": lambda t: 0 * t,
        "squared-hinge": lambda t: t**2 / 4,
        "logistic": lambda t: t + xlogy(t, t) + xlog1py(1 - t, -t),
    }[loss]
    a, b = low, high
    for _ in range(12):
        t = np.linspace(a, b, 101)
        share = np.clip((total + t) / bound, 0, None if loss == "squared-hinge" else 1)
        k = int(np.argmax(h * t - slope * t**2 / 2 - bound * closed(share)))
        a, b = t[max(k - 1, 0)], t[min(k + 1, 100)]
    return (a + b) / 2
