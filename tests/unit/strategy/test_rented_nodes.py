"""Rented nodes: sessions, whole nodes, energy of what is occupied, storage, egress, people."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.planning import amounts, by_id, costed, quantity, small_plan, solve, strategy

RENTAL = "rental.work.rented"


def rented(overrides: dict[str, Any] | None = None) -> dict[str, Any]:
    return small_plan(overrides)


def node_hours(overrides: dict[str, Any]) -> float:
    return quantity(by_id(costed(small_plan(overrides), "cloud"))[RENTAL])


def test_totals_by_hand() -> None:
    found = costed(small_plan(), "cloud")
    assert amounts(found) == pytest.approx({RENTAL: 2400})
    assert (found.capex_usd[0], found.residual_usd[0]) == (0, 0)
    assert found.kwh[0] == pytest.approx(1200 * 0.6)
    assert found.kg_co2e[0] == pytest.approx(1200 * 0.6 * 0.4)
    assert by_id(found)[RENTAL].quantity[0, 0] == 0


@pytest.mark.parametrize(
    ("overrides", "hours"),
    [
        ({}, 1200),
        ({"offers.rented.startup_s": 900}, 1200 * 1.25),
        ({"rental.idle_tail_s": 1800}, 1200 * 1.5),
        ({"offers.rented.billing_unit_s": 3600, "offers.rented.startup_s": 1}, 1200 * 2),
        ({"offers.rented.minimum_s": 36_000}, 1200 * 10),
        ({"jobs.work.checkpoints": 6, "jobs.work.checkpoint_s": 300}, 1200 * 1.5),
        ({"jobs.work.attempts_per_run": 1.5}, 1200 * 1.5),
        ({"jobs.work.runs_per_month": 0.75}, 12 * 0.75),  # expected counts stay fractions
        ({"jobs.work.runs_per_month": 0.75, "offers.rented.billing_unit_s": 5400}, 12 * 0.75 * 1.5),
    ],
)
def test_sessions(overrides: dict[str, Any], hours: float) -> None:
    assert node_hours(overrides) == pytest.approx(hours)


@pytest.mark.parametrize(("gpus", "nodes"), [(1, 1), (8, 1), (9, 2), (16, 2), (24, 3)])
def test_whole_nodes_are_paid(gpus: int, nodes: int) -> None:
    plan = {"offers.rented.gpu": "a100-sxm4-80gb", "offers.rented.gpu_count": 8, "jobs.work.gpus": gpus}
    plan = small_plan({**plan, "jobs.work.throughput": {"rented": 1}})
    plan["machines"] = {}
    assert quantity(by_id(costed(plan, "cloud"))[RENTAL]) == pytest.approx(1200 * nodes)


def test_energy_is_of_the_occupied_nodes_not_of_the_bill() -> None:
    """12 GPUs on 2 nodes of 8: work at 12/16 of the way to load, start-up and tail idle, nothing for rounding up."""
    plan = small_plan(
        {
            "offers.rented.gpu": "a100-sxm4-80gb",
            "offers.rented.gpu_count": 8,
            "offers.rented.load_w": 4000,
            "offers.rented.idle_w": 1000,
            "offers.rented.pue": 1.2,
            "offers.rented.startup_s": 900,
            "offers.rented.billing_unit_s": 36_000,
            "rental.idle_tail_s": 450,
            "jobs.work.gpus": 12,
            "jobs.work.checkpoints": 2,
            "jobs.work.checkpoint_s": 360,
            "jobs.work.throughput": {"rented": 1},
        }
    )
    plan["machines"] = {}
    found = costed(plan, "cloud")
    session_kwh = 2 * (1.2 * 3.25 + 0.375 * 1.0) * 1.2
    assert found.kwh[0] == pytest.approx(1200 * session_kwh)
    assert found.kg_co2e[0] == pytest.approx(1200 * session_kwh * 0.4)
    assert quantity(by_id(found)[RENTAL]) == pytest.approx(1200 * 2 * 10)


def test_energy_of_rented_nodes_has_no_line_of_its_own() -> None:
    found = costed(small_plan({"site.electricity_usd_per_kwh": 99}), "cloud")
    assert found.tco_usd[0] == pytest.approx(2400)


def test_storage_is_paid_in_every_month_and_people_too() -> None:
    plan = small_plan(
        {
            "rental.storage_gb": 100,
            "rental.storage_usd_per_gb_month": 0.1,
            "staff.cost_usd_per_fte_year": 60_000,
            "staff.fte_cloud": 0.02,
            "jobs.work.runs_per_month": 0.01,
        }
    )
    lines = by_id(costed(plan, "cloud"))
    assert lines["storage.rented"].amount[0, 1:] == pytest.approx(np.full(12, 10))
    assert lines["staff_cloud"].amount[0, 1:] == pytest.approx(np.full(12, 100))
    assert not {"storage.rented", "staff_cloud"} & set(by_id(costed(plan, "local")))


@pytest.mark.parametrize(("free_gb", "billed_gb"), [(0, 12 * 200), (150, 12 * 50), (200, 0), (500, 0)])
def test_egress_beyond_the_monthly_allowance(free_gb: float, billed_gb: float) -> None:
    plan = small_plan(
        {
            "jobs.work.egress_gb_per_run": 2,
            "jobs.work.attempts_per_run": 3,  # only successful runs send anything
            "rental.egress_usd_per_gb": 0.1,
            "rental.free_egress_gb_per_month": free_gb,
        }
    )
    assert amounts(costed(plan, "cloud")).get("egress.rented", 0) == pytest.approx(0.1 * billed_gb)


def two_offers(provider: str) -> dict[str, Any]:
    """A second job on a second offer, each job sending 60 GB a month."""
    plan = small_plan(
        {
            "rental.storage_gb": 100,
            "rental.storage_usd_per_gb_month": 0.1,
            "rental.egress_usd_per_gb": 1,
            "rental.free_egress_gb_per_month": 100,
            "jobs.work.egress_gb_per_run": 0.6,
        }
    )
    plan["offers"]["other"] = {**plan["offers"]["rented"], "provider": provider}
    plan["offers"]["rented"]["provider"] = "first"
    plan["rental"]["offers"] = ["rented", "other"]
    plan["jobs"]["more"] = {**plan["jobs"]["work"], "throughput": {"own": 1, "rented": 1, "other": 100}}
    plan["jobs"]["work"]["throughput"]["other"] = 0.01
    return plan


def test_allowance_and_storage_are_by_provider() -> None:
    same = amounts(costed(two_offers("first"), "cloud"))
    assert {id: same[id] for id in same if id.startswith(("storage", "egress"))} == pytest.approx(
        {"storage.first": 120, "egress.first": 12 * 20}
    )
    apart = amounts(costed(two_offers("second"), "cloud"))
    assert {id: apart[id] for id in apart if id.startswith(("storage", "egress"))} == pytest.approx(
        {"storage.first": 120, "storage.second": 120}
    )


def test_cost_per_run_shares_by_busy_hours_and_egress_by_what_is_sent() -> None:
    plan = two_offers("first")
    plan["jobs"]["more"]["egress_gb_per_run"] = 1.8
    jobs = {entry.job: entry.cost for entry in strategy(solve(plan), "cloud").jobs}
    # `more` works 1/100 of the hours of `work`, and sends three quarters of the 140 GB beyond the allowance.
    assert jobs["work"].amortised_usd == pytest.approx(2 + (120 * 100 / 101 + 12 * 140 / 4) / 1200)
    assert jobs["more"].amortised_usd == pytest.approx(0.02 + (120 / 101 + 12 * 140 * 3 / 4) / 1200)
    assert jobs["work"].marginal_usd == pytest.approx(2 + 0.6)


def test_cost_per_run_of_owned_machines_shares_by_busy_hours() -> None:
    plan = small_plan()
    plan["jobs"]["long"] = {**plan["jobs"]["work"], "samples": 3 * 3600, "runs_per_month": 50}
    found = strategy(solve(plan), "local")
    assert found.evaluation is not None
    jobs = {entry.job: entry.cost for entry in found.jobs}
    total = found.tco_usd
    assert jobs["work"].amortised_usd == pytest.approx(total * 100 / 250 / 1200)
    assert jobs["long"].amortised_usd == pytest.approx(total * 150 / 250 / 600)
    assert jobs["long"].marginal_usd == pytest.approx(3 * 0.05)
    assert sum(entry.cost.amortised_usd * entry.runs for entry in found.jobs) == pytest.approx(total)


def test_hours_of_a_job() -> None:
    """GPU-hours hold work and attempts, the time to train holds checkpoints, neither holds start-up."""
    plan = small_plan(
        {
            "jobs.work.checkpoints": 6,
            "jobs.work.checkpoint_s": 300,
            "jobs.work.attempts_per_run": 1.5,
            "offers.rented.startup_s": 900,
        }
    )
    for kind in ("local", "cloud"):
        job = strategy(solve(plan), kind).jobs[0]
        assert job.runs == pytest.approx(1200)
        assert job.gpu_hours == pytest.approx(1200 * 1.5)
        assert job.attempt_h == pytest.approx(1.5)
        assert (job.pair.fit.basis, job.pair.fit.throughput_unit) == ("measured", "samples_per_s")
