"""Data that moves to and from rented machines: its amounts, how long it takes, and what is said about that."""

from __future__ import annotations

from planner.performance.duration import transfer_s
from planner.scenario.jobs import JobInput
from planner.scenario.schema import Scenario
from planner.strategy.parameters import ParameterTable, given
from planner.strategy.problem import Issue, Transfer
from planner.units import S_PER_H


def amount_column(path: str, amount_gb: float, table: ParameterTable) -> int | None:
    """Column of an amount of data; None where there is none."""
    return table.add(path, given(amount_gb), "GB") if amount_gb > 0 else None


def resolve_transfer(id: str, entry: JobInput, scenario: Scenario, table: ParameterTable) -> Transfer | None:
    """How long the data of one run of a job moves; None where no rate is given, or nothing moves."""
    rate = scenario.rental.transfer_mbit_per_s
    if rate is None or not (entry.upload_gb_per_run or entry.egress_gb_per_run):
        return None
    return Transfer(
        mbit_per_s_at=table.add("rental.transfer_mbit_per_s", given(rate), "Mbit/s"),
        upload_gb_at=amount_column(f"jobs.{id}.upload_gb_per_run", entry.upload_gb_per_run, table),
        download_gb_at=amount_column(f"jobs.{id}.egress_gb_per_run", entry.egress_gb_per_run, table),
        billed=scenario.rental.upload_while_billed,
    )


def uploads(scenario: Scenario) -> bool:
    """Whether anything is sent to a provider."""
    return scenario.rental.upload_gb > 0 or any(job.upload_gb_per_run > 0 for job in scenario.jobs.values())


def transfer_issues(scenario: Scenario) -> list[Issue]:
    """How long the first upload takes, before any work; or that no time is counted for want of a rate."""
    rental, field = scenario.rental, "rental.transfer_mbit_per_s"
    if rental.transfer_mbit_per_s is None:
        return [Issue(code="transfer_without_rate", field=field, params={})] if uploads(scenario) else []
    if not rental.upload_gb:
        return []
    hours = float(transfer_s(rental.upload_gb, rental.transfer_mbit_per_s)) / S_PER_H
    return [Issue(code="first_upload", field="rental.upload_gb", params={"gb": rental.upload_gb, "hours": hours})]
