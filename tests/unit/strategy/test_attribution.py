"""Shared lines go to jobs by busy GPU-hours: of each month, or of the whole horizon for what is paid once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from planner.strategy.attribution import Attribution
from planner.strategy.evaluate import StrategyResult
from tests.planning import by_id, document, small_plan, solve, strategy


def two_jobs(overrides: dict[str, Any] | None = None, **second: Any) -> dict[str, Any]:
    """Job `work` with 100 h a month, and job `more` like it or with other values."""
    plan = small_plan(overrides)
    plan["jobs"]["more"] = {**plan["jobs"]["work"], **second}
    return plan


def shares_of(plan: dict[str, Any], kind: str = "local") -> tuple[Attribution, StrategyResult]:
    found = strategy(solve(plan), kind)  # type: ignore[arg-type]
    assert found.attribution is not None
    return found.attribution, found


def test_a_month_is_paid_by_those_who_work_in_it_idle_time_too() -> None:
    shares, _ = shares_of(two_jobs(runs_by_month={2: 300, 3: 0}))
    shared = 0.1 * (200 * 0.6 + 530 * 0.1)
    assert shares.amount_usd[:, 5] == pytest.approx([shared / 2, shared / 2, 0])  # 100 h each
    busy = 0.1 * (400 * 0.6 + 330 * 0.1)
    assert shares.amount_usd[:, 2] == pytest.approx([busy / 4, busy * 3 / 4, 0])  # 100 h and 300 h
    assert shares.amount_usd[:, 3] == pytest.approx([0.1 * (100 * 0.6 + 630 * 0.1), 0, 0])
    assert shares.kwh[:, 2] == pytest.approx([273 / 4, 273 * 3 / 4, 0])
    assert shares.kg_co2e[:, 2] == pytest.approx([0.4 * 273 / 4, 0.4 * 273 * 3 / 4, 0])


def test_a_purchase_and_a_resale_are_paid_by_the_hours_of_the_whole_horizon() -> None:
    shares, _ = shares_of(two_jobs(runs_by_month=dict.fromkeys(range(2, 13), 0)))
    hours = np.array([1200, 100, 0]) / 1300
    assert shares.amount_usd[:, 0] == pytest.approx(1500 * hours)
    assert shares.amount_usd[:, 12] == pytest.approx(-625 * hours + [0.1 * (100 * 0.6 + 630 * 0.1), 0, 0])


def test_a_month_without_work_is_paid_by_the_hours_of_the_whole_horizon() -> None:
    plan = two_jobs({"jobs.work.runs_by_month": {4: 0}}, runs_per_month=50, runs_by_month={4: 0})
    shares, _ = shares_of(plan)
    assert shares.amount_usd[:, 4] == pytest.approx(np.array([2, 1, 0]) / 3 * 0.1 * 73)
    assert shares.runs[:, 3].tolist() == [0, 0]


def with_spare(name: str = "spare") -> dict[str, Any]:
    """A machine of 1,500 USD that no job would choose."""
    plan = small_plan({"jobs.work.throughput": {"own": 1, "rented": 1, name: 1e-3}})
    plan["machines"][name] = dict(plan["machines"]["own"])
    return plan


def test_a_machine_called_like_a_provider_in_use_is_still_nobodys() -> None:
    plan = with_spare("house")
    plan["offers"]["rented"]["provider"] = "house"
    plan["jobs"]["work"]["class"] = "key"
    plan["rental"] |= {"storage_gb": 100, "storage_usd_per_gb_month": 0.1}
    shares, found = shares_of(plan, "hybrid")
    assert [job.resource for job in found.jobs] == ["rented"]
    assert shares.amount_usd[:, 1] == pytest.approx([200 + 10, 2 * 7.3])


def test_machines_that_no_job_uses_are_nobodys() -> None:
    shares, found = shares_of(with_spare())
    assert [job.resource for job in found.jobs] == ["own"]
    assert shares.amount_usd[-1, [0, 1, 12]] == pytest.approx([1500, 7.3, 7.3 - 625])
    assert shares.kwh[-1, 1:] == pytest.approx(73)
    assert found.jobs[0].cost.amortised_usd * 1200 == pytest.approx(found.tco_usd / 2 + 12 * 5 / 2, rel=1e-9)


STAFF = {"cost_usd_per_fte_year": 1200, "fte_per_machine": 0, "fte_cloud": 0.3}  # 30 USD a month where one rents


def test_lines_of_the_site_and_the_cloud_are_shared_by_all_who_are_there() -> None:
    plan = two_jobs({"site.space_usd_per_month": 90, "staff": STAFF}, runs_per_month=50)
    own, _ = shares_of(plan)
    assert own.amount_usd[:, 1] == pytest.approx(np.array([2, 1, 0]) / 3 * (90 + 0.1 * (150 * 0.6 + 580 * 0.1)))
    rented, _ = shares_of(plan, "cloud")
    assert rented.amount_usd[:, 1] == pytest.approx([200 + 20, 100 + 10, 0])


def test_tax_stands_with_what_it_is_on() -> None:
    plan = two_jobs({"tax.rate": 0.5, "staff": STAFF})
    rented, found = shares_of(plan, "cloud")
    assert rented.amount_usd[:, 1] == pytest.approx([1.5 * 200 + 15, 1.5 * 200 + 15, 0])  # wages aren't taxed
    assert rented.amount_usd.sum() == pytest.approx(found.tco_usd)
    recovered, _ = shares_of({**plan, "tax": {"rate": 0.5, "recoverable": True}}, "cloud")
    assert recovered.amount_usd[:, 1] == pytest.approx([215, 215, 0])


def test_egress_goes_by_the_gigabytes_of_its_month() -> None:
    more = {"runs_by_month": {2: 0}, "egress_gb_per_run": 2}
    plan = two_jobs({"jobs.work.egress_gb_per_run": 1, "rental.egress_usd_per_gb": 1, "rental.storage_gb": 0}, **more)
    shares, found = shares_of(plan, "cloud")
    assert found.evaluation is not None
    assert "egress" in {line.kind for line in found.evaluation.lines}
    free = plan_free_gb(found)
    assert shares.amount_usd[:, 1] == pytest.approx([200 + (300 - free) / 3, 200 + (300 - free) * 2 / 3, 0])
    assert shares.amount_usd[:, 2] == pytest.approx([200 + 100 - free, 0, 0])


def plan_free_gb(found: StrategyResult) -> float:
    """The free allowance of a month, from the line of month 1."""
    assert found.evaluation is not None
    line = next(line for line in found.evaluation.lines if line.kind == "egress")
    return 300 - float(line.quantity[0, 1])


def committed(payment: str, months: int) -> tuple[Attribution, Any, Any]:
    """640 runs an hour each month, 800 in the ninth; the other job runs in the first month alone, 90 times."""
    terms = {"payment": payment, "renew": months > 12}
    plan = document("committed-node", {"horizon_months": months, "rental.commitments.reserved": terms})
    alone = dict.fromkeys(range(2, months + 1), 0)
    plan["jobs"]["once"] = {**plan["jobs"]["train"], "runs_per_month": 90, "runs_by_month": alone}
    shares, found = shares_of(plan, "cloud")
    assert shares.amount_usd.sum() == pytest.approx(found.tco_usd)
    paid = by_id(found.evaluation)["commitment.reserved"].amount[0]  # type: ignore[arg-type]
    hours = 640 * (months - 1) + 800
    return shares, paid, np.array([hours, 90, 0]) / (hours + 90)


def test_a_term_outlasts_the_horizon_for_those_who_used_it() -> None:
    shares, paid, whole = committed("monthly", 9)
    assert shares.amount_usd[:, 1] == pytest.approx(np.array([640, 90, 0]) / 730 * paid[1])
    assert shares.amount_usd[:, 2] == pytest.approx([paid[2], 0, 0])
    assert shares.amount_usd[:, 12] == pytest.approx(whole * paid[12])
    assert shares.kwh[1, 1] > 0
    assert not shares.kwh[1, 2:].any()


def test_a_term_upfront_is_paid_by_the_hours_of_the_whole_horizon_and_its_energy_by_those_of_the_month() -> None:
    shares, paid, whole = committed("upfront", 20)
    assert paid[[0, 12]] == pytest.approx(12 * 730 * 62.9248)
    assert shares.amount_usd[:, 0] == pytest.approx(whole * paid[0])
    assert shares.amount_usd[:, 12] == pytest.approx(whole * paid[12])
    assert not shares.kwh[1, 2:].any()
