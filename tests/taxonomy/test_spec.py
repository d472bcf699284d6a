"""The plain form of a taxonomy: there and back, and nothing broken gets in."""

import copy
import json
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from margrove.errors import LabelError, TaxonomyError
from margrove.taxonomy import Taxonomy
from margrove.testing import labels, taxonomies


@given(taxonomies(names=labels()))
def test_there_and_back(tax):
    inner = [node for node in tax.nodes if tax.children(node)]
    for original in (tax, tax.with_miscellaneous(inner)):
        back = Taxonomy.from_spec(json.loads(json.dumps(original.to_spec())))
        assert back == original
        assert back.nodes == original.nodes
        assert list(map(type, back.nodes)) == list(map(type, original.nodes))
        assert back.miscellaneous == original.miscellaneous
        assert back.source == original.source


def test_paths_that_are_names_survive():
    tax = Taxonomy.from_paths(["a/x", "b/x", ("c/d", "x"), (1.5, True)])
    back = Taxonomy.from_spec(json.loads(json.dumps(tax.to_spec())))
    assert back.nodes == tax.nodes
    assert [back.label(v) for v in back.nodes] == [tax.label(v) for v in tax.nodes]


@pytest.mark.parametrize("label", [date(2020, 1, 1), frozenset({"a"}), 1j, b"a", float("inf"), ("a", b"a")])
def test_labels_without_a_json_type(label):
    with pytest.raises(LabelError, match="cannot be stored"):
        Taxonomy.from_edges([("r", label), ("r", "b")]).to_spec()


DIAMOND = (
    Taxonomy.from_edges([("r", "a"), ("r", "b"), ("a", "x"), ("b", "x")]).with_miscellaneous(["a"]).to_spec()
)


@pytest.mark.parametrize(
    "damage",
    [
        {"labels": []},
        {"labels": "rabxm"},
        {"labels": ["r", "a", "b", "x", "x"]},
        {"labels": ["r", "a", "b", "", "m"]},
        {"labels": ["r", "a", "b", ["x"], "m"]},
        {"labels": ["r", "a", "b", {"tuple": [[]]}, "m"]},
        {"parents": [0, 0, 1]},
        {"parents": [0, 0, 1, 4]},
        {"parents": [0, 0, 1, -1]},
        {"parents": [0, 0, 1, True]},
        {"parents": [1, 0, 1, 1]},
        {"parents": {}},
        {"several": {"3": []}},
        {"several": {"3": [2, 1]}},
        {"several": {"3": "12"}},
        {"several": {"9": [1, 2]}},
        {"several": {"0": [1, 2]}},
        {"several": {"x": [1, 2]}},
        {"names": {"7": "q"}},
        {"names": {"1": "b"}},
        {"names": []},
        {"miscellaneous": {"1": 3}},
        {"miscellaneous": {"1": 99}},
        {"miscellaneous": {"2": 4}},
        {"miscellaneous": {"1": "4"}},
    ],
)
def test_damaged_specifications(damage):
    with pytest.raises(TaxonomyError, match="stored"):
        Taxonomy.from_spec({**DIAMOND, **damage})


def test_missing_fields_and_no_mapping_at_all():
    for key in ("labels", "parents", "several", "names", "miscellaneous"):
        damaged = copy.deepcopy(DIAMOND)
        del damaged[key]
        with pytest.raises(TaxonomyError, match=key):
            Taxonomy.from_spec(damaged)
    with pytest.raises(TaxonomyError, match="no mapping"):
        Taxonomy.from_spec([])
    nested = "x"
    for _ in range(5000):
        nested = {"tuple": [nested]}
    with pytest.raises(TaxonomyError, match="stored"):
        Taxonomy.from_spec({**DIAMOND, "labels": ["r", "a", "b", nested, "m"]})


@given(taxonomies(names=labels()), st.data())
def test_random_damage_gives_a_taxonomy_or_one_typed_error(tax, data):
    spec = tax.to_spec()
    spec["parents"][data.draw(st.integers(0, len(spec["parents"]) - 1))] = data.draw(
        st.none() | st.integers() | st.text(max_size=2)
    )
    try:
        back = Taxonomy.from_spec(spec)
    except TaxonomyError:
        return
    assert all(len(back.parents(v)) > 0 for v in back.nodes[1:])
