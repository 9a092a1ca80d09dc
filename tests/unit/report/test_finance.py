"""The money views: fiscal years, quarters and their ceiling, tax, depreciation, lease against buy; as text and CSV."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest

from planner.__main__ import main
from planner.errors import ScenarioError
from planner.report.document import plan_document
from planner.report.finance import finance_entry, with_finance
from planner.report.finance_csv import COLUMNS, years_csv
from planner.report.finance_text import finance_lines
from planner.scenario.load import check_document, parse_scenario
from planner.strategy.evaluate import Result
from tests.planning import CENT, FIXTURES, document, evaluation, small_plan, solve, strategy

CALENDAR = {"plan_starts": "2027-10", "fiscal_year_starts": 1}
LOAN = {"kind": "loan", "term_months": 9, "nominal_interest_per_year": 0.08, "financed_share": 0.6}
PLANS = ("hybrid-lab", "committed-node", "colocated-node", "spot-node", "workstation-or-rental")


def views(overrides: dict[str, Any] | None = None, way: str = "local") -> dict[str, Any]:
    return of_way(solve(small_plan(overrides)), way)


def of_way(result: Result, way: str) -> dict[str, Any]:
    found: dict[str, Any] = next(entry for entry in finance_entry(result)["strategies"] if entry["id"] == way)
    return found


@pytest.mark.parametrize("name", PLANS)
@pytest.mark.parametrize("changed", [{}, {**CALENDAR, "fiscal_year_starts": 4}], ids=["plan years", "fiscal years"])
def test_years_and_quarters_add_up_to_the_plan(name: str, changed: dict[str, Any]) -> None:
    result = solve(document(name, changed))
    for way in result.strategies:
        if way.evaluation is None:
            continue
        found, entry = way.evaluation, of_way(result, way.id)
        total = {key: sum(year[key] for year in entry["years"]) for key in entry["years"][0] if key.endswith("_usd")}
        worth = entry["not_cash_usd"]
        assert total["cash_usd"] + worth == pytest.approx(found.tco_usd[0], abs=CENT)
        assert total["present_value_usd"] + worth == pytest.approx(found.present_value_usd[0], abs=CENT)
        assert total["purchases_usd"] + worth == pytest.approx(found.capex_usd[0], abs=CENT)
        assert total["running_usd"] == pytest.approx(found.opex_usd[0], abs=CENT)
        assert total["resale_usd"] == pytest.approx(found.residual_usd[0], abs=CENT)
        tax = sum(float(line.amount[0].sum()) for line in found.lines if line.kind.startswith("tax_"))
        assert total["tax_paid_usd"] == pytest.approx(tax, abs=CENT)
        paid = sum(quarter["paid_usd"] for quarter in entry["quarters"])
        assert paid == pytest.approx(total["cash_usd"] - total["resale_usd"], abs=CENT)
        bought = sum(each["amount_usd"] for quarter in entry["quarters"] for each in quarter["purchases"])
        assert bought == pytest.approx(total["purchases_usd"], abs=CENT)
        months = [(year["first_month"], year["last_month"]) for year in entry["years"]]
        assert months[0][0] == 1
        assert months[-1][1] == found.discount.shape[1] - 1


def test_fiscal_years_by_hand() -> None:
    first, second = views({**CALENDAR, "machines.own.finance": LOAN, "inflation_per_year": 0})["years"]
    assert (first["fiscal_year"], first["first_month"], first["last_month"]) == ("2027", 1, 3)
    assert (second["fiscal_year"], second["first_month"], second["last_month"]) == ("2028", 4, 12)
    monthly = 900 * (1.08 ** (1 / 12) - 1) / (1 - 1.08 ** (-9 / 12))
    assert first["purchases_usd"] == 1500
    assert first["running_usd"] == pytest.approx(3 * 12.3)
    assert first["financing_usd"] == pytest.approx(-900 + 3 * monthly)
    assert first["cash_usd"] == pytest.approx(1500 + 36.9 - 900 + 3 * monthly)
    assert second["resale_usd"] == -625
    assert second["financing_usd"] == pytest.approx(6 * monthly)
    assert second["cash_usd"] == pytest.approx(-625 + 9 * 12.3 + 6 * monthly)


def test_a_fiscal_month_needs_the_first_month_of_the_plan() -> None:
    for changed, field, expected in (
        ({"fiscal_year_starts": 13, "plan_starts": "2027-01"}, "fiscal_year_starts", "at most 12"),
        ({"fiscal_year_starts": 0, "plan_starts": "2027-01"}, "fiscal_year_starts", "at least 1"),
        ({"fiscal_year_starts": 7}, "fiscal_year_starts", "'plan_starts' beside it"),
        ({"plan_starts": "2027-13"}, "plan_starts", "a month such as 2026-10"),
        ({"plan_starts": 2027}, "plan_starts", "a month such as 2026-10"),
        ({"cash_ceiling_usd_per_quarter": 0}, "cash_ceiling_usd_per_quarter", "greater than 0"),
        ({"cash_ceiling_usd_per_quarter": -5}, "cash_ceiling_usd_per_quarter", "greater than 0"),
        ({"inflation_per_year": 2}, "inflation_per_year", "share from 0 to 1"),
    ):
        with pytest.raises(ScenarioError) as caught:
            check_document(small_plan(changed))
        (problem,) = caught.value.problems
        assert problem.field == field
        assert expected in problem.expected


def test_the_first_month_may_stand_without_quotes() -> None:
    text = (FIXTURES / "plans" / "workstation-or-rental.yaml").read_text(encoding="utf-8")
    assert parse_scenario(text + "\nplan_starts: 2027-10\n").plan_starts == "2027-10"


def test_a_quarter_above_the_ceiling_names_the_purchase_that_would_have_to_move() -> None:
    result = solve(small_plan({**CALENDAR, "cash_ceiling_usd_per_quarter": 500}))
    first, *others = of_way(result, "local")["quarters"]
    purchase = {"machine": "own", "month": 1, "amount_usd": 1500.0}
    assert (first["quarter"], first["paid_usd"]) == ("2027 Q4", pytest.approx(1536.9))
    assert first["above_usd"] == pytest.approx(1036.9)
    assert (first["purchases"], first["to_move"], first["enough"]) == ([purchase], [purchase], True)
    assert all(quarter["above_usd"] == 0 and quarter["enough"] is None for quarter in others)
    mine = [entry for entry in plan_document(result)["warnings"] if entry["params"].get("way") == "Own all"]
    (warning,) = mine
    assert warning["code"] == "quarter_above_ceiling"
    assert "2027 Q4 (months 1 to 3), 1,037 USD more than the 500 USD" in warning["message"]
    assert "if own of month 1 (1,500 USD) moved" in warning["message"]
    assert strategy(result, "local").feasible  # it is warned of, not dropped


def test_running_costs_alone_above_the_ceiling() -> None:
    result = solve(small_plan({"cash_ceiling_usd_per_quarter": 30}))
    first, second, *_ = of_way(result, "local")["quarters"]
    assert [len(quarter["to_move"]) for quarter in (first, second)] == [1, 0]
    assert [quarter["enough"] for quarter in (first, second)] == [False, False]
    messages = [entry["message"] for entry in plan_document(result)["warnings"] if "ceiling" in entry["code"]]
    assert any("even without own of month 1 (1,500 USD), running costs" in text for text in messages)
    assert any("may take, running costs and financing alone are more" in text for text in messages)


def test_a_loan_brings_a_quarter_under_the_ceiling() -> None:
    loan = {"machines.own.finance": {**LOAN, "financed_share": 1}, "cash_ceiling_usd_per_quarter": 700}
    assert all(quarter["enough"] is None for quarter in views(loan)["quarters"])


def test_of_several_purchases_the_smallest_that_is_enough_has_to_move() -> None:
    both = small_plan({"cash_ceiling_usd_per_quarter": 4200, "machines.own.count": 1})
    for id, price in (("large", 2000), ("huge", 6000)):
        both["machines"][id] = {**both["machines"]["own"], "gpu_price_usd": price}
        both["jobs"]["work"]["throughput"][id] = 1
    first = of_way(solve(both), "local")["quarters"][0]
    assert sorted(each["amount_usd"] for each in first["purchases"]) == [1500, 2500, 6500]
    assert [each["machine"] for each in first["to_move"]] == ["huge"]
    both["cash_ceiling_usd_per_quarter"] = 8500
    assert [each["machine"] for each in of_way(solve(both), "local")["quarters"][0]["to_move"]] == ["large"]
    both["cash_ceiling_usd_per_quarter"] = 1000
    moved = [each["machine"] for each in of_way(solve(both), "local")["quarters"][0]["to_move"]]
    assert moved == ["huge", "large", "own"]


def test_tax_that_comes_back_is_shown_as_paid_and_coming_back() -> None:
    borne = views({"tax.rate": 0.1})["years"][0]
    back = views({"tax.rate": 0.1, "tax.recoverable": True})["years"][0]
    assert borne["tax_paid_usd"] == back["tax_paid_usd"] == pytest.approx(150 + 14.76)
    assert (borne["tax_back_usd"], back["tax_back_usd"]) == (0, pytest.approx(164.76))
    assert back["cash_usd"] == pytest.approx(1500 + 147.6 - 625)


def test_tax_inside_prices_is_tax_too() -> None:
    inside = {"tax.rate": 0.25, "machines.own.prices_include_tax": True, "site.electricity_includes_tax": True}
    for recoverable in (False, True):
        year = views({**inside, "tax.recoverable": recoverable})["years"][0]
        assert year["tax_paid_usd"] == pytest.approx((1500 + 147.6) * 0.2)


def test_a_loan_for_the_tax_is_no_tax() -> None:
    plain, loan = views({"tax.rate": 0.1}), views({"tax.rate": 0.1, "machines.own.finance": LOAN})
    assert loan["years"][0]["tax_paid_usd"] == pytest.approx(plain["years"][0]["tax_paid_usd"])


def test_tax_on_a_lease() -> None:
    lease = {"kind": "lease", "term_months": 12, "nominal_payment_usd_per_month": 100}
    year = views({"tax.rate": 0.1, "inflation_per_year": 0, "machines.own.finance": lease})["years"][0]
    assert year["tax_paid_usd"] == pytest.approx(120 + 14.76)
    assert year["financing_usd"] == pytest.approx(1320)


def test_depreciation_by_hand() -> None:
    """1,500 USD to 625 over twelve months: 72.92 a month, three of them in 2027."""
    (books,) = views(CALENDAR)["depreciation"]
    first, second = books["years"]
    assert books["useful_life_months"] == 12
    assert first["additions_usd"] == 1500
    assert first["depreciation_usd"] == pytest.approx(218.75)
    assert first["closing_usd"] == second["opening_usd"] == pytest.approx(1281.25)
    assert second["depreciation_usd"] == pytest.approx(656.25)
    assert second["disposals_usd"] == second["resale_usd"] == pytest.approx(625)
    assert (second["closing_usd"], second["gain_usd"]) == (pytest.approx(0), pytest.approx(0))


def test_what_is_sold_before_its_end_of_life_leaves_the_books_with_a_gain_or_loss() -> None:
    ratios = {12: 0.5, 24: 0.2}
    changed = {"machines.own.useful_life_months": 24, "tax.rate": 0.1, "machines.own.installation_usd": 100}
    plan = small_plan(changed)
    plan["machines"]["own"] |= {"residual_gpu": ratios, "residual_host": ratios}
    (year,) = of_way(solve(plan), "local")["depreciation"][0]["years"]
    cost = 1600 * 1.1
    assert year["additions_usd"] == pytest.approx(cost)
    assert year["depreciation_usd"] == pytest.approx((cost - 300) / 2)
    assert year["disposals_usd"] == pytest.approx(cost - (cost - 300) / 2)
    assert year["gain_usd"] == pytest.approx(750 - year["disposals_usd"])


def test_what_is_replaced_at_the_end_of_its_life_is_written_off_and_no_longer() -> None:
    plan = small_plan({**CALENDAR, "horizon_months": 8, "machines.own.useful_life_months": 4})
    plan["machines"]["own"] |= {"residual_gpu": {4: 0.6}, "residual_host": {4: 0.6}}
    first, second = of_way(solve(plan), "local")["depreciation"][0]["years"]
    assert first["depreciation_usd"] == pytest.approx(3 * 150)
    assert second["depreciation_usd"] == pytest.approx(150 + 4 * 150)
    assert (second["additions_usd"], second["disposals_usd"]) == (1500, pytest.approx(2 * 900))
    assert second["gain_usd"] == pytest.approx(0)


def test_a_machine_bought_at_the_end_of_its_lease_is_written_off_from_then_on() -> None:
    lease = {"kind": "lease", "term_months": 6, "nominal_payment_usd_per_month": 100, "at_end": "buy"}
    changed = {**CALENDAR, "inflation_per_year": 0, "machines.own.finance": {**lease, "nominal_buyout_usd": 745}}
    first, second = views(changed)["depreciation"][0]["years"]
    assert first["additions_usd"] == first["closing_usd"] == 0
    assert (second["additions_usd"], second["depreciation_usd"]) == (745, pytest.approx(120))
    assert second["disposals_usd"] == pytest.approx(625)


def test_leased_machines_that_go_back_are_in_no_books() -> None:
    lease = {"kind": "lease", "term_months": 12, "nominal_payment_usd_per_month": 100}
    assert views({"machines.own.finance": lease, "machines.own.installation_usd": 50})["depreciation"] == []


def test_a_resale_curve_that_ends_early_is_said() -> None:
    (books,) = views({"machines.own.useful_life_months": 36})["depreciation"]
    assert (books["years"], books["reason"]) == ([], "residual_missing")


@pytest.mark.parametrize("horizon_months", [36, 50, 60])
def test_books_close_with_what_they_opened_with_and_what_came_and_went(horizon_months: int) -> None:
    result = solve(document("hybrid-lab", {**CALENDAR, "horizon_months": horizon_months}))
    entry = of_way(result, "hybrid")
    assert entry["depreciation"]
    for books in entry["depreciation"]:
        closing = 0.0
        for year in books["years"]:
            assert year["opening_usd"] == closing
            closing = year["closing_usd"]
            moved = year["additions_usd"] - year["depreciation_usd"] - year["disposals_usd"]
            assert closing == pytest.approx(year["opening_usd"] + moved)
            assert year["depreciation_usd"] >= 0
        assert closing == pytest.approx(0, abs=1e-6)
    found = evaluation(strategy(result, "hybrid"))
    bought = sum(year["additions_usd"] for books in entry["depreciation"] for year in books["years"])
    brought = sum(year["resale_usd"] for books in entry["depreciation"] for year in books["years"])
    assert bought == pytest.approx(found.capex_usd[0], abs=CENT)
    assert brought == pytest.approx(-found.residual_usd[0], abs=CENT)


def test_the_same_machine_leased_and_bought_is_both_plans() -> None:
    terms = {"term_months": 8, "lease_factor_per_month": 0.04}
    changed = {"tax.rate": 0.1, "machines.own.installation_usd": 30}
    bought = solve(small_plan({**changed, "machines.own.finance": {**LOAN, "lease_offer": terms}}))
    leased = solve(small_plan({**changed, "machines.own.finance": {"kind": "lease", **terms}}))
    (one,) = of_way(bought, "local")["lease_or_buy"]
    (other,) = of_way(leased, "local")["lease_or_buy"]
    assert (one["machine"], one["count"]) == ("own", 1)
    assert one["leased"] == other["leased"]
    plans = [evaluation(strategy(result, "local")) for result in (bought, leased)]
    difference = float(plans[0].present_value_usd[0] - plans[1].present_value_usd[0])
    assert one["bought"]["present_value_usd"] - one["leased"]["present_value_usd"] == pytest.approx(difference)
    assert one["bought"]["cash_at_start_usd"] == pytest.approx(0.4 * 1.1 * 1530)
    assert one["leased"]["cash_at_start_usd"] == pytest.approx(33)
    for side in ("leased", "bought"):
        assert sum(year["amount_usd"] for year in one[side]["years"]) == pytest.approx(one[side]["total_usd"])
    assert other["bought"]["cash_at_start_usd"] == pytest.approx(1.1 * 1530)  # no loan stands in the leased plan


def test_the_text_has_a_block_where_a_key_of_money_is_given() -> None:
    plain = with_finance(plan_document(solve(small_plan())), solve(small_plan()))
    assert finance_lines(plain) == []
    result = solve(small_plan({**CALENDAR, "currency": "EUR", "tax.rate": 0.1, "tax.recoverable": True}))
    lines = finance_lines(with_finance(plan_document(result), result))
    assert lines[0] == "Pre-tax result: no tax on profits and no effect of depreciation on it is counted."
    assert lines[1].split() == [
        "Own",
        "all,",
        "EUR",
        "purchases",
        "running",
        "resale",
        "cash",
        "present",
        "value",
        "tax",
        "paid",
        "tax",
        "back",
    ]
    assert lines[2].startswith("2027 (months 1 to 3)")
    assert lines[4].startswith("total")
    assert any(line.startswith("Own all over Rent all: net present value ") for line in lines)


def test_csv_by_fiscal_year(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    result = solve(document("hybrid-lab", CALENDAR))
    rows = list(csv.DictReader(io.StringIO(years_csv(with_finance(plan_document(result), result)))))
    assert tuple(rows[0]) == COLUMNS
    mine = [row for row in rows if row["strategy"] == "hybrid"]
    assert [row["fiscal_year"] for row in mine] == ["2027", "2028", "2029", "2030", "2031", "2032"]
    assert sum(float(row["cash_usd"]) for row in mine) == pytest.approx(99_377.80, abs=CENT)
    assert float(mine[-1]["book_value_usd"]) == pytest.approx(0, abs=1e-6)
    out = tmp_path / "years.csv"
    source = str(FIXTURES / "plans" / "workstation-or-rental.yaml")
    assert main(["plan", source, "--csv-by-year", str(out), "--today", "2026-11-30"]) == 0
    assert len(out.read_text(encoding="utf-8").splitlines()) == 1 + 12
    assert main(["plan", source, "--csv", str(out), "--csv-by-year", str(out)]) == 2
    assert "--csv-by-year" in capsys.readouterr().err
