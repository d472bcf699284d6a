"""The problems to measure on: texts of real data sets as sparse tf-idf rows, with their labels.

ICD-10-CM comes from a package. The others are read from the folder that MARGROVE_DATA names (default
`../shared/data` beside the checkout) and left out where it is not there.
"""

from __future__ import annotations

import csv
import json
import lzma
import os
import tarfile
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
    like_test: Any = None
    """1 for training rows of the kind that the test has, where not all are."""


def icd10cm(split_seed: int = 0) -> Problem:
    """Diagnoses into three-character categories, as `margrove demo` learns them.

    The test has synonyms alone; a training row is one if it describes no code of its category.
    """
    import margrove as mg

    data = mg.datasets.load_icd10cm(split_seed)
    X, X_test = _features(data.train_texts, data.test_texts)
    y, y_test = np.array(data.train_labels), np.array(data.test_labels)
    described = {(text, code[:3]) for code, text in data.descriptions.items()}
    pairs = zip(data.train_texts, data.train_labels, strict=True)
    is_synonym = np.array([pair not in described for pair in pairs])
    return Problem("ICD-10-CM", X, y, X_test, y_test, data.taxonomy, is_synonym)


def naics() -> Problem:
    """Short activity descriptions into industry codes; prefixes are the tree."""
    rows = [row for row in _rows("naics_index/2017_NAICS_Index_File.csv.xz") if row[0].strip().isdigit()]
    paths = ["/".join(code[:k] for k in range(2, 7)) for code, *_ in rows]
    return _split("NAICS", [row[1] for row in rows], paths)


class UnseenProblem(NamedTuple):
    """The rows of some classes are for tests alone; all classes are described."""

    name: str
    X: Any
    y: np.ndarray
    X_test: Any
    y_test: np.ndarray
    taxonomy: Any
    titles: dict[str, str]
    texts: dict[str, str]


def naics_unseen(n_unseen: int = 100) -> UnseenProblem:
    """The codes of NAICS, without the rows of some; titles and first paragraphs describe all."""
    import margrove as mg

    rows = [row for row in _rows("naics_index/2017_NAICS_Index_File.csv.xz") if row[0].strip().isdigit()]
    codes, texts = np.array([row[0].strip() for row in rows]), np.array([row[1] for row in rows])
    known = sorted(set(codes.tolist()))
    taxonomy = mg.Taxonomy.from_paths(["/".join(code[:k] for k in range(2, 7)) for code in known])
    about = {row[0].strip(): row for row in _rows("naics_index/2017_NAICS_Descriptions.csv.xz")}
    titles = {code: about[code][1] for code in known}
    described = {
        code: f"{title} {about[code][2].split('Cross-References')[0]}" for code, title in titles.items()
    }
    unseen = np.isin(codes, np.random.default_rng(0).choice(known, n_unseen, replace=False))
    X, X_test = _features(texts[~unseen].tolist(), texts[unseen].tolist(), words=1)
    return UnseenProblem("NAICS", X, codes[~unseen], X_test, codes[unseen], taxonomy, titles, described)


def amazon() -> Problem:
    """Reviews into three levels of product categories."""
    rows = list(_rows("amazon_reviews_3level/test.csv.xz"))
    return _split("Amazon", [f"{row[0]} {row[1]}" for row in rows], ["/".join(row[2:5]) for row in rows])


def clinc() -> Problem:
    """User requests into intents of ten domains; those out of scope are left out."""
    data = json.loads(lzma.decompress((DATA / "clinc150" / "data_full.json.xz").read_bytes()))
    domains = json.loads((DATA / "clinc150" / "domains.json").read_text(encoding="utf-8"))
    path = {intent: f"{domain}/{intent}" for domain, intents in domains.items() for intent in intents}
    return _given("CLINC", *(zip(*data[part], strict=True) for part in ("train", "test")), path)


def newsgroups() -> Problem:
    """Posts to 20 groups, by date, without headers, footers and quotes; dots of the names are the tree."""
    parts: dict[str, list[tuple[str, str]]] = {"train": [], "test": []}
    with tarfile.open(DATA / "newsgroups20" / "20news-bydate.tar.xz") as archive:
        for member in archive:
            folder, _, group = member.name.rpartition("/")[0].rpartition("/")
            if member.isfile() and (file := archive.extractfile(member)) is not None:
                parts[folder.rpartition("-")[2]].append((_stripped(file.read().decode("latin-1")), group))
    path = {group: group.replace(".", "/") for _, group in parts["train"]}
    return _given("20 Newsgroups", *(zip(*parts[part], strict=True) for part in ("train", "test")), path)


def _stripped(message: str) -> str:
    from sklearn.datasets import _twenty_newsgroups as clean

    body = clean.strip_newsgroup_quoting(clean.strip_newsgroup_header(message))
    return clean.strip_newsgroup_footer(body)


def _given(name: str, train: Any, test: Any, path: dict[str, str]) -> Problem:
    """A problem whose test rows are given."""
    (texts, labels), (test_texts, test_labels) = train, test
    X, X_test = _features(list(texts), list(test_texts))
    y, y_test = (np.array([path[label] for label in part]) for part in (labels, test_labels))
    return Problem(name, X, y, X_test, y_test, None)


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


def _features(train: list[str], test: list[str], words: int = 2) -> tuple[Any, Any]:
    """Words and pairs of words, as everywhere in Margrove, or fewer or more of them."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    terms = TfidfVectorizer(
        ngram_range=(1, words), sublinear_tf=True, token_pattern=r"(?u)\b\w+\b", dtype=np.float32
    )
    return terms.fit_transform(train), terms.transform(test)


def with_trees() -> list[Any]:
    """Those of texts in trees that differ in how much they share."""
    return [naics, amazon, clinc, newsgroups] if DATA.is_dir() else []


def available() -> list[Any]:
    """The problems whose data are here."""
    local = [naics, amazon] if DATA.is_dir() else []
    return [*local, icd10cm]
