"""Small random problems in two forms: what a user passes in, and plain dense arrays for slow twins."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

import margrove as mg
from margrove.objective.contrasts import ContrastProblem
from margrove.objective.inputs import Vectors
from margrove.outputs.layout import Layout, arrange, typed
from margrove.outputs.ranking import costs_of, inputs_of, targets_of
from margrove.outputs.subtrees import Subtrees
from margrove.outputs.tables import Problem
from margrove.solvers import dual_ascent
from margrove.taxonomy import attributes, costs
from oracles.taxonomy import (
    naive_attribute,
    naive_classes,
    naive_h_loss,
    naive_nodes,
    naive_normalized_tree,
    naive_symmetric_difference,
    naive_tree,
)

SHAPES = ("flat", "tree", "dag")
TREE_ONLY = ("h-loss-subtree", "h-loss-sibling")
COSTS = ("zero-one", "tree", "symmetric-difference", "normalized-tree", "matrix", *TREE_ONLY)
ATTRIBUTES = ("depth-scaled", "depth-scaled-class", "ancestors", "one-hot", "matrix")
SLACKS = ("example", "pair")
C_MISS, C_EXTRA = 2.0, 0.7


class Plain(NamedTuple):
    """A training problem as dense arrays: nothing is left to look up."""

    X: np.ndarray  # n x d
    right: list  # the set of right classes of each example, by number
    Lambda: np.ndarray  # q x columns
    cost: np.ndarray  # q x q
    bound: np.ndarray  # n
    slack: str

    def contrasts(self, i):
        """All (right, wrong) pairs of example i."""
        return [
            (y, r) for y in sorted(self.right[i]) for r in range(len(self.Lambda)) if r not in self.right[i]
        ]


@dataclass(frozen=True)
class Case:
    """What a user passes in; `edges` describe the taxonomy to the slow twins, a star where it is flat."""

    edges: list
    shape: str
    X: np.ndarray
    y: list
    weight: np.ndarray
    C: float
    cost: str
    attributes: str
    slack: str
    given: np.ndarray  # attributes, if those are a matrix
    table: np.ndarray  # costs, if those are a matrix
    volume: dict

    @property
    def classes(self):
        return sorted(naive_classes(self.edges))

    @property
    def right(self):
        """The set of right classes of each row, by number."""
        number = {label: k for k, label in enumerate(self.classes)}
        return [{number[label] for label in (y if isinstance(y, list) else [y])} for y in self.y]

    @property
    def taxonomy(self):
        return "flat" if self.shape == "flat" else mg.Taxonomy.from_edges(self.edges)

    def cost_spec(self) -> Any:
        if self.cost == "symmetric-difference":
            return mg.costs.symmetric_difference(self.volume, C_MISS, C_EXTRA)
        return mg.costs.matrix(self.table, self.classes) if self.cost == "matrix" else self.cost

    def attribute_spec(self) -> Any:
        return self.given if self.attributes == "matrix" else self.attributes

    def estimator(self, **options):
        return mg.HierarchicalSVM(
            self.taxonomy,
            self.C,
            **{
                "cost": self.cost_spec(),
                "attributes": self.attribute_spec(),
                "slack": self.slack,
                "max_iter": 50_000,
                **options,
            },
        )

    def fit(self, **options):
        return self.estimator(**options).fit(self.X, self.y, self.weight)

    def naive_cost(self, y, r):
        """From the definition of the cost."""
        if self.cost == "matrix":
            return self.table[self.classes.index(y), self.classes.index(r)]
        if self.cost == "zero-one":
            return float(y != r)
        if self.cost == "symmetric-difference":
            return naive_symmetric_difference(self.edges, y, r, self.volume, C_MISS, C_EXTRA)
        if self.cost in TREE_ONLY:
            return naive_h_loss(self.edges, y, r, self.cost.removeprefix("h-loss-"))
        return {"tree": naive_tree, "normalized-tree": naive_normalized_tree}[self.cost](self.edges, y, r)

    def naive_attributes(self):
        """From the definition of the attributes; a column for every node."""
        if self.attributes == "matrix":
            return self.given
        nodes = sorted(naive_nodes(self.edges))
        return np.array(
            [[naive_attribute(self.edges, v, y, self.attributes) for v in nodes] for y in self.classes]
        )

    def plain(self) -> Plain:
        """All from the definitions."""
        classes = self.classes
        cost = np.array([[self.naive_cost(y, r) for r in classes] for y in classes])
        return Plain(self.X, self.right, self.naive_attributes(), cost, self.C * self.weight, self.slack)

    def problem(self) -> ContrastProblem:
        """As the estimator states it, rows in the user's order; without those of weight zero."""
        keep = np.flatnonzero(self.weight > 0)
        Y = np.array([[float(r in mine) for r in range(len(self.classes))] for mine in self.right])
        taxonomy = None if self.shape == "flat" else self.taxonomy
        return ContrastProblem(
            inputs=Vectors(sp.csr_array(self.X[keep])),
            Y=sp.csr_array(Y[keep]),
            Lambda=attributes.get(self.attribute_spec()).bind(taxonomy, self.classes)[0],
            cost=costs.get(self.cost_spec()).bind(taxonomy, self.classes),
            bound=self.C * self.weight[keep],
            slack=self.slack,
        )


