"""Published tables, regenerated from the data where these are at hand; minutes each."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DATA = Path(os.environ.get("MARGROVE_DATA", ROOT.parent / "shared" / "data"))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "least"), [("enron", 0.75), ("cellcycle-funcat", 0.24)])
def test_node_areas(name, least):
    if not DATA.is_dir():
        pytest.skip("the data are not here")
    done = subprocess.run(
        [sys.executable, "-m", "reproductions.node_areas", name],
        cwd=ROOT, capture_output=True, text=True, timeout=3600, check=True,
    )  # fmt: skip
    (area,) = re.findall(r"test ([\d.]+)", done.stdout)
    assert float(area) >= least
