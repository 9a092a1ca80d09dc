"""How sure a plan is: what its ways come to when figures with a range fall otherwise, decided once, then luck."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from planner.cost.course import Array
from planner.strategy.allocate import choice_faults
from planner.strategy.draws import SEED, is_assumed
from planner.strategy.futures import Futures, drawn_columns
from planner.strategy.kernel import Choice, kernel
from planner.strategy.meanwhile import taken
from planner.strategy.parameters import Theta
from planner.strategy.problem import PlanProblem
from planner.strategy.sessions import turnaround_h
from planner.units import HALF_CENT_USD

SAMPLES: Final = 16_384
"""With a quarter of them percentiles hardly differ more from seed to seed, but chances that are small do."""
_SLACK: Final = 1e-9
_BLOCK: Final = 1024  # rows of one evaluation; all at once would leave the cache


@dataclass(frozen=True, slots=True, kw_only=True)
class Percentiles:
    """Of all samples, in the unit of what was sampled."""

    p10: float
    p50: float
    p90: float


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
    mean_present_value_usd: float
    works_probability: float  # that all work is done within capacity, quotas, deadlines of an attempt and limits
    fails_probability: Mapping[str, float]  # by what keeps it from working; of several in one sample each counts
    cheapest_probability: float
    places: tuple[PlaceUncertainty, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Uncertainty:
    """All choices under the same samples."""

    samples: int
    varied: int  # figures with a range, if only an assumed one, that some choice rests on
    assumed: tuple[str, ...]  # those of them whose range is assumed
    ways: tuple[WayUncertainty, ...]
    none_works_probability: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampled:
    """Of one choice, by sample."""

    present_value_usd: Array
    tco_usd: Array
    kwh: Array
    kg_co2e: Array
    faults: Mapping[str, npt.NDArray[np.bool_]]
    turnaround_h: Mapping[int, Array]  # by pair in use

    @property
    def works(self) -> npt.NDArray[np.bool_]:
        """Where nothing keeps it from working."""
        return np.asarray(~np.any(list(self.faults.values()), axis=0))

    @property
    def answers(self) -> Array:
        """Everything that percentiles are taken of. [rows, answers]"""
        own = (self.present_value_usd, self.tco_usd, self.kwh, self.kg_co2e)
        return np.stack([*own, *self.turnaround_h.values()], axis=1)


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
    futures = Futures(problem, columns, samples, seed)
    found = {id: sampled(problem, futures.theta, choice) for id, choice in choices.items()}
    cheapest = _shares_of_cheapest(list(found.values()), samples)
    any_works = np.any([one.works for one in found.values()], axis=0) if found else np.zeros(samples, dtype=bool)
    return Uncertainty(
        samples=samples,
        varied=len(columns),
        assumed=tuple(problem.parameters[at].id for at in columns if is_assumed(problem.parameters[at])),
        ways=tuple(
            _way(problem, id, one, spread, float(share.mean()))
            for (id, one), spread, share in zip(found.items(), _percentiles(futures, found), cheapest, strict=True)
        ),
        none_works_probability=float(1.0 - np.mean(any_works)),
    )


def sampled(problem: PlanProblem, theta: Theta, choice: Choice) -> Sampled:
    """A choice of one row, kept under all rows of parameter values."""
    used = [index for index in range(len(problem.pairs)) if choice.routing[0, index] > 0]
    money: list[tuple[Array, Array, Array, Array]] = []
    faults: list[dict[str, npt.NDArray[np.bool_]]] = []
    for start in range(0, len(theta), _BLOCK):
        rows = theta[start : start + _BLOCK]
        kept = taken(problem, choice, np.zeros(len(rows), dtype=np.int64))
        evaluation = kernel(problem, rows, kept)
        money.append((evaluation.present_value_usd, evaluation.tco_usd, evaluation.kwh, evaluation.kg_co2e))
        faults.append(choice_faults(problem, rows, kept))
    value, tco, kwh, kg_co2e = (np.concatenate(parts) for parts in zip(*money, strict=True))
    return Sampled(
        present_value_usd=value,
        tco_usd=tco,
        kwh=kwh,
        kg_co2e=kg_co2e,
        faults={name: np.concatenate([block[name] for block in faults]) for name in faults[0]},
        turnaround_h={index: turnaround_h(problem, problem.pairs[index], theta) for index in used},
    )


def _percentiles(futures: Futures, found: Mapping[str, Sampled]) -> Iterator[list[Percentiles]]:
    """Of the answers of each choice; all are weighed at once."""
    if not found:
        return
    rows = iter(futures.quantiles(np.concatenate([one.answers for one in found.values()], axis=1), (0.1, 0.5, 0.9)))
    for one in found.values():
        spread = [next(rows).tolist() for _ in range(one.answers.shape[1])]
        yield [Percentiles(p10=low, p50=mid, p90=high) for low, mid, high in spread]


def _way(problem: PlanProblem, id: str, one: Sampled, spread: Sequence[Percentiles], cheapest: float) -> WayUncertainty:
    value, tco, kwh, kg_co2e, *hours = spread
    return WayUncertainty(
        id=id,
        present_value_usd=value,
        tco_usd=tco,
        energy_kwh=kwh,
        kg_co2e=kg_co2e,
        mean_present_value_usd=float(one.present_value_usd.mean()),
        works_probability=float(one.works.mean()),
        fails_probability={name: float(rows.mean()) for name, rows in one.faults.items()},
        cheapest_probability=cheapest,
        places=tuple(
            _place(problem, index, sampled_h, mine)
            for (index, sampled_h), mine in zip(one.turnaround_h.items(), hours, strict=True)
        ),
    )


def _place(problem: PlanProblem, index: int, hours: Array, spread: Percentiles) -> PlaceUncertainty:
    pair = problem.pairs[index]
    job = problem.jobs[pair.job]
    limit_h = job.deadline_h
    return PlaceUncertainty(
        job=job.id,
        resource=pair.resource,
        turnaround_h=spread,
        in_time_probability=None if limit_h is None else float(np.mean(hours <= limit_h * (1 + _SLACK))),
    )


def _shares_of_cheapest(found: list[Sampled], samples: int) -> Array:
    """What each choice has of being the cheapest, by sample; equal ones share. [choices, rows]"""
    if not found:
        return np.zeros((0, samples))
    values = np.array([np.where(one.works, one.present_value_usd, np.inf) for one in found])
    lowest = values.min(axis=0)
    among = np.isfinite(values) & (values < lowest + HALF_CENT_USD)
    return np.asarray(among / np.maximum(among.sum(axis=0), 1))
