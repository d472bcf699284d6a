"""Wang's margins along a path, as users have them."""

from __future__ import annotations

import numpy as np
import pytest

import margrove as mg
from margrove.classifiers.descent_fit import descent_problem, read_examples


@pytest.mark.parametrize("tol", [1e-2, 1e-6])
def test_trees_whose_classes_stand_in_no_order_converge(tol):
    taxonomy = mg.Taxonomy.from_paths(["fruit/pear", "root/leek", "fruit/apple", "root/carrot", "salt"])
    rng = np.random.default_rng(0)
    y = np.array(["apple", "pear", "leek", "carrot", "salt"] * 4)
    X = rng.normal(size=(20, 5))
    model = mg.PathMarginSVM(taxonomy, tol=tol).fit(X, y)
    assert model.certificate_.status == "converged"
    assert model.certificate_.relative_gap <= tol
    examples, descent = read_examples(mg.PathMarginSVM(taxonomy), X, y, None)
    problem = descent_problem(examples, descent, 1.0)
    assert problem.Y.has_sorted_indices
    rivals = [sum(len(taxonomy.children(node)) - 1 for node in taxonomy.ancestors(label)
                  if taxonomy.children(node)) for label in examples.classes.labels]  # fmt: skip
    assert problem.n_contrasts.tolist() == (examples.Y @ np.array(rivals)).tolist()
