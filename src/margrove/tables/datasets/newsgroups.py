"""20 Newsgroups: posts, to be given to the group where they were posted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from margrove.tables.datasets.downloads import downloading
from margrove.tables.datasets.texts import TextDataset
from margrove.taxonomy import Taxonomy


def fetch_20newsgroups(
    *,
    remove: Sequence[str] = (),
    data_home: str | Path | None = None,
    download_if_missing: bool = True,
) -> TextDataset:
    """The posts of scikit-learn's `fetch_20newsgroups`, split by date, under the tree of dotted names.

    "comp.sys.mac.hardware" is below "comp.sys.mac", that is below "comp.sys", and "comp" is below the root.
    `remove` may hold "headers", "footers" and "quotes", from which the group can be guessed without reading.
    """
    from sklearn.datasets import fetch_20newsgroups as fetch

    parts: list[tuple[list[str], list[str]]] = []
    groups: set[str] = set()
    for subset in ("train", "test"):
        with downloading("20 Newsgroups"):
            data: Any = fetch(
                subset=subset,
                shuffle=False,
                remove=tuple(remove),
                data_home=data_home,
                download_if_missing=download_if_missing,
            )
        names = list(map(str, data.target_names))
        groups.update(names)
        parts.append((list(data.data), [names[k] for k in data.target]))
    (train_texts, train_labels), (test_texts, test_labels) = parts
    taxonomy = Taxonomy.from_edges(dict.fromkeys(_edges(sorted(groups))), root="root")
    return TextDataset(train_texts, train_labels, test_texts, test_labels, taxonomy)


def _edges(groups: Iterable[str]) -> Iterator[tuple[str, str]]:
    for group in groups:
        words = group.split(".")
        yield from pairwise(["root", *(".".join(words[:end]) for end in range(1, len(words) + 1))])
