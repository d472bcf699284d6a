"""Every fit of a `HierarchicalSVM` in the tests is held to Cai's Proposition 2 and Corollary 1 (P.5)."""

from __future__ import annotations

import numpy as np
import pytest

import margrove as mg
from margrove.classifiers.targets import number_labels
from margrove.taxonomy import costs

MOST = 1 << 20  # scores that are looked at, so that large fits stay quick


def mean_slack(model, F, right, weight):
    """The weighted mean of xi, from the scores that a user sees."""
    cost = costs.get(model.cost).bind(model.taxonomy_, model.class_nodes_)
    xi = np.zeros(len(F))
    for i, mine in enumerate(right):
        wrong = np.setdiff1d(np.arange(F.shape[1]), mine)
        rows = cost.rows(mine)[:, wrong] if len(mine) else np.empty((0, len(wrong)))
        H = np.maximum(rows * (1 - F[i, mine][:, None] + F[i, wrong]), 0)
        xi[i] = H.sum() if model.slack == "pair" else H.max(initial=0.0)
    return np.average(xi, weights=weight)


def check_bounds(model, X, y, weight):
    """Mean slack >= maximal loss >= top loss, all by the cost of the fit."""
    truth = number_labels(y, model.classes_)
    rows = min(len(truth), max(1, MOST // len(model.classes_)))
    F = model.decision_function(X)[:rows]
    if F.ndim == 1:
        F = np.column_stack([np.zeros(len(F)), F])
    nodes = list(model.class_nodes_)
    right = [truth.numbers[truth.starts[i] : truth.starts[i + 1]] for i in range(rows)]
    weight = None if weight is None else np.array(weight, dtype=float)[:rows]
    counted = [i for i in range(rows) if len(right[i]) and (weight is None or weight[i] > 0)]
    if not counted or len(nodes) < 2:
        return
    F, right, weight = F[counted], [right[i] for i in counted], None if weight is None else weight[counted]
    named = [[nodes[k] for k in mine] for mine in right]
    options = {"taxonomy": model.taxonomy_, "cost": costs.get(model.cost), "sample_weight": weight}
    maximal = mg.metrics.maximal_loss(named, F, nodes, **options)
    top = mg.metrics.top_loss(named, F, nodes, **options)
    bound = mean_slack(model, F, right, weight)
    assert bound >= maximal - 1e-6 * (1 + abs(maximal))
    assert maximal >= top - 1e-12


@pytest.fixture(autouse=True)
def every_fit_obeys_proposition_2_and_corollary_1(monkeypatch):
    fit = mg.HierarchicalSVM.fit

    def fit_and_check(self, X, y, sample_weight=None, **options):
        fit(self, X, y, sample_weight, **options)
        check_bounds(self, X, y, sample_weight)
        return self

    monkeypatch.setattr(mg.HierarchicalSVM, "fit", fit_and_check)
