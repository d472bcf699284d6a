"""scikit-learn estimators: each is a named point of output x regulariser x update rule."""

from margrove.classifiers.hierarchical_svm import HierarchicalSVM
from margrove.classifiers.orthogonal_transfer_svm import OrthogonalTransferSVM
from margrove.classifiers.path_margin_svm import PathMarginSVM
from margrove.classifiers.transfer_svm import TransferSVM

__all__ = ["HierarchicalSVM", "OrthogonalTransferSVM", "PathMarginSVM", "TransferSVM"]
