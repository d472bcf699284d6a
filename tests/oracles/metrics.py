"""The measures again, as slow loops straight from their definitions; sets of labels, one list entry a row.

`anc` maps each node to the set of its ancestors, itself included; scores are one dictionary a row.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product


def naive_mean(values, weights=None):
    weights = [1] * len(values) if weights is None else weights
    return sum(w * v for w, v in zip(weights, values, strict=True)) / sum(weights)


def naive_union(anc, labels):
    return {v for y in labels for v in anc[y]}


def naive_zero_one_loss(true, predicted, weights=None):
    return naive_mean([float(t != p) for t, p in zip(true, predicted, strict=True)], weights)


def naive_tree_distance(anc, y, r):
    return len(anc[y] ^ anc[r]) / 2


def naive_tree_loss(true, predicted, anc, weights=None):
    sizes = [len(naive_union(anc, t) ^ naive_union(anc, p)) / 2 for t, p in zip(true, predicted, strict=True)]
    return naive_mean(sizes, weights)


def naive_symmetric_difference_loss(true, predicted, anc, volume, c_miss, c_extra, weights=None):
    losses = []
    for t, p in zip(true, predicted, strict=True):
        right, given = naive_union(anc, t), naive_union(anc, p)
        loss = c_miss * sum(volume[v] for v in right) + c_extra * sum(volume[v] for v in given)
        losses.append(loss - (c_miss + c_extra) * sum(volume[v] for v in right & given))
    return naive_mean(losses, weights)


def naive_cost_loss(true, predicted, cost, weights=None):
    return naive_mean([cost(t, p) for t, p in zip(true, predicted, strict=True)], weights)


def naive_h_loss(parent, children, y, r, kind):
    """Wang's c where the paths of two leaves part: of both nodes (subtree), or of one (sibling)."""

    def path(v):
        return [*path(parent[v]), v] if v in parent else [v]

    def size(v):
        return 1 + sum(size(c) for c in children.get(v, []))

    def c(v):
        if kind == "subtree":
            return size(v) / len(parent)
        return c(parent[v]) / len(children[parent[v]]) if v in parent else 1.0

    if y == r:
        return 0.0
    a, b = next((a, b) for a, b in zip(path(y), path(r), strict=False) if a != b)
    return c(a) + c(b) if kind == "subtree" else (c(a) + c(b)) / 2


def naive_f1(hits, predicted, true):
    return 2 * hits / (predicted + true) if predicted + true else 0.0


def naive_micro_f1(true, predicted):
    hits = sum(len(t & p) for t, p in zip(true, predicted, strict=True))
    return naive_f1(hits, sum(map(len, predicted)), sum(map(len, true)))


def naive_macro_f1(true, predicted):
    classes = set().union(*true, *predicted)
    if not classes:
        return 0.0
    scores = []
    for k in classes:
        hits = sum(k in t and k in p for t, p in zip(true, predicted, strict=True))
        scores.append(naive_f1(hits, sum(k in p for p in predicted), sum(k in t for t in true)))
    return sum(scores) / len(scores)


def naive_hierarchical_precision_recall_f1(true, predicted, anc, root):
    right = [naive_union(anc, t) - {root} for t in true]
    given = [naive_union(anc, p) - {root} for p in predicted]
    hits = sum(len(a & b) for a, b in zip(right, given, strict=True))
    n_given, n_right = sum(map(len, given)), sum(map(len, right))
    precision = hits / n_given if n_given else 0.0
    recall = hits / n_right if n_right else 0.0
    f1 = 2 * precision * recall / (precision + recall) if hits else 0.0
    return precision, recall, f1


def naive_top(scores):
    return max(scores, key=scores.get)  # the first of equals


def naive_one_accuracy(true, tops, weights=None):
    return naive_mean([float(top in t) for t, top in zip(true, tops, strict=True)], weights)


def naive_parent_accuracy(true, tops, parents):
    def agree(y, top):
        return y == top or bool(parents[y] & parents[top])

    return naive_mean([float(any(agree(y, f) for y in t)) for t, f in zip(true, tops, strict=True)])


