"""Where a perceptron's weights stand, and how they move when classes or nodes are added."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from margrove.classifiers.targets import Classes
from margrove.errors import LabelError
from margrove.outputs.growing import Columns, moves, spread
from margrove.outputs.layout import Layout, arrange, in_columns
from margrove.taxonomy import attributes
from margrove.taxonomy.growth import embed

SAME = 1e-5  # relative difference of attributes that are equal but for rounding


class Grown(NamedTuple):
    """Columns for some classes, and, if there were any before, how to get there from these."""

    columns: Columns
    Lambda: sp.csr_array
    """Attributes by these columns."""
    nodes: NDArray[np.int64] | None
    """The taxonomy's node of each column."""
    before: Columns | None
    place: NDArray[np.int64]
    """What the keys of the columns before are now."""
    factor: float
    """By which all old attributes have changed, as if the taxonomy got deeper."""


def columns_for(specified: Any, classes: Classes, model: Any = None) -> Grown:
    """Columns for attributes of these classes; with a model that has columns, those of its nodes stay."""
    Lambda, nodes = attributes.get(specified).bind(classes.taxonomy, classes.nodes)
    layout = arrange(Lambda, np.float64)
    keys = np.arange(Lambda.shape[1]) if nodes is None else nodes.astype(np.int64)
    if model is None or nodes is None or model.column_nodes_ is None:
        if model is not None and len(classes.labels) > len(model.classes_):
            raise LabelError(
                f"{classes.labels[len(model.classes_)]!r} is a new class, but attributes that are a matrix, "
                "or a kernel of classes, say nothing about it"
            )
        columns = spread(layout, keys)
        return Grown(columns, *in_columns(Lambda, nodes, columns.layout), None, keys, 1.0)
    before = _columns_of(model)
    place = embed(model.taxonomy_, classes.taxonomy)
    # what a class had alone goes with it, if its node is one of others now and no attribute
    theirs = model.taxonomy_.indices(model.class_nodes_)
    gone = ~np.isin(place[theirs], keys)
    place[theirs[gone]] = classes.taxonomy.indices(classes.nodes)[: len(theirs)][gone]
    columns = spread(layout, keys, before._replace(keys=place[before.keys]))
    arranged, column_nodes = in_columns(Lambda, nodes, columns.layout)
    then, now = moves(before, columns, place)
    factor = _common_factor(model.attributes_[:, then], arranged[: len(model.classes_)][:, now])
    return Grown(columns, arranged, column_nodes, before, place, factor)


def _columns_of(model: Any) -> Columns:
    """The columns that a model has, by their nodes; without the tables of the engine."""
    places = np.flatnonzero(model.column_nodes_ >= 0)
    layout = Layout(None, places, len(model.column_nodes_))  # type: ignore[arg-type]
    return Columns(layout, model.column_nodes_[places], model._own)


def _common_factor(old: Any, new: Any) -> float:
    """What all of the old entries were multiplied by; 1 where they were not by one number."""
    a, b = (sp.csr_array(matrix) for matrix in (old, new))
    a.sort_indices()
    b.sort_indices()
    if a.nnz == 0 or not (np.array_equal(a.indptr, b.indptr) and np.array_equal(a.indices, b.indices)):
        return 1.0
    ratio = b.data / a.data
    factor = float(ratio[0])
    uniform = abs(ratio - factor).max() <= SAME * abs(factor) and abs(factor - 1) > SAME
    return factor if uniform else 1.0
