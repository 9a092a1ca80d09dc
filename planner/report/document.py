"""Result -> the JSON document of a plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from typing import Any

from planner.catalog.records import Catalog
from planner.identity_cache import IdentityCache
from planner.messages import render
from planner.performance.bottleneck import Bottleneck, bottleneck
from planner.performance.estimate import Prediction, Setup
from planner.report.cost_lines import line_entry, month_entries
from planner.report.money_issues import money_issues
from planner.report.owned_options import owned_option_entries
from planner.report.plain import plain
from planner.report.provenance import estimated_share, source_record, used_parameters
from planner.strategy.compare import cash_at_start_usd, payback_month
from planner.strategy.evaluate import JobResult, Result, StrategyResult
from planner.strategy.kernel import Evaluation
from planner.strategy.parameters import Parameter
from planner.strategy.problem import Issue, PlanProblem
from planner.strategy.quotas import quota_uses

SCHEMA_VERSION = 1
_BOTTLENECKS: IdentityCache[dict[str, Any]] = IdentityCache(most=1000)  # plans of a catalog share predictions


def plan_document(result: Result) -> dict[str, Any]:
    """The plan as plain data, in the shape documented in `docs/cli.md`.

    Money is in USD; dividing by `usd_per_unit` of `currency` gives the currency asked for. Unknown figures are
    None, never zero.
    """
    problem, advice = result.problem, result.recommendation
    limits = _bottleneck_entries(result)
    strategies = [strategy_entry(strategy, result, limits) for strategy in result.strategies]
    figures = used_parameters(result)
    cited = {source for parameter in figures for source in parameter.sources}
    cited |= {source for entry in strategies for line in entry["lines"] for source in line["sources"]}
    document = {
        "schema_version": SCHEMA_VERSION,
        "name": problem.name,
        "horizon_months": problem.horizon_months,
        "catalog_as_of": problem.catalog_as_of,
        "planned_on": result.today.isoformat(),
        "currency": {
            "code": problem.currency,
            "usd_per_unit": problem.usd_per_unit,
            "as_of": problem.currency_as_of,
        },
        "recommended": advice.strategy,
        "runner_up": advice.runner_up,
        "reason": reason_sentence(advice.reason_code, advice.reason_params),
        "reason_code": advice.reason_code,
        "reason_params": plain(advice.reason_params),
        "owned_options": owned_option_entries(result),
        "warnings": [issue_entry(issue) for issue in (*result.warnings, *money_issues(result))],
        "strategies": strategies,
        "figures": [_figure_entry(parameter) for parameter in figures],
        "sources": {id: source_record(id, result.catalog, result.evidence) for id in sorted(cited)},
    }
    answer: dict[str, Any] = plain(document)
    return answer


def reason_sentence(code: str, params: Mapping[str, object]) -> str:
    """English sentence of a recommendation's reason, strategies by name."""
    names = {
        f"{key}_name": render(f"strategy_{params[key]}")
        for key in ("strategy", "runner_up")
        if params.get(key) is not None
    }
    return render(code, **params, **names)


def issue_entry(issue: Issue) -> dict[str, Any]:
    """A problem or warning with its English sentence."""
    message = render(issue.code, field=issue.field, **issue.params)
    return {
        "code": issue.code,
        "params": plain(issue.params),
        "field": issue.field,
        "message": f"{issue.where}: {message}" if issue.where else message,
    }


def strategy_entry(strategy: StrategyResult, result: Result, limits: Mapping[int, Any]) -> dict[str, Any]:
    """One strategy; figures are None and lists empty when some job can't run at all."""
    problem, evaluation = result.problem, strategy.evaluation
    head = {
        "id": strategy.id,
        "kind": strategy.kind,
        "feasible": strategy.feasible,
        "problems": [issue_entry(issue) for issue in strategy.allocation.problems],
    }
    if evaluation is None:
        money = ("tco_usd", "present_value_usd", "capex_usd", "residual_usd", "opex_usd", "financing_usd")
        empty = dict.fromkeys(
            (*money, "energy_kwh", "kg_co2e", "estimated_share", "tco_low_usd", "tco_high_usd", "cash_at_start_usd")
        )
        lists = ("paybacks", "lines", "jobs", "machines", "quotas", "months")
        return {**head, **empty, **{name: [] for name in lists}}
    return {
        **head,
        "tco_usd": _first(evaluation.tco_usd),
        "present_value_usd": _first(evaluation.present_value_usd),
        "capex_usd": _first(evaluation.capex_usd),
        "residual_usd": _first(evaluation.residual_usd),
        "opex_usd": _first(evaluation.opex_usd),
        "financing_usd": _first(evaluation.financing_usd),
        "energy_kwh": _first(evaluation.kwh),
        "kg_co2e": _first(evaluation.kg_co2e),
        "estimated_share": estimated_share(evaluation.lines, problem.parameters),
        "tco_low_usd": None if strategy.range is None else strategy.range.tco_low_usd,
        "tco_high_usd": None if strategy.range is None else strategy.range.tco_high_usd,
        "cash_at_start_usd": cash_at_start_usd(evaluation),
        "paybacks": _payback_entries(evaluation, result),
        "lines": [line_entry(line, evaluation, problem.parameters) for line in evaluation.lines],
        "jobs": [_job_entry(job, problem, limits) for job in strategy.jobs],
        "machines": _machine_entries(result, evaluation),
        "quotas": _quota_entries(strategy, result),
        "months": month_entries(evaluation),
    }