def arranged(problem: ContrastProblem) -> tuple[ContrastProblem, Layout]:
    """The problem with the engine's columns, and their layout."""
    layout = arrange(problem.Lambda, np.float64)
    Lambda = problem.Lambda.toarray()
    columns = np.zeros((len(Lambda), layout.n_columns))
    columns[:, layout.columns] = Lambda
    return replace(problem, Lambda=sp.csr_array(columns)), layout


def plain_of(problem: ContrastProblem) -> Plain:
    """The same problem, with the same attributes, as dense arrays."""
    Y = problem.Y.toarray()
    return Plain(
        problem.inputs.X.toarray(),
        [set(np.flatnonzero(row).tolist()) for row in Y],
        problem.Lambda.toarray(),
        problem.cost.matrix(),
        problem.bound,
        problem.slack,
    )


def random_case(
    seed: int,
    shape: str = "tree",
    *,
    cost: str = "tree",
    attributes: str = "depth-scaled",
    slack: str = "example",
    multilabel: bool = False,
    n: int = 10,
    d: int = 4,
    edges: list | None = None,
) -> Case:
    """A problem in which every class is right somewhere, some inputs are zero, and one row has no weight."""
    rng = np.random.default_rng(seed)
    edges = random_edges(rng, shape) if edges is None else edges
    classes = sorted(naive_classes(edges))
    q = len(classes)
    n = max(n, q + 2)
    first = [classes[k % q] for k in range(n)]
    y: list = first
    if multilabel:
        y = [[label, *rng.choice(classes, rng.integers(0, 3)).tolist()] for label in first]
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.8)
    X[1:, d - 1] *= seed % 2  # every other problem has an input that only the first row has, if any
    weight = rng.choice([0.5, 1.0, 1.7], n)
    weight[-1] = 0.0
    table = rng.uniform(0.3, 2.0, (q, q))
    np.fill_diagonal(table, 0.0)
    given = rng.standard_normal((q, q + 1)) * (rng.random((q, q + 1)) < 0.6)
    volume = {v: rng.uniform(0.3, 1.5) for v in sorted(naive_nodes(edges))}
    C = float(rng.choice([0.1, 1.0, 5.0]))
    return Case(edges, shape, X, y, weight, C, cost, attributes, slack, given, table, volume)


def mixed_case(k: int) -> Case:
    """The k-th of a dozen small problems that between them have everything."""
    shape = SHAPES[k % 3]
    costs = [cost for cost in COSTS if not (shape == "dag" and cost in TREE_ONLY)]
    return random_case(
        k,
        shape,
        cost=costs[k % len(costs)],
        attributes=ATTRIBUTES[k % len(ATTRIBUTES)],
        slack=SLACKS[k // 6 % 2],
        multilabel=k % 2 == 1,
        n=8,
        d=3,
    )


def solve(problem: ContrastProblem, *, tol=1e-9, max_iter=50_000, dtype=np.float64, **options):
    """The solver's answer: the problem as dense arrays, the solution, and its dual variables by contrast."""
    problem, layout = arranged(problem)
    solution = dual_ascent.solve(
        problem,
        layout,
        tol=tol,
        max_iter=max_iter,
        rng=np.random.default_rng(0),
        dtype=dtype,
        **options,
    )
    return plain_of(problem), solution, by_contrast(solution.duals)


def tables_of(problem: ContrastProblem, layout: Layout, dtype) -> tuple[Problem, np.ndarray]:
    """An arranged problem as the kernels take it, and the inputs whose weights they keep."""
    inputs, features = inputs_of(problem.inputs.X, dtype)
    targets, costs = targets_of(problem.Y, problem.bound, dtype), costs_of(problem.cost, dtype)
    return Problem(inputs, targets, typed(layout, dtype).attributes, costs), features


def by_contrast(duals):
    """Dual variables as a dictionary from (example, right, wrong)."""
    keys = zip(*(part.tolist() for part in duals[:3]), strict=True)
    return dict(zip(keys, duals.alpha.tolist(), strict=True))


def random_edges(rng, shape: str) -> list:
    """(parent, child) pairs: a star, a tree, or a graph of nodes with up to three parents; 3 to 6 classes."""
    if shape == "flat":
        return [("root", f"c{k}") for k in range(rng.integers(3, 6))]
    while True:
        n = int(rng.integers(6, 10))
        edges = []
        for child in range(1, n):
            above = 1 if shape == "tree" else int(rng.integers(1, 4))
            parents = rng.choice(child, min(above, child), replace=False)
            edges += [(f"n{p}", f"n{child}") for p in sorted(parents.tolist())]
        graph = any(sum(child == node for _, child in edges) > 1 for node in naive_nodes(edges))
        if 3 <= len(naive_classes(edges)) <= 6 and graph == (shape == "dag"):
            return edges


def random_tree_output(rng, n: int) -> Subtrees:
    """The subtrees output of a random tree of n nodes below the root."""
    edges = [(int(rng.integers(v)), v) for v in range(1, n + 1)]
    taxonomy = mg.Taxonomy.from_edges(edges)
    return Subtrees.of(taxonomy, taxonomy.nodes)


def random_closed_sets(rng, output: Subtrees, n: int) -> np.ndarray:
    """Random sets of outputs that hold what is above their members."""
    return output.best_of_tree(rng.standard_normal((n, len(output))))
