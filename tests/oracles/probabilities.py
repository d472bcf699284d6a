"""Probabilities of walks from the root, node by node, and the search of the best, by trying all."""

from __future__ import annotations

import math


def naive_log_sum(values):
    top = max(values)
    return top + math.log(sum(math.exp(value - top) for value in values))


def naive_first_parent_path(taxonomy, node):
    """From below the root to the node, always through first parents."""
    path = []
    while node != taxonomy.root:
        path.insert(0, node)
        node = taxonomy.parents(node)[0]
    return path


def naive_scores_below(taxonomy, classes, scores, beta):
    """(Q.1) for one row: log sum exp of all classes at and below each node on the way to a class."""
    below = {}
    for label, score in zip(classes, scores, strict=True):
        for node in naive_first_parent_path(taxonomy, label):
            below.setdefault(node, []).append(beta * score)
    return {node: naive_log_sum(values) for node, values in below.items()}


def naive_steepness(scores, knots, values):
    """(Q.2) for one choice: on the line between the knots around the lead of the best score."""
    lead = max(scores) - sum(scores) / len(scores)
    if lead <= knots[0]:
        return values[0]
    for k in range(1, len(knots)):
        if lead <= knots[k]:
            share = (lead - knots[k - 1]) / (knots[k] - knots[k - 1])
            return (1 - share) * values[k - 1] + share * values[k]
    return values[-1]


def naive_path_probabilities(taxonomy, classes, node_score, steepness):
    """(Q.2), (Q.3) for one row, by node; `node_score` has the outputs, `steepness` has knots, values."""
    paths = {label: naive_first_parent_path(taxonomy, label) for label in classes}
    siblings = {}
    for path in paths.values():
        for above, node in zip([taxonomy.root, *path], path, strict=False):
            siblings.setdefault(above, set()).add(node)
    probability = {taxonomy.root: 1.0}
    for label in classes:
        for depth, node in enumerate(paths[label]):
            above = ([taxonomy.root, *paths[label]])[depth]
            scores = [node_score[other] for other in siblings[above]]
            steep = naive_steepness(scores, *steepness[depth])
            logits = [steep * score for score in scores]
            chosen = steep * node_score[node] - naive_log_sum(logits)
            probability[node] = probability[above] * math.exp(chosen)
    return {node: p if node not in siblings else 0.0 for node, p in probability.items()}, probability


def naive_choice_loss(theta, choices):
    """(Q.4): choices are (weight, scores of the options, the place of the right one)."""
    epsilon = 1 / (2 + sum(weight for weight, _, _ in choices))
    loss = 0.0
    for weight, scores, right in choices:
        mean = sum(scores) / len(scores)
        wanted = (1 - epsilon) * scores[right] + epsilon * mean
        loss += weight * (naive_log_sum([theta * score for score in scores]) - theta * wanted)
    return loss


def naive_choice_loss_by_lead(knots, values, choices):
    """(Q.4) but for the draw of neighbouring knots to each other; choices as above."""
    epsilon = 1 / (2 + sum(weight for weight, _, _ in choices))
    loss = 0.0
    for weight, scores, right in choices:
        steep = naive_steepness(scores, knots, values)
        wanted = (1 - epsilon) * scores[right] + epsilon * sum(scores) / len(scores)
        loss += weight * (naive_log_sum([steep * score for score in scores]) - steep * wanted)
    return loss
