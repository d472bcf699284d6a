"""The script of Cai's table 7.20, on a small problem in place of the posts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import margrove as mg


@pytest.fixture
def scripts(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2]))
    from reproductions import cai_7_20, newsgroups

    return cai_7_20, newsgroups


def test_flat_and_hierarchical_on_the_same_rows(scripts, monkeypatch, capsys):
    table, newsgroups = scripts
    monkeypatch.setattr(table, "REPETITIONS", 2)
    monkeypatch.setattr(table, "ORDERS", 1)
    problem = mg.datasets.make_tree_classification(300, 30, fanout=[3, 3], multilabel=False, random_state=0)
    data = newsgroups.Posts(problem.X, np.array(problem.y), problem.taxonomy)
    monkeypatch.setattr(table, "posts", lambda whole: data)
    values = table.repeat(data, 5, mg.HierarchicalPerceptron)
    assert {name: pairs.shape for name, pairs in values.items()} == dict.fromkeys(table.MEASURES, (2, 2))
    assert (values["acc"] > 0.2).all()
    assert (values["pacc"] >= values["acc"]).all()
    table.main([5], whole=False)
    assert len(capsys.readouterr().out.splitlines()) == 2 + 2 * len(table.MEASURES)


def test_the_topics_hold_fifteen_groups(scripts):
    _, newsgroups = scripts
    groups = [group for topic in newsgroups.TOPICS.values() for group in topic]
    assert len(newsgroups.TOPICS) == 5
    assert len(set(groups)) == len(groups) == 15


def test_posts(scripts):
    _, newsgroups = scripts
    if not newsgroups.ARCHIVE.is_file():
        pytest.skip("the posts are not here")
    data = newsgroups.posts()
    assert data.X.shape[0] == len(data.y) > 13_000
    np.testing.assert_allclose(np.asarray(data.X.multiply(data.X).sum(axis=1)).ravel(), 1)
    assert set(data.y) == set(data.taxonomy.classes)
