"""Several classifiers fitted and measured on the same rows, and examples of what they predict."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from margrove.report.certificate import certificate_summary
from margrove.report.evaluation import evaluate_classifier

if TYPE_CHECKING:
    from margrove.taxonomy import Taxonomy


def compare_methods(
    methods: Mapping[str, Any],
    X_train: Any,
    y_train: Any,
    X_test: Any,
    y_test: Any,
    taxonomy: Taxonomy | None = None,
    progress: Callable[[str], AbstractContextManager[Any]] = nullcontext,
) -> list[dict[str, Any]]:
    """Fit each classifier and measure all of them by the same taxonomy, also those that did not use it.

    Returns name, parameters, measures, certificate, seconds and predictions of each. `progress`, given the
    name, is entered around a training and may yield what `fit` shall tell of each round as `watch`.
    """
    runs = []
    for name, classifier in methods.items():
        started = time.perf_counter()
        with progress(name) as watch:
            classifier.fit(X_train, y_train, **({"watch": watch} if callable(watch) else {}))
        fitted = time.perf_counter()
        predictions = list(classifier.predict(X_test))
        predicted = time.perf_counter()
        runs.append(
            {
                "name": name,
                "parameters": _parameters(classifier),
                "measures": evaluate_classifier(classifier, X_test, y_test, taxonomy),
                "certificate": certificate_summary(classifier),
                "seconds": {"training": fitted - started, "prediction": predicted - fitted},
                "predictions": predictions,
            }
        )
    return runs


def representative_rows(right: Sequence[bool], n: int, rng: np.random.Generator) -> list[int]:
    """Draw `n` rows at random, right and wrong ones in the proportion in which they occur."""
    flags = np.asarray(right, dtype=bool)
    n = min(n, len(flags))
    n_right = round(n * float(flags.mean())) if n else 0
    good, bad = np.flatnonzero(flags), np.flatnonzero(~flags)
    drawn = [rng.choice(good, n_right, replace=False), rng.choice(bad, n - n_right, replace=False)]
    rows: list[int] = rng.permutation(np.concatenate(drawn)).tolist()
    return rows


def example_predictions(
    rows: Iterable[int],
    texts: Sequence[str],
    labels: Sequence[Any],
    predictions: Mapping[str, Sequence[Any]],
    taxonomy: Taxonomy,
    descriptions: Mapping[str, str] | None = None,
) -> list[dict[str, Any]]:
    """Return some rows with the path of the true label and of each prediction.

    A path is a list of labels from the level below the root, each with its description if there is one.
    """

    def path(label: Any) -> list[dict[str, str]]:
        names = [str(name) for name in taxonomy.label_path(label)]
        return [{"label": name, "description": (descriptions or {}).get(name, "")} for name in names]

    return [
        {
            "text": texts[row],
            "true": path(labels[row]),
            "predicted": {
                name: {"path": path(predicted[row]), "right": bool(predicted[row] == labels[row])}
                for name, predicted in predictions.items()
            },
        }
        for row in rows
    ]


def _parameters(classifier: Any) -> dict[str, Any]:
    """Return the parameters as plain values, a taxonomy as where it came from."""
    return {
        name: getattr(value, "source", None)
        or (value if isinstance(value, str | int | float) else repr(value))
        for name, value in classifier.get_params().items()
        if value is not None
    }
