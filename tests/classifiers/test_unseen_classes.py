"""Classes without an example are predicted by what they share with others (A.15)."""

from __future__ import annotations

import numpy as np
import pytest

import margrove as mg
from margrove.errors import LabelError
from margrove.taxonomy import attributes

COLOURS, THINGS = ["red", "green", "blue", "grey"], ["ball", "coat", "door", "lamp"]
CLASSES = [f"{colour} {thing}" for colour in COLOURS for thing in THINGS]
UNSEEN = ["red ball", "green coat", "blue door", "grey lamp"]
TREE = mg.Taxonomy.from_paths([f"{name.split()[1]}/{name}" for name in CLASSES])
TEXTS = {name: f"a {name}" for name in CLASSES}


def sample(names, n=20, seed=0):
    """Inputs with two coordinates that tell the colour and the thing, and noise."""
    rng = np.random.default_rng(seed)
    y = np.repeat(names, n)
    colour, thing = np.array([name.split() for name in y]).T
    X = np.hstack([colour[:, None] == COLOURS, thing[:, None] == THINGS]).astype(float)
    return X + 0.2 * rng.normal(size=X.shape), y


def fit(spec, names=None, **options):
    X, y = sample([name for name in CLASSES if name not in UNSEEN] if names is None else names)
    return mg.HierarchicalSVM(TREE, attributes=spec, classes="taxonomy", tol=1e-3, **options).fit(X, y)


def test_descriptions_tell_what_an_unseen_class_looks_like():
    model = fit(attributes.descriptions(TEXTS, part=1.0))
    assert model.classes_.tolist() == sorted(CLASSES)
    X, y = sample(UNSEEN, seed=1)
    assert model.score(X, y) > 0.95
    by_ancestors = fit("depth-scaled")
    assert by_ancestors.score(X, y) < 0.5
    seen, labels = sample([name for name in CLASSES if name not in UNSEEN], seed=1)
    assert model.score(seen, labels) > 0.95


def test_ancestors_tell_where_an_unseen_class_is():
    """The colour is not to be known: among unseen classes the thing decides, and there is one of each."""
    model = fit("depth-scaled")
    X, y = sample(UNSEEN, seed=1)
    F = model.decision_function(X)[:, np.isin(model.classes_, UNSEEN)]
    assert np.mean(model.classes_[np.isin(model.classes_, UNSEEN)][F.argmax(axis=1)] == y) > 0.95


def test_unseen_classes_change_nothing_for_the_others():
    model = fit("depth-scaled")
    X, y = sample([name for name in CLASSES if name not in UNSEEN])
    usual = mg.HierarchicalSVM(TREE, tol=1e-3).fit(X, y)
    mine = np.isin(model.classes_, usual.classes_)
    np.testing.assert_array_equal(model.decision_function(X)[:, mine], usual.decision_function(X))
    assert model.certificate_.primal == usual.certificate_.primal
    assert model.weights_.shape == usual.weights_.shape


@pytest.mark.parametrize("spec", ["learned", attributes.learned(attributes.descriptions(TEXTS))])
def test_with_learned_weights_and_saved(tmp_path, spec):
    model = fit(spec)
    model.save(tmp_path / "model.mg")
    loaded = mg.load(tmp_path / "model.mg")
    X, y = sample(UNSEEN, seed=1)
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    assert loaded.predict(X).tolist() == model.predict(X).tolist()
    if spec != "learned":
        assert model.attribute_weights_["given"] > 0.3
        assert model.score(X, y) > 0.5


def test_label_sets():
    X, y = sample([name for name in CLASSES if name not in UNSEEN])
    sets = [[name] if k % 3 else [name, name] for k, name in enumerate(y)]
    spec = attributes.descriptions(TEXTS, part=1.0)
    model = mg.HierarchicalSVM(TREE, attributes=spec, classes="taxonomy").fit(X, sets)
    new, truth = sample(UNSEEN, seed=1)
    assert np.mean([name in found for found, name in zip(model.predict(new), truth, strict=True)]) > 0.9


def test_labels_keep_their_type_and_inner_nodes_their_label():
    tree = mg.Taxonomy.from_edges([(0, 1), (0, 2), (1, 3), (1, 4), (1, 5), (2, 6)])
    X = np.random.default_rng(0).normal(size=(8, 3))
    model = mg.HierarchicalSVM(tree, classes="taxonomy").fit(X, [3, 4, 1, 3, 4, 1, 3, 4])
    assert model.classes_.tolist() == [1, 3, 4, 5, 6]
    assert model.classes_.dtype.kind == "i"
    long = mg.Taxonomy.from_edges([("r", "a"), ("r", "b"), ("r", "a long name")])
    model = mg.HierarchicalSVM(long, classes="taxonomy").fit(X, np.array(["a", "b"] * 4))
    assert model.classes_.tolist() == ["a", "a long name", "b"]


def test_without_more_classes_in_the_taxonomy_nothing_changes():
    X, y = sample(CLASSES)
    for taxonomy in (None, "flat", TREE):
        usual, all_classes = (
            mg.HierarchicalSVM(taxonomy, classes=classes).fit(X, y) for classes in ("seen", "taxonomy")
        )
        np.testing.assert_array_equal(usual.decision_function(X), all_classes.decision_function(X))


def test_columns_of_indicators_are_all_classes():
    X = np.random.default_rng(0).normal(size=(4, 3))
    with pytest.raises(LabelError, match="y has a column for each class"):
        mg.HierarchicalSVM(classes="taxonomy").fit(X, np.eye(4, 2))
    with pytest.raises(ValueError, match="classes is 'all'; expected 'seen' or 'taxonomy'"):
        mg.HierarchicalSVM(classes="all").fit(X, [0, 1, 0, 1])
