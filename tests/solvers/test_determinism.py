"""The same data give the same model, to the bit; names of classes and nodes do not matter."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from oracles.problems import mixed_case

TOLERANCES = [1e-2, 1e-6]  # single and double precision


def bits(model):
    return model.weights_.tobytes() + model.attributes_.toarray().tobytes()


@pytest.fixture(params=range(12))
def case(request):
    return mixed_case(request.param)


def test_same_bits_for_any_number_of_threads(case):
    for tol in TOLERANCES:
        one, again, two, three = (case.fit(tol=tol, n_jobs=n_jobs) for n_jobs in (1, None, 2, 3))
        assert bits(one) == bits(again) == bits(two) == bits(three)
        assert one.certificate_.primal == two.certificate_.primal
        assert one.certificate_.n_iter == two.certificate_.n_iter


def test_the_seed_is_all_that_is_random(case):
    np.random.seed(1)  # noqa: NPY002 - the global state must not matter
    first = case.fit(tol=1e-2, random_state=7)
    np.random.seed(2)  # noqa: NPY002
    assert bits(first) == bits(case.fit(tol=1e-2, random_state=7))
    assert bits(case.fit(tol=1e-2)) == bits(case.fit(tol=1e-2, random_state=0))


def test_order_of_rows_does_not_matter(case):
    order = np.random.default_rng(0).permutation(len(case.X))
    shuffled = replace(case, X=case.X[order], y=[case.y[i] for i in order], weight=case.weight[order])
    for tol in TOLERANCES:
        assert bits(shuffled.fit(tol=tol)) == bits(case.fit(tol=tol))


def test_a_row_twice_is_a_row_of_twice_the_weight(case):
    heavy = replace(case, weight=np.where(np.arange(len(case.X)) % 2, 2 * case.weight, case.weight))
    odd = np.flatnonzero(np.arange(len(case.X)) % 2)
    twice = replace(
        case,
        X=np.vstack([case.X, case.X[odd]]),
        y=[*case.y, *(case.y[i] for i in odd)],
        weight=np.concatenate([case.weight, case.weight[odd]]),
    )
    for tol in TOLERANCES:
        assert bits(twice.fit(tol=tol)) == bits(heavy.fit(tol=tol))


def test_rows_without_weight_do_not_matter(case):
    rng = np.random.default_rng(0)
    extra = rng.standard_normal(case.X.shape)
    more = replace(
        case,
        X=np.vstack([extra, case.X]),
        y=[*case.y, *case.y],
        weight=np.concatenate([np.zeros(len(extra)), case.weight]),
    )
    for tol in TOLERANCES:
        assert bits(more.fit(tol=tol)) == bits(case.fit(tol=tol))


def test_sparse_or_dense_does_not_matter(case):
    dense = case.fit(tol=1e-2)
    for form in (sp.csr_array, sp.csc_array, sp.coo_array, sp.csr_matrix):
        model = case.estimator(tol=1e-2).fit(form(case.X), case.y, case.weight)
        assert bits(model) == bits(dense)


@pytest.mark.parametrize("k", range(1, 12, 2))
def test_order_and_repetition_of_labels_in_a_set_do_not_matter(k):
    case = mixed_case(k)
    other = [[*reversed(labels), labels[0]] for labels in case.y]
    assert bits(replace(case, y=other).fit(tol=1e-2)) == bits(case.fit(tol=1e-2))


def test_names_do_not_matter(case):
    """Other names, and so other numbers of classes and nodes and another order of edges: the same scores."""
    rng = np.random.default_rng(1)
    nodes = sorted({node for edge in case.edges for node in edge})
    name = dict(zip(nodes, (f"x{k}" for k in rng.permutation(len(nodes))), strict=True))

    def rename(labels):
        return [name[label] for label in labels] if isinstance(labels, list) else name[labels]

    edges = [case.edges[k] for k in rng.permutation(len(case.edges))]
    renamed = replace(
        case,
        edges=[(name[parent], name[child]) for parent, child in edges],
        y=[rename(labels) for labels in case.y],
        volume={name[node]: value for node, value in case.volume.items()},
    )
    order = [case.classes.index(old) for old in sorted(case.classes, key=name.get)]
    renamed = replace(renamed, given=case.given[order], table=case.table[np.ix_(order, order)])
    mine, theirs = (one.estimator(tol=1e-8).fit(one.X, one.y, one.weight) for one in (case, renamed))
    ours = mine.decision_function(case.X)[:, order]
    np.testing.assert_allclose(theirs.decision_function(case.X), ours, atol=1e-6 * max(1, abs(ours).max()))


PROGRAM = """
import hashlib, warnings
import numpy as np
from oracles.problems import mixed_case
warnings.simplefilter("ignore")
digest = hashlib.sha256()
for k in range(12):
    for tol in (1e-2, 1e-6):
        model = mixed_case(k).fit(tol=tol, n_jobs=1 + k % 2)
        digest.update(model.weights_.tobytes() + model.attributes_.toarray().tobytes())
print(digest.hexdigest())
"""


def test_same_bits_for_any_hash_seed():
    """In new processes, in which sets and dictionaries of strings come in other orders."""
    here = hashlib.sha256()
    for k in range(12):
        for tol in TOLERANCES:
            here.update(bits(mixed_case(k).fit(tol=tol)))
    found = {here.hexdigest()}
    for seed in ("1", "2024"):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(map(str, sys.path))},
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        found.add(done.stdout.strip())
    assert len(found) == 1
