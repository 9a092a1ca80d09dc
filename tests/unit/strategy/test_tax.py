"""Tax: on what suppliers invoice, as lines of its own, not twice, and not at all where it is recovered."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests import planning
from tests.planning import amounts, by_id, costed, problem_of, quantity, small_plan, solve, strategy

RATE = 0.25

TAXED: dict[str, Any] = {
    "tax.rate": RATE,
    "staff.cost_usd_per_fte_year": 12_000,
    "staff.fte_per_machine": 0.1,
    "staff.fte_cloud": 0.2,
    "machines.own.installation_usd": 100,
    "machines.own.maintenance_share_per_year": 0.04,
    "site.space_usd_per_month": 10,
    "site.colocation.contracted_kw": 1,
    "site.colocation.price_usd_per_kw_month": 200,
    "jobs.work.egress_gb_per_run": 1,
    "rental.storage_gb": 50,
    "rental.storage_usd_per_gb_month": 0.1,
    "rental.egress_usd_per_gb": 0.05,
    "rental.free_egress_gb_per_month": 0,
}

ENERGY_USD = 12 * (100 * 0.6 + 630 * 0.1) * 0.1


def test_owned_machines() -> None:
    """Cards, hosts, installation; electricity, contract, space, upkeep: not wages, not resale."""
    lines = by_id(costed(small_plan(TAXED), "local"))
    assert quantity(lines["tax_purchase"]) == pytest.approx(1000 + 500 + 100)
    assert lines["tax_purchase"].group == "capex"
    assert quantity(lines["tax_local"]) == pytest.approx(ENERGY_USD + 12 * 200 + 12 * 10 + 0.04 * 1500)
    assert lines["tax_local"].group == "opex"
    assert lines["tax_local"].unit_price[0] == RATE
    assert lines["staff_local.own"].amount[0].sum() == pytest.approx(1200)
    assert {line.taxed for line in lines.values() if line.kind in ("staff_local", "resale_gpu", "resale_host")} == {
        None
    }


def test_rented_machines() -> None:
    """Rental, storage, egress: not wages."""
    lines = by_id(costed(small_plan(TAXED), "cloud"))
    assert quantity(lines["tax_rented"]) == pytest.approx(1200 * 2 + 12 * 5 + 1200 * 0.05)
    assert lines["staff_cloud"].amount[0].sum() == pytest.approx(2400)
    assert not {"tax_purchase", "tax_local"} & set(lines)


def test_tax_is_due_when_what_it_taxes_is() -> None:
    lines = by_id(costed(small_plan(TAXED), "local"))
    for kind in ("tax_purchase", "tax_local"):
        taxed = [line.amount[0] for line in lines.values() if line.taxed == kind]
        assert lines[kind].amount[0] == pytest.approx(RATE * sum(taxed))


@pytest.mark.parametrize("kind", ["local", "cloud"])
def test_recoverable_tax_has_no_line_and_changes_no_net_price(kind: Any) -> None:
    recovered = amounts(costed(small_plan({**TAXED, "tax.recoverable": True}), kind))
    assert recovered == amounts(costed(small_plan({**TAXED, "tax.rate": 0}), kind))


INCLUDED = {
    "tax.rate": RATE,
    "machines.own.prices_include_tax": True,
    "machines.own.maintenance_share_per_year": 0.04,
    "site.electricity_includes_tax": True,
    "site.colocation.contracted_kw": 1,
    "site.colocation.price_usd_per_kw_month": 200,
    "site.colocation.includes_tax": True,
    "offers.rented.includes_tax": True,
}


def test_prices_with_tax_in_them_are_not_taxed_again() -> None:
    found = amounts(costed(small_plan(INCLUDED), "local"))
    assert (found["gpu.own"], found["host.own"]) == (1000, 500)
    assert found["electricity.own"] == pytest.approx(ENERGY_USD)
    assert found["colocation.contract"] == pytest.approx(2400)
    assert "tax_purchase" not in found
    # Upkeep is a share of the net price, and is invoiced with tax.
    assert found["maintenance.own"] == pytest.approx(0.04 * 1500 / (1 + RATE))
    assert found["tax_local"] == pytest.approx(RATE * 0.04 * 1500 / (1 + RATE))
    # Resale is of the price without tax.
    assert found["resale_gpu.own.m12"] == pytest.approx(-0.5 * 1000 / (1 + RATE))
    assert found["resale_host.own.m12"] == pytest.approx(-0.25 * 500 / (1 + RATE))
    assert amounts(costed(small_plan(INCLUDED), "cloud")) == pytest.approx({"rental.work.rented": 2400})


def test_recoverable_tax_inside_a_price_comes_back() -> None:
    plan = small_plan({**INCLUDED, "tax.recoverable": True})
    found = amounts(costed(plan, "local"))
    assert found["gpu.own"] == pytest.approx(1000 / (1 + RATE))
    assert found["host.own"] == pytest.approx(500 / (1 + RATE))
    assert found["electricity.own"] == pytest.approx(ENERGY_USD / (1 + RATE))
    assert found["colocation.contract"] == pytest.approx(2400 / (1 + RATE))
    assert found["maintenance.own"] == pytest.approx(0.04 * 1500 / (1 + RATE))
    assert found["resale_gpu.own.m12"] == pytest.approx(-0.5 * 1000 / (1 + RATE))
    assert not any(id.startswith("tax") for id in found)
    assert amounts(costed(plan, "cloud")) == pytest.approx({"rental.work.rented": 2400 / (1 + RATE)})


def test_installation_is_taxed_beside_cards_whose_price_holds_the_tax() -> None:
    plan = small_plan({**INCLUDED, "machines.own.installation_usd": 100})
    assert quantity(by_id(costed(plan, "local"))["tax_purchase"]) == 100


def test_household_tariff_of_the_catalog_holds_its_tax() -> None:
    plan = small_plan(
        {"tax.rate": RATE, "site.id": "germany", "site.tariff": "residential", "site.electricity_usd_per_kwh": None}
    )
    found = amounts(costed(plan, "local"))
    assert found["electricity.own"] == pytest.approx(ENERGY_USD / 0.1 * 0.4 * 1.1)
    assert "tax_local" not in found
    plan = small_plan({"tax.rate": RATE, "site.id": "germany", "site.electricity_usd_per_kwh": None})
    found = amounts(costed(plan, "local"))
    assert found["electricity.own"] == pytest.approx(ENERGY_USD / 0.1 * 0.2 * 1.1)
    assert found["tax_local"] == pytest.approx(RATE * found["electricity.own"])


@pytest.mark.parametrize(
    ("overrides", "local", "cloud"),
    [
        ({"tax.rate": RATE}, 0.05 * (1 + RATE), 2 * (1 + RATE)),
        (INCLUDED, 0.05, 2),
        ({"tax.rate": RATE, "tax.recoverable": True}, 0.05, 2),
        ({**INCLUDED, "tax.recoverable": True}, 0.05 / (1 + RATE), 2 / (1 + RATE)),
    ],
)
def test_marginal_cost_of_a_run(overrides: dict[str, Any], local: float, cloud: float) -> None:
    """One hour more: 500 W above idle at 0.10 USD/kWh, or 2 USD, with the tax that is not recovered."""
    result = solve(small_plan(overrides))
    assert strategy(result, "local").jobs[0].cost.marginal_usd == pytest.approx(local)
    assert strategy(result, "cloud").jobs[0].cost.marginal_usd == pytest.approx(cloud)


def test_default_rate_is_the_assumption() -> None:
    plan = small_plan({"tax.rate": None})
    problem = problem_of(plan)
    assert problem.parameters[problem.tax_rate_at].sources == ("assumptions:tax_rate",)


def test_card_priced_with_tax_beside_a_host_priced_without(monkeypatch: pytest.MonkeyPatch) -> None:
    frozen = planning.catalog()
    card = replace(frozen.hardware["rtx-4090-new"], includes_tax=True)
    changed = replace(frozen, hardware={**frozen.hardware, card.id: card})
    monkeypatch.setattr(planning, "catalog", lambda: changed)
    plan = small_plan({"tax.rate": RATE, "machines.own.gpu_price_usd": None})
    lines = by_id(costed(plan, "local"))
    assert quantity(lines["tax_purchase"]) == 500
    assert lines["resale_gpu.own.m12"].unit_price[0] == pytest.approx(-0.5 * 1900 / (1 + RATE))
    assert lines["resale_host.own.m12"].unit_price[0] == pytest.approx(-0.25 * 500)


def test_todays_value_of_an_owned_machine_holds_no_tax() -> None:
    """20 % of 1,200 and 600 USD are tax: half of 1,000 and a quarter of 500 remain."""
    owned = {"count": 1, "age_months": 12}
    plan = planning.small_plan(
        {
            "tax.rate": 0.2, "machines.own.owned": owned, "machines.own.prices_include_tax": True,
            "machines.own.gpu_price_usd": 1200, "machines.own.host_price_usd": 600,
            "machines.own.useful_life_months": 36,
            "machines.own.residual_gpu": {12: 0.5, 24: 0.3}, "machines.own.residual_host": {12: 0.25, 24: 0.1},
            "machines.own.gpu": "h100-sxm5-80gb", "jobs.work.throughput": {"own": 1, "rented": 1},
        }
    )  # fmt: skip
    lines = planning.by_id(planning.costed(plan, "local"))
    assert float(lines["opportunity.own.gpu"].unit_price[0]) == pytest.approx(500)
    assert float(lines["opportunity.own.host"].unit_price[0]) == pytest.approx(125)
