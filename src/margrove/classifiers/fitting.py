"""What every fit does around its mathematics."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from margrove.classifiers.examples import SINGLE_TOL
from margrove.classifiers.scaling import EXTREME, Units
from margrove.objective.certificate import Certificate
from margrove.objective.contrasts import ContrastProblem, Duals
from margrove.outputs.layout import Layout

if TYPE_CHECKING:
    from margrove.solvers.dual_ascent import Solution
    from margrove.solvers.dual_averaging import Objective
    from margrove.solvers.progress import Progress, Watch


@contextmanager
def unchanged_on_failure(estimator: Any) -> Iterator[None]:
    """Leave the estimator as it was, fitted or not, if the block ends with an error or an interrupt."""
    before = vars(estimator).copy()
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


def check_positive(estimator: Any, *names: str) -> None:
    """Raise unless these parameters are finite numbers above zero."""
    for name in names:
        value = getattr(estimator, name)
        if not (_is_a(value, int | float | np.number) and np.isfinite(value) and value > 0):
            raise ValueError(f"{name} is {value!r}; expected a finite number above 0")


def check_not_negative(estimator: Any, *names: str) -> None:
    """Raise unless these parameters are finite numbers of at least zero."""
    for name in names:
        value = getattr(estimator, name)
        if not (_is_a(value, int | float | np.number) and np.isfinite(value) and value >= 0):
            raise ValueError(f"{name} is {value!r}; expected a finite number of at least 0")


def check_count(estimator: Any, *names: str) -> None:
    """Raise unless these parameters are whole numbers of at least zero."""
    for name in names:
        value = getattr(estimator, name)
        if not (_is_a(value, int | np.integer) and value >= 0):
            raise ValueError(f"{name} is {value!r}; expected a whole number of at least 0")


def check_choice(estimator: Any, **choices: tuple[str, ...]) -> None:
    """Raise unless these parameters are among what there is to choose from."""
    for name, known in choices.items():
        value = getattr(estimator, name)
        if not (isinstance(value, str) and value in known):
            raise ValueError(f"{name} is {value!r}; expected {' or '.join(map(repr, known))}")


def check_switch(estimator: Any, *names: str) -> None:
    """Raise unless these parameters are True or False."""
    for name in names:
        value = getattr(estimator, name)
        if not isinstance(value, bool | np.bool_):
            raise ValueError(f"{name} is {value!r}; expected True or False")


def _is_a(value: Any, kinds: Any) -> bool:
    return isinstance(value, kinds) and not isinstance(value, bool | np.bool_)


def n_threads(n_jobs: int | None) -> int:
    """scikit-learn's convention: None is 1, -1 is all cores."""
    from joblib import effective_n_jobs

    return int(effective_n_jobs(n_jobs))


def seed_of(random_state: Any) -> int:
    """scikit-learn's convention, but None is as 0: two fits agree."""
    state = check_random_state(0 if random_state is None else random_state)
    return int(state.randint(2**31 - 1))


