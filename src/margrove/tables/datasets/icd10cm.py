"""The ICD-10-CM codes of diseases: short texts, to be coded into three-character categories."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from margrove.errors import DataError
from margrove.tables.datasets.texts import TextDataset
from margrove.taxonomy import Taxonomy

_CATEGORY = slice(3)  # the first three characters of a code name its category


def load_icd10cm(split_seed: int = 0, test_fraction: float = 0.3, *, drop_seen: bool = False) -> TextDataset:
    """Short diagnosis texts, to be coded into the 1,918 three-character categories of ICD-10-CM.

    The texts are the descriptions of every code at or below a category, and their synonyms ("inclusion
    terms"). All descriptions are for training; each synonym is held out for testing with probability
    `test_fraction`. The package lists the 39 blocks that are one category, such as B20, twice, and so are
    their texts here: that gives 107,066 training and 3,743 test texts (release 1.5.0). 11 of these test texts
    stand under the same category in the training part too; `drop_seen` leaves them out.

    The taxonomy has 2,187 nodes: a root, 22 chapters, 246 blocks, and the categories. The 39 categories that
    are their own block stand right under their chapter, and 12 blocks to which the package gives no
    categories (as C00-C96, a heading over other blocks) are left out.
    """
    if not 0 <= test_fraction < 1:
        raise DataError(f"test_fraction is {test_fraction!r}; expected at least 0 and less than 1")
    codes = _icd10cm()
    listed = [code for code in codes.get_all_codes() if _is_below_block(code)]
    synonyms = [(term, code[_CATEGORY]) for code in listed for term in codes.get_inclusion_term(code)]
    held_out = np.random.default_rng(split_seed).random(len(synonyms)) < test_fraction
    train = [(codes.get_description(code), code[_CATEGORY]) for code in listed]
    train += [pair for pair, out in zip(synonyms, held_out, strict=True) if not out]
    seen = set(train) if drop_seen else set()
    test = [pair for pair, out in zip(synonyms, held_out, strict=True) if out and pair not in seen]
    return TextDataset(
        train_texts=[text for text, _ in train],
        train_labels=[label for _, label in train],
        test_texts=[text for text, _ in test],
        test_labels=[label for _, label in test],
        taxonomy=Taxonomy.from_edges(_icd10cm_edges(codes, listed)),
        descriptions={code: codes.get_description(code) for code in codes.get_all_codes()},
    )


def _icd10cm() -> Any:
    """The package, which reads its tables on import and so takes two seconds."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of importlib.resources.read_text
            import simple_icd_10_cm
    except ImportError as error:
        raise ImportError(
            "load_icd10cm reads the codes from the package simple-icd-10-cm, which is not installed; "
            "install it with: pip install 'margrove[icd]'"
        ) from error
    return simple_icd_10_cm


def _is_below_block(code: str) -> bool:
    """Whether a code is a category or below one; "7" is a chapter, "A00-A09" a block."""
    return re.fullmatch(r"\d+|.+-.+", code) is None


def _icd10cm_edges(codes: Any, listed: Sequence[str]) -> Iterator[tuple[str, str]]:
    """(parent, child) from the root to the categories, each once, chapters first."""
    edges: dict[tuple[str, str], None] = {}
    for chapter in (code for code in codes.get_all_codes() if codes.is_chapter(code)):
        edges["ICD-10-CM", chapter] = None
    for category in dict.fromkeys(code[_CATEGORY] for code in listed):
        *above, chapter = (code for code in codes.get_ancestors(category) if code != category)
        path = [chapter, *reversed(above), category]
        edges |= dict.fromkeys(pairwise(path))
    return iter(edges)
