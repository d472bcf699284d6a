"""scikit-learn estimators: each is a named point of output x regulariser x update rule."""

from margrove.classifiers.cost_sensitive_svm import CostSensitiveSVM
from margrove.classifiers.hierarchical_svm import HierarchicalSVM
from margrove.classifiers.path_margin_svm import PathMarginSVM
from margrove.classifiers.path_search import PathSearch

__all__ = ["CostSensitiveSVM", "HierarchicalSVM", "PathMarginSVM", "PathSearch"]
