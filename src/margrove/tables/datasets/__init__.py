"""Built-in data sets: real ones, loaders of published ones, and random problems."""

from margrove.tables.datasets.icd10cm import load_icd10cm
from margrove.tables.datasets.texts import TextDataset
from margrove.tables.datasets.trees import TreeProblem, make_tree_classification

__all__ = ["TextDataset", "TreeProblem", "load_icd10cm", "make_tree_classification"]