class CertifiedFit:
    """The way to fit of every estimator whose training problem is convex, or a sequence of such.

    A subclass has `_fit`, and `_choices`, what its parameters with a few values can be.
    """

    C: float
    fit_intercept: bool = False
    warm_start: bool = False
    cache_size: float
    tol: float
    max_iter: int
    n_jobs: int | None
    verbose: int
    random_state: Any
    certificate_: Certificate
    _choices: ClassVar[Mapping[str, tuple[str, ...]]] = {}

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, watch: Watch | None = None) -> Self:
        """Learn from rows and their labels; `watch` sees the progress of every round and may end the fit.

        A fit that `watch` ends by returning True gives a model, whose certificate tells how good it is. One
        that ends with an error or a keyboard interrupt leaves the estimator as it was.
        """
        check_positive(self, "C", "tol")
        check_count(self, "max_iter")
        check_choice(self, **self._choices)
        check_switch(self, "fit_intercept", "warm_start")
        check_not_negative(self, "cache_size")
        with unchanged_on_failure(self):
            self._fit(X, y, sample_weight, watch)
        self._warn_unless_converged()
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any, watch: Watch | None) -> None:
        raise NotImplementedError

    def _solve(
        self,
        problem: ContrastProblem,
        layout: Layout,
        max_iter: int,
        start: Duals | None = None,
        watch: Watch | None = None,
    ) -> Solution:
        """Solve it, with an unpenalised bias of the columns (D.8) where `fit_intercept` asks for one."""
        from margrove.solvers import bias, dual_ascent  # compile; prediction has no need of them

        options = self._options(problem.bound) | {"max_iter": int(max_iter)}
        if not self.fit_intercept:
            return dual_ascent.solve(problem, layout, start=start, watch=watch, **options)
        earlier = None if start is None else getattr(self, "_bias", None)
        if earlier is not None and len(earlier) != layout.n_columns:
            earlier = None
        return bias.solve_with_bias(problem, layout, start=start, bias=earlier, watch=watch, **options)

    def _average(
        self,
        problem: Objective,
        bound: NDArray[np.float64],
        watch: Watch | None,
        epsilon: float | None = None,
    ) -> Solution:
        """By dual averaging, in place of the engine."""
        from margrove.solvers.dual_averaging import average

        options = self._options(bound)
        return average(
            problem,
            tol=options["tol"],
            max_iter=options["max_iter"],
            epsilon=epsilon,
            dtype=options["dtype"],
            watch=watch,
        )

    def _options(self, bound: NDArray[np.float64], finest: float = 1.0) -> dict[str, Any]:
        """What every solver is told, that needs gaps of the share `finest` of `tol`."""
        return {
            "tol": float(self.tol),
            "max_iter": int(self.max_iter),
            "rng": np.random.default_rng(seed_of(self.random_state)),
            "dtype": self._dtype(bound, finest),
            "n_threads": n_threads(self.n_jobs),
        }

    def _dtype(self, bound: NDArray[np.float64], finest: float = 1.0) -> Any:
        """Single precision, if it can prove such gaps."""
        ordinary = bound.min() > 1 / EXTREME and bound.max() < EXTREME
        return np.float32 if finest * self.tol >= SINGLE_TOL and ordinary else np.float64

    def _earlier_duals(self, problem: ContrastProblem) -> Duals | None:
        """The dual variables of the last fit, if they are of contrasts that this problem has."""
        duals: Duals | None = getattr(self, "_duals", None)
        if duals is None or not len(duals.alpha):
            return None
        n, q = problem.Y.shape
        if duals.example.max() >= n or max(duals.pos.max(), duals.neg.max()) >= q:
            return None
        right = sp.csr_array(problem.Y)
        example, pos, neg = (np.array(part) for part in duals[:3])  # SciPy wants to own what it looks up
        fits = (right[example, pos] > 0).all() and not (right[example, neg] > 0).any()
        return duals if fits else None

    def _reporter(self, watch: Watch | None, units: Units) -> Watch | None:
        """Tell of every round, in the user's units, those who want to know."""
        if not self.verbose and watch is None:
            return None

        def report(progress: Progress) -> bool | None:
            told = units.progress(progress)
            if self.verbose:
                print(
                    f"round {told.n_iter}: primal {told.primal:.6g}, dual {told.dual:.6g}, "
                    f"gap {told.relative_gap:.2%}, {told.seconds:.1f} s",
                    file=sys.stderr,
                )
            return None if watch is None else watch(told)

        return report

    def _warn_unless_converged(self) -> None:
        reached = self.certificate_
        if reached.status in ("converged", "interrupted"):
            return
        change = {
            "iteration limit": f"raise max_iter (now {self.max_iter}), raise tol, or lower C",
            "stalled": "raise tol, lower C, or scale the features",
        }[reached.status]
        warnings.warn(
            f"the relative duality gap is {reached.relative_gap:.3g}, not tol={self.tol:g} "
            f"({reached.status} after {reached.n_iter} rounds); {change}",
            ConvergenceWarning,
            stacklevel=3,
        )
