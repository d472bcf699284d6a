"""The order of the methods of Wang's Table 3.1, in short; MSVM has no model but zero."""

from __future__ import annotations

import numpy as np
import pytest
from reproductions.wang_3_6_1 import METHODS, PRINTED, main, table


@pytest.mark.filterwarnings("ignore::margrove.errors.ZeroModelWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_order_of_the_methods():
    errors = {name: np.mean(values) for name, values in table(2, n=150, n_test=5000, Cs=(0.01, 0.1)).items()}
    assert list(errors) == [*METHODS, "Bayes rule"]
    assert errors["Bayes rule"] < errors["ranked (N.7)"] < errors["SMSVM"] < errors["EMSVM"]
    assert errors["MSVM"] == pytest.approx(2 / 3, abs=0.02)  # class 1 for every point
    for name in ("EMSVM", "SMSVM"):
        assert errors[name] < PRINTED[name][0] + PRINTED[name][1]


def test_the_command_prints_the_table(capsys):
    main(["--repetitions", "1", "--largest", "0.01"])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == ["EMSVM", "SMSVM", "MSVM", "ranked", "Bayes"]
    assert "0.625 (0.087)" in lines[1]
