"""Owned machines: purchase, life, resale, what is there already, power, upkeep, people."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from planner.errors import InputError
from tests.planning import amounts, by_id, catalog, costed, problem_of, quantity, small_plan, solve, strategy

OWNED: dict[str, Any] = {
    "machines.own.owned": {"count": 1, "age_months": 12, "resale_gpu_usd": 600, "resale_host_usd": 200},
    "machines.own.useful_life_months": 48,
    "machines.own.residual_gpu": {12: 0.5, 24: 0.3},
    "machines.own.residual_host": {12: 0.4, 24: 0.1},
}


def test_totals_by_hand() -> None:
    found = costed(small_plan(), "local")
    energy_usd = 12 * (100 * 0.6 + 630 * 0.1) * 0.1
    assert amounts(found) == pytest.approx(
        {
            "gpu.own": 1000,
            "host.own": 500,
            "resale_gpu.own.m12": -500,
            "resale_host.own.m12": -125,
            "electricity.own": energy_usd,
        }
    )
    assert found.capex_usd[0] == 1500
    assert found.residual_usd[0] == -625
    assert found.opex_usd[0] == pytest.approx(energy_usd)
    assert found.tco_usd[0] == pytest.approx(1500 - 625 + energy_usd)
    assert found.kg_co2e[0] == pytest.approx(12 * 123 * 0.4)


def test_time_of_cash() -> None:
    """Purchase at the start, running costs at the end of each month, resale after the last."""
    lines = by_id(costed(small_plan(), "local"))
    assert np.flatnonzero(lines["gpu.own"].quantity[0]).tolist() == [0]
    assert np.flatnonzero(lines["electricity.own"].quantity[0]).tolist() == list(range(1, 13))
    assert np.flatnonzero(lines["resale_gpu.own.m12"].quantity[0]).tolist() == [12]


def test_replacement_at_the_end_of_life_at_todays_price() -> None:
    plan = small_plan(
        {
            "machines.own.useful_life_months": 5,
            "machines.own.installation_usd": 40,
            "machines.own.residual_gpu": {2: 0.9, 5: 0.7},
            "machines.own.residual_host": {2: 0.8, 5: 0.6},
        }
    )
    lines = by_id(costed(plan, "local"))
    for id in ("gpu.own", "host.own", "installation.own"):
        assert np.flatnonzero(lines[id].quantity[0]).tolist() == [0, 5, 10]
    resale = {id: line.amount[0].sum() for id, line in lines.items() if id.startswith("resale_gpu")}
    assert resale == pytest.approx({"resale_gpu.own.m5": -700, "resale_gpu.own.m10": -700, "resale_gpu.own.m12": -900})
    assert lines["resale_host.own.m12"].amount[0, 12] == pytest.approx(-400)


def test_no_replacement_on_the_last_day() -> None:
    lines = by_id(costed(small_plan({"machines.own.useful_life_months": 12}), "local"))
    assert quantity(lines["gpu.own"]) == 1
    assert [id for id in lines if id.startswith("resale")] == ["resale_gpu.own.m12", "resale_host.own.m12"]
    lines = by_id(costed(small_plan({"machines.own.useful_life_months": 6}), "local"))
    assert quantity(lines["gpu.own"]) == 2


def test_bought_used_sells_by_the_age_of_the_unit() -> None:
    plan = small_plan(
        {
            "machines.own.condition": "used",
            "machines.own.age_months": 12,
            "machines.own.useful_life_months": 48,
            "machines.own.residual_gpu": {12: 0.8, 24: 0.6},
            "machines.own.residual_host": {12: 0.5, 24: 0.3},
        }
    )
    found = amounts(costed(plan, "local"))
    assert found["resale_gpu.own.m12"] == pytest.approx(-1000 * 0.6 / 0.8)
    assert found["resale_host.own.m12"] == pytest.approx(-500 * 0.3 / 0.5)


def test_a_unit_never_sells_above_what_was_paid() -> None:
    plan = small_plan(
        {
            "machines.own.condition": "used",
            "machines.own.age_months": 12,
            "machines.own.useful_life_months": 48,
            "machines.own.residual_gpu": {12: 0.5, 24: 0.6},
        }
    )
    plan["machines"]["own"]["residual_host"] = {12: 0.5, 24: 0.25}
    assert amounts(costed(plan, "local"))["resale_gpu.own.m12"] == -1000


def test_owned_already_counts_todays_resale_and_the_final_one() -> None:
    found = costed(small_plan(OWNED), "local")
    lines = amounts(found)
    assert lines["opportunity.own.gpu"] == 600
    assert lines["opportunity.own.host"] == 200
    assert lines["resale_gpu.own.owned.m12"] == pytest.approx(-600 * 0.3 / 0.5)
    assert lines["resale_host.own.owned.m12"] == pytest.approx(-200 * 0.1 / 0.4)
    assert found.capex_usd[0] == 800
    assert not {"gpu.own", "host.own"} & set(lines)


def test_owned_already_with_the_switch_off_counts_neither() -> None:
    found = costed(small_plan({**OWNED, "owned_value_counts": False}), "local")
    assert list(amounts(found)) == ["electricity.own"]
    assert (found.capex_usd[0], found.residual_usd[0]) == (0, 0)


def test_owned_already_has_no_tax_and_no_installation() -> None:
    plan = small_plan({**OWNED, "tax.rate": 0.2, "machines.own.installation_usd": 50})
    lines = by_id(costed(plan, "local"))
    assert "installation.own" not in lines
    assert "tax_purchase" not in lines


def test_units_bought_beside_owned_ones() -> None:
    lines = amounts(costed(small_plan({**OWNED, "machines.own.count": 3}), "local"))
    assert lines["gpu.own"] == 2000
    assert lines["resale_gpu.own.m12"] == pytest.approx(-2 * 1000 * 0.5)
    assert lines["opportunity.own.gpu"] == 600


@pytest.mark.parametrize("counts", [True, False])
def test_replacement_of_an_owned_unit_is_bought_and_sold_either_way(counts: bool) -> None:
    plan = small_plan({**OWNED, "machines.own.useful_life_months": 18, "owned_value_counts": counts})
    lines = by_id(costed(plan, "local"))
    assert np.flatnonzero(lines["gpu.own"].quantity[0]).tolist() == [6]
    assert lines["resale_gpu.own.owned.m12"].amount[0, 12] == pytest.approx(-1000 * 0.75)
    assert ("resale_gpu.own.owned.m6" in lines) == counts
    if counts:
        assert lines["resale_gpu.own.owned.m6"].amount[0, 6] == pytest.approx(-600 * 0.4 / 0.5)


def test_owned_value_by_default_is_the_used_price_of_the_catalog_else_by_age() -> None:
    plan = small_plan(OWNED)
    plan["machines"]["own"]["owned"] = {"count": 1, "age_months": 12}
    lines = amounts(costed(plan, "local"))
    assert lines["opportunity.own.gpu"] == 1500  # a used card in the frozen catalog
    assert lines["opportunity.own.host"] == pytest.approx(500 * 0.4)


def test_idle_machines_draw_power_in_every_powered_hour() -> None:
    plan = small_plan({"machines.own.count": 3})
    assert quantity(by_id(costed(plan, "local"))["electricity.own"]) == pytest.approx(12 * (60 + (3 * 730 - 100) * 0.1))


def test_powered_for_fewer_hours() -> None:
    plan = small_plan({"machines.own.powered_h_per_month": 200})
    found = costed(plan, "local")
    assert quantity(by_id(found)["electricity.own"]) == pytest.approx(12 * (60 + 100 * 0.1))
    assert found.utilisation[0, 0] == pytest.approx(0.5)


def test_machine_with_part_of_its_cards_busy() -> None:
    """One of two cards: half of the way from idle to load."""
    plan = small_plan({"machines.own.gpus": 2, "machines.own.host": "workstation-2"})
    found = costed(plan, "local")
    assert quantity(by_id(found)["electricity.own"]) == pytest.approx(12 * (730 * 0.1 + 100 * 0.5 / 2))
    assert quantity(by_id(found)["gpu.own"]) == 2
    assert found.utilisation[0, 0] == pytest.approx(50 / 730)


def test_meter_of_the_machine_or_the_site() -> None:
    it_kwh = 12 * (60 + 63)
    assert costed(small_plan({"site.pue": 1.5}), "local").kwh[0] == pytest.approx(1.5 * it_kwh)
    found = costed(small_plan({"site.pue": 1.5, "machines.own.pue": 1.2}), "local")
    assert found.kwh[0] == pytest.approx(1.2 * it_kwh)
    assert found.kg_co2e[0] == pytest.approx(1.2 * it_kwh * 0.4)


def test_upkeep_and_people_by_machine() -> None:
    plan = small_plan(
        {
            "machines.own.count": 2,
            "machines.own.installation_usd": 999,
            "machines.own.maintenance_share_per_year": 0.06,
            "staff.cost_usd_per_fte_year": 60_000,
            "staff.fte_per_machine": 0.1,
        }
    )
    lines = by_id(costed(plan, "local"))
    assert lines["maintenance.own"].amount[0, 1:] == pytest.approx(np.full(12, 2 * 0.06 * 1500 / 12))
    assert lines["staff_local.own"].amount[0, 1:] == pytest.approx(np.full(12, 2 * 0.1 * 60_000 / 12))
    assert "staff_cloud" not in lines


def test_people_by_machine_type() -> None:
    plan = small_plan({"machines.own.fte_per_machine": 0.3, "staff.fte_per_machine": 0.1})
    problem = problem_of(plan)
    assert problem.parameters[problem.machines[0].fte_at].id == "machines.own.fte_per_machine"
    assert problem.theta()[0, problem.machines[0].fte_at] == 0.3


def test_colocation_passes_power_through_or_includes_it() -> None:
    contract = {"site.colocation.contracted_kw": 2, "site.colocation.price_usd_per_kw_month": 150}
    through = costed(small_plan(contract), "local")
    included = costed(small_plan({**contract, "site.colocation.power": "included"}), "local")
    assert amounts(through)["colocation.contract"] == amounts(included)["colocation.contract"] == 3600
    assert amounts(through)["electricity.own"] == pytest.approx(12 * 123 * 0.1)
    assert "electricity.own" not in amounts(included)
    assert included.kwh[0] == through.kwh[0] == pytest.approx(12 * 123)
    assert included.kg_co2e[0] == pytest.approx(through.kg_co2e[0])


def test_one_more_run_costs_no_electricity_where_power_is_in_the_rent() -> None:
    plan = small_plan(
        {
            "site.colocation.contracted_kw": 2,
            "site.colocation.price_usd_per_kw_month": 150,
            "site.colocation.power": "included",
        }
    )
    assert strategy(solve(plan), "local").jobs[0].cost.marginal_usd == 0


@pytest.mark.parametrize(
    ("overrides", "code", "field"),
    [
        ({"machines.own.residual_gpu": {6: 0.5}}, "residual_missing", "machines.own.residual_gpu"),
        ({"machines.own.residual_host": {11: 0.5}}, "residual_missing", "machines.own.residual_host"),
        ({**OWNED, "machines.own.owned.age_months": 48}, "past_useful_life", "machines.own.owned.age_months"),
        ({**OWNED, "machines.own.owned.age_months": 30}, "residual_missing", "machines.own.residual_gpu"),
        (
            {"machines.own.owned": {"count": 1, "age_months": 30, "at_start": "sell"}},
            "residual_missing",
            "machines.own.residual_host",
        ),
        (
            {"machines.own.condition": "used", "machines.own.age_months": 12, "machines.own.useful_life_months": 12},
            "past_useful_life",
            "machines.own.age_months",
        ),
        (
            {
                "machines.own.condition": "used",
                "machines.own.age_months": 6,
                "machines.own.useful_life_months": 48,
                "machines.own.residual_gpu": {6: 0, 18: 0},
            },
            "residual_zero",
            "machines.own.residual_gpu",
        ),
        ({"machines.own.gpus": 2, "machines.own.host": "workstation-1"}, "too_few_slots", "machines.own.gpus"),
        ({"machines.own.gpu": "a100-sxm4-40gb", "machines.own.gpu_price_usd": None}, "missing_price",
         "machines.own.gpu_price_usd"),
        ({"machines.own.host_price_usd": None}, "missing_host", "machines.own.host"),
        ({"machines.own.load_w": None}, "missing_power", "machines.own.load_w"),
        ({"machines.own.idle_w": None}, "missing_power", "machines.own.idle_w"),
        ({"site.pue": None}, "site_incomplete", "site.pue"),
        ({"site.electricity_usd_per_kwh": None}, "site_incomplete", "site.electricity_usd_per_kwh"),
        ({"site.id": "germany", "site.tariff": "night"}, "unknown_tariff", "site.tariff"),
    ],
)  # fmt: skip
def test_what_cannot_be_planned_names_its_field(overrides: dict[str, Any], code: str, field: str) -> None:
    with pytest.raises(InputError) as caught:
        problem_of(small_plan(overrides))
    assert (caught.value.code, caught.value.field) == (code, field)


def test_a_used_host_at_the_price_of_a_new_one_is_said() -> None:
    used = {"machines.own.condition": "used", "machines.own.age_months": 3, "machines.own.host_price_usd": None}
    plan = small_plan({**used, "machines.own.host": next(iter(catalog().hosts))})
    assert "used_host_priced_as_new" in {issue.code for issue in solve(plan).warnings}
    plan["machines"]["own"]["host_price_usd"] = 300
    assert "used_host_priced_as_new" not in {issue.code for issue in solve(plan).warnings}
