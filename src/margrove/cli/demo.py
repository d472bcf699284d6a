"""`margrove demo`: the main job on built-in data, with its figures."""

from __future__ import annotations

import os
import platform
import sys
import time
from typing import Annotated, Any

import typer

from margrove.cli import options
from margrove.cli.console import gap_shown, note, print_facts, print_json, print_result, print_table
from margrove.cli.methods import make_estimator
from margrove.cli.outputs import check_writable, written
from margrove.cli.status import options_in_doubt

HIERARCHICAL = "hierarchical SVM"
FLAT = "flat SVM"

_TITLE = "ICD-10-CM"
_ABOUT = (
    "Short diagnoses are coded into the three-character categories of ICD-10-CM, which stand under blocks "
    "and chapters. The hierarchical SVM knows that taxonomy, the flat one does not; all else is the same."
)
_LEVELS = ("chapter", "block", "category")
_EXAMPLES = 10


def demo(
    report: Annotated[
        str, typer.Option("--report", "-o", metavar="FILE", help="The HTML report to write.")
    ] = "report.html",
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Seed of the split and of the training.")] = 0,
    limit: Annotated[
        int | None, typer.Option(metavar="N", min=2, help="Train on N texts only, drawn at random.")
    ] = None,
    c: options.C = None,
    cost: options.Cost = None,
    attributes: options.Attributes = None,
    slack: options.SlackOf = None,
    tol: options.Tol = None,
    max_iter: options.MaxIter = None,
    threads: options.Threads = None,
    words: options.Words = None,
    min_rows: options.MinRows = None,
    json: options.Json = False,
) -> None:
    """Show the main job on real data.

    It is to code diagnoses by ICD-10-CM: a hierarchical SVM and a flat one learn from the descriptions of all
    codes and 70 % of their synonyms, and are tested on the other synonyms. Options of the method apply to
    both.
    """
    check_writable(report)
    shared = options.given(C=c, slack=slack and slack.value, tol=tol, max_iter=max_iter, n_jobs=threads)
    hierarchical = options.given(cost=cost, attributes=attributes)
    summary = _run(seed, limit, shared, hierarchical, options.feature_options(words, min_rows))
    from margrove.report import render_html

    with written(report) as file:
        file.write(render_html(summary).encode())
    if json:
        print_json(summary)
    else:
        _print(summary)
    note(f"report: {report}")


def _run(
    seed: int,
    limit: int | None,
    shared: dict[str, Any],
    hierarchical: dict[str, Any],
    features_given: dict[str, Any],
) -> dict[str, Any]:
    started = time.perf_counter()
    note("reading ICD-10-CM ...")
    import numpy as np

    import margrove as mg
    from margrove.report import compare_methods, example_predictions, representative_rows
    from margrove.tables import TableFeatures, as_table

    methods = {
        HIERARCHICAL: make_estimator("hierarchical-svm", None, random_state=seed, **shared, **hierarchical),
        FLAT: make_estimator("flat", "flat", random_state=seed, **shared),
    }
    data = mg.datasets.load_icd10cm(split_seed=seed)
    methods[HIERARCHICAL].set_params(taxonomy=data.taxonomy)
    rng = np.random.default_rng(seed)
    rows = np.arange(len(data.train_texts))
    if limit is not None and limit < len(rows):
        rows = np.sort(rng.choice(rows, limit, replace=False))
    labels = [data.train_labels[row] for row in rows]
    features = TableFeatures(text="text", **features_given)
    X_train = features.fit_transform(as_table({"text": [data.train_texts[row] for row in rows]}))
    X_test = features.transform(as_table({"text": data.test_texts}))
    with options_in_doubt():
        runs = compare_methods(
            methods,
            X_train,
            labels,
            X_test,
            data.test_labels,
            data.taxonomy,
            progress=lambda name: gap_shown(f"training the {name}", methods[name].tol),
        )
    predictions = {run["name"]: run.pop("predictions") for run in runs}
    right = [a == b for a, b in zip(predictions[HIERARCHICAL], data.test_labels, strict=True)]
    return {
        "title": _TITLE,
        "about": _ABOUT,
        "data": {
            "training texts": len(rows),
            "test texts": len(data.test_texts),
            "features": X_train.shape[1],
            "nodes": data.taxonomy.n_nodes,
            "classes": len(data.taxonomy.classes),
        },
        "levels": dict(zip(("1", "2", "3"), _LEVELS, strict=True)),
        "runs": runs,
        "examples": example_predictions(
            representative_rows(right, _EXAMPLES, rng),
            data.test_texts,
            data.test_labels,
            predictions,
            data.taxonomy,
            data.descriptions,
        ),
        "facts": {
            "seed": seed,
            "seconds": time.perf_counter() - started,
            "peak memory (MB)": _peak_megabytes(),
            "processors": os.cpu_count(),
            "Python": platform.python_version(),
            "Margrove": mg.__version__,
        },
    }


def _peak_megabytes() -> float:
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # in bytes on macOS, in KiB elsewhere
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


def _print(summary: dict[str, Any]) -> None:
    from margrove.report.figures import certificate_rows, figures

    counts = ", ".join(f"{count:,} {name}" for name, count in summary["data"].items())
    print_facts([(summary["title"], counts)])
    names = [run["name"] for run in summary["runs"]]
    right = range(1, len(names) + 1)
    print_table(["", *names], [[row.name, *row.values] for row in figures(summary)], right=right)
    rows = [[row.name, *row.values] for row in certificate_rows(summary)]
    if rows:
        print_table(["", *names], rows, "Certificates: the optimum lies between dual and primal", right)
    print_result(
        f"\nTest texts drawn at random, right and wrong ones in the proportion of the\n{HIERARCHICAL}"
    )
    for example in summary["examples"]:
        _print_example(example)
    facts = summary["facts"]
    print_result(
        f"\n{facts['seconds']:.0f} s in all, peak memory {facts['peak memory (MB)']:,.0f} MB, "
        f"{facts['processors']} processors"
    )


def _print_example(example: dict[str, Any]) -> None:
    predicted = example["predicted"][HIERARCHICAL]
    lines = [("right" if predicted["right"] else "wrong", _path(predicted["path"]))]
    if not predicted["right"]:
        lines.append(("truth", _path(example["true"])))
    print_result("")
    print_facts([("text", example["text"]), *lines])


def _path(path: list[dict[str, str]]) -> str:
    """Show a path as its codes and the description of the last."""
    return " > ".join(step["label"] for step in path) + f"  {path[-1]['description']}"
