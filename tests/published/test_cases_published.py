"""Costs, break-evens, energies and times in print, reproduced from the inputs printed beside them.

Money and energy come out of whole plans, break-evens from two ways of one; nothing is computed here but units. Each
case names its source; the tolerance is the one its printed digits or its rounding in words allow.
"""

from __future__ import annotations

from typing import Any

import pytest

from planner.performance.duration import training_time_s
from planner.performance.estimate import Setup, estimate
from planner.strategy.break_even import BreakEven, break_even, simple_break_even_h
from planner.strategy.evaluate import Result
from planner.units import FLOP_PER_TFLOP, H_PER_DAY, H_PER_MONTH, H_PER_YEAR, S_PER_DAY, S_PER_H
from planner.workload.transformer import compute_budget_flop
from tests.planning import amounts, by_id, evaluation, evidence, shipped_catalog, small_plan, solve, strategy

RUNS = "jobs.work.runs_per_month"


def rented(
    gpu_hours: float, *, gpus: int, runs: float = 1.0, months: int = 1, offer: dict[str, Any] | None = None
) -> Result:
    """Work of so many GPU-hours in so many runs a month on rented instances of up to eight cards."""
    per_node = min(gpus, 8)
    changed = {
        "horizon_months": months,
        RUNS: runs,
        "jobs.work.gpus": gpus,
        "jobs.work.samples": S_PER_H * gpu_hours / gpus / (runs * months),
        "machines.own.useful_life_months": 84,
        "machines.own.residual_gpu": {84: 0},
        "machines.own.residual_host": {84: 0},
        "offers.rented.gpu_count": per_node,
        **{f"offers.rented.{key}": value for key, value in (offer or {}).items()},
    }
    return solve(small_plan(changed))


def rental_usd(found: Result) -> float:
    """Rental of all sessions, the only line of renting."""
    lines = amounts(evaluation(strategy(found, "cloud")))
    assert set(lines) == {"rental.work.rented"}
    return lines["rental.work.rented"]


# Cost


def test_deepseek_v3_at_two_dollars_a_gpu_hour() -> None:
    """2.788 million H800-hours at 2 USD are 5.576 million USD: DeepSeek-V3 report, arXiv:2412.19437, table 1.

    The final run only, as the report says: no research, people or machines.
    """
    found = rented(2_788_000, gpus=2048, months=2, runs=0.5, offer={"price_usd_per_h": 8 * 2.0, "billing_unit_s": 0.25})
    assert rental_usd(found) == pytest.approx(5_576_000, abs=0.01)


def test_an_h100_instance_for_a_year() -> None:
    """p5.48xlarge at 98.32 USD/h, on demand all year: 861,283 USD (price list of AWS as quoted in 2025)."""
    found = rented(8 * H_PER_YEAR, gpus=8, runs=730, months=12, offer={"price_usd_per_h": 98.32})
    assert rental_usd(found) == pytest.approx(861_283, abs=0.5)


def test_nanochat_speedrun() -> None:
    """4 h on 8 H100 at 24 USD an hour "cost about 100 USD": README of karpathy/nanochat."""
    found = rented(32, gpus=8, offer={"price_usd_per_h": 24.0})
    assert rental_usd(found) == pytest.approx(100, rel=0.05)


@pytest.mark.parametrize("usd_per_gpu_h", [1.0, 2.5, 4.16])
def test_alpaca_stays_below_a_hundred_dollars(usd_per_gpu_h: float) -> None:
    """3 h on 8 A100 80GB: "less than 100 USD on most clouds", crfm.stanford.edu/2023/03/13/alpaca.html."""
    assert rental_usd(rented(24, gpus=8, offer={"price_usd_per_h": 8 * usd_per_gpu_h})) <= 100


@pytest.mark.parametrize(("billing_unit_s", "usd"), [(1, 10.0), (3600, 30.0)])
def test_billing_granularity(billing_unit_s: int, usd: float) -> None:
    """10 runs of 20 min at 3 USD/h, by the second and by the hour: computespec, "Cloud GPU pricing explained"."""
    offer = {"price_usd_per_h": 3.0, "billing_unit_s": billing_unit_s}
    assert rental_usd(rented(10 / 3, gpus=1, runs=10, offer=offer)) == pytest.approx(usd, abs=1e-9)