def naive_top_loss(true, tops, cost):
    return naive_mean(
        [0.0 if f in t else max(cost(y, f) for y in t) for t, f in zip(true, tops, strict=True)]
    )


def naive_average_precision(true, scores):
    rows = []
    for t, s in zip(true, scores, strict=True):
        precisions = []
        for y in t:
            above = {r for r in s if s[r] >= s[y]}
            precisions.append(Fraction(len(above & t), len(above)))
        rows.append(sum(precisions) / len(t))
    return float(naive_mean(rows))


def naive_ranking_loss(true, scores):
    rows = []
    for t, s in zip(true, scores, strict=True):
        wrong = set(s) - t
        lost = sum(s[y] <= s[r] for y in t for r in wrong)
        rows.append(Fraction(lost, len(t) * len(wrong)) if wrong else Fraction(0))
    return float(naive_mean(rows))


def naive_maximal_loss(true, scores, cost):
    rows = []
    for t, s in zip(true, scores, strict=True):
        rows.append(max((cost(y, r) for y in t for r in set(s) - t if s[y] <= s[r]), default=0.0))
    return naive_mean(rows)


def naive_level_accuracy(true, predicted, anc, depth_of, depth):
    def raised(y):
        return {v for v in anc[y] if depth_of[v] == min(depth, depth_of[y])}

    return naive_mean(
        [float(any(raised(y) & raised(p) for y in t)) for t, p in zip(true, predicted, strict=True)]
    )


def naive_node_precision_recall_f1(true, predicted):
    common = sum(len(t & p) for t, p in zip(true, predicted, strict=True))
    n_predicted, n_true = sum(map(len, predicted)), sum(map(len, true))
    return (
        common / n_predicted if n_predicted else 0.0,
        common / n_true if n_true else 0.0,
        naive_f1(common, n_predicted, n_true),
    )


def naive_average_precision_area(pairs):
    """From (score, is right) pairs: a point for each threshold, others between, straight lines."""
    total = sum(right for _, right in pairs)
    points, before = [], None
    for threshold in sorted({score for score, _ in pairs}, reverse=True):
        taken = [right for score, right in pairs if score >= threshold]
        hits, wrong = sum(taken), len(taken) - sum(taken)
        if before is None:
            points.append((0, Fraction(hits, hits + wrong)))
        else:
            for between in range(before[0] + 1, hits):
                extra = Fraction((between - before[0]) * (wrong - before[1]), hits - before[0])
                points.append((Fraction(between, total), between / (between + before[1] + extra)))
        points.append((Fraction(hits, total), Fraction(hits, hits + wrong)))
        before = hits, wrong
    return float(sum((b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in pairwise(points)))


def naive_permutation_p(a, b, alternative):
    """The share of all tosses of a coin an item after which the two differ at least as much."""
    found = sum(a) - sum(b)
    hits = tosses = 0
    for signs in product((-1, 1), repeat=len(a)):
        total = sum(sign * (x - y) for sign, x, y in zip(signs, a, b, strict=True))
        sides = {"two-sided": abs(total) >= abs(found), "less": total <= found, "greater": total >= found}
        hits += sides[alternative]
        tosses += 1
    return hits / tosses


def naive_expected_calibration_error(true, probabilities, up, n_bins, weights=None):
    """(M.26), (M.27): `probabilities` is a dictionary a row, `up` has each label's nodes of the level."""
    weights = [1] * len(true) if weights is None else weights
    bins = {}
    for labels, row, weight in zip(true, probabilities, weights, strict=True):
        node_probability = {}
        for label, p in row.items():
            for node in up[label]:
                node_probability[node] = node_probability.get(node, 0) + p
        winner = max(node_probability, key=lambda v: (node_probability[v], -v))
        confidence = node_probability[winner]
        right = any(winner in up[label] for label in labels)
        number = next(b for b in range(1, n_bins + 1) if confidence <= b / n_bins or b == n_bins)
        bins.setdefault(number, []).append((weight, confidence - right))
    return sum(abs(sum(w * e for w, e in rows)) for rows in bins.values()) / sum(weights)


def naive_containment(true, predicted, anc, weights=None):
    return naive_mean(
        [float(p in naive_union(anc, t)) for t, p in zip(true, predicted, strict=True)], weights
    )
