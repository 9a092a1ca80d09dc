"""Break-even hours, prices and months in print, and those of the worked plans with all their lines."""

from __future__ import annotations

import numpy as np
import pytest

from planner.strategy.allocate import allocate
from planner.strategy.break_even import BreakEven, break_even, simple_break_even_h
from planner.strategy.compare import cumulative_usd, payback_month
from planner.strategy.kernel import Choice, kernel
from planner.strategy.parameters import Theta
from planner.strategy.problem import PlanProblem
from tests.break_even import break_even_value
from tests.planning import CENT, document, problem_of

NODE_RUN_H = 50.0
NODE_MONTHS = 48

Case = tuple[PlanProblem, Theta, Choice, Choice]
"""A problem with the choice of the dearer purchase and that of renting."""


def case(name: str, owning: str = "local", **overrides: object) -> Case:
    problem = problem_of(document(name, {path.replace("__", "."): value for path, value in overrides.items()}))
    theta = problem.theta()
    own = allocate(problem, theta, "hybrid" if owning == "hybrid" else "local").choice
    rent = allocate(problem, theta, "cloud").choice
    assert own is not None
    assert rent is not None
    return problem, theta, own, rent


def node_break_even_h(found: Case, *, discounted: bool) -> float | None:
    runs = break_even_value(*found, "jobs.train.runs_per_month", low=0.5, high=14.6, discounted=discounted)
    return None if runs is None else runs * NODE_MONTHS * NODE_RUN_H


@pytest.mark.parametrize(("rent_usd_per_h", "hours"), [(98.32, 8556.24), (55.04, 15392.39)])
def test_published_quotient(rent_usd_per_h: float, hours: float) -> None:
    """Lenovo Press LP2225: 833,806 USD and 0.87 USD/h of power against p5.48xlarge, old and new price."""
    assert simple_break_even_h(833_806.0, 0.87, rent_usd_per_h) == pytest.approx(hours, abs=0.00501)


@pytest.mark.parametrize(("rent_usd_per_h", "hours"), [(98.32, 8556), (55.04, 15392)])
def test_published_quotient_through_the_engine(rent_usd_per_h: float, hours: int) -> None:
    """The same without discounting, resale and fixed lines, from a whole plan: 8.7 kW at 0.10 USD/kWh is 0.87 USD/h."""
    plan = document(
        "colocated-node",
        {
            "site.electricity_usd_per_kwh": 0.1,
            "site.pue": 1,
            "site.colocation": None,
            "staff.fte_per_machine": 0,
            "staff.fte_cloud": 0,
            "jobs.train.egress_gb_per_run": 0,
            "machines.node.gpu_price_usd": 90_000,
            "machines.node.host_price_usd": 113_806,
            "machines.node.installation_usd": 0,
            "machines.node.load_w": 8700,
            "machines.node.idle_w": 0,
            "machines.node.maintenance_share_per_year": 0,
            "machines.node.residual_gpu": {48: 0},
            "machines.node.residual_host": {48: 0},
            "rental.storage_gb": 0,
            "offers.p5.price_usd_per_h": rent_usd_per_h,
            "offers.p5.startup_s": 0,
        },
    )
    problem = problem_of(plan)
    theta = problem.theta()
    own, rent = allocate(problem, theta, "local").choice, allocate(problem, theta, "cloud").choice
    assert own is not None
    assert rent is not None
    found = node_break_even_h((problem, theta, own, rent), discounted=False)
    assert found is not None
    assert round(found) == hours
    use = break_even(problem, theta, {"own": own, "rent": rent})
    assert use.use[0].factor is not None
    assert round(use.use[0].factor * use.busy_h) == hours


def test_no_hour_pays_when_renting_is_not_dearer_than_power() -> None:
    assert simple_break_even_h(1000.0, 2.0, 2.0) == float("inf")
    assert list(simple_break_even_h(1000.0, 2.0, [1.0, 4.0])) == [float("inf"), 500.0]


@pytest.mark.parametrize(("discounted", "hours"), [(False, 7842.51), (True, 8500.56)])
def test_colocated_node_with_all_lines(discounted: bool, hours: float) -> None:
    found = node_break_even_h(case("colocated-node"), discounted=discounted)
    assert found == pytest.approx(hours, abs=0.00501)
    utilisation = hours / (NODE_MONTHS * 730)
    assert utilisation == pytest.approx(0.2426 if discounted else 0.2238, abs=0.0000501)


def test_colocated_node_by_fixed_and_variable_part() -> None:
    problem, theta, own, rent = case("colocated-node")
    column = problem.column("jobs.train.runs_per_month")
    for choice, fixed, per_hour in ((own, 467_048.60, 1.010028), (rent, 38_768.00, 55.62016)):
        totals = []
        for runs in (1.0, 10.0):
            theta[:, column] = runs
            totals.append(float(kernel(problem, theta, choice).tco_usd[0]))
        slope = (totals[1] - totals[0]) / (9 * NODE_MONTHS * NODE_RUN_H)
        assert slope == pytest.approx(per_hour, abs=5.01e-7)
        assert totals[0] - slope * NODE_MONTHS * NODE_RUN_H == pytest.approx(fixed, abs=CENT)


def test_published_purchase_with_the_other_lines() -> None:
    """833,806 USD as the whole purchase, nothing left at the end: 20,259.70 h instead of 15,392."""
    found = case(
        "colocated-node",
        machines__node__gpu_price_usd=90_000,
        machines__node__host_price_usd=113_806,
        machines__node__installation_usd=0,
        machines__node__residual_gpu={48: 0},
        machines__node__residual_host={48: 0},
    )
    assert node_break_even_h(found, discounted=False) == pytest.approx(20_259.70, abs=0.00501)


