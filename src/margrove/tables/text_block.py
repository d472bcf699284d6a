"""The features of a text column: which words and word pairs it holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import normalize

from margrove.errors import DataError, InvalidModelFileError
from margrove.modelfile import pack_strings, unpack_strings
from margrove.tables.table import Table


@dataclass(frozen=True)
class TextSettings:
    """How text becomes terms: runs of these lengths of words, those of one letter or digit included."""

    ngram_range: tuple[int, int] = (1, 2)
    min_df: int | float = 1
    max_features: int | None = None
    lowercase: bool = True
    strip_accents: str | None = None

    def counter(self, vocabulary: Mapping[str, int] | None = None) -> CountVectorizer:
        """Return what counts terms: those of a vocabulary, or those that it will find."""
        return CountVectorizer(
            token_pattern=r"(?u)\b\w+\b", vocabulary=vocabulary, **(asdict(self) | {"dtype": np.int32})
        )


class TextBlock:
    """One column as tf-idf: (1 + ln tf) idf with idf = 1 + ln((1 + n) / (1 + df)), rows of unit length."""

    def __init__(self, column: str, settings: TextSettings) -> None:
        self.column = column
        self.settings = settings

    def fit_transform(self, table: Table) -> csr_array[np.float32]:
        """Learn the terms of the column and their idf."""
        texts = self._texts(table)
        counter = self.settings.counter()
        try:
            counts = counter.fit_transform(texts)
        except ValueError as error:
            raise DataError(f"column {self.column!r} of {table.source} gives no terms: {error}") from error
        self._learned(list(counter.get_feature_names_out()), self._idf(counts))
        return self._weighted(counts)

    def transform(self, table: Table) -> csr_array[np.float32]:
        """Weigh the known terms of the column; the others are ignored."""
        return self._weighted(self._counter.transform(self._texts(table)))

    def names(self) -> list[str]:
        """Name the features."""
        return [f"{self.column}: {term}" for term in self.terms]

    def summary(self) -> str:
        """Describe the block in a line."""
        return f"{self.column}: text, {len(self.terms):,} terms"

    def to_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the block as plain values and arrays."""
        header = {"kind": "text", "column": self.column, "settings": asdict(self.settings)}
        return header, {**pack_strings("terms", self.terms), "idf": self.idf}

    @classmethod
    def from_state(cls, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Return the block that `to_state` described."""
        settings = dict(header["settings"])
        low, high = settings.pop("ngram_range")
        block = cls(header["column"], TextSettings(ngram_range=(int(low), int(high)), **settings))
        terms, idf = unpack_strings("terms", arrays), arrays["idf"]
        if idf.dtype != np.float32 or idf.shape != (len(terms),) or not (np.isfinite(idf) & (idf > 0)).all():
            raise InvalidModelFileError(
                f"the idf of column {block.column!r} does not fit its {len(terms)} terms"
            )
        if len(set(terms)) < len(terms):
            raise InvalidModelFileError(f"column {block.column!r} has a term twice")
        block._learned(terms, idf)
        block._counter.transform([""])  # has scikit-learn check the settings now rather than in prediction
        return block

    def _learned(self, terms: list[str], idf: NDArray[np.float32]) -> None:
        self.terms = terms
        self.idf = idf
        self._counter = self.settings.counter({term: position for position, term in enumerate(terms)})

    def _texts(self, table: Table) -> list[str]:
        return [text or "" for text in table.texts(self.column)]

    def _idf(self, counts: Any) -> NDArray[np.float32]:
        rows, terms = counts.shape
        frequencies = np.bincount(counts.indices, minlength=terms)
        idf: NDArray[np.float32] = (1 + np.log((1 + rows) / (1 + frequencies))).astype(np.float32)
        return idf

    def _weighted(self, counts: Any) -> csr_array[np.float32]:
        weighted = csr_array(counts, dtype=np.float32)
        weighted.sort_indices()
        weighted.data = (1 + np.log(weighted.data)) * self.idf[weighted.indices]
        return normalize(weighted, copy=False) if weighted.shape[0] else weighted
