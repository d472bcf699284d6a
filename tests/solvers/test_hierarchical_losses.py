"""HierarchicalSVM's losses and sharing, against a conic solver that is given every contrast (P.6)."""

from __future__ import annotations

import warnings
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from margrove.objective.losses import LOSSES
from oracles.contrasts import naive_optimum
from oracles.problems import ATTRIBUTES, COSTS, SHAPES, SLACKS, TREE_ONLY, random_case
from oracles.problems import arranged as arrange_problem

KINDS = [  # of one logistic loss for each pair the conic solver's own answer is not exact enough
    (loss, slack, multilabel)
    for loss, slack, multilabel in product(LOSSES, SLACKS, (False, True))
    if (loss, slack) != ("logistic", "pair")
]


@pytest.mark.parametrize(("loss", "slack", "multilabel"), KINDS)
@pytest.mark.parametrize("shape", SHAPES)
def test_optimum_of_every_loss(shape, loss, slack, multilabel):
    costs = [cost for cost in COSTS if not (shape == "dag" and cost in TREE_ONLY)]
    seed = 100 + KINDS.index((loss, slack, multilabel))
    case = random_case(
        seed, shape, cost=costs[seed % len(costs)], attributes=ATTRIBUTES[seed % 5], slack=slack,
        multilabel=multilabel, n=7, d=3,
    )  # fmt: skip
    value, W = naive_optimum(replace(arrange_problem(case.problem())[0], loss=loss))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = case.fit(tol=1e-9, loss=loss)
    assert model.certificate_.primal == pytest.approx(value, rel=1e-6)
    assert model.certificate_.dual <= value * (1 + 1e-6)
    Lambda = model.attributes_.toarray()
    ours, theirs = ((V - V.mean(axis=0)) @ case.X.T for V in (Lambda @ model.weights_.T, Lambda @ W.T))
    np.testing.assert_allclose(ours, theirs, atol=1e-3 * max(1.0, abs(theirs).max()))


@pytest.mark.parametrize("sharing", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("shape", ["tree", "dag"])
def test_sharing_is_the_class_kernel_that_it_says(shape, sharing):
    """(A.8) given as a matrix of products, factored by eigenvectors, has the same optimum and scores."""
    case = random_case(7, shape, attributes="ancestors")
    Lambda = case.naive_attributes()
    G = sharing * Lambda @ Lambda.T + (1 - sharing) * np.eye(len(case.classes))
    values, vectors = np.linalg.eigh(G)
    factor = vectors * np.sqrt(np.maximum(values, 0))
    ours, theirs = case.fit(sharing=sharing, tol=1e-8), case.fit(attributes=factor, tol=1e-8)
    assert ours.certificate_.primal == pytest.approx(theirs.certificate_.primal, rel=1e-7)
    np.testing.assert_allclose(ours.decision_function(case.X), theirs.decision_function(case.X), atol=1e-3)
    if sharing == 0:
        flat = case.fit(attributes="one-hot", tol=1e-8)
        np.testing.assert_array_equal(ours.decision_function(case.X), flat.decision_function(case.X))
