"""scikit-learn estimators: each is a named point of output x regulariser x update rule."""

from margrove.classifiers.divide_and_conquer_svm import DivideAndConquerSVM
from margrove.classifiers.hierarchical_svm import HierarchicalSVM
from margrove.classifiers.path_margin_svm import PathMarginSVM

__all__ = ["DivideAndConquerSVM", "HierarchicalSVM", "PathMarginSVM"]
