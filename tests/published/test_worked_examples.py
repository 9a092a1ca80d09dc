"""Plans worked out on paper, line by line: money to a cent, energy to 0.001 kWh, ratios to the printed digits.

Every input is given in `tests/fixtures/plans`, so no line rests on the catalog or the estimator. The amounts were
computed twice by hand, over the whole horizon and month by month.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest

from planner.strategy.candidates import Kind
from planner.strategy.evaluate import Result
from planner.strategy.kernel import Evaluation
from tests.planning import CENT, by_id, document, evaluation, present_value, quantity, solve, strategy

Row = tuple[str, float, str, float, float, float]
"""Line id, quantity, unit, unit price, amount, present value."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Printed lines and totals of one strategy."""

    kind: Kind
    rows: tuple[Row, ...]
    capex: float
    residual: float
    opex: float
    tco: float
    present_value: float
    kwh: float
    kg_co2e: float


EXAMPLES: dict[tuple[str, str], Plan] = {
    ("workstation-or-rental", "own"): Plan(
        kind="local",
        rows=(
            ("gpu.own", 1, "card", 1900, 1900.00, 1900.00),
            ("host.own", 1, "host", 1400, 1400.00, 1400.00),
            ("tax_purchase", 3300, "USD taxed", 0.2, 660.00, 660.00),
            ("resale_gpu.own.m36", 1, "card", -950, -950.00, -820.65),
            ("resale_host.own.m36", 1, "host", -420, -420.00, -362.81),
            ("electricity.own", 8220.7854, "kWh", 0.1872, 1538.93, 1428.70),
            ("tax_local", 1538.931027, "USD taxed", 0.2, 307.79, 285.74),
        ),
        capex=3960.00, residual=-1370.00, opex=1846.72, tco=4436.72, present_value=4490.98,
        kwh=8220.785, kg_co2e=3037.580,
    ),
    ("workstation-or-rental", "rent"): Plan(
        kind="cloud",
        rows=(
            ("rental.tune.rented", 13551, "node-hour", 0.34, 4607.34, 4277.31),
            ("storage.rented", 7200, "GB-month", 0.07, 504.00, 467.90),
            ("tax_rented", 5111.34, "USD taxed", 0.2, 1022.27, 949.04),
        ),
        capex=0, residual=0, opex=6133.61, tco=6133.61, present_value=5694.25, kwh=8474.674, kg_co2e=3131.392,
    ),
    ("on-demand-node", "on demand"): Plan(
        kind="cloud",
        rows=(
            ("rental.train.p4d", 2025.6, "node-hour", 21.957642, 44477.40, 43545.23),
            ("rental.smoke.p4d", 8, "node-hour", 21.957642, 175.66, 171.98),
            ("storage.p4d", 6000, "GB-month", 0.08, 480.00, 469.94),
            ("egress.p4d", 4560, "GB beyond free", 0.09, 410.40, 401.80),
        ),
        capex=0, residual=0, opex=45543.46, tco=45543.46, present_value=44588.95, kwh=3638.923, kg_co2e=1344.582,
    ),
    ("spot-node", "spot"): Plan(
        kind="cloud",
        rows=(
            ("rental.train.p4d-spot", 2025.848389, "node-hour", 9.9, 20055.90, 19635.56),
            ("rental.smoke.p4d", 8, "node-hour", 21.957642, 175.66, 171.98),
            ("storage.p4d", 6000, "GB-month", 0.08, 480.00, 469.94),
            ("egress.p4d", 4560, "GB beyond free", 0.09, 410.40, 401.80),
        ),
        capex=0, residual=0, opex=21121.96, tco=21121.96, present_value=20679.28, kwh=3639.367, kg_co2e=1344.746,
    ),
    ("hybrid-lab", "hybrid"): Plan(
        kind="hybrid",
        rows=(
            ("gpu.workstation", 4, "card", 1900, 7600.00, 7082.58),
            ("host.workstation", 4, "host", 1400, 5600.00, 5218.75),
            ("installation.workstation", 4, "machine", 150, 600.00, 559.15),
            ("tax_purchase", 13800, "USD taxed", 0.1, 1380.00, 1286.05),
            ("resale_gpu.workstation.m36", 2, "card", -950, -1900.00, -1641.29),
            ("resale_host.workstation.m36", 2, "host", -420, -840.00, -725.62),
            ("resale_gpu.workstation.m60", 2, "card", -1235, -2470.00, -1935.31),
            ("resale_host.workstation.m60", 2, "host", -630, -1260.00, -987.24),
            ("electricity.workstation", 30111.01392, "kWh", 0.146, 4396.21, 3893.12),
            ("maintenance.workstation", 33000, "USD-year", 0.03, 990.00, 876.71),
            ("staff_local.workstation", 0.2, "FTE-year", 80000, 16000.00, 14169.02),
            ("tax_local", 5386.208032, "USD taxed", 0.1, 538.62, 476.98),
            ("rental.key.a100-node", 2259, "node-hour", 22.32, 50420.88, 44650.91),
            ("storage.example", 60000, "GB-month", 0.08, 4800.00, 4250.71),
            ("staff_cloud", 0.1, "FTE-year", 80000, 8000.00, 7084.51),
            ("tax_rented", 55220.88, "USD taxed", 0.1, 5522.09, 4890.16),
        ),
        capex=15180.00, residual=-6470.00, opex=90667.80, tco=99377.80, present_value=89149.19,
        kwh=41096.234, kg_co2e=15185.058,
    ),
    ("hybrid-lab", "cloud"): Plan(
        kind="cloud",
        rows=(
            ("rental.daily.a100-one", 27360, "node-hour", 1.99, 54446.40, 48215.77),
            ("rental.key.a100-node", 2259, "node-hour", 22.32, 50420.88, 44650.91),
            ("storage.example", 60000, "GB-month", 0.08, 4800.00, 4250.71),
            ("staff_cloud", 0.1, "FTE-year", 80000, 8000.00, 7084.51),
            ("tax_rented", 109667.28, "USD taxed", 0.1, 10966.73, 9711.74),
        ),
        capex=0, residual=0, opex=128634.01, tco=128634.01, present_value=113913.64, kwh=29306.628, kg_co2e=10828.799,
    ),
    ("colocated-node", "own"): Plan(
        kind="local",
        rows=(
            ("gpu.node", 8, "card", 30000, 240000.00, 240000.00),
            ("host.node", 1, "host", 56644, 56644.00, 56644.00),
            ("installation.node", 1, "machine", 1500, 1500.00, 1500.00),
            ("resale_gpu.node.m48", 8, "card", -6000, -48000.00, -39489.72),
            ("resale_host.node.m48", 1, "host", -8496.6, -8496.60, -6990.17),
            ("electricity.node", 297432, "kWh", 0.146, 43425.07, 39370.21),
            ("maintenance.node", 1186576, "USD-year", 0.04, 47463.04, 43031.13),
            ("colocation.contract", 504, "kW-month", 195.94, 98753.76, 89532.53),
            ("staff_local.node", 0.6, "FTE-year", 100000, 60000.00, 54397.44),
        ),
        capex=298144.00, residual=-56496.60, opex=249641.87, tco=491289.27, present_value=477995.42,
        kwh=297432.000, kg_co2e=109901.124,
    ),
    ("colocated-node", "rent"): Plan(
        kind="cloud",
        rows=(
            ("rental.train.p5", 24096, "node-hour", 55.04, 1326243.84, 1202404.51),
            ("storage.p5", 240000, "GB-month", 0.08, 19200.00, 17407.18),
            ("egress.p5", 91200, "GB beyond free", 0.09, 8208.00, 7441.57),
            ("staff_cloud", 0.2, "FTE-year", 100000, 20000.00, 18132.48),
        ),
        capex=0, residual=0, opex=1373651.84, tco=1373651.84, present_value=1245385.74,
        kwh=196567.200, kg_co2e=72631.580,
    ),
}  # fmt: skip

