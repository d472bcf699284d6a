"""scikit-learn estimators: each is a named point of output x regulariser x update rule."""

from margrove.classifiers.calibrated import CalibratedTaxonomyClassifier
from margrove.classifiers.hierarchical_svm import HierarchicalSVM
from margrove.classifiers.path_margin_svm import PathMarginSVM

__all__ = ["CalibratedTaxonomyClassifier", "HierarchicalSVM", "PathMarginSVM"]
