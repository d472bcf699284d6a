"""The fast twins: plain functions on arrays, compiled by Numba, imported by nobody but the solvers."""
