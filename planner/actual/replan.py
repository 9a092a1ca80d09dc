"""The rest of a plan as a scenario of its own: months, machines, demand, commitments and what was observed."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from planner.actual.carried import ENOUGH, Replan, say
from planner.actual.contracts_then import carry_contracts
from planner.actual.demand_then import Demand, carry_demand, scale_demand
from planner.actual.drift import Comparison, JobDrift, ResourceDrift
from planner.actual.known import later
from planner.actual.later_money import carry_money, price_then
from planner.actual.machines_then import Stock, machines_then
from planner.actual.planned import PlannedRuns, gpu_h_at
from planner.actual.terms_then import carry_terms
from planner.errors import InputError
from planner.scenario.load import check_document
from planner.scenario.machines import MachineInput
from planner.scenario.paths import with_overrides
from planner.scenario.schema import Scenario
from planner.strategy.machines import Machine

_SAME = 1e-9
_FASTEST, _SLOWEST = 1e6, 1e-6  # times the planned speed, between which an observed one is looked for
_STEPS = 200
_LAST_START = "2099-12"
_OF_THE_WHOLE = ("total_usd", "capex_usd", "energy_kwh", "kg_co2e")  # limits on a plan from its first month on


def replan(
    document: Mapping[str, Any],
    scenario: Scenario,
    comparison: Comparison,
    month: int,
    *,
    demand: Demand = "planned",
) -> Replan:
    """The scenario of the months from `month` on.

    Demand of each month stays as planned, or is scaled by what was measured. Machines are those that are owned then,
    with their age and what they would bring by the plan's own prices. Speed, attempts and prices are those observed,
    where enough of them were. Commitments that run go on, paid in every way.

    Parameters
    ----------
    document : mapping
        The scenario as written.
    scenario : Scenario
        The same, checked.
    comparison : Comparison
        What happened.
    month : int
        First month of the new plan, from 2 to the last of the old one.
    demand : Demand
        Whether coming runs are as planned, or times the measured over the planned ones.

    Raises
    ------
    InputError
        The month isn't one of these, or no job has a run left.
    """
    if not 2 <= month <= scenario.horizon_months:
        raise InputError("replan_month", field="--month", value=month, months=scenario.horizon_months)
    found = Replan(month=month, demand=demand, document=copy.deepcopy(dict(document)))
    found.document["name"] = f"{scenario.name}, from month {month}"[:200]
    found.document["horizon_months"] = scenario.horizon_months - month + 1
    if scenario.plan_starts is not None:
        starts = later(scenario.plan_starts, month - 1)
        if starts > _LAST_START:
            raise InputError("replan_starts", field="plan_starts", value=starts, latest=_LAST_START)
        found.document["plan_starts"] = starts
    carry_demand(found, scenario)
    if demand == "measured":
        scale_demand(found, comparison)
    _machines(found, scenario, comparison)
    carry_terms(found, scenario, comparison)
    carry_money(found.document, found.carried, comparison, found.month - 1)
    if whole := [key for key in _OF_THE_WHOLE if getattr(scenario.limits, key) is not None]:
        say(found.left, "replan_limits", "limits", keys=whole)
    for job in comparison.jobs:
        _speed(found, comparison, scenario, job)
    _attempts(found, comparison)
    for resource in comparison.resources:
        _price(found, comparison, resource)
    check_document(found.document)
    return found


def _machines(found: Replan, scenario: Scenario, comparison: Comparison) -> None:
    """Machines that are owned when the new plan begins, and what is ordered after."""
    machines, way = found.document.get("machines") or {}, comparison.way
    for id in set(machines) - {machine.id for machine in way.problem.machines}:  # sold, and none was bought
        _without(found, id)
    for index, stock in enumerate(machines_then(comparison, scenario, found.month)):
        machine = way.problem.machines[index]
        entry, told = machines[machine.id], scenario.machines[machine.id]
        new_cards = (entry.get("owned") or {}).get("upgrade") or {}
        sold = any(each.id == machine.id and each.upgraded is None for each in way.problem.sold)
        _machine(found, entry, machine.id, scenario, stock, sold=sold)
        if machine.upgraded:
            for key in [key for key in entry if key.startswith("gpu_price") or key in ("load_w", "idle_w")]:
                del entry[key]
            entry |= new_cards
            for job in found.document["jobs"].values():  # measured on the old cards
                (job.get("throughput") or {}).pop(machine.id, None)
        _orders(found, entry, told, machine, stock)
        if machine.id in machines:
            carry_contracts(found, comparison, index, entry)
        elif machine.finance is not None or machine.contracts:
            say(found.left, "replan_financing", f"machines.{machine.id}.finance", machine=machine.id)


def _without(found: Replan, id: str) -> None:
    """Leave out a type that the new plan can't have, with the speeds on it."""
    del found.document["machines"][id]
    for name, job in found.document["jobs"].items():
        (job.get("throughput") or {}).pop(id, None)
        for key in ("only_on", "not_on"):
            if id in (job.get(key) or ()):
                job[key] = [place for place in job[key] if place != id]
        if job.get("only_on") == []:
            raise InputError("replan_only_on", field=f"jobs.{name}.only_on", value=id)


