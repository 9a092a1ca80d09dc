"""Where the recommendation turns, and what moves it most: against break-evens by hand and plans made anew."""

from __future__ import annotations

import re

import numpy as np
import pytest

from planner.report.certainty import nearest_flips, with_certainty
from planner.report.certainty_text import certainty_lines
from planner.report.document import plan_document
from planner.report.provenance import used_parameters
from planner.scenario.load import check_document
from planner.strategy.evaluate import Result
from planner.strategy.flips import Flips, _Lead, _near_ties, flips
from planner.strategy.movers import RENTAL_LEVEL, Mover, movers
from planner.strategy.sensitivity import sensitivity
from tests.planning import document, small_plan, solve, strategy

LAB = "hybrid-lab"


def movers_of(result: Result) -> tuple[Mover, ...]:
    return movers(result.problem, {parameter.id for parameter in used_parameters(result)})


def flips_of(result: Result) -> Flips:
    return flips(result.problem, result.theta, [mover for mover in movers_of(result) if mover.asked])


def test_a_rental_price_turns_the_answer_where_both_cost_the_same() -> None:
    """1,500 USD less 625 and 1,200 h x 0.6 kW + 7,560 h x 0.1 kW at 0.10 USD: 1,022.60 USD, or 0.852166 USD/h."""
    found = [flip for flip in flips_of(solve(small_plan())).found if flip.mover.id == RENTAL_LEVEL]
    (flip,) = found
    assert flip.below
    assert flip.value * 2.0 == pytest.approx(1022.6 / 1200, rel=1e-5)  # beyond it by half a cent
    assert flip.value < flip.before <= flip.value * (1 + 1e-6)
    assert flip.becomes == "cloud"


def test_nothing_turns_where_one_way_is_all_there_is() -> None:
    only = small_plan()
    del only["machines"], only["jobs"]["work"]["throughput"]["own"]
    found = flips_of(solve(only))
    assert found.found == ()
    assert RENTAL_LEVEL in [mover.id for mover in found.none]


@pytest.mark.parametrize("plan", [small_plan(), document(LAB)], ids=["small", "lab"])
def test_plans_made_anew_on_both_sides_recommend_differently(plan: dict[str, object]) -> None:
    found = [flip for flip in flips_of(solve(plan)).found if not flip.mover.level]
    assert found
    today = solve(plan).recommendation.strategy
    for flip in found:
        sides = {}
        for name, value in (("before", flip.before), ("beyond", flip.value)):
            parts = flip.mover.id.split(".")
            changed = document_with(plan, parts, value)
            sides[name] = solve(changed).recommendation.strategy
        assert sides == {"before": today, "beyond": flip.becomes}, flip.mover.id


def document_with(plan: dict[str, object], parts: list[str], value: float) -> dict[str, object]:
    if len(parts) == 1:
        return {**plan, parts[0]: value}
    inner = plan.get(parts[0]) or {}
    assert isinstance(inner, dict)
    return {**plan, parts[0]: document_with(inner, parts[1:], value)}


def test_the_nearest_flip_comes_first() -> None:
    found = flips_of(solve(document(LAB))).found
    distances = [max(flip.factor, 1 / flip.factor) for flip in found]
    assert distances == sorted(distances)


def test_bars_are_the_plans_cost_at_both_ends() -> None:
    """Electricity at 0.10 USD: 1,476 kWh, and 15 % more or less of it where no range is known."""
    result = solve(small_plan())
    choice = strategy(result, "local").allocation.choice
    assert choice is not None
    bars = {bar.mover.id: bar for bar in sensitivity(result.problem, result.theta, choice, movers_of(result))}
    power = bars["site.electricity_usd_per_kwh"]
    assert power.mover.assumed
    assert (power.mover.low, power.mover.high) == pytest.approx((0.085, 0.115))
    assert power.present_value_high_usd - power.present_value_low_usd == pytest.approx(1476 * 2 * 0.15 * 0.1)
    swings = [bar.swing_usd for bar in bars.values()]
    assert swings == sorted(swings, reverse=True)
    assert RENTAL_LEVEL not in bars  # the machine rents nothing