WITHOUT_SMOKE = {"jobs.smoke": None}


@cache
def solved(name: str) -> Result:
    return solve(document(name))


@pytest.fixture(params=EXAMPLES, ids=": ".join)
def example(request: pytest.FixtureRequest) -> tuple[Plan, Evaluation]:
    plan = EXAMPLES[request.param]
    return plan, evaluation(strategy(solved(request.param[0]), plan.kind))


def test_lines(example: tuple[Plan, Evaluation]) -> None:
    plan, found = example
    lines = by_id(found)
    assert sorted(lines) == sorted(row[0] for row in plan.rows)
    for id, printed_quantity, unit, unit_price, amount, value in plan.rows:
        line = lines[id]
        assert line.unit == unit, id
        assert quantity(line) == pytest.approx(printed_quantity, abs=1e-6), id
        assert line.unit_price[0] == pytest.approx(unit_price, abs=1e-9), id
        assert line.amount[0].sum() == pytest.approx(amount, abs=CENT), id
        assert present_value(line, found) == pytest.approx(value, abs=CENT), id


def test_totals(example: tuple[Plan, Evaluation]) -> None:
    plan, found = example
    assert found.capex_usd[0] == pytest.approx(plan.capex, abs=CENT)
    assert found.residual_usd[0] == pytest.approx(plan.residual, abs=CENT)
    assert found.opex_usd[0] == pytest.approx(plan.opex, abs=CENT)
    assert found.tco_usd[0] == pytest.approx(plan.tco, abs=CENT)
    assert found.present_value_usd[0] == pytest.approx(plan.present_value, abs=CENT)
    assert found.kwh[0] == pytest.approx(plan.kwh, abs=0.00051)
    assert found.kg_co2e[0] == pytest.approx(plan.kg_co2e, abs=0.00051)


