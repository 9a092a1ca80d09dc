"""Percentiles of answers from few futures, each weighed by how often such a one comes among many more.

A formula fitted to the answers stands in for them in the many: it only decides weights, so that its faults make
percentiles less steady, never wrong.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from planner.cost.course import Array

_PAIRED: Final = 10  # inputs that move answers most, whose products count
_LEAST_PER_STRATUM: Final = 16
_LEAST_PER_TERM: Final = 8
_NEAR: Final = 1e-6
_RIDGE: Final = 1e-8


class Weigher:
    """Weights of futures for any answer.

    Parameters
    ----------
    few, many : array, shape [rows, inputs]
        Values of the inputs in futures that have answers, and in those that don't; the most moving inputs first.
    """

    def __init__(self, few: Array, many: Array) -> None:
        self._strata = len(few) // _LEAST_PER_STRATUM
        self._sums = _Formula(few, many)
        positive = (few.min(axis=0) > 0) & (many.min(axis=0) > 0)
        self._products = _Formula(*(np.where(positive, np.log(np.where(positive, x, 1.0)), x) for x in (few, many)))

    def weights(self, answers: Array) -> Array:
        """Weights, adding up to 1, for each answer. [rows, answers]

        Notes
        -----
        Futures are put into strata by the fitted formula, each with the same share of the many. Within a stratum all
        weigh the same.

        References
        ----------
        .. [1] P. Glasserman, "Monte Carlo Methods in Financial Engineering," 2003, sec. 4.3.3 (poststratification).
        """
        positive = (answers > 0).all(axis=0)
        logs = np.log(np.where(positive, answers, 1.0))
        sums, products = self._sums.fitted(answers), self._products.fitted(logs)
        multiplied = positive & (products.missed < sums.missed)
        weights = np.empty(answers.shape)
        for formula, fit, which in ((self._sums, sums, ~multiplied), (self._products, products, multiplied)):
            at = np.flatnonzero(which)
            theirs = np.sort(formula.among_many(fit.coefficients[:, at]), axis=0)
            for place, answer in enumerate(at):
                weights[:, answer] = self._one(fit.values[:, answer], theirs[:, place])
        return weights

    def _one(self, mine: Array, theirs: Array) -> Array:
        """Weights by the formula's values in the few futures and, sorted, in the many."""
        near = (
            _NEAR * (theirs[-1] - theirs[0] + np.abs(theirs).max()) + np.finfo(float).tiny
        )  # the same but for rounding
        edges = np.quantile(theirs, np.linspace(0, 1, self._strata + 1)[1:-1]) + near
        edges = edges[np.diff(edges, prepend=-np.inf) > 2 * near]
        stratum = np.searchsorted(edges, mine)
        counts = np.bincount(stratum, minlength=len(edges) + 1)
        shares = np.diff(np.searchsorted(theirs, edges), prepend=0, append=len(theirs)) / len(theirs)
        weights = shares[stratum] / counts[stratum]
        return np.asarray(weights / weights.sum())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fit:
    """Of several answers: coefficients, values in the few futures, and the share of variance that they miss."""

    coefficients: Array
    values: Array
    missed: Array


class _Formula:
    """A polynomial of the inputs, or of their logarithms, fitted to answers."""

    def __init__(self, few: Array, many: Array) -> None:
        self._centre, self._scale = few.mean(axis=0), np.maximum(few.std(axis=0), 1e-12)
        self._few, self._many = self._terms(few), self._terms(many, np.float32)
        self._square = self._few.T @ self._few
        self._square[np.diag_indices_from(self._square)] += _RIDGE * len(few)  # terms may be all but the same

    def fitted(self, answers: Array) -> _Fit:
        """The formula for each answer."""
        coefficients = np.asarray(np.linalg.solve(self._square, self._few.T @ answers), dtype=np.float64)
        values = self._few @ coefficients
        missed = (answers - values).var(axis=0) / np.maximum(answers.var(axis=0), 1e-300)
        return _Fit(coefficients=coefficients, values=values, missed=missed)

    def among_many(self, coefficients: Array) -> Array:
        """Values in the many futures. [rows, answers]"""
        _, exponent = np.frexp(np.abs(coefficients).max(axis=0))  # answers may be beyond what 32 bits hold
        found = self._many @ np.ldexp(coefficients, -exponent).astype(np.float32)
        return np.asarray(np.ldexp(found.astype(np.float64), exponent))

    def _terms(self, inputs: Array, dtype: type[np.floating[Any]] = np.float64) -> Array:
        """A constant, each input, squares and products of the first ones. [rows, terms]"""
        standing = ((inputs - self._centre) / self._scale).astype(dtype)
        first = standing[:, :_PAIRED]
        pairs = [first[:, at:] * first[:, [at]] for at in range(first.shape[1])]
        return np.concatenate([np.ones((len(standing), 1), dtype=dtype), standing, *pairs], axis=1)


def enough(few: int, inputs: int) -> bool:
    """Whether futures are enough to fit a formula to: of fewer all weigh the same."""
    paired = min(inputs, _PAIRED)
    return few >= _LEAST_PER_TERM * (1 + inputs + paired * (paired + 1) // 2)


def weighted_quantiles(values: Array, weights: Array, at: Array) -> Array:
    """Quantiles of weighted values: each stands for the middle of its weight, and between two a line is drawn."""
    order = np.argsort(values, kind="stable")
    middle = np.cumsum(weights[order]) - weights[order] / 2
    return np.asarray(np.interp(at, middle, values[order]))
