"""Loaders over scikit-learn's: taxonomies, labels and restrictions, and what is said without internet."""

from __future__ import annotations

from urllib.error import URLError

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.datasets
from sklearn.utils import Bunch

import margrove as mg
from margrove.errors import DataError, DownloadError
from margrove.tables.datasets import fetch_20newsgroups, fetch_rcv1, rcv1_topics

GROUPS = [
    "alt.atheism", "comp.graphics", "comp.os.ms-windows.misc", "comp.sys.ibm.pc.hardware",
    "comp.sys.mac.hardware", "comp.windows.x", "misc.forsale", "rec.autos", "rec.motorcycles",
    "rec.sport.baseball", "rec.sport.hockey", "sci.crypt", "sci.electronics", "sci.med", "sci.space",
    "soc.religion.christian", "talk.politics.guns", "talk.politics.mideast", "talk.politics.misc",
    "talk.religion.misc",
]  # fmt: skip

STORIES = [
    "CCAT C15 C151 C1511", "CCAT C11", "CCAT C15", "CCAT", "CCAT C11 C12", "CCAT C15 ECAT E11",
    "ECAT E21 E211", "GCAT GPOL", "MCAT M14 M141 M143", "GCAT G15 G159", "",
]  # fmt: skip


@pytest.fixture
def rcv1(monkeypatch):
    """A few made-up stories in the form of scikit-learn's answer; what was asked is noted."""
    topics = np.array(sorted(rcv1_topics().nodes[1:]), dtype=object)
    target = np.array([[topic in story.split() for topic in topics] for story in STORIES], np.uint8)
    asked = {}

    def fetch(**options):
        asked.update(options)
        return Bunch(
            data=sp.csr_matrix(np.diag(np.arange(1.0, 12))),
            target=sp.csr_matrix(target),
            sample_id=np.arange(2286, 2297, dtype=np.uint32),
            target_names=topics,
        )

    monkeypatch.setattr(sklearn.datasets, "fetch_rcv1", fetch)
    return asked


def test_topics_of_rcv1():
    tax = rcv1_topics()
    assert tax.n_nodes == 104
    assert set(tax.children("root")) == {"CCAT", "ECAT", "GCAT", "MCAT"}
    assert [tax.subtree(top).n_nodes for top in ("CCAT", "ECAT", "GCAT", "MCAT")] == [34, 26, 33, 10]
    assert [len(tax.leaves_under(top)) for top in ("CCAT", "ECAT", "MCAT")] == [26, 18, 7]  # Zhou, table 1
    assert tax.path("C1511") == ("root", "CCAT", "C15", "C151", "C1511")
    assert tax.path("G159") == ("root", "GCAT", "G15", "G159")
    assert len(tax.children("GCAT")) == 23
    assert tax.is_tree


def test_stories_with_all_their_topics(rcv1):
    data = fetch_rcv1(split="train", data_home="here", download_if_missing=False)
    assert rcv1 == {"subset": "train", "data_home": "here", "download_if_missing": False}
    assert [set(topics) for topics in data.y] == [set(story.split()) for story in STORIES]
    assert data.taxonomy == rcv1_topics()
    assert data.X.shape == (11, 11)
    assert isinstance(data.X, sp.csr_array)
    assert data.sample_id[0] == 2286


def test_most_specific_topics(rcv1):
    assert [set(topics) for topics in fetch_rcv1(most_specific=True).y] == [
        {"C1511"}, {"C11"}, {"C15"}, {"CCAT"}, {"C11", "C12"}, {"C15", "E11"}, {"E211"}, {"GPOL"},
        {"M141", "M143"}, {"G159"}, set(),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("subset", "labels", "ids"),
    [
        ("CCAT", ["C1511", "C11", "C15"], [2286, 2287, 2288]),
        ("ECAT", ["E211"], [2292]),
        ("GCAT", ["GPOL", "G159"], [2293, 2295]),
        ("MCAT", [], []),
    ],
)
def test_single_labels_below_a_top_category(rcv1, subset, labels, ids):
    data = fetch_rcv1(subset)
    assert data.y == labels
    assert data.sample_id.tolist() == ids
    assert data.X.sum(axis=1).tolist() == [number - 2285 for number in ids]
    assert data.taxonomy == rcv1_topics().subtree(subset)
    assert all(label in data.taxonomy for label in labels)


def test_stories_can_be_learned(rcv1):
    data = fetch_rcv1("CCAT")
    assert mg.HierarchicalSVM(data.taxonomy).fit(data.X, data.y).predict(data.X).tolist() == data.y


def test_subsets_that_there_are_not(rcv1):
    with pytest.raises(DataError, match="subset is 'C15'; expected one of CCAT, ECAT, GCAT, MCAT"):
        fetch_rcv1("C15")


def test_newsgroups_stand_in_the_tree_of_their_names(monkeypatch):
    asked = []

    def fetch(**options):
        asked.append(options)
        rows = range(20) if options["subset"] == "train" else [3, 3]
        return Bunch(
            data=[f"{options['subset']} {k}" for k in rows], target=np.array(rows), target_names=list(GROUPS)
        )

    monkeypatch.setattr(sklearn.datasets, "fetch_20newsgroups", fetch)
    data = fetch_20newsgroups(remove=["headers"], data_home="here")
    assert [options["subset"] for options in asked] == ["train", "test"]
    assert all(options["remove"] == ("headers",) and options["data_home"] == "here" for options in asked)
    assert data.train_labels == GROUPS
    assert (data.test_texts, data.test_labels) == (["test 3"] * 2, ["comp.sys.ibm.pc.hardware"] * 2)
    tax = data.taxonomy
    assert sorted(tax.classes) == sorted(GROUPS)
    assert (tax.n_nodes, tax.is_tree) == (39, True)
    assert set(tax.children("root")) == {"alt", "comp", "misc", "rec", "sci", "soc", "talk"}
    assert tax.path("comp.sys.mac.hardware")[1:] == (
        "comp", "comp.sys", "comp.sys.mac", "comp.sys.mac.hardware"
    )  # fmt: skip
    assert tax.lca("rec.sport.hockey", "rec.sport.baseball") == "rec.sport"


@pytest.mark.parametrize(("fetch", "name"), [(fetch_rcv1, "RCV1"), (fetch_20newsgroups, "20 Newsgroups")])
def test_without_internet_the_message_says_what_to_do(monkeypatch, tmp_path, fetch, name):
    with pytest.raises(DownloadError, match=f"{name} is not on this machine.*data_home="):
        fetch(data_home=tmp_path, download_if_missing=False)

    def refuse(**options):
        raise URLError("no route to host")

    for original in ("fetch_rcv1", "fetch_20newsgroups"):
        monkeypatch.setattr(sklearn.datasets, original, refuse)
    with pytest.raises(DownloadError, match=r"no route to host.*where there is an internet connection"):
        fetch()
