"""Every fit of the tests in this room is held to Cai's Proposition 2 and Corollary 1."""

from __future__ import annotations

import numpy as np
import pytest

import margrove as mg
from margrove.taxonomy import costs


def mean_slack(model, X, right, weight):
    """The weighted mean of xi, from the scores that a user sees."""
    F = model.decision_function(X)
    if F.ndim == 1:
        F = np.column_stack([np.zeros(len(F)), F])
    cost = costs.get(model.cost).bind(model.taxonomy_, model.class_nodes_).matrix()
    xi = np.zeros(len(F))
    for i, mine in enumerate(right):
        wrong = np.setdiff1d(np.arange(F.shape[1]), mine)
        H = np.maximum(cost[np.ix_(mine, wrong)] * (1 - F[i, mine][:, None] + F[i, wrong]), 0)
        xi[i] = H.sum() if model.slack == "pair" else H.max(initial=0.0)
    return np.average(xi, weights=weight), F


def check_bounds(model, X, y, weight):
    """Mean slack >= maximal loss >= top loss, all by the cost of the fit."""
    number = {label: k for k, label in enumerate(model.classes_.tolist())}
    right = [sorted({number[label] for label in (row if isinstance(row, list) else [row])}) for row in y]
    bound, F = mean_slack(model, X, right, weight)
    nodes = list(model.class_nodes_)
    named = [[nodes[k] for k in mine] for mine in right]
    options = {"taxonomy": model.taxonomy_, "cost": costs.get(model.cost), "sample_weight": weight}
    maximal = mg.metrics.maximal_loss(named, F, nodes, **options)
    top = mg.metrics.top_loss(named, F, nodes, **options)
    assert bound >= maximal - 1e-9
    assert maximal >= top - 1e-12


@pytest.fixture(autouse=True)
def every_fit_obeys_proposition_2_and_corollary_1(monkeypatch):
    fit = mg.HierarchicalSVM.fit

    def fit_and_check(self, X, y, sample_weight=None, **options):
        fit(self, X, y, sample_weight, **options)
        check_bounds(self, X, y, sample_weight)
        return self

    monkeypatch.setattr(mg.HierarchicalSVM, "fit", fit_and_check)
