"""Ranking: what is picked among options, the steps beside it, cheaper ways, and what guides' picks are held against."""

from __future__ import annotations

import dataclasses
import datetime as dt
from typing import Any

import pytest

from planner.advise.recommend import options
from planner.advise.recommend.answer import Recommendation, recommend
from planner.advise.recommend.ask import Ask, parse_budget
from planner.advise.recommend.candidates import builds, rentals
from planner.advise.recommend.capacity import largest_models, need_gb
from planner.advise.recommend.choose import choose
from planner.advise.recommend.guides import guide_offers
from planner.advise.recommend.options import Option
from planner.advise.recommend.reasons import answer_reason, option_reasons
from planner.advise.recommend.serving import serving_rate
from planner.advise.recommend.uses import load_uses
from planner.catalog.load import load_catalog
from planner.catalog.records import Catalog
from planner.performance.constants import constants_of
from planner.performance.estimate import Setup, estimate
from planner.performance.evidence import load_evidence

TODAY = dt.date(2026, 11, 30)
CATALOG = load_catalog(today=TODAY)
USES = load_uses()
EVIDENCE = load_evidence()
BUDGET_USD = 10_000.0


def ask(budget: str, use: str = "training", catalog: Catalog = CATALOG, **more: Any) -> Recommendation:
    return recommend(Ask(budget=parse_budget(budget), use=use, **more), catalog, EVIDENCE, today=TODAY)  # type: ignore[arg-type]


BASE = ask("10000 USD", parameters=3e8)
BUILD = next(option for option in BASE.builds if option.covers and not option.used)
RENTAL = next(option for option in BASE.rentals if option.covers)


def build(id: str, total: float, *, price: float | None = None, speed: float = 100.0, **more: Any) -> Option:
    """A build at a price, whose work costs `total`."""
    assert BUILD.build is not None
    part = dataclasses.replace(BUILD.build.parts[0], count=1)
    figure = dataclasses.replace(part.price_usd, value=total if price is None else price)
    machine = dataclasses.replace(BUILD.build, id=id, parts=(dataclasses.replace(part, price_usd=figure),))
    changes: dict[str, Any] = {"count": 1, "needed": 1, "price_is_old": False, **more}
    if changes.pop("used", False):
        machine = dataclasses.replace(machine, condition="used")
    return dataclasses.replace(
        BUILD, id=id, build=machine, total_usd=total, present_value_usd=total, price_usd=figure.value, speed=speed,
        **changes,
    )  # fmt: skip


def rental(id: str, total: float, *, per_hour: float = 1.0, market: str = "cloud", **more: Any) -> Option:
    assert RENTAL.offer is not None
    price = dataclasses.replace(RENTAL.offer.price_usd_per_h, value=per_hour)
    offer = dataclasses.replace(RENTAL.offer, id=id, price_usd_per_h=price, market=market)  # type: ignore[arg-type]
    changes = {"count": 1, **more}
    return dataclasses.replace(
        RENTAL, id=id, offer=offer, total_usd=total, present_value_usd=total, price_usd=total, **changes
    )


def test_the_lower_of_the_two_kinds_is_picked() -> None:
    cheap_build = choose([build("a", 900), build("b", 800), rental("r", 850)])
    assert (cheap_build.pick.id, cheap_build.build.best.id, cheap_build.rental.best.id) == ("b", "b", "r")  # type: ignore[union-attr]
    cheap_rental = choose([build("a", 900), rental("r", 850), rental("s", 870)])
    assert (cheap_rental.pick.id, cheap_rental.other().id) == ("r", "a")  # type: ignore[union-attr]


def test_new_comes_before_used_and_well_dated_before_old_prices() -> None:
    found = choose([build("used", 500, used=True), build("old", 600, price_is_old=True), build("new", 700)])
    assert found.build.best is not None
    assert found.build.best.id == "new"
    assert [option.id for option in found.cheaper] == ["used", "old"]
    assert choose([build("used", 500, used=True)]).pick.id == "used"  # type: ignore[union-attr]


def test_a_marketplace_is_a_cheaper_way_but_not_the_pick() -> None:
    found = choose([rental("cloud", 100), rental("market", 80, market="marketplace")])
    assert found.pick is not None
    assert found.pick.id == "cloud"
    assert [option.id for option in found.cheaper] == ["market"]


def test_a_cheaper_way_does_all_the_work() -> None:
    part = build("part", 10, covers=False, covered_months=2.0)
    assert choose([build("pick", 500), part]).cheaper == ()


