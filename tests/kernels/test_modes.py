"""The kernels in the other ways to run them: not compiled, with bounds checked, compiled from nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from margrove.kernels import scores
from margrove.outputs.ranking import inputs_of
from oracles.kernels import naive_score_nodes
from oracles.problems import mixed_case

SINGLE, DOUBLE = "1e-2", "1e-6"


def tiny_fits(*tolerances, **environment):
    """What the program prints in a new process, whatever way this one is run in."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    program = Path(__file__).with_name("tiny_fits.py")
    done = subprocess.run(
        [sys.executable, program, *tolerances],
        env={**inherited, **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def compiled():
    return tiny_fits(SINGLE, DOUBLE)


def test_without_compiler(compiled):
    """The same kernels as plain Python: same objectives, up to rounding."""
    ours = tiny_fits(SINGLE, DOUBLE, NUMBA_DISABLE_JIT="1")
    assert not ours["signatures"]
    np.testing.assert_allclose(ours["subsequences"], compiled["subsequences"], rtol=1e-14)
    np.testing.assert_allclose(ours["sets"], compiled["sets"], rtol=0.1)  # fits to a gap of 5 %
    np.testing.assert_allclose(ours["perceptrons"][24:], compiled["perceptrons"][24:], rtol=1e-9)
    # fits to a gap of 1 % may end a round earlier or later by rounding
    np.testing.assert_allclose(ours["objectives"][:12], compiled["objectives"][:12], rtol=0.03)
    np.testing.assert_allclose(ours["objectives"][12:], compiled["objectives"][12:], rtol=1e-3)


def check_compiled_anew(tmp_path, compiled, *tolerances):
    """With every index checked, no kernel reads or writes beyond an array or has more signatures than needed.

    The cache is a new one, for it does not tell checked code from unchecked.
    """
    ours = tiny_fits(*tolerances, NUMBA_BOUNDSCHECK="1", NUMBA_CACHE_DIR=str(tmp_path))
    np.testing.assert_allclose(ours["subsequences"], compiled["subsequences"], rtol=1e-14)
    np.testing.assert_allclose(ours["objectives"], compiled["objectives"][: 12 * len(tolerances)], rtol=0.03)
    kernels = {"search", "ascend", "ascend_shared", "ascend_pairs", "subsequence_pairs", "learn"}
    assert kernels <= set(ours["signatures"])
    for name, signatures in ours["signatures"].items():
        single = sum("float32" in signature for signature in signatures)
        assert signatures, f"{name} is not called"
        assert max(single, len(signatures) - single) <= 1, f"{name}: {signatures}"  # one for each precision


def test_bounds_and_signatures(tmp_path, compiled):
    check_compiled_anew(tmp_path, compiled, SINGLE)


@pytest.mark.slow
def test_bounds_and_signatures_in_both_precisions(tmp_path, compiled):
    check_compiled_anew(tmp_path, compiled, SINGLE, DOUBLE)


def read_only(array):
    array.setflags(write=False)
    return array


def test_a_kernel_takes_read_only_arrays():
    dense, W, base = (
        np.array([[1.0, 2.0], [3.0, 1.0]]),
        np.array([[1.0, 0.0], [3.0, 5.0]]),
        np.array([0.5, 0.0]),
    )
    inputs, _ = inputs_of(sp.csr_array(dense), np.float64)
    s = np.zeros(2)
    scores.score_nodes(type(inputs)(*map(read_only, inputs)), 0, read_only(W), read_only(base), s)
    np.testing.assert_array_equal(s, naive_score_nodes(dense[0], W, base))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_inputs_may_be_read_only_or_on_disk(tmp_path, dtype):
    """Whatever holds the inputs, the weights are the same to the bit, and the inputs are left alone."""
    case = mixed_case(4)
    X = case.X.astype(dtype)
    np.save(tmp_path / "X.npy", X)
    weight = read_only(case.weight.copy())
    sparse = sp.csr_array(X)
    for part in (sparse.data, sparse.indices, sparse.indptr):
        part.setflags(write=False)
    forms = {
        "plain": X.copy(),
        "read-only": read_only(X.copy()),
        "on disk": np.load(tmp_path / "X.npy", mmap_mode="r"),
        "by column": np.asfortranarray(X),
        "strided": np.repeat(X, 2, axis=1)[:, ::2],
        "sparse, read-only": sparse,
        "sparse by column": sp.csc_array(X),
        "sparse, wide indices": sp.csr_array(
            (sparse.data, sparse.indices.astype(np.int64), sparse.indptr.astype(np.int64)), shape=X.shape
        ),
    }
    weights = {}
    for name, given in forms.items():
        model = case.estimator(tol=1e-3).fit(given, case.y, weight)
        weights[name] = model.weights_.tobytes()
        dense = given.toarray() if sp.issparse(given) else given
        np.testing.assert_array_equal(dense, X)
        model.decision_function(given)
    assert set(weights.values()) == {weights["plain"]}
