"""Money of a plan that a later start has to carry on: prices that have changed, credits and free hours used so far."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner.actual.drift import Comparison
from planner.actual.planned import PlannedWay
from planner.cost.finance import price_factor
from planner.scenario.paths import with_overrides
from planner.strategy.offers import RentedOffer
from planner.strategy.parameters import Theta
from planner.strategy.problem import Issue, PlanProblem

_MOST_MAINTENANCE = 100.0  # a year over the price, that a scenario takes
_SMALLEST = 1e-6  # of what is left of a credit [USD] or of free hours [h]


def carry_money(document: dict[str, Any], carried: list[Issue], comparison: Comparison, past: int) -> None:
    """Write into a scenario that begins after `past` months what these months leave of credits, free hours and prices.

    Parameters
    ----------
    document : dict
        The scenario, which is changed.
    carried : list of Issue
        To which is added what was carried over.
    comparison : Comparison
        The way that was followed: credits and free hours are used as it has them.
    past : int
        Months before the new plan begins.
    """
    values = {
        **_rental_prices(comparison, past, document.get("offers") or {}),
        **_hardware_prices(comparison, past, document.get("machines") or {}),
    }
    if values:
        carried.append(Issue(code="replan_prices_changed", field="rental", params={"month": past + 1}))
    if providers := _sent_once(comparison.way, past):
        values["rental.upload_gb"] = 0.0
        carried.append(Issue(code="replan_upload", field="rental.upload_gb", params={"providers": providers}))
    free = _free_hours(comparison.way, past)
    for path, (offer, hours) in free.items():
        values[path] = hours
        carried.append(Issue(code="replan_free_hours", field=path, params={"offer": offer, "hours": hours}))
    changed = with_overrides(document, values)
    document.clear()
    document.update(changed)
    _credits(document, carried, comparison.way, past)


def price_then(comparison: Comparison, offer: RentedOffer, past: int) -> float:
    """Price of an instance-hour after so many months, as a scenario writes it. [USD/h]"""
    problem, theta = comparison.way.problem, comparison.way.theta
    return float(theta[0, offer.price_at]) * _rental_factor(problem, theta, past)


def hardware_factor(problem: PlanProblem, theta: Theta, month: int) -> float:
    """Prices of cards and hosts at the end of a month over those of the start. [-]"""
    column = problem.hardware_change_at
    return 1.0 if column is None else float(price_factor(float(theta[0, column]), month))


def _rental_factor(problem: PlanProblem, theta: Theta, past: int) -> float:
    column = problem.rental_change_at
    return 1.0 if column is None else float(price_factor(float(theta[0, column]), past))


def _rental_prices(comparison: Comparison, past: int, quotes: Mapping[str, Any]) -> dict[str, Any]:
    """Prices of all offers of the plan after these months, where they change; without quotes that are left out."""
    if comparison.way.problem.rental_change_at is None:
        return {}
    values: dict[str, Any] = {}
    for offer in comparison.way.problem.offers:
        if offer.id not in quotes and offer.id not in comparison.way.catalog.offers:
            continue
        values[f"offers.{offer.id}.price_usd_per_gpu_h"] = None
        values[f"offers.{offer.id}.price_usd_per_h"] = price_then(comparison, offer, past)
    return values


def _hardware_prices(comparison: Comparison, past: int, kept: Mapping[str, Any]) -> dict[str, Any]:
    """Prices of cards and hosts of types that are kept after these months, where they change, without tax inside.

    What is paid for maintenance keeps its price, so its share of theirs changes.
    """
    problem, theta = comparison.way.problem, comparison.way.theta
    if problem.hardware_change_at is None:
        return {}
    factor, tax = hardware_factor(problem, theta, past), 1.0 + float(theta[0, problem.tax_rate_at])
    values: dict[str, Any] = {}
    for machine in (machine for machine in problem.machines if machine.id in kept):
        where = f"machines.{machine.id}"
        for part, column, included in (
            ("gpu", machine.gpu_price_at, machine.gpu_includes_tax),
            ("host", machine.host_price_at, machine.host_includes_tax),
        ):
            values[f"{where}.{part}_price_usd"] = float(theta[0, column]) * factor / (tax if included else 1.0)
        values[f"{where}.prices_include_tax"] = False
        values[f"{where}.maintenance_share_per_year"] = min(
            float(theta[0, machine.maintenance_at]) / factor, _MOST_MAINTENANCE
        )
    return values


def _sent_once(way: PlannedWay, past: int) -> str:
    """Providers to which the data that is sent once went in these months; empty where there was none."""
    problem = way.problem
    if problem.upload_gb_at is None or not way.theta[0, problem.upload_gb_at]:
        return ""
    return ", ".join(line.resource for line in way.lines if line.kind == "ingress" and any(line.quantity[:past]))


def _free_hours(way: PlannedWay, past: int) -> dict[str, tuple[str, float]]:
    """What is left of the free hours of a whole plan, by path."""
    found = {}
    for offer in way.problem.offers:
        if offer.free_h_total_at is None:
            continue
        lines = [line for line in way.lines if line.kind == "free_hours" and line.resource == offer.id]
        used_h = sum(sum(line.quantity[:past]) for line in lines)
        left_h = _left(float(way.theta[0, offer.free_h_total_at]), used_h)
        found[f"offers.{offer.id}.free_node_hours_total"] = (offer.id, left_h)
    return found


def _left(total: float, used: float) -> float:
    """What is left of an allowance; the last binary digits of one that is used up are nothing."""
    left = total - used
    return left if left > _SMALLEST else 0.0


def _credits(document: dict[str, Any], carried: list[Issue], way: PlannedWay, past: int) -> None:
    """Credits that are still good, with what is left of them."""
    rental = document.get("rental") or {}
    entries = {}
    for credit in way.problem.credits:
        used_usd = sum(sum(line.quantity[:past]) for line in way.lines if line.id.startswith(f"credit.{credit.id}."))
        left_usd = _left(float(way.theta[0, credit.amount_at]), used_usd)
        entry = dict(rental["credits"][credit.id])
        if entry.get("expires_month") is not None and entry["expires_month"] <= past:
            continue
        for key in ("amount", "amount_usd"):
            entry.pop(key, None)
        entry |= {"amount_usd": left_usd, "from_month": max(1, credit.from_month - past)}
        if entry.get("expires_month") is not None:
            entry["expires_month"] -= past
        entries[credit.id] = entry
        params = {"credit": credit.id, "left_usd": left_usd}
        carried.append(Issue(code="replan_credit", field=f"rental.credits.{credit.id}", params=params))
    if rental.get("credits"):
        document["rental"] = {**rental, "credits": entries}