def test_a_model_of_gpt_3_quality_at_the_utilisation_implied() -> None:
    """30 B parameters, 610 B tokens, A100 at 2 USD/h: "450,000 USD", databricks.com/blog/gpt-3-quality-for-500k.

    6 FLOP a parameter and token, at an MFU of 0.43.
    """
    flop = compute_budget_flop(30e9, 610e9, recomputed=False)
    hours = float(training_time_s(flop, 1, 312 * FLOP_PER_TFLOP, 0.43)) / S_PER_H
    assert rental_usd(rented(hours, gpus=256, offer={"price_usd_per_h": 8 * 2.0})) == pytest.approx(450_000, rel=0.15)


@pytest.mark.parametrize("gpus", [128, 256, 512])
def test_a_model_of_gpt_3_quality_as_estimated(gpus: int) -> None:
    """The same with the planner's own speed of MPT-30B. How many cards isn't printed: 64 would come out 15.04 % low."""
    catalog = shipped_catalog()
    setup = Setup(workload=catalog.workloads["mpt-30b"], gpu=catalog.gpus["a100-sxm4-80gb"], gpus=gpus, gpus_per_node=8)
    hours = 610e9 / estimate(setup, catalog, evidence()).throughput / S_PER_H * gpus
    assert rental_usd(rented(hours, gpus=gpus, offer={"price_usd_per_h": 8 * 2.0})) == pytest.approx(450_000, rel=0.15)


# Break-even


def owned_or_rented(changed: dict[str, Any], *, own_usd_per_h: float, rent_usd_per_h: float) -> Result:
    """A machine without idle draw, resale or people, that draws its running cost while busy, against an instance."""
    return solve(
        small_plan(
            {
                "horizon_months": 60,
                "site.electricity_usd_per_kwh": own_usd_per_h / 10,
                "machines.own.load_w": 10_000,
                "machines.own.idle_w": 0,
                "machines.own.host_price_usd": 0,
                "machines.own.useful_life_months": 60,
                "machines.own.residual_gpu": {12: 0, 84: 0},
                "machines.own.residual_host": {12: 0, 84: 0},
                "offers.rented.price_usd_per_h": rent_usd_per_h,
                **changed,
            }
        )
    )


def between(found: Result) -> BreakEven:
    choices = {kind: strategy(found, kind).allocation.choice for kind in ("local", "cloud")}
    return break_even(
        found.problem, found.theta, {kind: choice for kind, choice in choices.items() if choice is not None}
    )


@pytest.mark.parametrize(
    ("purchase_usd", "own_usd_per_h", "rent_usd_per_h", "hours"),
    [
        (250_141.80, 6.37, 98.32, 2_720),  # Lenovo Press LP2368, 8 H100 against Azure ND96isr H100 v5
        (833_806, 0.87, 33.0, 25_942),  # after LP2225; its 33 USD/h is no price of p5, so for the arithmetic alone
    ],
)
def test_hours_in_print(purchase_usd: float, own_usd_per_h: float, rent_usd_per_h: float, hours: float) -> None:
    """By the quotient and by the ways of a whole plan, to 0.1 %."""
    assert float(simple_break_even_h(purchase_usd, own_usd_per_h, rent_usd_per_h)) == pytest.approx(hours, rel=1e-3)
    changed = {"machines.own.gpu_price_usd": purchase_usd}
    found = between(owned_or_rented(changed, own_usd_per_h=own_usd_per_h, rent_usd_per_h=rent_usd_per_h))
    assert found.use[0].factor is not None
    assert found.use[0].factor * found.busy_h == pytest.approx(hours, rel=1e-3)


def test_lenovo_months_of_use_day_and_night() -> None:
    """LP2368 says 3.7 months: the machine busy all the time has paid for itself in the fourth."""
    changed = {"machines.own.gpu_price_usd": 250_141.80, RUNS: H_PER_MONTH}
    found = between(owned_or_rented(changed, own_usd_per_h=6.37, rent_usd_per_h=98.32))
    assert found.payback[0] == 4
    assert found.use[0].factor is not None
    assert found.use[0].factor * found.busy_h / H_PER_MONTH == pytest.approx(3.7, abs=0.05)


def dedicated_node(changed: dict[str, Any]) -> Result:
    """Uptime Institute: a hosted DGX-class node costs 20 USD an hour whether used or not, 66 USD/h in the cloud."""
    fixed = {
        "machines.own.owned": {"count": 1, "age_months": 1},
        "owned_value_counts": False,
        "machines.own.useful_life_months": 84,
        "site.colocation": {"contracted_kw": 1, "price_usd_per_kw_month": 20 * H_PER_MONTH, "power": "included"},
    }
    return owned_or_rented({**fixed, **changed}, own_usd_per_h=1, rent_usd_per_h=66)


