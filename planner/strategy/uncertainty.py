"""How sure a plan is: what its ways come to when figures with a range fall otherwise, decided once, then luck."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from planner.cost.course import Array
from planner.strategy.allocate import choice_within
from planner.strategy.kernel import Choice, kernel
from planner.strategy.meanwhile import taken
from planner.strategy.parameters import Theta
from planner.strategy.problem import PlanProblem
from planner.strategy.ranges import SEED, is_drawn, sampled_theta
from planner.strategy.sessions import turnaround_h
from planner.units import HALF_CENT_USD

SAMPLES: Final = 16_384
"""With a quarter of them, percentiles of single examples differ by up to 2 % from seed to seed."""
_SLACK: Final = 1e-9
_BLOCK: Final = 1024  # rows of one evaluation; all at once would leave the cache


@dataclass(frozen=True, slots=True, kw_only=True)
class Percentiles:
    """Of all samples, in the unit of what was sampled."""

    p10: float
    p50: float
    p90: float

    @classmethod
    def of(cls, values: Array) -> Percentiles:
        """Of values, one a sample."""
        p10, p50, p90 = np.quantile(values, [0.1, 0.5, 0.9])
        return cls(p10=float(p10), p50=float(p50), p90=float(p90))


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceUncertainty:
    """A job at a place it uses: time of one attempt without waiting for machines, and whether that keeps its limit."""

    job: str
    resource: str
    turnaround_h: Percentiles
    in_time_probability: float | None  # None without a limit


@dataclass(frozen=True, slots=True, kw_only=True)
class WayUncertainty:
    """One choice, kept in all samples."""

    id: str
    present_value_usd: Percentiles
    tco_usd: Percentiles
    energy_kwh: Percentiles
    kg_co2e: Percentiles
    works_probability: float  # that all work is done within capacity, quotas and limits on an attempt
    cheapest_probability: float
    places: tuple[PlaceUncertainty, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Uncertainty:
    """All choices under the same samples."""

    samples: int
    varied: int  # figures with a range that some choice rests on
    ways: tuple[WayUncertainty, ...]
    none_works_probability: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sampled:
    """Of one choice, by sample."""

    present_value_usd: Array
    tco_usd: Array
    kwh: Array
    kg_co2e: Array
    works: npt.NDArray[np.bool_]
    turnaround_h: Mapping[int, Array]  # by pair in use


def uncertainty(
    problem: PlanProblem, choices: Mapping[str, Choice], *, samples: int = SAMPLES, seed: int = SEED
) -> Uncertainty:
    """Sample every figure that has a range, the same samples for all choices.

    Parameters
    ----------
    problem : PlanProblem
        The resolved question.
    choices : mapping
        Choices of one row by name, kept as they are in all samples.
    samples : int
        A power of two suits the sequence.
    seed : int
        Scrambles it.

    Returns
    -------
    Uncertainty
        In a sample the cheapest is the choice with the lowest present value of those that work in it; equal ones
        (to half a cent) share it. The probabilities of being cheapest, and that none works, add up to 1.

    References
    ----------
    .. [1] A. B. Owen, "Scrambled Net Variance for Integrals of Smooth Functions," Annals of Statistics 25(4), 1997.
    """
    columns = drawn_columns(problem, choices.values())
    theta = sampled_theta(problem, samples, seed, columns)
    found = {id: _sampled(problem, theta, choice) for id, choice in choices.items()}
    cheapest = _shares_of_cheapest(list(found.values()), samples)
    ways = tuple(
        WayUncertainty(
            id=id,
            present_value_usd=Percentiles.of(one.present_value_usd),
            tco_usd=Percentiles.of(one.tco_usd),
            energy_kwh=Percentiles.of(one.kwh),
            kg_co2e=Percentiles.of(one.kg_co2e),
            works_probability=float(one.works.mean()),
            cheapest_probability=float(share.mean()),
            places=_places(problem, one),
        )
        for (id, one), share in zip(found.items(), cheapest, strict=True)
    )
    any_works = np.any([one.works for one in found.values()], axis=0) if found else np.zeros(samples, dtype=bool)
    return Uncertainty(
        samples=samples, varied=len(columns), ways=ways, none_works_probability=float(1.0 - np.mean(any_works))
    )


def drawn_columns(problem: PlanProblem, choices: Iterable[Choice]) -> tuple[int, ...]:
    """Columns of the parameters with a range that some choice rests on, those that move one most first.

    What counts is how far present value, energy and emissions move between both ends, in shares of themselves.
    """
    ranged = [column for column, parameter in enumerate(problem.parameters) if is_drawn(parameter)]
    theta = problem.theta().repeat(2 * len(ranged) + 1, axis=0)
    for at, column in enumerate(ranged):
        parameter = problem.parameters[column]
        theta[2 * at + 1, column] = parameter.value if parameter.low is None else parameter.low
        theta[2 * at + 2, column] = parameter.value if parameter.high is None else parameter.high
    moved = np.zeros(len(ranged))
    for choice in choices:
        kept = taken(problem, choice, np.zeros(len(theta), dtype=np.int64))
        found = kernel(problem, theta, kept)
        hours = [turnaround_h(problem, pair, theta) for at, pair in enumerate(problem.pairs) if choice.routing[0, at]]
        for values in (found.present_value_usd, found.kwh, found.kg_co2e, *hours):
            ends = np.abs(values[1:] - values[0]).reshape(-1, 2).max(axis=1)
            moved = np.maximum(moved, ends / max(abs(values[0]), _SLACK))
    order = np.argsort(-moved, kind="stable")
    return tuple(ranged[at] for at in order.tolist() if moved[at] > 0)


def _sampled(problem: PlanProblem, theta: Theta, choice: Choice) -> _Sampled:
    used = [index for index in range(len(problem.pairs)) if choice.routing[0, index] > 0]
    money: list[tuple[Array, Array, Array, Array]] = []
    works: list[npt.NDArray[np.bool_]] = []
    for start in range(0, len(theta), _BLOCK):
        rows = theta[start : start + _BLOCK]
        kept = taken(problem, choice, np.zeros(len(rows), dtype=np.int64))
        evaluation = kernel(problem, rows, kept)
        money.append((evaluation.present_value_usd, evaluation.tco_usd, evaluation.kwh, evaluation.kg_co2e))
        works.append(choice_within(problem, rows, kept))
    value, tco, kwh, kg_co2e = (np.concatenate(parts) for parts in zip(*money, strict=True))
    return _Sampled(
        present_value_usd=value,
        tco_usd=tco,
        kwh=kwh,
        kg_co2e=kg_co2e,
        works=np.concatenate(works),
        turnaround_h={index: turnaround_h(problem, problem.pairs[index], theta) for index in used},
    )


def _shares_of_cheapest(found: list[_Sampled], samples: int) -> Array:
    """What each choice has of being the cheapest, by sample; equal ones share. [choices, rows]"""
    if not found:
        return np.zeros((0, samples))
    values = np.array([np.where(one.works, one.present_value_usd, np.inf) for one in found])
    lowest = values.min(axis=0)
    among = np.isfinite(values) & (values < lowest + HALF_CENT_USD)
    return np.asarray(among / np.maximum(among.sum(axis=0), 1))


def _places(problem: PlanProblem, one: _Sampled) -> tuple[PlaceUncertainty, ...]:
    places = []
    for index, hours in one.turnaround_h.items():
        pair = problem.pairs[index]
        job = problem.jobs[pair.job]
        limit_h = job.deadline_h
        places.append(
            PlaceUncertainty(
                job=job.id,
                resource=pair.resource,
                turnaround_h=Percentiles.of(hours),
                in_time_probability=None if limit_h is None else float(np.mean(hours <= limit_h * (1 + _SLACK))),
            )
        )
    return tuple(places)
