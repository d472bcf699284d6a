"""scikit-learn estimators: each is a named point of output x regulariser x update rule."""

from margrove.classifiers.hierarchical_svm import HierarchicalSVM

__all__ = ["HierarchicalSVM"]
