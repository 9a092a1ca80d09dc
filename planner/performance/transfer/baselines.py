"""What is easily computed instead of a transfer: ratios of data sheets, and the usual efficiency of several cards."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from planner.performance.transfer.fit_links import Pair
from planner.performance.transfer.likeness import Array, Codes
from planner.performance.transfer.singles import Singles
from planner.performance.transfer.software import source_of_stack

_BANDWIDTH, _MATMUL = 0, 1  # columns of a card's features


def ratio_of_tflops(found: Singles, known: Codes, asked: Codes) -> Array:
    """Log speed on the card with the nearest matmul rate, by the ratio of rates."""
    return _scaled(found, known, asked, lambda features: features[:, _MATMUL])


def ratio_of_bandwidth(found: Singles, known: Codes, asked: Codes) -> Array:
    """Log speed on the card with the nearest bandwidth, by the ratio of bandwidths."""
    return _scaled(found, known, asked, lambda features: features[:, _BANDWIDTH])


def nearest_card(found: Singles, known: Codes, asked: Codes) -> Array:
    """Log speed on the card that is nearest by matmul rate and bandwidth together, by the root of both ratios."""
    return _scaled(found, known, asked, lambda features: features[:, [_MATMUL, _BANDWIDTH]])


def _scaled(found: Singles, known: Codes, asked: Codes, rates_of: Callable[[Array], Array]) -> Array:
    """From the same workload, in the same precision and of the same source where there are such rows."""
    places = found.measured.places
    rates = rates_of(places.features).reshape(len(found.rows), -1)
    sources = np.array([source_of_stack(row.stack) for row in found.rows])
    predicted = np.full(len(asked), np.nan)
    for at, row in enumerate(asked):
        like = known[found.measured.workload[known] == found.measured.workload[row]]
        same = places.precision[like] == places.precision[row]
        like = like[same] if same.any() else like
        own = sources[like] == sources[row]
        like = like[own] if own.any() else like
        if len(like):
            distance = np.linalg.norm(rates[like] - rates[row], axis=1)
            nearest = like[distance <= distance.min() + 1e-9]
            gain = (rates[row] - rates[nearest[0]]).mean()
            predicted[at] = np.median(found.measured.log_speed[nearest]) + gain
    return predicted


def perfect(pairs: Sequence[Pair], known: Codes, asked: Codes) -> Array:
    """Log efficiency of cards that don't hinder each other."""
    return np.zeros(len(asked))


def usual_efficiency(pairs: Sequence[Pair], known: Codes, asked: Codes) -> Array:
    """Middle of the log efficiencies of as many cards joined alike."""
    return np.array([_middle(pairs, [at for at in known if _alike(pairs[at], pairs[row])]) for row in asked])


def same_model_elsewhere(pairs: Sequence[Pair], known: Codes, asked: Codes) -> Array:
    """That of the same model on as many cards joined alike; without any, of all models."""
    found = []
    for row in asked:
        alike = [at for at in known if _alike(pairs[at], pairs[row])]
        same = [at for at in alike if pairs[at].workload == pairs[row].workload]
        found.append(_middle(pairs, same or alike))
    return np.array(found)


def log_efficiency(pair: Pair) -> float:
    """Log of measured speed over that of as many single cards."""
    return float(np.log(pair.row.speed / (pair.single * pair.link.gpus)))


def _alike(one: Pair, two: Pair) -> bool:
    return one.kind == two.kind and one.link.gpus == two.link.gpus


def _middle(pairs: Sequence[Pair], rows: Sequence[int]) -> float:
    return float(np.median([log_efficiency(pairs[at]) for at in rows])) if rows else 0.0


CARDS = {"TFLOPS ratio": ratio_of_tflops, "bandwidth ratio": ratio_of_bandwidth, "nearest card": nearest_card}
HOSTS = {"perfect": perfect, "usual": usual_efficiency, "same model": same_model_elsewhere}