def test_bars_say_what_the_plan_has_over_the_runner_up() -> None:
    """1,022.60 USD against 2,400 USD rented; a fifth less for rent leaves 897.40 USD between them."""
    result = solve(small_plan())
    own, rent = (strategy(result, kind).allocation.choice for kind in ("local", "cloud"))
    assert own is not None
    bars = {
        bar.mover.id: bar for bar in sensitivity(result.problem, result.theta, own, movers_of(result), runner_up=rent)
    }
    assert bars[RENTAL_LEVEL].swing_usd == 0  # it moves the runner-up alone, and is shown for it
    found = (bars[RENTAL_LEVEL].difference_low_usd, bars[RENTAL_LEVEL].difference_high_usd)
    assert found == pytest.approx((1022.6 - 0.8 * 2400, 1022.6 - 1.2 * 2400))


def test_a_lead_that_nearly_vanishes_is_looked_at_closely() -> None:
    """From planned 1 on the lead falls to a hundredth and rises again; going on as it fell it would be gone."""
    mover = next(mover for mover in movers_of(solve(small_plan())) if mover.id == RENTAL_LEVEL)
    values = np.array([1.2, 1.4, 1.6, 1.8])

    def leads(*shares: float) -> list[_Lead]:
        return [_Lead(best="local", over_next=share) for share in shares]

    closer = _near_ties(mover, values, leads(0.3, 0.2, 0.01, 0.2, 0.3))
    assert closer.min() > 1.2
    assert closer.max() < 1.6
    assert len(closer) == 14
    assert not len(_near_ties(mover, values, leads(0.3, 0.26, 0.25, 0.26, 0.3)))


def test_a_plan_says_which_way_works_in_few_futures_and_why() -> None:
    result = solve(small_plan())
    entry = with_certainty(plan_document(result), result, scenario=check_document(small_plan()), anew=True)
    way = entry["uncertainty"]["strategies"][0]
    way |= {"works_probability": 0.61, "fails_for_deadlines_probability": 0.39, "fails_for_capacity_probability": 0.002}
    entry["flips"]["horizon"] = [{"months": 7, "before": 8, "becomes": "cloud"}]
    lines = certainty_lines({**entry, "recommended": "optimal"})
    late = "an attempt too slow for its deadline in 39 of 100"
    assert f"Own all works in 61 of 100 futures only: {late}, too few machines in under 1 of 100" in lines
    assert "Rent all would be recommended with horizon_months at 7 or less" in lines
    assert any(line.startswith("Knowing the future before deciding would save ") for line in lines)
    named = "Own all is the one to choose as planned; a best mix, searched for at those values, may be cheaper:"
    assert any(named in line for line in lines)
    searched = certainty_lines({**entry, "recommended": "local", "optimal": {"found": True, "same_as": "local"}})
    assert any(named in line for line in searched)
    assert not any(named in line for line in certainty_lines({**entry, "recommended": "local"}))


def test_an_input_with_a_range_is_moved_to_its_ends() -> None:
    """Rent of the contract by default: 200, likely between 160 and 400 USD per kW and month."""
    result = solve(small_plan({"site.colocation.contracted_kw": 2}))
    (rent,) = [mover for mover in movers_of(result) if mover.id == "site.colocation.price_usd_per_kw_month"]
    assert (rent.low, rent.value, rent.high, rent.assumed) == (160, 200, 400, False)
    choice = strategy(result, "local").allocation.choice
    assert choice is not None
    (bar,) = sensitivity(result.problem, result.theta, choice, [rent])
    assert bar.swing_usd == pytest.approx(12 * 2 * 240)


def test_the_document_and_its_text_say_it_in_the_plans_currency() -> None:
    plan = {**small_plan(), "currency": "EUR", "currencies": {"EUR": {"usd_per_unit": 2.0}}}
    result = solve(plan)
    entry = with_certainty(plan_document(result), result)
    assert {way["id"] for way in entry["uncertainty"]["strategies"]} == {"local", "cloud", "hybrid"}
    text = "\n".join(certainty_lines(entry))
    assert "of 100" in text
    assert " USD" not in text
    (card,) = [line for line in text.splitlines() if line.startswith("machines.own.gpu_price_usd*")]
    assert re.split(r"\s{2,}", card)[1:4] == ["500 EUR", "400", "600"]  # 1,000 USD, and a fifth either way
    for flip in nearest_flips(entry, 5):
        assert flip["becomes"] in (None, "local", "cloud", "hybrid")
    assert "Rent all would be recommended with" in text