def test_utilisation_of_a_dedicated_node() -> None:
    """journal.uptimeinstitute.com, "Sweat dedicated GPU clusters": about 33 %; the points printed span 0.30 to 0.34."""
    found = between(dedicated_node({}))
    assert found.use[0].factor is not None
    assert found.utilisation is not None
    assert 0.30 <= found.use[0].factor * found.utilisation <= 0.34


def test_cost_of_a_used_hour_at_low_use() -> None:
    """The same: at 8 % of the hours a used hour costs 250 USD, about four times the cloud's 66."""
    found = dedicated_node({RUNS: 0.08 * H_PER_MONTH})  # runs of one hour
    (own,) = strategy(found, "local").jobs
    (rent,) = strategy(found, "cloud").jobs
    assert own.cost.amortised_usd == pytest.approx(250, rel=0.02)
    assert rent.cost.amortised_usd == pytest.approx(66, abs=1e-9)


def test_a_desktop_after_three_hundred_days() -> None:
    """timdettmers.com, "Which GPU(s) to get", 2023: 2,200 USD, 450 W at 0.12 USD/kWh, V100 at 2.14 USD/h, 15 % use.

    300 days; to the digit 293, with the power of the desktop counted.
    """
    changed = {
        "machines.own.gpu_price_usd": 2200,
        "machines.own.load_w": 450,
        "site.electricity_usd_per_kwh": 0.12,
        "horizon_months": 12,
        RUNS: 0.15 * H_PER_MONTH,
    }
    found = between(owned_or_rented(changed, own_usd_per_h=1, rent_usd_per_h=2.14))
    assert found.use[0].factor is not None
    assert found.use[0].factor * found.busy_h / (0.15 * H_PER_DAY) == pytest.approx(300, rel=0.04)
    assert found.payback[0] == 10


# Energy


@pytest.mark.parametrize(
    ("gpu_hours", "watts", "kwh", "tolerance"),
    [
        (1_082_990, 400, 433_196, 0.001),  # BLOOM, Luccioni et al., arXiv:2211.02001: dynamic energy
        (320_256, 280, 89_672, 0.5),  # StarCoder, arXiv:2305.06161: measured power; at 400 W it would be 43 % more
    ],
)
def test_energy_of_gpu_hours(gpu_hours: float, watts: float, kwh: float, tolerance: float) -> None:
    """Power of the cards alone, without the rest of the node and PUE."""
    found = rented(gpu_hours, gpus=512, offer={"load_w": 8 * watts, "idle_w": 0, "pue": 1})
    line = by_id(evaluation(strategy(found, "cloud")))["rental.work.rented"]
    assert line.kwh is not None
    assert float(line.kwh[0].sum()) == pytest.approx(kwh, abs=tolerance)


@pytest.mark.parametrize(
    ("gpu_hours", "kg_per_kwh", "tonnes", "tolerance"),
    [
        (1_082_990, 0.057, 24.7, 0.005),  # BLOOM, arXiv:2211.02001: 433,196 kWh at 57 g/kWh
        (1_720_320, 0.4235, 291.4, 0.01),  # Llama 2 70B, model card: TDP x hours, without PUE, before offsets
    ],
)
def test_carbon_of_gpu_hours(gpu_hours: float, kg_per_kwh: float, tonnes: float, tolerance: float) -> None:
    offer = {"load_w": 8 * 400, "idle_w": 0, "pue": 1, "grid_kg_co2e_per_kwh": kg_per_kwh}
    found = evaluation(strategy(rented(gpu_hours, gpus=512, offer=offer), "cloud"))
    assert float(found.kg_co2e[0]) / 1000 == pytest.approx(tonnes, rel=tolerance)


# Time


def test_bloomberg_gpt_takes_53_days() -> None:
    """2.36e23 FLOP at 102 TFLOP/s on each of 512 A100: arXiv:2303.17564, table 4; the quotient gives 52.3."""
    days = float(training_time_s(2.36e23, 512, 102 * FLOP_PER_TFLOP, 1.0)) / S_PER_DAY
    assert days == pytest.approx(53, rel=0.03)
