"""A plan's money for a finance reader as rows: by fiscal year and quarter, depreciation, tax, lease against buy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner.messages import render
from planner.report.plain import plain
from planner.strategy.against import AgainstBaseline, against_baseline, find_baseline
from planner.strategy.cash import (
    NOT_CASH,
    Acquired,
    Purchase,
    QuarterMoney,
    YearMoney,
    by_month,
    fiscal_spans,
    lease_and_purchase,
    quarters,
    years,
)
from planner.strategy.depreciation import Books, BookYear, depreciation
from planner.strategy.evaluate import Result, StrategyResult
from planner.strategy.fiscal import YEAR, Span
from planner.strategy.problem import PlanProblem

_DISCOUNTED = (False, True)


def with_finance(document: Mapping[str, Any], result: Result) -> dict[str, Any]:
    """A plan's document with its money views, and each strategy against the baseline."""
    against = against_entries(result)
    strategies = [{**entry, "against_baseline": against[entry["id"]]} for entry in document["strategies"]]
    return {**document, "strategies": strategies, "finance": finance_entry(result)}


def against_entries(result: Result) -> dict[str, dict[str, Any] | None]:
    """Each strategy against the baseline, by id; None for the baseline, without one, and where nothing is costed."""
    baseline = find_baseline(result.strategies, result.problem.views.baseline)
    entries = {way.id: _against_entry(against_baseline(way, baseline)) for way in result.strategies}
    found: dict[str, dict[str, Any] | None] = plain(entries)
    return found


def _against_entry(found: AgainstBaseline | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "baseline": found.baseline,
        "npv_usd": found.npv_usd,
        "payback": [
            {"discounted": discounted, "month": month, "reason": reason}
            for discounted, month, reason in zip(_DISCOUNTED, found.payback, found.payback_reasons, strict=True)
        ],
        "irr_per_year": found.irr_per_year,
        "irr_reason": found.irr_reason,
    }


def finance_entry(result: Result) -> dict[str, Any]:
    """The views of all strategies, and what they are cut by."""
    views = result.problem.views
    baseline = find_baseline(result.strategies, views.baseline)
    terms = any(machine.finance or machine.lease_or_buy for machine in result.problem.machines)
    entry: dict[str, Any] = plain(
        {
            "asked": views.asked or terms,
            "note": render("pre_tax_result"),
            "plan_starts": None if views.starts is None else f"{views.starts[0]}-{views.starts[1]:02d}",
            "fiscal_year_starts": None if views.starts is None else views.fiscal_year_starts or 1,
            "baseline": None if baseline is None else baseline.id,
            "cash_ceiling_usd_per_quarter": views.ceiling_usd_per_quarter,
            "strategies": [_strategy_entry(way, result) for way in result.strategies],
        }
    )
    return entry


def _strategy_entry(way: StrategyResult, result: Result) -> dict[str, Any]:
    problem, theta, found, choice = result.problem, result.theta, way.evaluation, way.allocation.choice
    if found is None or choice is None:
        empty: dict[str, list[Any]] = {"years": [], "quarters": [], "depreciation": [], "lease_or_buy": []}
        return {"id": way.id, "not_cash_usd": None, **empty}
    worth = [line.amount[0].sum() for line in found.lines if line.kind == NOT_CASH]
    both = [
        (index, ways)
        for index in range(len(problem.machines))
        if (ways := lease_and_purchase(problem, theta, choice, index)) is not None
    ]
    return {
        "id": way.id,
        "not_cash_usd": float(sum(worth)),
        "years": [_year_entry(year) for year in years(problem, theta, choice, found)],
        "quarters": [_quarter_entry(quarter) for quarter in quarters(problem, theta, found)],
        "depreciation": [_books_entry(books) for books in depreciation(problem, theta, found)],
        "lease_or_buy": [
            {
                "machine": problem.machines[index].id,
                "count": int(found.machine_count[0, index]),
                "leased": _acquired_entry(problem, leased),
                "bought": _acquired_entry(problem, bought),
            }
            for index, (leased, bought) in both
        ],
    }


def _span_entry(span: Span, name: str) -> dict[str, Any]:
    return {name: span.label, "first_month": span.first, "last_month": span.last}


def _year_entry(year: YearMoney) -> dict[str, Any]:
    return {
        **_span_entry(year.span, "fiscal_year"),
        "purchases_usd": year.purchases_usd,
        "running_usd": year.running_usd,
        "resale_usd": year.resale_usd,
        "financing_usd": year.financing_usd,
        "cash_usd": year.cash_usd,
        "present_value_usd": year.present_value_usd,
        "tax_paid_usd": year.tax_paid_usd,
        "tax_back_usd": year.tax_back_usd,
    }


def _quarter_entry(quarter: QuarterMoney) -> dict[str, Any]:
    return {
        **_span_entry(quarter.span, "quarter"),
        "paid_usd": quarter.paid_usd,
        "above_usd": quarter.above_usd if quarter.over else 0.0,
        "purchases": [_purchase_entry(purchase) for purchase in quarter.purchases],
        "to_move": [_purchase_entry(purchase) for purchase in quarter.to_move],
        "enough": quarter.enough if quarter.over else None,
    }


def _purchase_entry(purchase: Purchase) -> dict[str, Any]:
    return {"machine": purchase.machine, "month": purchase.month, "amount_usd": purchase.usd}


def _books_entry(books: Books) -> dict[str, Any]:
    return {
        "machine": books.machine,
        "useful_life_months": books.useful_life_months,
        "reason": None if books.years else "residual_missing",
        "years": [_book_entry(year) for year in books.years],
    }


def _book_entry(year: BookYear) -> dict[str, Any]:
    return {
        **_span_entry(year.span, "fiscal_year"),
        "opening_usd": year.opening_usd,
        "additions_usd": year.additions_usd,
        "depreciation_usd": year.depreciation_usd,
        "disposals_usd": year.disposals_usd,
        "closing_usd": year.closing_usd,
        "resale_usd": year.resale_usd,
        "gain_usd": year.gain_usd,
    }


def _acquired_entry(problem: PlanProblem, found: Acquired) -> dict[str, Any]:
    monthly = by_month(found.usd)
    return {
        "total_usd": float(found.usd.sum()),
        "present_value_usd": found.present_value_usd,
        "cash_at_start_usd": float(found.usd[0]),
        "years": [
            {
                **_span_entry(span, "fiscal_year"),
                "amount_usd": float(monthly[span.first - 1 : span.last].sum()),
            }
            for span in fiscal_spans(problem, len(monthly), YEAR)
        ],
    }
