"""The problems to measure on: texts of real data sets as sparse tf-idf rows, with their labels.

ICD-10-CM comes from a package. The others are read from the folder that MARGROVE_DATA names (default
`../shared/data` beside the checkout) and left out where it is not there.
"""

from __future__ import annotations

import csv
import json
import lzma
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

DATA = Path(os.environ.get("MARGROVE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))


class Problem(NamedTuple):
    """Training and test rows; a label is a path, so it brings its taxonomy."""

    name: str
    X: Any
    y: np.ndarray
    X_test: Any
    y_test: np.ndarray
    taxonomy: Any


def icd10cm() -> Problem:
    """Diagnoses into three-character categories, as `margrove demo` learns them."""
    import margrove as mg

    data = mg.datasets.load_icd10cm()
    X, X_test = _features(data.train_texts, data.test_texts)
    return Problem(
        "ICD-10-CM", X, np.array(data.train_labels), X_test, np.array(data.test_labels), data.taxonomy
    )


def naics() -> Problem:
    """Short activity descriptions into industry codes; prefixes are the tree."""
    rows = [row for row in _rows("naics_index/2017_NAICS_Index_File.csv.xz") if row[0].strip().isdigit()]
    paths = ["/".join(code[:k] for k in range(2, 7)) for code, *_ in rows]
    return _split("NAICS", [row[1] for row in rows], paths)


def amazon() -> Problem:
    """Reviews into three levels of product categories."""
    rows = list(_rows("amazon_reviews_3level/test.csv.xz"))
    return _split("Amazon", [f"{row[0]} {row[1]}" for row in rows], ["/".join(row[2:5]) for row in rows])


def clinc() -> Problem:
    """Short requests into 150 intents of 10 domains, with the published split."""
    import margrove as mg

    folder = DATA / "clinc150"
    with lzma.open(folder / "data_full.json.xz", "rt", encoding="utf-8") as file:
        parts = json.load(file)
    domains = json.loads((folder / "domains.json").read_text(encoding="utf-8"))
    edges = [("requests", domain) for domain in domains]
    edges += [(domain, intent) for domain, intents in domains.items() for intent in intents]
    (train, y), (test, y_test) = (zip(*parts[part], strict=True) for part in ("train", "test"))
    X, X_test = _features(list(train), list(test))
    return Problem("CLINC", X, np.array(y), X_test, np.array(y_test), mg.Taxonomy.from_edges(edges))


def _rows(name: str) -> Iterator[list[str]]:
    with lzma.open(DATA / name, "rt", encoding="utf-8", errors="replace", newline="") as file:
        reader = csv.reader(file)
        next(reader)
        yield from (row for row in reader if len(row) > 1)


def _split(name: str, texts: list[str], labels: list[str]) -> Problem:
    order = np.random.default_rng(0).permutation(len(texts))
    held_out, train = np.split(order, [int(0.3 * len(texts))])
    X, X_test = _features([texts[i] for i in train], [texts[i] for i in held_out])
    y = np.array(labels)
    return Problem(name, X, y[train], X_test, y[held_out], None)


def _features(train: list[str], test: list[str]) -> tuple[Any, Any]:
    """Words and pairs of words, as everywhere in Margrove."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    words = TfidfVectorizer(
        ngram_range=(1, 2), sublinear_tf=True, token_pattern=r"(?u)\b\w+\b", dtype=np.float32
    )
    return words.fit_transform(train), words.transform(test)


def available() -> list[Any]:
    """The problems whose data are here."""
    local = [naics, amazon] if DATA.is_dir() else []
    return [*local, icd10cm]