def _machine(
    found: Replan, entry: dict[str, Any], id: str, scenario: Scenario, stock: Stock | None, *, sold: bool
) -> None:
    where = f"machines.{id}"
    entry.pop("owned", None)
    told = scenario.machines[id]
    fixed = told.count
    if fixed is not None and told.owned is not None and sold:  # they aren't in the plan any more
        fixed -= told.owned.count
    if stock is None:
        if fixed:
            entry["count"] = fixed
        if told.owned is not None:
            say(found.left, "replan_machines_gone", where, machine=id)
        return
    if fixed is not None:
        entry["count"] = max(fixed, stock.count)
    first, *others = (batch.entry(owned_value_counts=scenario.owned_value_counts) for batch in stock.batches)
    named = {f"batch{number}": batch for number, batch in enumerate(others, start=2)}
    entry["owned"] = {**first, **({"others": named} if named else {})}
    for batch in stock.batches:
        params = {"machine": id, "count": batch.count, "age_months": batch.age_months}
        if batch.comes_after:
            say(found.carried, "replan_machines_coming", where, **params, months=batch.comes_after)
            continue
        say(found.carried, "replan_machines_bought" if stock.billed else "replan_machines", where, **params)
        if batch.replacement_after is not None:
            say(found.carried, "replan_replacement", where, **params, months=batch.replacement_after)


def _orders(found: Replan, entry: dict[str, Any], told: MachineInput, machine: Machine, stock: Stock | None) -> None:
    """Stages after the months that are over."""
    past = found.month - 1
    if stock is not None and stock.unsaid:
        say(found.left, "replan_on_their_way", f"machines.{machine.id}", machine=machine.id, count=stock.unsaid)
    stages = {month - past: count for month, count in (told.purchases or {}).items() if month > past}
    entry.pop("purchases", None)
    there = 0 if stock is None else stock.count
    if stages:
        entry.pop("count", None)
        entry["purchases"] = stages
    elif told.delivery_months >= found.document["horizon_months"]:  # none that is ordered now would be used
        if there:
            entry["count"] = there
        else:
            _without(found, machine.id)
    elif machine.complete_after and machine.fixed_count is not None:
        entry.pop("count", None)
        entry |= {"count": there} if there else {}


