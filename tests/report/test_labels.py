from __future__ import annotations

import numpy as np
import pytest

from margrove.report import check_labels
from margrove.taxonomy import Taxonomy


@pytest.fixture
def taxonomy():
    return Taxonomy.from_paths(["food/apple", "food/pear", "tech/apple", "tech/chip"])


def test_counts():
    summary = check_labels(["a", "b", "a", "c"])
    assert (summary["rows"], summary["labels"], summary["distinct"], summary["seen_once"]) == (4, 4, 3, 2)
    assert summary["most_common"][0] == {"label": "a", "rows": 2}
    assert "unknown" not in summary


def test_against_a_taxonomy(taxonomy):
    summary = check_labels(["pear", "chips", "food/apple", "food", "chips"], taxonomy)
    assert summary["unknown"] == [{"label": "chips", "rows": 2, "first_row": 1, "similar": ["chip"]}]
    assert summary["inner"] == [{"label": "food", "rows": 1}]
    assert summary["without_examples"] == ["tech/apple", "chip"]


def test_an_ambiguous_label_comes_with_its_places(taxonomy):
    (entry,) = check_labels(["apple"], taxonomy)["unknown"]
    assert sorted(entry["similar"]) == ["food/apple", "tech/apple"]


def test_several_labels_a_row_and_paths(taxonomy):
    assert check_labels([["pear", "chip"], [], {"pear"}], taxonomy)["labels"] == 3
    levels = np.array([["tech", "apple"], ["food", None]], dtype=object)
    summary = check_labels(levels, taxonomy)
    assert summary["unknown"] == []
    assert summary["inner"] == [{"label": "food", "rows": 1}]
    assert "tech/apple" not in summary["without_examples"]
