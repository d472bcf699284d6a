"""Zhou's programmes as they are printed, in plain loops and for a conic solver."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, product

import cvxpy as cp
import numpy as np

import margrove as mg
from margrove.classifiers.descent_fit import descent_problem, read_examples
from margrove.objective.orthogonal import OrthogonalProblem

TREES = [
    [("r", "a"), ("r", "b"), ("a", "c"), ("a", "d")],
    [("r", "a"), ("r", "b"), ("a", "c"), ("a", "d"), ("b", "e"), ("b", "f")],
    [("r", "a"), ("r", "b"), ("a", "c"), ("a", "d"), ("c", "e"), ("c", "f")],  # two levels of ancestors
    [("r", "a"), ("r", "b"), ("a", "c"), ("c", "d"), ("c", "e")],  # an only child
    [("r", "a"), ("r", "b"), ("r", "c")],
]


@dataclass(frozen=True)
class DescentCase:
    """Rows with a label each, some at inner nodes, and the tree."""

    edges: list
    X: np.ndarray
    y: list
    weight: np.ndarray
    C: float

    @property
    def taxonomy(self):
        return mg.Taxonomy.from_edges(self.edges)

    @property
    def nodes(self):
        """All but the root, a parent before its children."""
        return [child for _, child in self.edges]

    def above(self, node):
        """The ancestors without the root."""
        parent = {child: up for up, child in self.edges}[node]
        return [] if parent == "r" else [parent, *self.above(parent)]

    def pairs(self):
        """A node and one of its ancestors."""
        return [(i, j) for i, j in combinations(self.nodes, 2) if i in self.above(j) or j in self.above(i)]

    def contrasts(self, label):
        """Nodes of the path with their siblings."""
        parent = {child: up for up, child in self.edges}
        path = [label, *self.above(label)]
        return [(i, j) for i in path for j in self.nodes if j != i and parent[j] == parent[i]]

    def K(self, alpha):
        """(6)."""
        n = len(self.nodes)
        K = np.zeros((n, n))
        for i, u in enumerate(self.nodes):
            for j, v in enumerate(self.nodes):
                if u == v:
                    K[i, j] = 1 + sum(u in self.above(w) for w in self.nodes)
                elif u in self.above(v) or v in self.above(u):
                    K[i, j] = alpha
        return K

    def losses(self, W):
        """C sum of weight times the largest violation; W is nodes x features."""
        number = {node: k for k, node in enumerate(self.nodes)}
        total = 0.0
        for x, label, weight in zip(self.X, self.y, self.weight, strict=True):
            H = [1 - (W[number[i]] - W[number[j]]) @ x for i, j in self.contrasts(label)]
            if H:
                total += self.C * weight * max(0.0, *H)
        return total

    def omega(self, W, K):
        """(5)."""
        n = range(len(self.nodes))
        return 0.5 * sum(K[i, j] * abs(W[i] @ W[j]) for i in n for j in n)

    def transfer(self, W, strength=1.0):
        """TRANSFER's penalty, with w_i where w_ii is printed."""
        number = {node: k for k, node in enumerate(self.nodes)}
        total = sum(w @ w for w in W)
        for up, child in self.edges:
            if up != "r":
                total += strength * np.sum((W[number[up]] - W[number[child]]) ** 2)
        return total / 2

    def problem(self, alpha=1.0, K=None):
        """The project's problem, with nodes in the order of `nodes`."""
        examples, descent = read_examples(mg.TransferSVM(self.taxonomy), self.X, self.y, self.weight)
        assert [self.taxonomy.name(v) for v in descent.nodes] == self.nodes
        assert (examples.units.scale, examples.inputs.shape[1]) == (1, self.X.shape[1])
        contrasts = descent_problem(examples, descent, self.C)
        return OrthogonalProblem(contrasts, self.K(alpha) if K is None else K)

    def conic_optimum(self, quadratics):
        """The least of the largest of some penalties |B W|^2 / 2, with the losses, and W."""
        number = {node: k for k, node in enumerate(self.nodes)}
        W, t = cp.Variable((len(self.nodes), self.X.shape[1])), cp.Variable()
        xi = cp.Variable(len(self.X), nonneg=True)
        limits = [cp.sum_squares(B @ W) / 2 <= t for B in quadratics]
        for k, (x, label) in enumerate(zip(self.X, self.y, strict=True)):
            limits += [(W[number[i]] - W[number[j]]) @ x >= 1 - xi[k] for i, j in self.contrasts(label)]
        program = cp.Problem(cp.Minimize(t + self.C * self.weight @ xi), limits)
        program.solve(solver=cp.CLARABEL, tol_gap_abs=1e-8, tol_gap_rel=1e-8, tol_feas=1e-8)
        assert program.status == cp.OPTIMAL
        return program.value, W.value

    def orthogonal_optimum(self, K):
        """(4) by enumeration of signs: Omega is the largest of the quadratic forms that they give."""
        pairs = [(i, j) for i, j in combinations(range(len(K)), 2) if K[i, j]]
        quadratics = []
        for signs in product([-1.0, 1.0], repeat=len(pairs)):
            M = np.diag(K.diagonal())
            for (i, j), sign in zip(pairs, signs, strict=True):
                M[i, j] = M[j, i] = sign * K[i, j]
            quadratics.append(np.linalg.cholesky(M).T)
        return self.conic_optimum(quadratics)


def random_descent_case(seed, tree=None, *, n=14, d=5, C=None):
    """A small problem in which every node but the root is a label, first of all the terminal ones."""
    rng = np.random.default_rng(seed)
    edges = TREES[seed % len(TREES)] if tree is None else tree
    nodes = [child for _, child in edges]
    labels = sorted(nodes, key=lambda node: any(up == node for up, _ in edges))
    y = [labels[k % len(labels)] for k in range(n)]
    common = rng.standard_normal(d)  # so that classifiers of different levels have something in common
    X = rng.standard_normal((n, d)) + np.outer([1.0 if label in "acd" else -1.0 for label in y], common)
    X /= np.linalg.norm(X, axis=1).max()
    C = float(rng.choice([0.3, 2.0, 20.0])) if C is None else C
    return DescentCase(edges, X, y, rng.choice([0.5, 1.0, 2.0], n), C)
