"""Every error and warning that Margrove raises on purpose.

All errors derive from `MargroveError`, which is a `ValueError`: code written for scikit-learn catches them,
and the command line turns each family into its exit status.
"""

from __future__ import annotations


class MargroveError(ValueError):
    """The root of Margrove's own errors."""


class TaxonomyError(MargroveError):
    """A taxonomy is not a rooted directed acyclic graph with named nodes."""


class CycleError(TaxonomyError):
    """A node is its own ancestor; the message shows the cycle as a path."""


class SelfParentError(CycleError):
    """An edge goes from a node to itself."""


class OrphanError(TaxonomyError):
    """A node cannot be reached from the root."""


class RootError(TaxonomyError):
    """There is no root, or more than one."""


class DuplicateEdgeError(TaxonomyError):
    """The same edge is given twice."""


class EmptyNameError(TaxonomyError):
    """A node has an empty name."""


class UnknownNodeError(TaxonomyError, KeyError):
    """No node of the taxonomy has this name."""

    def __str__(self) -> str:  # KeyError would print the message's repr
        return ValueError.__str__(self)


class AmbiguousNodeError(UnknownNodeError):
    """Several nodes share this label; the message lists their paths."""


class LabelError(MargroveError):
    """A label cannot be used; the message names the row and the label."""


class DataError(MargroveError):
    """A table or a matrix cannot be used; the message names the line, the column or the row."""


class ConvexityError(MargroveError):
    """A training problem is not convex; the message names the node and says what would make it so."""


class DownloadError(DataError):
    """A data set is not on this machine and could not be downloaded; the message says what to do."""


class ModelFileError(MargroveError):
    """A file is not a model that this version can load."""


class NotAModelFileError(ModelFileError):
    """The file is something other than a Margrove model."""


class TruncatedModelFileError(ModelFileError):
    """The file ends too early."""


class DamagedModelFileError(ModelFileError):
    """The bytes are not those that were saved."""


class NewerModelFileError(ModelFileError):
    """The file was written by a newer Margrove, in a format unknown to this one."""


class InvalidModelFileError(ModelFileError):
    """The file is whole, but what it says is not a model."""


class UnsavableModelError(ModelFileError):
    """The model holds something that no model file can, such as a function."""


class ScaleWarning(UserWarning):
    """Inputs are so large or so small that `C` or the arithmetic has lost its usual meaning."""


class ZeroModelWarning(UserWarning):
    """The best weights are all zero: the training problem has nothing to say about rows."""
