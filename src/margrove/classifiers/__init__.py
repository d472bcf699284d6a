"""scikit-learn estimators: each is a named point of output x regulariser x update rule."""

from margrove.classifiers.calibrated import CalibratedTaxonomyClassifier
from margrove.classifiers.cost_sensitive_svm import CostSensitiveSVM
from margrove.classifiers.divide_and_conquer_svm import DivideAndConquerSVM
from margrove.classifiers.hierarchical_perceptron import HierarchicalPerceptron
from margrove.classifiers.hierarchical_svm import HierarchicalSVM
from margrove.classifiers.hieron import Hieron
from margrove.classifiers.orthogonal_transfer_svm import OrthogonalTransferSVM
from margrove.classifiers.path_margin_svm import PathMarginSVM
from margrove.classifiers.path_search import PathSearch
from margrove.classifiers.subtree_perceptron import SubtreePerceptron
from margrove.classifiers.subtree_svm import SubtreeSVM
from margrove.classifiers.transfer_svm import TransferSVM

__all__ = [
    "CalibratedTaxonomyClassifier",
    "CostSensitiveSVM",
    "DivideAndConquerSVM",
    "HierarchicalPerceptron",
    "HierarchicalSVM",
    "Hieron",
    "OrthogonalTransferSVM",
    "PathMarginSVM",
    "PathSearch",
    "SubtreePerceptron",
    "SubtreeSVM",
    "TransferSVM",
]