def test_workstation_break_even_price_and_use() -> None:
    found = case("workstation-or-rental")
    price = break_even_value(*found, "offers.rented.price_usd_per_h", low=0.01, high=5)
    assert price == pytest.approx(0.260294, abs=5.01e-7)
    runs = break_even_value(*found, "jobs.tune.runs_per_month", low=1, high=400)
    assert runs == pytest.approx(166.275, abs=0.000501)
    assert runs is not None
    assert runs * 1.25 * 4426.2 / 3600 / 730 == pytest.approx(0.3501, abs=0.0000501)


def test_workstation_pays_back_in_month_34() -> None:
    problem, theta, own, rent = case("workstation-or-rental")
    mine, theirs = kernel(problem, theta, own), kernel(problem, theta, rent)
    assert payback_month(mine, theirs) == 34
    spent = [cumulative_usd(evaluation, with_resale=False)[0] for evaluation in (mine, theirs)]
    assert spent[0][[0, 33, 34]] == pytest.approx([3960.00, 5652.82, 5704.12], abs=CENT)
    assert spent[1][[0, 33, 34]] == pytest.approx([0, 5622.47, 5792.85], abs=CENT)


def test_no_payback_month_when_it_never_pays() -> None:
    problem, theta, own, rent = case("workstation-or-rental", offers__rented__price_usd_per_h=0.1)
    assert payback_month(kernel(problem, theta, own), kernel(problem, theta, rent)) is None


def test_staff_decides_the_hybrid_lab() -> None:
    found = case("hybrid-lab", owning="hybrid")
    share = break_even_value(*found, "staff.fte_per_machine", low=0, high=1)
    assert share == pytest.approx(0.05496, abs=5.01e-6)


def between(found: Case) -> BreakEven:
    problem, theta, own, rent = found
    return break_even(problem, theta, {"rent": rent, "own": own})


def test_colocated_node_in_busy_hours_and_utilisation() -> None:
    """7,842.51 h and 0.2238 undiscounted, 8,500.56 h and 0.2426 in present values, of 35,040 h."""
    found = between(case("colocated-node"))
    assert (found.owning, found.renting) == ("own", "rent")
    assert found.utilisation is not None
    for crossing, hours, utilisation in zip(found.use, (7842.51, 8500.56), (0.2238, 0.2426), strict=True):
        assert crossing.factor is not None
        assert crossing.factor * found.busy_h == pytest.approx(hours, abs=0.00501)
        assert crossing.factor * found.utilisation == pytest.approx(utilisation, abs=0.0000501)
    assert found.busy_h == pytest.approx(found.utilisation * 35_040)
    assert found.most_factor == pytest.approx(1 / found.utilisation)


def test_published_purchase_in_busy_hours() -> None:
    found = between(
        case(
            "colocated-node",
            machines__node__gpu_price_usd=90_000,
            machines__node__host_price_usd=113_806,
            machines__node__installation_usd=0,
            machines__node__residual_gpu={48: 0},
            machines__node__residual_host={48: 0},
        )
    )
    factor = found.use[0].factor
    assert factor is not None
    assert found.utilisation is not None
    assert factor * found.busy_h == pytest.approx(20_259.70, abs=0.00501)
    assert factor * found.utilisation == pytest.approx(0.5782, abs=0.0000501)


def test_workstation_in_runs_utilisation_price_and_month() -> None:
    found = between(case("workstation-or-rental"))
    use, price = found.use[1].factor, found.rental_price[1].factor
    assert use is not None
    assert price is not None
    assert found.utilisation is not None
    assert use * 240 == pytest.approx(166.275, abs=0.000501)
    assert use * found.utilisation == pytest.approx(0.3501, abs=0.0000501)
    assert price * found.prices_usd_per_h["rented"] == pytest.approx(0.260294, abs=5.01e-7)
    assert found.payback[0] == 34


@pytest.mark.parametrize(
    ("payment", "months", "undiscounted", "present_value"),
    [("monthly", 9, 0.8533, 0.8482), ("upfront", 9, 0.8533, 0.8708), ("monthly", 12, 0.6400, None)],
)
def test_use_of_a_commitment(payment: str, months: int, undiscounted: float, present_value: float | None) -> None:
    """Constant demand for a node committed for a year: 12 x 62.9248 / (9 x 98.32) of its hours, over 12 months 0.64."""
    plan = document("committed-node", {"rental.commitments.reserved.payment": payment, "horizon_months": months})
    del plan["jobs"]["train"]["runs_by_month"]
    problem = problem_of(plan)
    theta = problem.theta()
    committed, on_demand = (
        Choice(
            machine_count=np.zeros((1, 0)), routing=np.array([[float(pair.resource == name) for pair in problem.pairs]])
        )
        for name in ("reserved", "on-demand")
    )
    for discounted, share in ((False, undiscounted), (True, present_value)):
        runs = break_even_value(
            problem, theta, committed, on_demand, "jobs.train.runs_per_month", low=1, high=730, discounted=discounted
        )
        assert runs is not None  # of an hour each
        if share is not None:
            assert runs / 730 == pytest.approx(share, abs=0.0000501)
        if months == 9 and not discounted:
            assert runs == pytest.approx(622.93, abs=0.00501)
