"""Built-in data sets: real ones, loaders of published ones, and random problems."""

from margrove.tables.datasets.clus import ClusDataset, load_clus_arff
from margrove.tables.datasets.icd10cm import load_icd10cm
from margrove.tables.datasets.newsgroups import fetch_20newsgroups
from margrove.tables.datasets.points import (
    PointProblem,
    make_quadrants,
    make_stripes,
    make_three_gaussians,
)
from margrove.tables.datasets.rcv1 import RCV1, fetch_rcv1, rcv1_topics
from margrove.tables.datasets.texts import TextDataset
from margrove.tables.datasets.trees import TreeProblem, make_tree_classification

__all__ = [
    "RCV1",
    "ClusDataset",
    "PointProblem",
    "TextDataset",
    "TreeProblem",
    "fetch_20newsgroups",
    "fetch_rcv1",
    "load_clus_arff",
    "load_icd10cm",
    "make_quadrants",
    "make_stripes",
    "make_three_gaussians",
    "make_tree_classification",
    "rcv1_topics",
]