def test_as_many_machines_are_bought_as_the_work_needs_and_the_budget_allows() -> None:
    for option in BASE.builds:
        assert option.build is not None
        within = int(BASE.budget_usd // option.build.price_usd)
        assert option.count == min(option.needed, within)
        assert option.price_usd == pytest.approx(option.count * option.build.price_usd)
    assert any(option.count > 1 for option in BASE.builds)


def test_a_guides_rental_is_a_current_one_where_there_is_one() -> None:
    [current] = [offer for offer in guide_offers(USES, CATALOG, TODAY) if offer.instance_type == "p4d.24xlarge"]
    price = dataclasses.replace(current.price_usd_per_h, value=1.0, as_of="2020")
    stale = dataclasses.replace(current, id="stale", price_usd_per_h=price)
    catalog = dataclasses.replace(CATALOG, offers={**CATALOG.offers, "stale": stale})
    assert current.id in [offer.id for offer in guide_offers(USES, catalog, TODAY)]


def test_the_peak_that_is_served_by_hand() -> None:
    """Three times the speed of training, half of it at the peak; for each card."""
    work, gpu = ask("40000 CNY", "serving", parameters=1e8).work, CATALOG.gpus["t4"]
    training = estimate(Setup(workload=work.workload, gpu=gpu, gpus=1, gpus_per_node=1), CATALOG, EVIDENCE).throughput
    rate = serving_rate(work, gpu, 2, USES, CATALOG, EVIDENCE)
    assert rate == pytest.approx(2 * 3 * training * 0.5, rel=1e-12)


def test_generation_is_bound_by_bandwidth() -> None:
    """16 sequences at 60 % of 1,008 GB/s over 2 bytes of each weight, half of it at the peak."""
    work, gpu = ask("40000 CNY", "serving", parameters=7e9).work, CATALOG.gpus["rtx-4090"]
    weights_gb = 2 * work.workload.parameters.value / 1e9
    rate = serving_rate(work, gpu, 1, USES, CATALOG, EVIDENCE)
    assert rate == pytest.approx(16 * 0.6 * 1008 / weights_gb * 0.5, rel=1e-9)
    assert serving_rate(work, CATALOG.gpus["rtx-3060-12gb"], 1, USES, CATALOG, EVIDENCE) == 0.0


def test_a_stale_offer_is_not_recommended() -> None:
    assert choose([rental("stale", 10, current=False), rental("r", 100)]).pick.id == "r"  # type: ignore[union-attr]


def test_what_does_not_do_all_the_work_is_picked_only_where_nothing_does() -> None:
    part = {"covers": False, "covered_months": 12.0}
    found = choose([build("half", 100, **part), rental("whole", 900)])
    assert (found.status, found.pick.id) == ("ok", "whole")  # type: ignore[union-attr]
    found = choose([build("half", 100, **part), rental("quarter", 50, covers=False, covered_months=6.0)])
    assert (found.status, found.pick.id) == ("partly", "half")  # type: ignore[union-attr]
    nothing = {"covers": False, "covered_months": 0.0, "affordable": False}
    found = choose([build("dear", 100, **nothing), rental("r", 50, per_hour=3.0, **nothing)])
    assert (found.status, found.pick) == ("too_small", None)
    assert (found.least_build.id, found.cheapest_h.id) == ("dear", "r")  # type: ignore[union-attr]


def test_steps_are_clearly_faster_or_clearly_cheaper() -> None:
    options = [
        build("best", 500, price=1000, speed=100),
        build("a bit faster", 800, price=1100, speed=110),
        build("faster", 900, price=1300, speed=120),
        build("much faster", 950, price=2000, speed=300),
        build("used and faster", 950, price=1200, speed=300, used=True),
        build("a bit cheaper", 990, price=960, speed=90),
        build("cheaper", 990, price=900, speed=80),
        build("much cheaper", 990, price=400, speed=20),
    ]
    steps = choose(options).build
    assert (steps.best.id, steps.up.id, steps.down.id) == ("best", "faster", "cheaper")  # type: ignore[union-attr]


def test_a_step_compares_as_many_machines_as_the_work_needs() -> None:
    two = build("two", 900, price=700, speed=60, needed=2, covers=False, covered_months=5.0)
    assert (two.full_price_usd, two.full_speed) == (1400, 120)
    assert choose([build("best", 500, price=1000, speed=100), two]).build.up.id == "two"  # type: ignore[union-attr]


def test_a_cheaper_hour_that_makes_the_work_dearer_is_no_step_down() -> None:
    best = rental("best", 100, per_hour=2.0)
    assert choose([best, rental("slow", 180, per_hour=1.0)]).rental.down is None
    assert choose([best, rental("slower", 105, per_hour=1.0)]).rental.down.id == "slower"  # type: ignore[union-attr]


def test_the_answer_says_when_the_kinds_are_near() -> None:
    def code(*options: Option) -> str:
        return answer_reason(choose(options), BASE.work, BUDGET_USD).code

    assert code(build("b", 100), rental("r", 200)) == "recommend_buy"
    assert code(build("b", 100), rental("r", 104)) == "recommend_buy_tie"
    assert code(build("b", 200), rental("r", 100)) == "recommend_rent"
    assert code(build("b", 104), rental("r", 100)) == "recommend_rent_tie"
    later = dataclasses.replace(build("b", 90), present_value_usd=110.0)
    assert code(later, rental("r", 100)) == "recommend_rent_later"


def test_cautions() -> None:
    codes = {reason.code for reason in option_reasons(build("u", 1, used=True, price_is_old=True), BASE.work)}
    assert {"recommend_used", "recommend_old_price"} <= codes
    codes = {reason.code for reason in option_reasons(rental("m", 1, market="marketplace"), BASE.work)}
    assert "recommend_marketplace" in codes
    assert "recommend_used" not in codes
    slow = option_reasons(build("slow", 1, on_time=False), BASE.work)[0]
    assert slow.code == "recommend_too_slow"
    few = option_reasons(build("few", 1, needed=3), BASE.work)[0]
    assert (few.code, few.params["needed"], few.params["count"]) == ("recommend_too_few", 3, 1)


def test_builds_are_complete_and_powered() -> None:
    found = {option.id: option for option in builds(CATALOG, USES)}
    entry = found["1x-rtx-3060-12gb-pc-entry"]
    assert [(part.item, part.count, part.price_usd.value) for part in entry.parts] == [
        ("rtx-3060-12gb", 1, 220), ("pc-entry", 1, 550)
    ]  # fmt: skip
    assert entry.price_usd == 770
    assert entry.estimated_usd == 550
    assert "1x-rtx-4090-pc-entry" not in found  # 535 W on a supply of 650 W, and 24 GB beside 16 GB
    assert "1x-rtx-3090-used-pc-entry" not in found  # power enough, but 24 GB beside 16 GB
    assert "2x-rtx-5090-workstation-2" not in found  # memory enough, but 1,295 W on supplies of 1,600 W
    server = found["4x-a100-pcie-80gb-workstation-4"]
    bridges = next(part for part in server.parts if part.item == "nvlink-bridge-2-slot")
    assert bridges.count == 6  # three for each of two pairs
    assert any(part.item == "installation" for part in server.parts)
    assert server.airflow
    system = found["rtx-4090-pc"]
    assert [part.item for part in system.parts] == ["rtx-4090-pc"]
    assert system.machine["gpu_price_usd"] + system.machine["host_price_usd"] == system.price_usd == 3200
    assert found["rtx-3090-pc"].condition == "used"


def test_a_launch_price_is_not_a_price_of_today() -> None:
    launched = {
        price.item for price in CATALOG.hardware.values() if price.kind == "launch" and price.condition == "new"
    }
    sold = {price.item for price in CATALOG.hardware.values() if price.kind != "launch" and price.condition == "new"}
    offered = {option.gpu.id for option in builds(CATALOG, USES) if option.condition == "new" and not option.system}
    assert launched - sold
    assert not offered & (launched - sold)


def test_rentals_are_the_cheapest_of_today_by_gpu_and_number() -> None:
    found = rentals(CATALOG, TODAY)
    keys = [(offer.gpu, offer.gpu_count, offer.market) for offer in found]
    assert len(keys) == len(set(keys))
    for offer in found:
        assert offer.status(TODAY) == "current"
        assert offer.term == "on_demand"
        rivals = [
            o.price_usd_per_h.value
            for o in CATALOG.offers.values()
            if (o.gpu, o.gpu_count, o.market, o.term) == (offer.gpu, offer.gpu_count, offer.market, "on_demand")
            and o.status(TODAY) == "current"
            and not o.price_usd_per_h.estimate
        ]
        assert offer.price_usd_per_h.value == min(rivals)


def test_memory_by_hand() -> None:
    """LLaMA-2 7B, 6.738 B parameters: adapters of 1 % at 16 bytes beside 2 bytes a weight; run, 1 GiB of cache."""
    constants = dataclasses.replace(
        constants_of(CATALOG.assumptions), memory_overhead_share=0.0, memory_reserve_gb=1.0, logit_bytes_fused=0.0
    )
    model, gpu = CATALOG.workloads["llama-2-7b"], CATALOG.gpus["rtx-4090"]
    parameters = model.parameters.value
    run = need_gb(model, "inference", gpu, 1, constants, USES)
    assert run == pytest.approx(1.0 + (2 * parameters + 2**30) / 1e9, rel=1e-12)
    full = need_gb(model, "full", gpu, 1, constants, USES)
    lora = need_gb(model, "lora", gpu, 1, constants, USES)
    assert full - lora == pytest.approx((16 - 2 - 0.16) * parameters / 1e9, rel=1e-9)
    assert need_gb(model, "inference", gpu, 2, constants, USES) == pytest.approx(1 + (run - 1) / 2, rel=1e-12)


def test_more_memory_holds_larger_models() -> None:
    small = largest_models(CATALOG.gpus["rtx-3060-12gb"], 1, CATALOG, USES)
    large = largest_models(CATALOG.gpus["a100-sxm4-80gb"], 8, CATALOG, USES)
    for mode in ("full", "lora", "inference"):
        assert large[mode].parameters > 5 * small[mode].parameters  # type: ignore[index, operator]
    for found in (small, large):
        assert found["full"].parameters < found["lora"].parameters <= found["inference"].parameters  # type: ignore[operator]
    assert 0.5e9 < small["full"].parameters < 0.8e9  # type: ignore[operator]


def with_price(id: str, value: float) -> Catalog:
    price = CATALOG.hardware[id]
    figure = dataclasses.replace(price.price_usd, value=value, low=None, high=None)
    changed = dataclasses.replace(price, price_usd=figure)
    return dataclasses.replace(CATALOG, hardware={**CATALOG.hardware, id: changed})


def test_a_guides_pick_falls_when_its_price_rises_and_stands_when_it_falls() -> None:
    question = {"budget": "8000 CNY", "use": "teaching", "parameters": 1e8, "samples": 1e5}
    first = ask(**question).verdicts[0]  # type: ignore[arg-type]
    assert (first.still_best, first.why.code) == (True, "recommend_guide_best")
    no_systems = dataclasses.replace(with_price("rtx-3060-12gb-new", 450), systems={})
    dearer = ask(**question, catalog=no_systems).verdicts[0]  # type: ignore[arg-type]
    assert (dearer.still_best, dearer.affordable, dearer.why.code) == (False, True, "recommend_guide_beaten")
    assert dearer.better is not None
    assert dearer.better.gpu.id == "rtx-4060-ti-16gb"
    unaffordable = ask(**question, catalog=with_price("rtx-3060-12gb-new", 5000))  # type: ignore[arg-type]
    # The complete PC with the card is still within the budget, so that is what the guide's pick costs now.
    assert unaffordable.verdicts[0].price_usd == 915


def test_a_guides_pick_without_a_price_is_unknown_not_free() -> None:
    without = {id: price for id, price in CATALOG.hardware.items() if price.item not in ("t4",)}
    verdict = ask("40000 CNY", "serving", dataclasses.replace(CATALOG, hardware=without), parameters=1e8).verdicts[0]
    assert (verdict.price_usd, verdict.affordable, verdict.still_best) == (None, None, False)
    assert verdict.why.code == "recommend_guide_unknown"


def test_serving_counts_machines_by_the_peak() -> None:
    advice = ask("40000 CNY", "serving", parameters=1e8)
    for option in advice.builds:
        if option.covers:
            assert option.speed >= advice.work.peak_per_s  # type: ignore[operator]
            assert option.speed / option.count * (option.count - 1) < advice.work.peak_per_s  # type: ignore[operator]
    hours = [option.rented_h_per_month for option in advice.rentals]
    assert all(h is not None and 729 < h < 761 for h in hours)


@pytest.mark.slow
def test_an_answer_does_not_depend_on_the_budgets_asked_before() -> None:
    def figures(recommendation: Recommendation) -> list[tuple[Any, ...]]:
        listed = (*recommendation.builds, *recommendation.rentals)
        return [(o.id, o.count, o.needed, o.total_usd, o.price_usd, o.covered_months, o.busy_share) for o in listed]

    for use in ("training", "serving"):
        budgets = ("3000 USD", "30000 USD", "300000 USD")
        warm = [figures(ask(budget, use)) for budget in (*budgets, *budgets)][len(budgets) :]
        for budget, found in zip(budgets, warm, strict=True):
            options._resolved.cache_clear()
            options._full_costs.cache_clear()
            assert figures(ask(budget, use)) == found
        assert len({str(found) for found in warm}) > 1
