"""What each job of a plan could run on, with the speed there and what that speed rests on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from planner.catalog.source_ids import MEASUREMENTS
from planner.performance.evidence import OWN
from planner.performance.measured import names_of
from planner.strategy.evaluate import Result
from planner.strategy.parameters import Parameter
from planner.strategy.problem import Pair

CandidateBasis = Literal["given", "own", "measured", "transferred", "estimated"]
"""Where a speed is from, the first that there is: said in the scenario, measured by the user, ..."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A job on GPUs of one kind and number; low to high is an 80 % interval of the speed of all of them."""

    job: str
    workload: str
    models: frozenset[str]  # names of the model in tables of measurements, in lower case
    gpu: str
    gpus: int
    basis: CandidateBasis
    throughput: float
    low: float | None
    high: float | None
    unit: str
    rows: tuple[str, ...]  # ids of the measurements it rests on
    moved_by_own: bool  # whether the user's measurements of other configurations moved a prediction
    ways: tuple[str, ...]  # kinds of the strategies that use it


def candidates(result: Result) -> tuple[Candidate, ...]:
    """Every kind and number of GPUs on which a job may run, those that a strategy uses first.

    Offers and machines with the same GPUs at the same speed are one candidate.
    """
    problem = result.problem
    ways: dict[int, dict[str, None]] = {}
    for strategy in result.strategies:
        for job in strategy.jobs:
            ways.setdefault(id(job.pair), {})[strategy.kind] = None
    found: dict[tuple[object, ...], Candidate] = {}
    for pair in problem.pairs:
        if pair.feasible:
            one = _candidate(pair, result, tuple(ways.get(id(pair), ())))
            key = (one.job, one.gpu, one.gpus, one.basis, one.throughput)
            used = (*found[key].ways, *one.ways) if key in found else one.ways
            found[key] = replace(one, ways=tuple(dict.fromkeys(used)))
    order = {job.id: at for at, job in enumerate(problem.jobs)}
    return tuple(sorted(found.values(), key=lambda one: (order[one.job], not one.ways, one.gpu, one.gpus)))


def _candidate(pair: Pair, result: Result, ways: tuple[str, ...]) -> Candidate:
    problem, fit = result.problem, pair.fit
    rate, job = problem.parameters[pair.throughput_at], problem.jobs[pair.job]
    rows = rows_of(rate)
    place = problem.machines[pair.machine] if pair.machine is not None else problem.offers[pair.offer or 0]
    return Candidate(
        job=job.id,
        workload=job.workload,
        models=frozenset((job.workload,)) if fit.setup is None else names_of(fit.setup.workload),
        gpu=place.gpu,
        gpus=pair.gpus,
        basis=basis_of(pair, rows),
        moved_by_own=_has_own(rows) and pair.fit.basis != "measured",
        throughput=fit.throughput,
        low=rate.low,
        high=rate.high,
        unit=fit.throughput_unit,
        rows=rows,
        ways=ways,
    )


def rows_of(rate: Parameter) -> tuple[str, ...]:
    """Ids of the measurements that a speed rests on."""
    return tuple(source.removeprefix(MEASUREMENTS) for source in rate.sources if source.startswith(MEASUREMENTS))


def basis_of(pair: Pair, rows: tuple[str, ...]) -> CandidateBasis:
    """Where the speed of a pair is from; `rows` are the measurements it rests on."""
    if pair.fit.prediction is None:
        return "given"
    basis = pair.fit.prediction.basis
    return "own" if basis == "measured" and _has_own(rows) else basis


def _has_own(rows: tuple[str, ...]) -> bool:
    return any(row.startswith(OWN) for row in rows)
