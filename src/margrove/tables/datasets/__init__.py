"""Built-in data sets: real ones, loaders of published ones, and random problems."""

from margrove.tables.datasets.clus import ClusDataset, load_clus_arff
from margrove.tables.datasets.icd10cm import load_icd10cm
from margrove.tables.datasets.points import (
    PointProblem,
    make_quadrants,
    make_stripes,
    make_three_gaussians,
)
from margrove.tables.datasets.texts import TextDataset
from margrove.tables.datasets.trees import TreeProblem, make_tree_classification

__all__ = [
    "ClusDataset",
    "PointProblem",
    "TextDataset",
    "TreeProblem",
    "load_clus_arff",
    "load_icd10cm",
    "make_quadrants",
    "make_stripes",
    "make_three_gaussians",
    "make_tree_classification",
]
