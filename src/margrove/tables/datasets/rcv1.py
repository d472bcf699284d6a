"""RCV1-v2: newswire stories under the hierarchy of topics (Lewis, Yang, Rose and Li, 2004)."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from margrove.errors import DataError
from margrove.tables.datasets.downloads import downloading
from margrove.taxonomy import Taxonomy

_TOPICS = {
    "CCAT": (
        "C11 C12 C13 C14 C15 C151 C1511 C152 C16 C17 C171 C172 C173 C174 C18 C181 C182 C183 C21 "
        "C22 C23 C24 C31 C311 C312 C313 C32 C33 C331 C34 C41 C411 C42"
    ),
    "ECAT": (
        "E11 E12 E121 E13 E131 E132 E14 E141 E142 E143 E21 E211 E212 E31 E311 E312 E313 E41 E411 "
        "E51 E511 E512 E513 E61 E71"
    ),
    "GCAT": (
        "G15 G151 G152 G153 G154 G155 G156 G157 G158 G159 GCRIM GDEF GDIP GDIS GENT GENV GFAS "
        "GHEA GJOB GMIL GOBIT GODD GPOL GPRO GREL GSCI GSPO GTOUR GVIO GVOTE GWEA GWELF"
    ),
    "MCAT": "M11 M12 M13 M131 M132 M14 M141 M142 M143",
}
Top = Literal["CCAT", "ECAT", "GCAT", "MCAT"]


@dataclass(frozen=True)
class RCV1:
    """Stories as rows of words, with their topics."""

    X: sp.csr_array = field(repr=False)
    """log TF-IDF of 47,236 words, in rows of unit length."""
    y: list[list[str]] | list[str] = field(repr=False)
    """The topics of each story and all above them or, of a subset, the one topic."""
    taxonomy: Taxonomy
    sample_id: NDArray[np.int64] = field(repr=False)
    """Reuters's number of each story."""


def fetch_rcv1(
    subset: Top | None = None,
    *,
    split: Literal["all", "train", "test"] = "all",
    most_specific: bool = False,
    data_home: str | Path | None = None,
    download_if_missing: bool = True,
) -> RCV1:
    """The 804,414 stories of scikit-learn's `fetch_rcv1`, or those of one `split`, and the tree of topics.

    A story names all topics above its own. `most_specific=True` leaves them out, which loses nothing, and is
    what the estimators expect: to them a label at an inner node is "this, but none of the classes below".

    `subset` is the restriction of Zhou (section 6) to single labels below one top category: stories whose
    topics are one path that ends below it. The label is the path's end, and the tree is that below the
    category. Reading: a story with a topic below another top category has "multiple labels" too, and one that
    has the category alone has no label.
    """
    from sklearn.datasets import fetch_rcv1 as fetch

    if subset is not None and subset not in _TOPICS:
        raise DataError(f"subset is {subset!r}; expected one of {', '.join(_TOPICS)}, or None")
    with downloading("RCV1"):
        data: Any = fetch(subset=split, data_home=data_home, download_if_missing=download_if_missing)
    X, target = sp.csr_array(data.data), sp.csr_array(data.target, dtype=np.int32)
    taxonomy = rcv1_topics()
    names = [str(name) for name in data.target_names]
    ids = np.asarray(data.sample_id, dtype=np.int64)
    if most_specific or subset is not None:
        target = _ends(target, names, taxonomy)
    target.sort_indices()
    if subset is None:
        sets = np.split(np.array(names, dtype=object)[target.indices], target.indptr[1:-1])
        return RCV1(X, [list(topics) for topics in sets], taxonomy, ids)
    tree = taxonomy.subtree(subset)
    below = np.array([name in tree and name != subset for name in names])
    rows = np.flatnonzero((np.diff(target.indptr) == 1) & (target @ below))
    labels = [names[k] for k in target[rows].indices.tolist()]
    return RCV1(X[rows], labels, tree, ids[rows])


def rcv1_topics() -> Taxonomy:
    """The tree of the 103 topics: a code is below its longest proper prefix, else below its top category."""
    edges = [("root", top) for top in _TOPICS]
    for top, listed in _TOPICS.items():
        codes = listed.split()
        for code in codes:
            prefixes = (other for other in codes if other != code and code.startswith(other))
            edges.append((max(prefixes, key=len, default=top), code))
    return Taxonomy.from_edges(edges)


def _ends(target: sp.csr_array, names: list[str], taxonomy: Taxonomy) -> sp.csr_array:
    """The topics of each story that are above no other of its topics."""
    above = taxonomy.ancestor_matrix(names)[:, taxonomy.indices(names)]
    ends = sp.csr_array(target.multiply(target @ above))  # how many of its topics are at or below each
    ends.data = (ends.data == 1).astype(np.int32)
    ends.eliminate_zeros()
    return ends
