"""The form of data sets of texts with one label each."""

from __future__ import annotations

from dataclasses import dataclass, field

from margrove.taxonomy import Taxonomy


@dataclass(frozen=True)
class TextDataset:
    """Texts with one label each, split into a training and a test part, and the taxonomy of the labels."""

    train_texts: list[str] = field(repr=False)
    train_labels: list[str] = field(repr=False)
    test_texts: list[str] = field(repr=False)
    test_labels: list[str] = field(repr=False)
    taxonomy: Taxonomy
    descriptions: dict[str, str] = field(default_factory=dict, repr=False)
    """What each code means, also the codes that are no node of the taxonomy; empty where labels are words."""