def _payback_entries(evaluation: Evaluation, result: Result) -> list[dict[str, Any]]:
    """Against each strategy that takes less cash at the start: when the higher purchase is made up for."""
    return [
        {"against": other.id, "month": payback_month(evaluation, other.evaluation)}
        for other in result.strategies
        if other.evaluation is not None and cash_at_start_usd(other.evaluation) < cash_at_start_usd(evaluation)
    ]


def _bottleneck_entries(result: Result) -> dict[int, dict[str, Any]]:
    """What takes the time, by identity of the prediction: strategies that run a job alike share one."""
    fits = [job.pair.fit for strategy in result.strategies if strategy.evaluation is not None for job in strategy.jobs]
    return {
        id(prediction): _BOTTLENECKS.get(
            (prediction, result.catalog), partial(_bottleneck_entry, setup, prediction, result.catalog)
        )
        for prediction, setup in {id(fit.prediction): (fit.prediction, fit.setup) for fit in fits}.values()
        if setup is not None and prediction is not None
    }


def _bottleneck_entry(setup: Setup, prediction: Prediction, catalog: Catalog) -> dict[str, Any]:
    return bottleneck_entry(bottleneck(setup, prediction, catalog))


def _job_entry(job: JobResult, problem: PlanProblem, limits: Mapping[int, Any]) -> dict[str, Any]:
    pair, fit = job.pair, job.pair.fit
    rate = problem.parameters[pair.throughput_at]
    place = problem.machines[pair.machine] if pair.machine is not None else problem.offers[pair.offer or 0]
    return {
        "id": job.job,
        "workload": job.workload,
        "resource": job.resource,
        "gpu": place.gpu,
        "gpus": pair.gpus,
        "nodes": pair.nodes,
        "rented": pair.offer is not None,
        "runs": job.runs,
        "gpu_hours": job.gpu_hours,
        "throughput": fit.throughput,
        "throughput_low": rate.low,
        "throughput_high": rate.high,
        "throughput_unit": fit.throughput_unit,
        "basis": fit.basis,
        "time_to_train_h": job.attempt_h,
        "low_h": job.attempt_low_h,
        "high_h": job.attempt_high_h,
        "upload_h": job.upload_h,
        "download_h": job.download_h,
        "deadline_h": problem.jobs[pair.job].deadline_h,
        "memory_gb": fit.memory_gb,
        "capacity_gb": None if fit.prediction is None else fit.prediction.capacity_gb,
        "fits": fit.fits,
        "cost_per_run_usd": job.cost.amortised_usd,
        "marginal_cost_per_run_usd": job.cost.marginal_usd,
        "settings": plain(fit.settings),
        "bottleneck": limits.get(id(fit.prediction)),
        "runner_up": None
        if job.runner_up is None
        else {"resource": job.runner_up.resource, "marginal_cost_per_run_usd": job.runner_up.marginal_usd},
        "spot": None if job.spot is None else asdict(job.spot),
        "start_wait": None if job.start_wait is None else asdict(job.start_wait),
        "sources": list(rate.sources),
    }


def bottleneck_entry(found: Bottleneck) -> dict[str, Any]:
    """What takes the most time of a run, and its remedy."""
    return {
        "part": found.part,
        "share": found.share,
        "remedy": found.remedy,
        "settings": {} if found.change is None else dict(found.change.settings),
        "speed_factor": None if found.change is None else found.change.factor,
        "text": found.text,
    }


def _machine_entries(result: Result, evaluation: Evaluation) -> list[dict[str, Any]]:
    problem = result.problem
    return [
        {
            "id": machine.id,
            "gpu": machine.gpu,
            "gpus_per_machine": machine.gpus,
            "count": int(evaluation.machine_count[0, index]),
            "count_by_month": _every_month(
                evaluation.machines_there[0, index].astype(int).tolist(), problem.horizon_months
            ),
            "utilisation": float(evaluation.utilisation[0, index]),
            "load": _every_month(evaluation.load[0, index].tolist(), problem.horizon_months),
            "target_utilisation": float(result.theta[0, machine.target_utilisation_at]),
        }
        for index, machine in enumerate(problem.machines)
        if evaluation.machine_count[0, index] > 0
    ]


def _quota_entries(strategy: StrategyResult, result: Result) -> list[dict[str, Any]]:
    choice = strategy.allocation.choice
    uses = () if choice is None else quota_uses(result.problem, result.theta, choice)
    return [
        {
            "id": use.quota.id,
            "gpus": use.quota.gpus,
            "busiest_gpu_h": use.gpu_h,
            "available_gpu_h": use.available_h,
            "needed_gpus": use.needed,
        }
        for use in uses
    ]


def _every_month(values: list[Any], months: int) -> list[Any]:
    """A value for each month, where one may stand for all."""
    return values * months if len(values) == 1 else values


def _figure_entry(parameter: Parameter) -> dict[str, Any]:
    return {
        "id": parameter.id,
        "value": parameter.value,
        "low": parameter.low,
        "high": parameter.high,
        "unit": parameter.unit,
        "as_of": parameter.as_of,
        "estimate": parameter.estimate,
        "sources": list(parameter.sources),
    }


def _first(values: Any) -> float:
    return float(values[0])
