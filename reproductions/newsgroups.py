"""20 Newsgroups as Cai uses it: 15 groups under 5 topics, words counted, rows of unit length.

The posts come from the folder that MARGROVE_DATA names (default `../shared/data` beside the checkout), in
`newsgroups20/20news-bydate.tar.xz`; without it scikit-learn downloads them.
"""

from __future__ import annotations

import os
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

DATA = Path(os.environ.get("MARGROVE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
ARCHIVE = DATA / "newsgroups20" / "20news-bydate.tar.xz"

TOPICS = {
    "computers": [
        "comp.graphics",
        "comp.os.ms-windows.misc",
        "comp.sys.ibm.pc.hardware",
        "comp.sys.mac.hardware",
        "comp.windows.x",
    ],
    "motors": ["rec.autos", "rec.motorcycles"],
    "politics": ["talk.politics.guns", "talk.politics.mideast", "talk.politics.misc"],
    "religion": ["alt.atheism", "soc.religion.christian", "talk.religion.misc"],
    "sports": ["rec.sport.baseball", "rec.sport.hockey"],
}


class Posts(NamedTuple):
    """Rows of words, the group of each, and the tree of groups."""

    X: Any
    y: np.ndarray
    taxonomy: Any


def posts(whole: bool = False) -> Posts:
    """All posts of the 15 groups, whole, or without headers, quotes and footers; no empty ones."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.preprocessing import normalize

    import margrove as mg

    known = {group for groups in TOPICS.values() for group in groups}
    rows = sorted({(group, text) for group, text in _texts(whole) if group in known and text.strip()})
    counts = CountVectorizer(stop_words="english").fit_transform(text for _, text in rows)
    counts = counts[:, np.asarray(counts.sum(axis=0)).ravel() > 1]
    kept = np.flatnonzero(np.diff(counts.indptr))
    X = normalize(counts[kept].astype(np.float64))
    edges = [("newsgroups", topic) for topic in TOPICS]
    edges += [(topic, group) for topic, groups in TOPICS.items() for group in groups]
    return Posts(X, np.array([rows[k][0] for k in kept]), mg.Taxonomy.from_edges(edges))


def _texts(whole: bool) -> Iterator[tuple[str, str]]:
    """Group and text of every post."""
    if not ARCHIVE.is_file():
        import margrove as mg

        data = mg.datasets.fetch_20newsgroups(remove=() if whole else ("headers", "footers", "quotes"))
        yield from zip(data.train_labels, data.train_texts, strict=True)
        yield from zip(data.test_labels, data.test_texts, strict=True)
        return
    from sklearn.datasets import _twenty_newsgroups as parts

    strips = (
        parts.strip_newsgroup_header,
        parts.strip_newsgroup_footer,
        parts.strip_newsgroup_quoting,
    )
    with tarfile.open(ARCHIVE) as archive:
        for member in archive:
            if member.isfile():
                file = archive.extractfile(member)
                assert file is not None
                text = file.read().decode("latin1")
                for strip in () if whole else strips:
                    text = strip(text)
                yield Path(member.name).parts[-2], text
