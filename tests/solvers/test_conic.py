"""The engine's optimum beside that of a conic solver, which is given Cai's programmes as printed."""

from __future__ import annotations

import warnings
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from oracles.conic import naive_optimum, naive_optimum_in_class_weights
from oracles.problems import ATTRIBUTES, COSTS, SHAPES, SLACKS, TREE_ONLY, random_case
from oracles.taxonomy import naive_ancestors, naive_nodes


def fitted(case):
    """A model with a gap as small as double precision can measure: of a dual right to 1e-16, about 1e-8."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = case.fit(tol=1e-9)
    assert model.certificate_.relative_gap <= 1e-7
    return model


def assert_same_optimum(case, value, class_weights):
    """Objective and class weights to 1e-5, and the optimum between the two values of the certificate."""
    model = fitted(case)
    certificate = model.certificate_
    assert certificate.primal == pytest.approx(value, rel=1e-5)
    assert certificate.dual <= value * (1 + 1e-7)
    assert certificate.primal >= value * (1 - 1e-7)
    ours = _centred(model.attributes_ @ model.weights_.T)
    theirs = _centred(class_weights)
    np.testing.assert_allclose(ours, theirs, atol=1e-5 * max(abs(theirs).max(), 1.0))
    if len(case.classes) > 2 or isinstance(case.y[0], list):
        scores = _centred(model.decision_function(case.X).T)
        expected = theirs @ case.X.T
        np.testing.assert_allclose(scores, expected, atol=2e-5 * max(abs(expected).max(), 1.0))


def _centred(by_class):
    """Less the mean class: what all classes share is in no contrast."""
    return by_class - by_class.mean(axis=0)


@pytest.mark.parametrize(
    ("shape", "cost"),
    [(shape, cost) for shape, cost in product(SHAPES, COSTS) if not (shape == "dag" and cost in TREE_ONLY)],
)
def test_optimum_is_that_of_equation_4_10(shape, cost):
    """Every shape with every cost; in each, every attribute with both slacks and both kinds of targets."""
    for seed, (attributes, slack, multilabel) in enumerate(product(ATTRIBUTES, SLACKS, (False, True))):
        case = random_case(
            seed, shape, cost=cost, attributes=attributes, slack=slack, multilabel=multilabel, n=7, d=3
        )
        assert_same_optimum(case, *naive_optimum(case.plain()))


@pytest.mark.parametrize("slack", SLACKS)
def test_inner_node_labels_are_misc_classes(slack):
    """A label at an inner node v is a class below v (Cai 3.1)."""
    edges = [("r", "a"), ("r", "b"), ("a", "c"), ("a", "d"), ("b", "e")]
    case = random_case(3, edges=[*edges, ("a", "a*")], slack=slack)
    value, class_weights = naive_optimum(case.plain())
    model = fitted(replace(case, edges=edges, y=["a" if y == "a*" else y for y in case.y]))
    assert model.classes_.tolist() == ["a", "c", "d", "e"]
    assert model.certificate_.primal == pytest.approx(value, rel=1e-5)
    order = [case.classes.index("a*" if y == "a" else y) for y in model.classes_]
    ours = model.attributes_ @ model.weights_.T
    np.testing.assert_allclose(_centred(ours), _centred(class_weights[order]), atol=1e-5)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("attributes", ["depth-scaled", "depth-scaled-class", "ancestors"])
@pytest.mark.parametrize("shape", ["tree", "dag"])
def test_class_weights_with_their_regulariser_have_the_same_optimum(shape, attributes, seed):
    """(4.48) with A of (4.40) and u of (4.42) against (4.10): every class has an attribute of its own."""
    case = random_case(seed, shape, attributes=attributes, multilabel=seed % 2 == 1, slack=SLACKS[seed // 2])
    nodes = sorted(naive_nodes(case.edges))

    def is_ancestor(o, y):
        return o in naive_ancestors(case.edges, y)

    value, W = naive_optimum_in_class_weights(case.plain(), case.classes, nodes, is_ancestor)
    assert_same_optimum(case, value, W)
