"""A model of tables is trained, saved, loaded, and predicts the same."""

from __future__ import annotations

import contextlib
import copy
import random
import sys
import types

import numpy as np
import pytest

from margrove import errors, loading, modelfile
from margrove.tables.features import TableFeatures
from margrove.tables.model import TableModel


class Centroids:
    """The smallest classifier that keeps the protocol."""

    def fit(self, X, y):
        self.classes = sorted(set(y))
        rows = [np.flatnonzero([label == name for label in y]) for name in self.classes]
        self.means = np.vstack([X[these].mean(axis=0) for these in rows]).astype(np.float32)
        return self

    def predict(self, X):
        return [self.classes[best] for best in (X @ self.means.T).argmax(axis=1)]

    def predict_ranking(self, X, top=None):
        order = np.argsort(-(X @ self.means.T), axis=1)[:, :top]
        return [[self.classes[place] for place in row] for row in order]

    def to_state(self):
        return {"classes": self.classes}, {"means": self.means}

    @classmethod
    def from_state(cls, header, arrays):
        restored = cls()
        restored.classes = list(header["classes"])
        restored.means = arrays["means"]
        if restored.means.shape[0] != len(restored.classes):
            raise ValueError("means and classes differ in number")
        return restored


@pytest.fixture(autouse=True)
def known_kind(monkeypatch):
    room = types.ModuleType("a_room_of_its_own")
    room.Centroids = Centroids
    monkeypatch.setitem(sys.modules, room.__name__, room)
    monkeypatch.setitem(loading._HOMES, "Centroids", room.__name__)


TABLE = {
    "title": ["heart attack", "attack of the heart", "broken arm", "broken leg"],
    "age": [70.0, None, 20.0, 30.0],
    "code": ["011", "011", "S42", "S42"],
}


def trained() -> TableModel:
    return TableModel(TableFeatures(text="title", numeric="age"), Centroids(), labels="code").fit(TABLE)


def test_the_way_through_a_file(tmp_path):
    model = trained()
    model.save(tmp_path / "model.mg")
    loaded = loading.load(tmp_path / "model.mg")
    assert isinstance(loaded, TableModel)
    assert loaded.predict(TABLE) == model.predict(TABLE) == TABLE["code"]
    assert loaded.predict({"title": ["arm"], "age": [25.0]}) == ["S42"]
    assert loaded.predict_ranking(TABLE, top=1)[0] == ["011"]
    assert loaded.labels_of(TABLE) == TABLE["code"]
    loaded.save(tmp_path / "again.mg")
    assert (tmp_path / "again.mg").read_bytes() == (tmp_path / "model.mg").read_bytes()


def test_the_header_tells_what_it_is(tmp_path):
    trained().save(tmp_path / "model.mg")
    header = modelfile.read_header(tmp_path / "model.mg")
    assert header["kind"] == "TableModel"
    assert header["classifier"]["kind"] == "Centroids"
    assert header["labels"] == ["code"]
    assert {"margrove", "numpy", "scikit-learn", "python"} <= set(header["versions"])


def test_the_label_column_is_no_feature():
    model = TableModel(TableFeatures(), Centroids(), labels="code").fit(TABLE)
    assert model.features.columns() == ["title", "age"]


def test_labels_may_be_given():
    model = TableModel(TableFeatures(text="title"), Centroids()).fit(TABLE, TABLE["code"])
    assert model.predict(TABLE) == TABLE["code"]
    with pytest.raises(errors.DataError, match="no label columns"):
        model.labels_of(TABLE)


def rewritten(path, change):
    header, arrays = modelfile.read(path)
    arrays = dict(arrays)
    change(header, arrays)
    modelfile.write(path, header, arrays)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda h, a: h.update(kind="os.system"), "of kind 'os.system'"),
        (lambda h, a: h.update(kind=["TableModel"]), "of kind"),
        (lambda h, a: h.pop("kind"), "of kind None"),
        (lambda h, a: h.pop("features"), "not a valid TableModel: KeyError"),
        (lambda h, a: h.update(features=[]), "not a valid TableModel: TypeError"),
        (lambda h, a: h.update(classifier=7), "not a valid TableModel: AttributeError"),
        (lambda h, a: h["classifier"].update(kind="?"), "of kind"),
        (lambda h, a: h["classifier"].update(classes=[]), "not a valid Centroids: ValueError: means"),
        (lambda h, a: h["features"]["blocks"][0].update(kind="pickle"), "unknown kind of features 'pickle'"),
        (lambda h, a: h["features"]["blocks"][0]["settings"].update(analyzer="x"), "not a valid TableModel"),
        (
            lambda h, a: h["features"]["blocks"][0]["settings"].update(ngram_range=[1]),
            "not a valid TableModel",
        ),
        (lambda h, a: h["features"]["parameters"].update(more=1), "not a valid TableModel"),
        (lambda h, a: a.pop("classifier.means"), "not a valid Centroids: KeyError"),
        (lambda h, a: a.update({"features.0.idf": np.zeros(1)}), "idf"),
    ],
)
def test_a_whole_file_with_wrong_content(tmp_path, change, message):
    path = tmp_path / "model.mg"
    trained().save(path)
    rewritten(path, change)
    with pytest.raises(errors.InvalidModelFileError, match=message) as caught:
        loading.load(path)
    assert str(caught.value).startswith(str(path))


def leaves(value, path=()):
    """Every place within a JSON value."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from leaves(inner, (*path, key))


def test_a_thousand_hostile_files_load_or_are_refused(tmp_path):
    """Whatever the header and the arrays say, there is a model or one typed error."""
    header, arrays = modelfile.decode(b"".join(modelfile.encode(*loading.describe(trained()))))
    rng = random.Random(0)
    odd = [None, True, -1, 0, 2**70, 1e308, "", "x", [], [None], {}, {"kind": "TableModel"}, ["a", "a"]]
    refused = 0
    for _ in range(1000):
        changed, changed_arrays = copy.deepcopy(header), dict(arrays)
        if rng.random() < 0.6:
            *way, last = rng.choice([path for path in leaves(header) if path])
            place = changed
            for key in way:
                place = place[key]
            place[last] = rng.choice(odd)
        else:
            name = rng.choice(list(arrays))
            array = arrays[name]
            changed_arrays[name] = rng.choice(
                [
                    array[:0],
                    array[:-1],
                    array[::-1],
                    array.astype(np.float64),
                    array.reshape(-1, 1),
                    array * 0,
                    array - 1,
                ]
                if array.dtype != bool
                else [array[:0], array.astype(np.float64)]
            )
        try:
            model = loading.restore(changed, changed_arrays)
        except errors.InvalidModelFileError:
            refused += 1
        else:
            assert isinstance(model, TableModel)
            with contextlib.suppress(ValueError):
                model.predict(TABLE)
    assert refused > 300


def test_a_damaged_model(tmp_path):
    path = tmp_path / "model.mg"
    trained().save(path)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(errors.DamagedModelFileError):
        loading.load(path)
