"""The built-in data sets: sizes that are known, the same bits every time, and the definition of Cai 7.1.1."""

from __future__ import annotations

import builtins
import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

import margrove as mg
from margrove.errors import DataError
from margrove.tables.datasets import load_icd10cm, make_tree_classification


@pytest.fixture(scope="module")
def icd():
    return load_icd10cm()


def test_icd10cm_has_the_sizes_that_it_promises(icd):
    assert len(icd.train_texts) == len(icd.train_labels) == 107_066
    assert len(icd.test_texts) == len(icd.test_labels) == 3_743
    tax = icd.taxonomy
    assert len(tax.nodes) == 2_187
    assert len(tax.classes) == 1_918
    assert set(icd.train_labels) == set(tax.classes)
    assert len(tax.children(tax.root)) == 22
    assert sum(tax.depth(c) == 2 for c in tax.classes) == 39
    assert all(tax.depth(c) in (2, 3) for c in tax.classes)
    assert len(icd.descriptions) == 98_466
    assert all(node in icd.descriptions for node in tax.nodes[1:])


def test_icd10cm_texts_stand_under_their_category(icd):
    assert icd.taxonomy.path("A00") == ("ICD-10-CM", "1", "A00-A09", "A00")
    assert icd.taxonomy.path("B20") == ("ICD-10-CM", "1", "B20")
    pairs = set(zip(icd.train_texts, icd.train_labels, strict=True))
    assert ("Cholera", "A00") in pairs
    assert (icd.descriptions["S52.001A"], "S52") in pairs
    synonyms = pairs | set(zip(icd.test_texts, icd.test_labels, strict=True))
    assert ("Classical cholera", "A00") in synonyms


def test_icd10cm_can_leave_out_what_training_has_seen(icd):
    strict = load_icd10cm(drop_seen=True)
    seen = set(zip(strict.train_texts, strict.train_labels, strict=True))
    assert not seen & set(zip(strict.test_texts, strict.test_labels, strict=True))
    assert len(icd.test_texts) - len(strict.test_texts) == 11
    assert strict.train_texts == icd.train_texts


def test_icd10cm_splits_differ_by_seed_and_fraction(icd):
    assert load_icd10cm(split_seed=1).test_texts != icd.test_texts
    assert load_icd10cm(test_fraction=0.0).test_texts == []
    with pytest.raises(DataError, match="test_fraction is 1"):
        load_icd10cm(test_fraction=1)


def test_icd10cm_is_the_same_under_any_hash_seed(icd):
    script = (
        "import hashlib; from margrove.tables.datasets import load_icd10cm; d = load_icd10cm(); "
        "print(hashlib.sha256(repr((d.test_texts, d.train_labels, d.taxonomy.nodes)).encode()).hexdigest())"
    )
    environment = os.environ | {"PYTHONHASHSEED": "12345"}
    answer = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    here = hashlib.sha256(repr((icd.test_texts, icd.train_labels, icd.taxonomy.nodes)).encode()).hexdigest()
    assert answer.stdout.strip() == here


def test_icd10cm_without_its_package_says_what_to_install(monkeypatch):
    real_import = builtins.__import__

    def without_the_package(name, *args, **kwargs):
        if name.startswith("simple_icd_10_cm"):
            raise ImportError(name)
        return real_import(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_the_package)
    with pytest.raises(ImportError, match=r"pip install 'margrove\[icd\]'"):
        load_icd10cm()


@pytest.mark.parametrize("density", [1.0, 0.1])
def test_labels_of_a_tree_problem_follow_the_definition(density):
    problem = make_tree_classification(60, 30, (2, 3, 2), density=density, random_state=3)
    tax = problem.taxonomy
    assert (len(tax.nodes), len(tax.classes)) == (1 + 2 + 6 + 12, 12)
    assert sp.issparse(problem.X) == (density < 1)
    points = problem.X.toarray() if sp.issparse(problem.X) else problem.X
    assert points.shape == (60, 30)
    for x, labels in zip(points, problem.y, strict=True):
        relevant = [
            k for k in tax.classes if sum(problem.weights[tax.index(v)] for v in tax.ancestors(k)) @ x > 0
        ]
        assert relevant == labels
        assert 0 < len(labels) < np.sqrt(12)


def test_a_single_label_is_the_class_of_the_highest_score():
    problem = make_tree_classification(50, 8, fanout=2, depth=3, multilabel=False, random_state=0)
    tax = problem.taxonomy
    for x, label in zip(problem.X, problem.y, strict=True):
        scores = {k: problem.weights[tax.indices(tax.ancestors(k))].sum(axis=0) @ x for k in tax.classes}
        assert label == max(scores, key=scores.get)


def test_weights_vary_less_further_down():
    problem = make_tree_classification(
        1, 5000, fanout=2, depth=3, decay=0.25, random_state=1, multilabel=False
    )
    for depth in range(4):
        of_level = problem.weights[problem.taxonomy.depths == depth]
        assert of_level.var() == pytest.approx(0.25**depth, rel=0.15)


def test_a_tree_problem_on_any_taxonomy_and_the_same_for_a_seed():
    graph = mg.Taxonomy.from_edges([("r", "a"), ("r", "b"), ("a", "x"), ("b", "x"), ("b", "y"), ("a", "z")])
    first, second = (
        make_tree_classification(300, 40, taxonomy=graph, density=0.2, random_state=5, multilabel=False)
        for _ in range(2)
    )
    assert first.taxonomy is graph
    assert first.y == second.y
    assert set(first.y) <= {"x", "y", "z"}
    assert (first.X != second.X).nnz == 0
    assert first.X.indices.max() < 40
    assert np.diff(first.X.indptr).max() <= 8


def test_wide_sparse_problems_are_quick():
    problem = make_tree_classification(1000, 47_236, (4, 2, 3), density=0.0015, random_state=0)
    assert problem.X.shape == (1000, 47_236)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_samples": 0}, "n_samples is 0"),
        ({"decay": 0}, "decay is 0"),
        ({"density": 1.5}, "density is 1.5"),
        ({"fanout": []}, "fanout is"),
        ({"depth": 0}, "depth 0"),
        ({"fanout": 1, "depth": 1}, "random points have"),  # one class can never be fewer than sqrt(1)
    ],
)
def test_options_that_cannot_work(options, message):
    with pytest.raises(DataError, match=message):
        make_tree_classification(**options)
