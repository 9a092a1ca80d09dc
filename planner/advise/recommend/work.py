"""The work that is planned for: a model of the catalog that stands for the one asked, and a month's runs of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from planner.advise.recommend.ask import Ask
from planner.advise.recommend.uses import Size, SizeIn, UseIn, UsesFile
from planner.catalog.records import Catalog, Workload
from planner.units import H_PER_DAY, H_PER_MONTH, S_PER_DAY

JOB = "work"
SITES: Mapping[str, str] = {"CNY": "china", "EUR": "germany"}
DEFAULT_SITE = "us-average"
_CLOSE_ENOUGH = 0.9  # a model of 90 M stands for one of 100 M

# Models that stand for others of their size, by parameters: fine-tuned encoders, then language models.
_STAND_INS = (
    "resnet18-imagenet", "resnet50-imagenet", "bert-base-squad", "bert-large-squad", "tinyllama-1.1b", "mpt-3b",
    "llama-2-7b", "llama-2-13b", "mpt-30b", "llama-2-70b", "gpt3-175b", "llama-3.1-405b",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """A month of work. `amount` is one run in the unit of the workload; `peak_per_s` is set for serving alone."""

    workload: Workload
    size: Size
    parameters: float  # as asked or usual
    samples: float
    amount: float
    runs_per_month: float
    attempts_per_run: float
    deadline_h: float | None
    peak_per_s: float | None
    months: int
    site: str
    use: UseIn
    assumed: tuple[str, ...]  # what of parameters, samples, months wasn't asked

    @property
    def serving(self) -> bool:
        """Whether machines are up day and night instead of running jobs."""
        return self.peak_per_s is not None


def work_of(ask: Ask, uses: UsesFile, catalog: Catalog, budget_usd: float) -> Work:
    """What is planned for a question; what it leaves open is what is usual for the use and the budget."""
    usual = _usual(ask, uses, catalog, budget_usd)
    parameters = ask.parameters or float(usual.parameters)
    samples = ask.samples or float(usual.samples)
    workload = stand_in(catalog, parameters)
    size = next(entry.id for entry in uses.sizes if parameters <= entry.up_to_parameters)
    use = uses.use(ask.use)
    peak = use.peak_per_s.get(size)
    if peak is not None:
        amount, runs, limit = peak * S_PER_DAY, H_PER_MONTH / H_PER_DAY, None
    else:
        amount, runs, limit = _amount(workload, samples), use.runs[size], use.deadline_h[size]
    given = {"parameters": ask.parameters, "samples": ask.samples, "months": ask.months}
    return Work(
        workload=workload,
        size=size,
        parameters=parameters,
        samples=samples,
        amount=amount,
        runs_per_month=runs,
        attempts_per_run=use.attempts_per_run,
        deadline_h=limit,
        peak_per_s=peak,
        months=ask.months or use.months,
        site=ask.site or SITES.get(ask.budget.currency, DEFAULT_SITE),
        use=use,
        assumed=tuple(name for name, value in given.items() if value is None),
    )


def stand_in(catalog: Catalog, parameters: float) -> Workload:
    """The smallest stand-in that is at least as large as asked; the largest where none is."""
    known = [catalog.workloads[id] for id in _STAND_INS if id in catalog.workloads]
    known.sort(key=lambda workload: workload.parameters.value)
    large = [workload for workload in known if workload.parameters.value >= _CLOSE_ENOUGH * parameters]
    return large[0] if large else known[-1]


def _usual(ask: Ask, uses: UsesFile, catalog: Catalog, budget_usd: float) -> SizeIn:
    if ask.parameters is not None:
        return next(entry for entry in uses.sizes if ask.parameters <= entry.up_to_parameters)
    budget_cny = budget_usd / catalog.fx["CNY"].usd_per_unit.value * (1 + 1e-9)
    return max(
        (entry for entry in uses.sizes if entry.from_budget_cny <= budget_cny), key=lambda entry: entry.from_budget_cny
    )


def _amount(workload: Workload, samples: float) -> float:
    """Samples of all epochs, or tokens of one pass over the sequences."""
    if workload.unit == "samples":
        return samples * (workload.epochs or 1.0)
    assert workload.transformer is not None
    return samples * workload.transformer.seq_len


def job_document(work: Work, rates: Mapping[str, float] | None = None) -> dict[str, Any]:
    """The job of a scenario; for serving a day of it is a run, at the rate of the peak on every resource named."""
    job: dict[str, Any] = {"workload": work.workload.id}
    if work.workload.unit == "tokens":
        job["tokens"] = work.amount
    else:
        epochs = 1.0 if work.serving else (work.workload.epochs or 1.0)
        job |= {"samples": work.amount / epochs, "epochs": epochs}
    job |= {"runs_per_month": work.runs_per_month, "attempts_per_run": work.attempts_per_run}
    if work.deadline_h is not None:
        job["deadline_h"] = work.deadline_h
    if rates:
        job["throughput"] = dict(rates)
    return job


def scenario_document(
    work: Work,
    *,
    name: str,
    currency: str,
    machines: Mapping[str, Any],
    offers: list[str],
) -> dict[str, Any]:
    """A scenario with the work, some machines and some offers. People's time isn't counted."""
    rates = dict.fromkeys((*machines, *offers), work.peak_per_s) if work.peak_per_s is not None else None
    return {
        "schema_version": 1,
        "name": name,
        "horizon_months": work.months,
        "currency": currency,
        "site": {"id": work.site},
        "staff": {"fte_per_machine": 0, "fte_cloud": 0},
        "jobs": {JOB: job_document(work, rates)},
        "machines": {id: dict(machine) for id, machine in machines.items()},
        "rental": {"offers": list(offers), "idle_tail_s": work.use.idle_tail_s},
    }
