"""The descent output of a fitted model: step to the best child, from the root to the end."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from margrove.classifiers.class_model import ClassModel
from margrove.classifiers.targets import Classes
from margrove.outputs.descent import Descent


class DescentModel(ClassModel):
    """A class scores by the least margin on its path (S.2): positive for the class that the steps lead to.

    Columns are the outputs of `Descent`. A label at an inner node ends its path there in training; no
    prediction does, and such a label counts as right where the prediction is the node or below it (S.3).
    """

    _descends = True
    _descent: Descent

    def _adopt(self, classes: Classes) -> None:
        super()._adopt(classes)
        self._descent = Descent.of(classes.taxonomy, classes.nodes)

    def _n_outputs(self) -> int:
        return len(self._descent)

    def _class_scores(self, X: Any) -> NDArray[Any]:
        return self._descent.class_margins(self._column_scores(X))

    def _choice_scores(self, X: Any) -> NDArray[Any]:
        return self._column_scores(X)

    def _agrees(self, winners: NDArray[np.int64], numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which rows end at their label or below it (Zhou, section 2)."""
        known = numbers < len(self.classes_)
        ends = self._descent.end[winners]
        right = np.zeros(len(ends), bool)
        labels = self._descent.end[numbers[known]]
        right[known] = np.asarray(self._descent.above[ends[known], labels]).ravel() > 0
        return right
