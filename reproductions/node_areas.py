"""AU(PRC) of node scores on benchmarks of hierarchical multilabel classification, with a Gaussian similarity.

python -m reproductions.node_areas [enron] [imclef07a] [cellcycle-funcat] [cellcycle-go]

`SubtreeSVM` learns with balanced node costs, and its margins are calibrated on rows held out. Width and C are
chosen by the area on the validation part; where the files have none, a third of the training part is taken
for it. Then training and validation parts are learned together, and the test part is looked at once. Files
are those of the folder that MARGROVE_DATA names (default `../shared/data` beside the checkout).
"""

from __future__ import annotations

import os
import sys
import tarfile
import tempfile
import time
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler

import margrove as mg

DATA = Path(os.environ.get("MARGROVE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
RATES = (0.5, 1.0, 2.0, 3.0)
PRICES = (0.3, 1.0, 3.0)


class Benchmark(NamedTuple):
    """Where the parts of a data set are, and what is worth trying."""

    archive: str
    training: str
    validation: str | None
    test: str
    published: float | None
    """AU(PRC) of the coherent neural network of Giunchiglia and Lukasiewicz (2020)."""
    rates: tuple[float, ...] = RATES
    prices: tuple[float, ...] = PRICES


def _clus(kind: str, name: str) -> tuple[str, str, str, str]:
    parts = [f"datasets_{kind}/{name}/{name}.{part}.arff" for part in ("train", "valid", "test")]
    return (f"{'funcat' if kind == 'FUN' else 'go'}/{name}.tar.xz", *parts)


BENCHMARKS = {
    "enron": Benchmark(
        "enron/Enron.tar.xz", "others/Enron_corr_trainvalid.arff", None, "others/Enron_corr_test.arff", 0.756
    ),
    "imclef07a": Benchmark(
        "imclef07a/ImCLEF07A.tar.xz",
        "others/ImCLEF07A_Train.arff",
        None,
        "others/ImCLEF07A_Test.arff",
        0.956,
        (2.0, 8.0),
        (1.0,),
    ),
    "cellcycle-funcat": Benchmark(*_clus("FUN", "cellcycle_FUN"), 0.255),
    "cellcycle-go": Benchmark(*_clus("GO", "cellcycle_GO"), None, (2.0,), (1.0,)),
}


def read(benchmark: Benchmark) -> list[tuple[Any, list[list[str]], mg.Taxonomy]]:
    """Training, validation and test rows."""
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(DATA / benchmark.archive) as archive:
            archive.extractall(folder, filter="data")
        names = (benchmark.training, benchmark.validation, benchmark.test)
        parts = [mg.datasets.load_clus_arff(Path(folder) / name) for name in names if name]
    taxonomy = parts[0].taxonomy
    rows = [(part.X, part.y) for part in parts]
    if benchmark.validation is None:
        X, y = rows[0]
        order = np.random.default_rng(0).permutation(len(y))
        learn, hold = order[: 2 * len(y) // 3], order[2 * len(y) // 3 :]
        rows[:1] = [(X[part], [y[i] for i in part]) for part in (learn, hold)]
    return [(X, y, taxonomy) for X, y in rows]


def model(taxonomy: mg.Taxonomy, X: Any, rate: float, C: float) -> Any:
    """Rows of length one, standardised before where they are dense, and the classifier."""
    svm = mg.SubtreeSVM(
        taxonomy,
        C,
        algorithm="marginal",
        node_weight="balanced",
        kernel=mg.similarity.gaussian(rate=rate),
        calibrate=True,
        cache_size=2000,
        tol=0.02,
    )
    if sp.issparse(X):
        return make_pipeline(Normalizer(), svm)
    return make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler(), Normalizer(), svm)


def area(fitted: Any, X: Any, y: list[list[str]], taxonomy: mg.Taxonomy) -> float:
    """AU(PRC) over all nodes of the taxonomy that a part's file names."""
    chances = fitted[-1].node_probabilities(fitted[:-1].transform(X))
    return mg.metrics.average_precision_area(y, chances, taxonomy.nodes, taxonomy)


def stacked(X: Any, other: Any) -> Any:
    """The rows of both."""
    return sp.vstack([X, other], format="csr") if sp.issparse(X) else np.concatenate([X, other])


def measure(name: str) -> dict[str, Any]:
    """Choose on the validation part, learn anew, and measure on the test part."""
    benchmark = BENCHMARKS[name]
    (X, y, taxonomy), (X_valid, y_valid, _), (X_test, y_test, _) = read(benchmark)
    began = time.process_time()
    tried = {}
    for rate, C in product(benchmark.rates, benchmark.prices):
        fitted = model(taxonomy, X, rate, C).fit(X, y)
        tried[rate, C] = area(fitted, X_valid, y_valid, taxonomy)
        print(f"  {name}: rate {rate:g}, C {C:g}: {tried[rate, C]:.4f} on the validation part", flush=True)
    rate, C = max(tried, key=lambda pair: tried[pair])
    X_all = stacked(X, X_valid)
    fitted = model(taxonomy, X_all, rate, C).fit(X_all, [*y, *y_valid])
    return {
        "data": name,
        "nodes": taxonomy.n_nodes - 1,
        "rate": rate,
        "C": C,
        "valid": tried[rate, C],
        "test": area(fitted, X_test, y_test, taxonomy),
        "published": benchmark.published,
        "seconds": time.process_time() - began,
    }


def main(names: list[str]) -> int:
    """Measure the named benchmarks, or all."""
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        print(f"no benchmark is called {unknown[0]}; there are: {', '.join(BENCHMARKS)}", file=sys.stderr)
        return 2
    if not DATA.is_dir():
        print("no data here; set MARGROVE_DATA to their folder", file=sys.stderr)
        return 1
    for name in names or BENCHMARKS:
        row = measure(name)
        print(", ".join(f"{key} {value:.4g}" if type(value) is float else f"{key} {value}"
                        for key, value in row.items()), flush=True)  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