def _speed(found: Replan, comparison: Comparison, scenario: Scenario, job: JobDrift) -> None:
    """The observed speed as the job's own on that resource."""
    run, attempts = job.planned, job.counted_attempts
    if run is None or not attempts or job.slower is None or job.job not in found.document["jobs"]:
        return
    where, params = f"jobs.{job.job}.throughput.{job.resource}", {"job": job.job, "resource": job.resource}
    if abs(job.slower) <= _SAME:
        return
    times = {"attempt_h": job.attempt_h, "planned_h": run.attempt_h}
    if attempts < ENOUGH:
        say(found.left, "replan_speed_few", where, **params, attempts=attempts, enough=ENOUGH, **times)
        return
    own_gpus = scenario.jobs[job.job].gpus or comparison.way.gpus_of(job.resource)
    if run.pair.gpus != own_gpus:
        say(found.left, "replan_speed_gpus", where, **params, gpus=run.pair.gpus, own=own_gpus)
        return
    rate = observed_throughput(comparison, run, job.gpu_hours / attempts)
    if rate is None:
        say(found.left, "replan_speed_unlike", where, **params)
        return
    entry = found.document["jobs"][job.job]
    entry["throughput"] = {**(entry.get("throughput") or {}), job.resource: rate}
    code = "replan_speed" if job.attempts is not None else "replan_speed_assumed"
    say(found.carried, code, where, **params, attempts=attempts, **times, throughput=rate)


def observed_throughput(comparison: Comparison, run: PlannedRuns, gpu_h: float) -> float | None:
    """The speed at which one attempt would hold so many GPU-hours; None where no speed explains them.

    Evaluation, checkpoints, start-up and interruptions take their planned part.
    """
    way = comparison.way
    planned = float(way.theta[0, run.pair.throughput_at])
    low, high = planned * _SLOWEST, planned * _FASTEST
    if not gpu_h_at(way.problem, run.pair, way.theta, high) < gpu_h:
        return None
    if not gpu_h_at(way.problem, run.pair, way.theta, low) > gpu_h:
        return None
    for _ in range(_STEPS):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if gpu_h_at(way.problem, run.pair, way.theta, middle) > gpu_h else (low, middle)
    return float((low * high) ** 0.5)


def _attempts(found: Replan, comparison: Comparison) -> None:
    """Observed attempts of a successful run, over all resources of a job."""
    for id in found.document["jobs"]:
        rows = [job for job in comparison.jobs if job.job == id and job.months]
        runs = sum(job.runs for job in rows)
        if not rows or not runs or any(job.attempts is None for job in rows):
            continue
        attempts = sum(job.attempts or 0.0 for job in rows) / runs
        job = next(job for job in comparison.way.problem.jobs if job.id == id)
        planned = float(comparison.way.theta[0, job.attempts_per_run_at])
        if abs(attempts - planned) <= _SAME * planned:
            continue
        where, params = f"jobs.{id}.attempts_per_run", {"job": id, "runs": runs, "attempts": attempts}
        if runs < ENOUGH:
            say(found.left, "replan_attempts_few", where, **params, enough=ENOUGH)
            continue
        found.document["jobs"][id]["attempts_per_run"] = max(attempts, 1.0)
        say(found.carried, "replan_attempts", where, **params, planned=planned)


def _price(found: Replan, comparison: Comparison, resource: ResourceDrift) -> None:
    """Prices that were paid: of rented hours as own values of the offer, of electricity as that of the site."""
    way, paid, planned = comparison.way, resource.price_usd, resource.price_planned_usd
    if paid is None or planned is None or abs(paid - planned) <= _SAME * planned:
        return
    if paid <= 0:
        say(found.left, "replan_price_none", f"offers.{resource.resource}", resource=resource.resource)
        return
    params = {"resource": resource.resource, "price_usd": paid, "planned_usd": planned}
    if resource.price_unit == "kWh":
        site = way.problem.site
        values: dict[str, Any] = {
            "site.electricity_usd_per_kwh": float(way.theta[0, site.electricity_at]) * paid / planned,
            "site.electricity_includes_tax": site.electricity_includes_tax,
        }
        say(found.carried, "replan_price_electricity", "site.electricity_usd_per_kwh", **params)
    else:
        offer = next((offer for offer in way.problem.offers if offer.id == resource.resource), None)
        if offer is None:  # a provider's or the site's bill over several offers
            return
        where = f"offers.{offer.id}"
        price = price_then(comparison, offer, found.month - 1) * paid / planned  # tax inside stays inside
        values = {f"{where}.price_usd_per_gpu_h": None, f"{where}.price_usd_per_h": price}
        say(found.carried, "replan_price", f"{where}.price_usd_per_h", **params)
    found.document = with_overrides(found.document, values)
