"""Run the benchmarks, print their ratios, and keep them in `benchmarks/results/`.

python -m benchmarks [NAME ...]

All of them without a name: flat, hierarchical, subtrees, stream, descent, orthogonal, paths, attributes,
unseen, calibration.
"""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Callable
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

# One thread each, before any library starts its own.
os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

RESULTS = Path(__file__).parent / "results"


def main(names: list[str]) -> int:
    """Run the named benchmarks, or all."""
    from benchmarks import (
        attributes,
        calibration,
        descent,
        hierarchical,
        liblinear,
        orthogonal,
        paths,
        problems,
        stream,
        subtrees,
        unseen,
    )

    available = problems.available()
    benchmarks: dict[str, tuple[Callable[[Any], dict[str, Any]], list[Any]]] = {
        "flat": (liblinear.compare, [make for make in available if make is not problems.icd10cm]),
        "hierarchical": (hierarchical.measure, available),
        "subtrees": (subtrees.compare, subtrees.available()),
        "stream": (stream.measure, [stream.full]),
        "descent": (descent.measure, available),
        "orthogonal": (orthogonal.compare, [orthogonal.paper, orthogonal.hundredfold, orthogonal.usual]),
        "paths": (paths.compare, available),
        "attributes": (attributes.compare, problems.with_trees()),
        "unseen": (unseen.measure, [problems.naics_unseen] if problems.DATA.is_dir() else []),
        "calibration": (
            calibration.measure,
            [problems.icd10cm, *([problems.clinc] if problems.DATA.is_dir() else [])],
        ),
    }
    unknown = [name for name in names if name not in benchmarks]
    if unknown:
        print(f"no benchmark is called {unknown[0]}; there are: {', '.join(benchmarks)}", file=sys.stderr)
        return 2
    for name in names or benchmarks:
        run, makers = benchmarks[name]
        if not makers:
            print(f"{name}: no data here; set MARGROVE_DATA to their folder", file=sys.stderr)
        rows = []
        for make in makers:
            rows.append(run(make()))
            print(
                f"{name}: " + ", ".join(f"{key} {_short(value)}" for key, value in rows[-1].items()),
                flush=True,
            )
        if rows:
            _record(name, rows)
    return 0


def _record(name: str, rows: list[dict[str, Any]]) -> None:
    RESULTS.mkdir(exist_ok=True)
    libraries = {library: version(library) for library in ("numpy", "scipy", "scikit-learn", "numba")}
    machine = {"python": platform.python_version(), "machine": platform.machine(), "cores": os.cpu_count()}
    report = {"date": date.today().isoformat(), "on": machine | libraries, "rows": rows}
    (RESULTS / f"{name}.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
