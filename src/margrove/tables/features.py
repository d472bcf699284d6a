"""Columns of a table to one sparse matrix, learned in training and kept in the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from margrove.errors import DataError, InvalidModelFileError
from margrove.modelfile import pack_part, unpack_part
from margrove.tables.kinds import infer_kind
from margrove.tables.table import Table, as_table
from margrove.tables.text_block import TextBlock, TextSettings
from margrove.tables.value_blocks import CategoricalBlock, NumericBlock

Block = TextBlock | NumericBlock | CategoricalBlock

_BLOCKS: dict[str, type[Block]] = {
    "text": TextBlock,
    "numeric": NumericBlock,
    "categorical": CategoricalBlock,
}


class TableFeatures(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turn text, numeric and categorical columns into a sorted float32 CSR matrix.

    Every text column becomes tf-idf over words and word pairs with rows of unit length, numbers are
    standardised, categories one-hot; each of these blocks weighs the same (see `text_block`, `value_blocks`).
    Where no column is named, all are used, each as the kind that its cells suggest (see `kinds`);
    `summary()` tells which.
    """

    def __init__(
        self,
        text: str | Sequence[str] | None = None,
        numeric: str | Sequence[str] | None = None,
        categorical: str | Sequence[str] | None = None,
        *,
        ngram_range: tuple[int, int] = (1, 2),
        min_df: int | float = 1,
        max_features: int | None = None,
        lowercase: bool = True,
        strip_accents: str | None = None,
    ) -> None:
        self.text = text
        self.numeric = numeric
        self.categorical = categorical
        self.ngram_range = ngram_range
        self.min_df = min_df
        self.max_features = max_features
        self.lowercase = lowercase
        self.strip_accents = strip_accents

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the features of a table or a frame."""
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> sparse.csr_array[np.float32]:
        """Learn the features of a table or a frame, and return them."""
        table = as_table(X)
        if not len(table):
            raise DataError(f"{table.source} has no rows to learn from")
        kinds = self._kinds(table)
        low, high = self.ngram_range
        settings = TextSettings(
            (low, high), self.min_df, self.max_features, self.lowercase, self.strip_accents
        )
        blocks: list[Block] = [TextBlock(name, settings) for name in kinds["text"]]
        if kinds["numeric"]:
            blocks.append(NumericBlock(kinds["numeric"]))
        if kinds["categorical"]:
            blocks.append(CategoricalBlock(kinds["categorical"]))
        if not blocks:
            raise DataError(
                f"{table.source} has no column to learn from; its columns are {table.column_names}"
            )
        features = _joined([block.fit_transform(table) for block in blocks])
        self.blocks_ = blocks
        self.left_out_ = kinds["left out"]
        return features

    def transform(self, X: Any) -> sparse.csr_array[np.float32]:
        """Return the features of a table or a frame, which has to have the columns used in training."""
        check_is_fitted(self, "blocks_")
        table = as_table(X)
        return _joined([block.transform(table) for block in self.blocks_])

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Name the columns of the matrix: `title: heart attack`, `age`, `age is missing`, `sex = f`."""
        check_is_fitted(self, "blocks_")
        return np.array([name for block in self.blocks_ for name in block.names()], dtype=object)

    def summary(self) -> list[str]:
        """Describe in a few lines what was made of which column."""
        check_is_fitted(self, "blocks_")
        lines = [block.summary() for block in self.blocks_]
        return lines + [f"{name}: left out" for name in self.left_out_]

    def columns(self, kind: str | None = None) -> list[str]:
        """Return the columns in use, or those of one kind."""
        check_is_fitted(self, "blocks_")
        wanted = tuple(_BLOCKS.values()) if kind is None else _BLOCKS[kind]
        names: list[str] = []
        for block in self.blocks_:
            if isinstance(block, wanted):
                names += [block.column] if isinstance(block, TextBlock) else block.columns
        return names

    def to_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the fitted features as plain values and arrays."""
        check_is_fitted(self, "blocks_")
        parameters = {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in self.get_params().items()
        }
        headers: list[dict[str, Any]] = []
        arrays: dict[str, NDArray[Any]] = {}
        for place, block in enumerate(self.blocks_):
            header, block_arrays = block.to_state()
            headers.append(header)
            arrays |= pack_part(str(place), block_arrays)
        return {"parameters": parameters, "blocks": headers, "left_out": self.left_out_}, arrays

    @classmethod
    def from_state(cls, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Return the features that `to_state` described; they transform to the same bits."""
        parameters = dict(header["parameters"])
        features = cls(**parameters | {"ngram_range": tuple(parameters["ngram_range"])})
        features.blocks_ = []
        for place, block in enumerate(header["blocks"]):
            if block["kind"] not in _BLOCKS:
                raise InvalidModelFileError(f"unknown kind of features {block['kind']!r}")
            own = unpack_part(str(place), arrays)
            features.blocks_.append(_BLOCKS[block["kind"]].from_state(block, own))
        names = features.columns()
        if not names or not all(isinstance(name, str) for name in names):
            raise InvalidModelFileError(f"the features are made of the columns {names}")
        features.left_out_ = list(header["left_out"])
        return features

    def _kinds(self, table: Table) -> dict[str, list[str]]:
        """Return the columns of each kind, as given or, if none is, as found."""
        given = {"text": self.text, "numeric": self.numeric, "categorical": self.categorical}
        kinds: dict[str, list[str]] = {kind: _as_list(names) for kind, names in given.items()}
        named = [name for names in kinds.values() for name in names]
        twice = sorted({name for name in named if named.count(name) > 1})
        if twice:
            raise DataError(
                f"column {twice[0]!r} is named more than once among text, numeric and categorical"
            )
        if named:
            return kinds | {"left out": [name for name in table.column_names if name not in named]}
        kinds["left out"] = []
        for name in table.column_names:
            kinds[infer_kind(table, name)].append(name)
        return kinds


def _as_list(names: str | Sequence[str] | None) -> list[str]:
    if names is None:
        return []
    return [names] if isinstance(names, str) else list(names)


def _joined(blocks: list[sparse.csr_array[np.float32]]) -> sparse.csr_array[np.float32]:
    """Return blocks side by side; a sorted row stays sorted."""
    return blocks[0] if len(blocks) == 1 else sparse.hstack(blocks, format="csr", dtype=np.float32)
