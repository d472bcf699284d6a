"""An independent flat SVM at every inner node (Cai's DNC-SVM, Zhou's HIERMULT), and a descent by them."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from margrove.classifiers.descent_fit import DescentFit, Step, read_examples, steps_of
from margrove.classifiers.fitting import n_threads, seed_of
from margrove.objective.certificate import Certificate
from margrove.objective.inputs import Similarities
from margrove.objective.losses import LOSSES, Loss, loss_of
from margrove.outputs.descent import Descent
from margrove.taxonomy import Taxonomy
from margrove.taxonomy.build import Name

if TYPE_CHECKING:
    from margrove.solvers.progress import Watch


class DivideAndConquerSVM(DescentFit):
    """Descent by a flat SVM at each parent, learned from the rows that pass it (Cai 7.4.2, Zhou's HIERMULT).

    minimise  sum_v 1/2 |W_v|^2 + C sum_i weight_i phi(max {1 - s_t + s_j : j sibling of t})         (S.4)
    over parents v and rows i whose path goes through v to its child t,     s = W_v x_i

    Parents share nothing, so their problems are small and are solved in threads.

    Parameters
    ----------
    taxonomy : Taxonomy, None or "flat"
        The tree of classes; None takes it from labels that are paths and otherwise has one level.
    C : float
        The price of the summed losses against the norm, the same at all parents.
    loss : "hinge", "squared-hinge" or "logistic"
        What a violation m costs: max(0, m), the square of that, or log(1 + exp(m - 1)) (D.6).
    n_jobs : int
        Threads, each of which solves one problem at a time; the result is the same to the bit.
    kernel, cache_size, tol, max_iter, verbose, random_state : as for `HierarchicalSVM`.

    Attributes
    ----------
    classes_ : the labels, sorted;  taxonomy_ : the tree
    weights_ : W, features x nodes;  certificate_ : of the sum: primal, dual, gap, relative_gap, status, ...
    certificates_ : a dictionary from each parent with a choice to the certificate of its problem; not saved
    attributes_, class_nodes_, column_nodes_, similarity_, n_iter_ : as of `HierarchicalSVM`
    """

    _choices: ClassVar[Mapping[str, tuple[str, ...]]] = {"loss": LOSSES}

    def __init__(
        self,
        taxonomy: Taxonomy | str | None = None,
        C: float = 1.0,
        *,
        loss: str = "hinge",
        kernel: Any = "linear",
        cache_size: float = 200.0,
        tol: float = 0.01,
        max_iter: int = 200,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.taxonomy = taxonomy
        self.C = C
        self.loss = loss
        self.kernel = kernel
        self.cache_size = cache_size
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _fit(self, X: Any, y: Any, sample_weight: Any, watch: Watch | None) -> None:
        from margrove.solvers import dual_ascent, side_by_side  # compiles; prediction has no need of it

        began = time.perf_counter()
        examples, descent = read_examples(self, X, y, sample_weight, merge=False)
        loss, bound = cast("Loss", self.loss), examples.bounds(self.C)
        seed, dtype, threads = seed_of(self.random_state), self._dtype(bound), n_threads(self.n_jobs)
        # similarities share a cache: their problems take turns, and the threads are inside of each
        inside = threads if isinstance(examples.inputs, Similarities) else 1
        steps = steps_of(examples, descent)
        W = np.zeros((examples.inputs.shape[1], len(descent)), dtype)
        unlearned = [float(loss_of(loss, bound[step.rows] * 0 + 1) @ bound[step.rows]) for step in steps]
        found = [_nothing(primal) for primal in unlearned]

        def learn(k: int, told: Watch) -> None:
            problem, layout, expand = steps[k].problem(examples, bound, loss)
            solution = dual_ascent.solve(
                problem,
                layout,
                tol=float(self.tol),
                max_iter=int(self.max_iter),
                rng=np.random.default_rng([seed, k]),
                dtype=dtype,
                n_threads=inside,
                watch=told,
            )
            met = np.flatnonzero(np.diff(expand.indptr))
            W[met, steps[k].siblings] = expand[met].astype(dtype) @ solution.W
            found[k] = solution.certificate

        side_by_side.run(
            [partial(learn, k) for k in range(len(steps))],
            costs=[len(step.rows) * (step.siblings.stop - step.siblings.start) for step in steps],
            primals=unlearned,
            n_threads=threads // inside,
            watch=self._reporter(watch, examples.units),
        )
        whole = Certificate.of_all(found, float(self.tol), time.perf_counter() - began)
        self._keep(examples, descent, W, whole)
        self.certificates_ = {
            self._parent(descent, step): examples.units.certificate(certificate)
            for step, certificate in zip(steps, found, strict=True)
        }

    def _parent(self, descent: Descent, step: Step) -> Name:
        """Whose children the step chooses among."""
        above = descent.parent[step.siblings.start]
        return self.taxonomy_.root if above < 0 else self.taxonomy_.name(descent.nodes[above])


def _nothing(primal: float) -> Certificate:
    """Of a problem that was never begun."""
    return Certificate(
        primal, 0.0, n_iter=0, status="interrupted", seconds=0.0, max_violation=1.0, n_active=0
    )
