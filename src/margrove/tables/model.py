"""A classifier with the features of a table before it: what the command line trains, saves and loads."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Self

from numpy.typing import NDArray

from margrove import loading
from margrove.errors import DataError
from margrove.modelfile import pack_part, unpack_part
from margrove.tables.features import TableFeatures
from margrove.tables.labels import table_labels
from margrove.tables.table import Table, as_table


class TableModel:
    """Features of tables and the classifier that learns from them, as one model.

    `labels` names the columns that hold the labels (several are the levels of a path), `separator` what
    stands between several labels in one cell. Both are kept, so the model can be evaluated on a table like
    the one that it learned from.
    """

    def __init__(
        self,
        features: TableFeatures,
        classifier: Any,
        labels: str | Sequence[str] = (),
        separator: str | None = None,
    ) -> None:
        self.features = features
        self.classifier = classifier
        self.labels = [labels] if isinstance(labels, str) else list(labels)
        self.separator = separator

    def fit(self, table: Any, y: Any = None) -> Self:
        """Learn from a table or a frame; the labels are those of its label columns unless `y` gives them."""
        table = as_table(table)
        if y is None:
            y = self.labels_of(table)
        self.classifier.fit(self.features.fit_transform(table.without(self.labels)), y)
        return self

    def predict(self, table: Any) -> Any:
        """Return the predicted label, or labels, of each row."""
        return self.classifier.predict(self.features.transform(table))

    def predict_ranking(self, table: Any, top: int | None = None) -> Any:
        """Return the labels of each row from the best to the worst, as the classifier's method does."""
        return self.classifier.predict_ranking(self.features.transform(table), top=top)

    def labels_of(self, table: Any) -> Any:
        """Return the true labels of a table's rows, in the form that the classifier takes."""
        if not self.labels:
            raise DataError("the model has no label columns; name them, or give the labels as y")
        rows: Table = as_table(table)
        return table_labels(rows, self.labels, self.separator)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file, which `margrove.load` reads."""
        loading.save(self, path)

    def to_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the model as plain values and arrays."""
        features, feature_arrays = self.features.to_state()
        classifier, classifier_arrays = loading.describe(self.classifier)
        header = {
            "labels": self.labels,
            "separator": self.separator,
            "features": features,
            "classifier": classifier,
        }
        return header, pack_part("features", feature_arrays) | pack_part("classifier", classifier_arrays)

    @classmethod
    def from_state(cls, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Return the model that `to_state` described."""
        features = TableFeatures.from_state(header["features"], unpack_part("features", arrays))
        classifier = loading.restore(header["classifier"], unpack_part("classifier", arrays))
        return cls(features, classifier, header["labels"], header["separator"])