@pytest.mark.parametrize(
    ("name", "line", "kwh"),
    [
        ("on-demand-node", "rental.train.p4d", 3628.806),
        ("on-demand-node", "rental.smoke.p4d", 10.116),
        ("hybrid-lab", "rental.daily.a100-one", 18321.408),
        ("hybrid-lab", "rental.key.a100-node", 10985.220),
    ],
)
def test_energy_of_rented_nodes_by_job(name: str, line: str, kwh: float) -> None:
    found = by_id(evaluation(strategy(solved(name), "cloud")))[line]
    assert found.kwh is not None
    assert found.kwh[0].sum() == pytest.approx(kwh, abs=0.00051)


@pytest.mark.parametrize(
    ("name", "overrides", "kind", "job", "amortised", "marginal"),
    [
        ("workstation-or-rental", {}, "local", "tune", 0.5135, 0.1516),
        ("workstation-or-rental", {}, "cloud", "tune", 0.7099, 0.6399),
        ("on-demand-node", WITHOUT_SMOKE, "cloud", "train", 472.5812, 468.7062),
        ("spot-node", WITHOUT_SMOKE, "cloud", "train", 218.1906, 214.3156),
        ("hybrid-lab", {}, "hybrid", "daily", 1.2765, 0.1321),
        ("hybrid-lab", {}, "hybrid", "key", 2291.4323, 1848.7656),
        ("colocated-node", {}, "local", "train", 1023.5193, 50.5014),
        ("colocated-node", {}, "cloud", "train", 2861.7747, 2781.0080),
    ],
)
def test_cost_per_run(
    name: str, overrides: dict[str, Any], kind: Kind, job: str, amortised: float, marginal: float
) -> None:
    found = next(entry for entry in strategy(solve(document(name, overrides)), kind).jobs if entry.job == job)
    assert found.cost.amortised_usd == pytest.approx(amortised, abs=0.0000501)
    assert found.cost.marginal_usd == pytest.approx(marginal, abs=0.0000501)


def test_marginal_cost_of_a_daily_run_when_it_is_rented() -> None:
    daily = next(entry for entry in strategy(solved("hybrid-lab"), "cloud").jobs if entry.job == "daily")
    assert daily.cost.marginal_usd == pytest.approx(2.4955, abs=0.0000501)


def test_storage_and_egress_are_shared_by_the_jobs_that_use_them() -> None:
    jobs = {entry.job: entry.cost for entry in strategy(solved("on-demand-node"), "cloud").jobs}
    train_gpu_h, smoke_gpu_h = 96 * 75_920 / 3600, 480 * 12 / 3600
    storage = 480 * train_gpu_h / (train_gpu_h + smoke_gpu_h)
    assert jobs["train"].amortised_usd == pytest.approx((2025.6 * 21.957642 + storage + 410.40) / 96, rel=1e-12)
    assert jobs["smoke"].amortised_usd == pytest.approx((8 * 21.957642 + 480 - storage) / 480, rel=1e-12)


def test_hours_of_jobs() -> None:
    """GPU-hours hold the work only; the time to train adds checkpoints; billed hours stand on the line."""
    train = strategy(solved("on-demand-node"), "cloud").jobs[0]
    assert train.gpu_hours == pytest.approx(96 * 75_000 / 3600, rel=1e-12)
    assert train.attempt_h == pytest.approx(75_920 / 3600, rel=1e-12)
    daily = strategy(solved("hybrid-lab"), "hybrid").jobs[0]
    assert (daily.runs, daily.gpu_hours) == pytest.approx((24_000, 60 * 590.16), rel=1e-12)
    assert daily.attempt_h == pytest.approx(4426.2 / 3600, rel=1e-12)


def test_utilisation() -> None:
    assert evaluation(strategy(solved("workstation-or-rental"), "local")).utilisation[0, 0] == pytest.approx(
        0.5053, abs=0.0000501
    )
    assert evaluation(strategy(solved("hybrid-lab"), "hybrid")).utilisation[0, 0] == pytest.approx(
        0.4042, abs=0.0000501
    )


def test_power_included_in_the_colocation_price_is_counted_once() -> None:
    plan = document(
        "colocated-node",
        {"site.colocation.power": "included", "site.colocation.price_usd_per_kw_month": 300},
    )
    found = evaluation(strategy(solve(plan), "local"))
    lines = by_id(found)
    assert "electricity.node" not in lines
    assert lines["colocation.contract"].amount[0].sum() == pytest.approx(151_200.00, abs=CENT)
    assert found.tco_usd[0] == pytest.approx(500_310.44, abs=CENT)
    assert found.kwh[0] == pytest.approx(297_432.000, abs=0.00051)
    assert found.kg_co2e[0] == pytest.approx(109_901.124, abs=0.00051)


def test_recommended() -> None:
    assert {name: solved(name).recommendation.strategy for name in ("workstation-or-rental", "colocated-node")} == {
        "workstation-or-rental": "local",
        "colocated-node": "local",
    }
    assert solved("hybrid-lab").recommendation.strategy == "hybrid"
    assert not strategy(solved("hybrid-lab"), "local").feasible
