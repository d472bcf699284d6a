"""Large-margin classification over class taxonomies.

>>> import margrove as mg
>>> taxonomy = mg.Taxonomy.from_paths(["fruit/apple", "fruit/pear", "vegetable/leek"])
>>> model = mg.HierarchicalSVM(taxonomy).fit(X, y)
>>> model.predict(X), model.certificate_

What the classes are: `Taxonomy`; what they share, `attributes`; what mistakes cost, `costs`.

HierarchicalSVM                 Cai's hierarchical and flat SVM; Zhou's FLATMULT and TREELOSS
PathMarginSVM                   Wang's HSVM and HPSI: margins along the path from the root
DivideAndConquerSVM             Cai's DNC-SVM, Zhou's HIERMULT: a flat SVM at each inner node
TransferSVM                     Zhou's TRANSFER: weights near those of the parent
OrthogonalTransferSVM           Zhou's orthogonal transfer: weights at right angles to those of ancestors
CostSensitiveSVM                Wang's MSVM, SMSVM and EMSVM: mistakes that differ in what they cost
SubtreeSVM                      Liu's LM-2 and LM-1: sets of nodes, closed upwards
SubtreePerceptron               Liu's HP, SP and KSP: the same, by cheap steps
HierarchicalPerceptron, Hieron  Cai, chapter 5, and its comparator: streams, and classes that turn up
CalibratedTaxonomyClassifier    probabilities of classes and nodes from any of those of single labels
PathSearch                      C by cross-validation along a path

Beside them: `similarity` of rows, `metrics`, `datasets`, `growing` of taxonomies, `load` for saved models.

Names are imported on first use, so `import margrove` is cheap, and prediction never loads the
training kernels.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_ROOMS = {
    "Taxonomy": "margrove.taxonomy",
    "HierarchicalPerceptron": "margrove.classifiers",
    "DivideAndConquerSVM": "margrove.classifiers",
    "CostSensitiveSVM": "margrove.classifiers",
    "CalibratedTaxonomyClassifier": "margrove.classifiers",
    "HierarchicalSVM": "margrove.classifiers",
    "Hieron": "margrove.classifiers",
    "PathMarginSVM": "margrove.classifiers",
    "SubtreePerceptron": "margrove.classifiers",
    "SubtreeSVM": "margrove.classifiers",
    "OrthogonalTransferSVM": "margrove.classifiers",
    "TransferSVM": "margrove.classifiers",
    "PathSearch": "margrove.classifiers",
    "load": "margrove.loading",
    "attributes": "margrove.taxonomy.attributes",
    "costs": "margrove.taxonomy.costs",
    "growing": "margrove.growing",
    "metrics": "margrove.metrics",
    "similarity": "margrove.similarity",
    "datasets": "margrove.tables.datasets",
}

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
    "Taxonomy",
    "TransferSVM",
    "attributes",
    "costs",
    "datasets",
    "growing",
    "load",
    "metrics",
    "similarity",
]

if TYPE_CHECKING:
    from margrove import growing as growing
    from margrove import metrics as metrics
    from margrove import similarity as similarity
    from margrove.classifiers import CalibratedTaxonomyClassifier as CalibratedTaxonomyClassifier
    from margrove.classifiers import CostSensitiveSVM as CostSensitiveSVM
    from margrove.classifiers import DivideAndConquerSVM as DivideAndConquerSVM
    from margrove.classifiers import HierarchicalPerceptron as HierarchicalPerceptron
    from margrove.classifiers import HierarchicalSVM as HierarchicalSVM
    from margrove.classifiers import Hieron as Hieron
    from margrove.classifiers import OrthogonalTransferSVM as OrthogonalTransferSVM
    from margrove.classifiers import PathMarginSVM as PathMarginSVM
    from margrove.classifiers import PathSearch as PathSearch
    from margrove.classifiers import SubtreePerceptron as SubtreePerceptron
    from margrove.classifiers import SubtreeSVM as SubtreeSVM
    from margrove.classifiers import TransferSVM as TransferSVM
    from margrove.loading import load as load
    from margrove.tables import datasets as datasets
    from margrove.taxonomy import Taxonomy as Taxonomy
    from margrove.taxonomy import attributes as attributes
    from margrove.taxonomy import costs as costs


def __getattr__(name: str) -> Any:
    if name not in _ROOMS:
        raise AttributeError(f"module 'margrove' has no attribute {name!r}")
    room = importlib.import_module(_ROOMS[name])
    value = room if room.__name__.endswith("." + name) else getattr(room, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
