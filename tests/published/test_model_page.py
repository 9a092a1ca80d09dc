"""Worked examples of docs/model.md and docs/actual.md about what is planned again, searched for or compared.

All begin with the small plan of the tests: 100 one-hour runs a month for a year, at 2 USD/h, or on a machine of 1,500
USD of which 625 come back, with 0.1 kW idle and 0.6 kW at work, at 0.10 USD/kWh.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from planner.actual.outlook import rest_of
from planner.actual.run import plan_anew
from planner.report.provenance import used_parameters
from planner.scenario.axes import parse_axes
from planner.scenario.load import check_document
from planner.strategy.against import against_baseline
from planner.strategy.flips import flips
from planner.strategy.movers import RENTAL_LEVEL, movers
from planner.strategy.optimise.records import Optimum
from planner.strategy.optimise.search import optimise
from planner.strategy.sensitivity import sensitivity
from planner.strategy.sweep import Sweep
from tests.planning import CENT, TODAY, catalog, evaluation, evidence, problem_of, small_plan, solve, strategy
from tests.unit.actual.replanning import followed

ROOT = Path(__file__).parents[2]
PAGES = ("model.md", "actual.md")
BUSY = {"jobs.work.runs_per_month": 800, "machines.own.count": None}


def searched(overrides: Mapping[str, Any]) -> Optimum:
    problem = problem_of(small_plan(overrides))
    return optimise(problem, problem.theta(), {})


def machines(found: Optimum) -> float:
    assert found.choice is not None
    return float(found.choice.machine_count.sum())


def test_a_machine_earns_what_renting_would_take() -> None:
    found = {}
    for rate in (0, 0.05):
        result = solve(small_plan({"discount_rate": rate}))
        found[rate] = against_baseline(strategy(result, "local"), strategy(result, "cloud"))
    plain, discounted = found[0], found[0.05]
    assert plain is not None
    assert discounted is not None
    assert plain.npv_usd == pytest.approx(1377.40, abs=CENT)  # 12 x (200 - 12.30) + 625 - 1,500
    assert plain.payback[0] == 8
    assert plain.irr_per_year == pytest.approx(2.0516, abs=0.0000501)
    assert discounted.npv_usd == pytest.approx(1289.11, abs=CENT)


def test_a_sweep_plans_every_point() -> None:
    axes = parse_axes(["jobs.work.runs_per_month=20,40,60"])
    sweep = Sweep(small_plan(), axes, catalog(), evidence(), today=TODAY)
    found = [(point.ways[0].present_value_usd, point.ways[1].present_value_usd, point.recommended) for point in sweep]
    # 875 USD beyond resale, 8,760 h of 0.1 kW, and 0.5 kW more in the hours of work, at 0.10 USD/kWh.
    assert [value for row in found for value in row[:2]] == pytest.approx(
        [974.60, 480.00, 986.60, 960.00, 998.60, 1440.00], abs=CENT
    )
    assert [row[2] for row in found] == ["cloud", "cloud", "local"]


def test_a_bar_holds_the_machines_and_moves_one_figure() -> None:
    result = solve(small_plan())
    choice = strategy(result, "local").allocation.choice
    assert choice is not None
    power = [mover for mover in movers_of(result) if mover.id == "site.electricity_usd_per_kwh"]
    (bar,) = sensitivity(result.problem, result.theta, choice, power)
    ends = (bar.present_value_low_usd, bar.present_value_high_usd)
    assert ends == pytest.approx((1000.46, 1044.74), abs=CENT)  # 875 USD + 1,476 kWh at 0.085 and 0.115
    assert bar.swing_usd == pytest.approx(44.28, abs=CENT)


def test_the_answer_turns_where_both_ways_cost_the_same() -> None:
    result = solve(small_plan())
    (flip,) = flips(result.problem, result.theta, [one for one in movers_of(result) if one.id == RENTAL_LEVEL]).found
    assert strategy(result, "local").present_value_usd == pytest.approx(1022.60, abs=CENT)
    assert strategy(result, "local").present_value_usd / 1200 == pytest.approx(0.852167, abs=5e-7)
    assert flip.value * 2 == pytest.approx(0.852162, abs=5e-7)  # 1,022.60 USD less half a cent, over 1,200 h
    assert flip.becomes == "cloud"


def movers_of(result: Any) -> Any:
    return movers(result.problem, {parameter.id for parameter in used_parameters(result)})


def test_the_best_mix_buys_what_saves_more_than_it_costs() -> None:
    free, one = searched(BUSY), searched({**BUSY, "limits.capex_usd": 1500})
    assert (machines(free), machines(one)) == (2, 1)
    assert free.present_value_usd == pytest.approx(2405.20, abs=CENT)
    assert one.present_value_usd == pytest.approx(8205.20, abs=CENT)
    (binding,) = one.binding
    assert (binding.limit, binding.usd_less) == ("capex", pytest.approx(5800.00, abs=CENT))


def test_without_a_plan_either_limit_could_give_way() -> None:
    found = searched({**BUSY, "limits.capex_usd": 1000, "limits.total_usd": 5000})
    assert found.choice is None
    needed = {one.limit.kind: one.needed for one in found.relaxations}
    assert needed == {"total": pytest.approx(19_200, abs=CENT), "capex": pytest.approx(3000, abs=CENT)}


def test_the_rest_of_a_plan_is_what_was_left_of_it() -> None:
    plan = small_plan()
    result, comparison = followed(plan, "local", 6)
    found, new = plan_anew(plan, check_document(plan), comparison, 7, catalog(), evidence(), today=TODAY)
    owned = found.document["machines"]["own"]["owned"]
    assert owned == {"count": 1, "age_months": 6, "resale_gpu_usd": 750.0, "resale_host_usd": 312.5}
    old, rest = rest_of(evaluation(strategy(result, "local")), 7), rest_of(evaluation(strategy(new, "local")), 1)
    assert (rest.running_usd, rest.resale_usd, rest.total_usd) == pytest.approx((73.80, -625.00, -551.20), abs=CENT)
    assert rest.total_usd == pytest.approx(old.total_usd, abs=CENT)
    # Kept, the machine also costs the 1,062.50 USD that it would bring: 511.30 USD against 1,200 USD of renting.
    assert strategy(new, "local").present_value_usd == pytest.approx(511.30, abs=CENT)
    assert strategy(new, "cloud").present_value_usd == pytest.approx(1200.00, abs=CENT)


def worked(page: str) -> list[str]:
    """Paragraphs that begin with `Worked through`, each on one line."""
    paragraphs = (ROOT / "docs" / page).read_text(encoding="utf-8").split("\n\n")
    return [" ".join(text.split()) for text in paragraphs if text.startswith("Worked through")]


@pytest.mark.parametrize("page", PAGES)
def test_figures_of_worked_examples_stand_in_the_tests_they_name(page: str) -> None:
    found = worked(page)
    assert found
    for text in found:
        names = re.findall(r"tests/[\w/]+\.py", text)
        assert names, text
        tested = "\n".join((ROOT / name).read_text(encoding="utf-8") for name in names)
        numbers = [float(each.replace(",", "")) for each in re.findall(r"\d[\d_]*(?:,\d{3})*\.?\d*", tested)]
        for figure, percent in re.findall(r"(\d[\d,]*\.\d+)( %)?", text):
            value, digits = float(figure.replace(",", "")), len(figure.partition(".")[2])
            rounded = {round(each, digits) for each in numbers}
            if percent:
                rounded |= {round(100 * each, digits) for each in numbers}
            assert value in rounded, f"{figure} isn't in {names}"
