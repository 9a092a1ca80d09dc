"""For the finance reader, folded on the Timeline page: fiscal years, quarters, baseline, depreciation, lease or buy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import streamlit as st

from planner.messages import Tender, render
from ui import formatting, frame, short_tables
from ui.finance_chart import quarter_alt, quarter_chart, quarter_heading
from ui.formatting import EN_DASH, dollars, escaped
from ui.i18n import t
from ui.plans import Plan
from ui.timeline_data import Timeline
from ui.view import Row, View, way_name

_YEAR = ("purchases", "running", "resale", "financing", "cash", "present_value", "tax_paid", "tax_back")
_BOOKS = ("opening", "additions", "depreciation", "disposals", "closing", "resale", "gain")


def show(timeline: Timeline, plan: Plan, *, outdated: bool) -> None:
    """Computed only for those who look."""
    folded = st.expander(t("timeline.finance.title"), key="timeline_finance", on_change="rerun")
    if not folded.open:
        return
    view, report = timeline.view, plan.finance()
    money = report["finance"]
    way = next(entry for entry in money["strategies"] if entry["id"] == timeline.way["id"])
    with folded:
        st.markdown(dollars(t("timeline.finance.note", pre_tax=money["note"], currency=view.currency.code)))
        if lines := against_lines(view, report):
            st.markdown("\n".join(f"- {dollars(line)}" for line in lines))
        _quarters(view, report, way, money["cash_ceiling_usd_per_quarter"], outdated=outdated)
        st.markdown(f"#### {t('timeline.finance.years')}", anchors=False)
        _table(year_rows(view, way))
        if way["not_cash_usd"]:
            amount = _amount(view, way["not_cash_usd"])
            st.markdown(f":small[:gray[{t('timeline.finance.not_cash', amount=amount)}]]")
        for books in way["depreciation"]:
            _books(view, books)
        for both in way["lease_or_buy"]:
            _lease(view, both)


def against_lines(view: View, report: Row) -> list[str]:
    """Each way over the baseline: net present value, payback, internal rate of return."""
    names = {way["id"]: way_name(way) for way in view.strategies}
    lines = []
    for way in report["strategies"]:
        found = way["against_baseline"]
        if found is None:
            continue
        rate = found["irr_per_year"]
        words = render(f"irr_{found['irr_reason']}") if rate is None else formatting.percent(rate)
        lines.append(
            t(
                "timeline.finance.against.line",
                way=names[way["id"]],
                baseline=names[found["baseline"]],
                amount=_short(view, found["npv_usd"]),
                payback=_payback(found["payback"]),
                rate=words if rate is None else t("timeline.finance.against.rate", rate=words),
            )
        )
    return lines


def _payback(paybacks: Sequence[Row]) -> str:
    plain, discounted = (
        render(f"payback_{entry['reason']}")
        if entry["month"] is None
        else t("timeline.finance.against.month", month=entry["month"])
        for entry in paybacks
    )
    if plain == discounted:
        return plain
    return t("timeline.finance.against.discounted", month=plain, discounted=discounted)


def year_rows(view: View, way: Row) -> list[dict[str, str]]:
    """Money by fiscal year with a total, without what is zero throughout."""
    kinds = [kind for kind in _YEAR if any(year[f"{kind}_usd"] for year in way["years"])]
    head = t("timeline.finance.year")
    rows = [
        {head: _span(year), **{t(f"timeline.finance.{kind}"): _amount(view, year[f"{kind}_usd"]) for kind in kinds}}
        for year in way["years"]
    ]
    sums = {kind: sum(year[f"{kind}_usd"] for year in way["years"]) for kind in kinds}
    total = {t(f"timeline.finance.{kind}"): f"**{_amount(view, sums[kind])}**" for kind in kinds}
    return [*rows, {head: f"**{t('timeline.finance.total')}**", **total}]


def _quarters(view: View, report: Row, way: Row, ceiling_usd: float | None, *, outdated: bool) -> None:
    left, right = frame.columns("timeline_finance", [1.65, 1], gap="large")
    with left:
        heading = quarter_heading(way["quarters"], ceiling_usd, view.currency)
        st.markdown(f"#### {dollars(heading)}", anchors=False)
        dark = st.context.theme.type == "dark"
        chart = quarter_chart(way["quarters"], ceiling_usd, currency=view.currency, dark=dark, faded=outdated)
        alt = quarter_alt(way["quarters"], view.currency)
        st.vega_lite_chart(chart, theme=None, key="timeline_finance_chart", alt=alt)
        st.markdown(f":small[:gray[{t('timeline.finance.quarter.note')}]]")
    with right:
        if broken := list(_broken(view, report, way)):
            lines = [dollars(escaped(line)) for line in broken]
            words = lines[0] if len(lines) == 1 else "\n".join(f"- {line}" for line in lines)
            st.warning(words, icon=":material/error:")


def _broken(view: View, report: Row, way: Row) -> Iterator[str]:
    """Which quarters are above the ceiling, and what would have to move."""
    tender = Tender(code=view.currency.code, usd_per_unit=view.currency.usd_per_unit)
    mine = render(f"strategy_{way['id']}")
    for warning in report["warnings"]:
        if warning["code"].startswith("quarter_above_ceiling") and warning["params"]["way"] == mine:
            yield render(warning["code"], tender, **warning["params"])


def _books(view: View, books: Row) -> None:
    machine = escaped(books["machine"])
    st.markdown(f"#### {t('timeline.finance.books.title', machine=machine)}", anchors=False)
    if not books["years"]:
        text = t("timeline.finance.books.unknown", machine=machine, months=books["useful_life_months"])
        st.markdown(f":gray[{text}]")
        return
    _table(book_rows(view, books))
    st.markdown(f":small[:gray[{t('timeline.finance.books.note', months=books['useful_life_months'])}]]")


def book_rows(view: View, books: Row) -> list[dict[str, str]]:
    """Book value by fiscal year."""
    return [
        {
            t("timeline.finance.year"): _span(year),
            **{t(f"timeline.finance.books.{kind}"): _amount(view, year[f"{kind}_usd"]) for kind in _BOOKS},
        }
        for year in books["years"]
    ]


def _lease(view: View, both: Row) -> None:
    title = t("timeline.finance.lease.title", count=both["count"], machine=escaped(both["machine"]))
    st.markdown(f"#### {title}", anchors=False)
    less = both["bought"]["present_value_usd"] - both["leased"]["present_value_usd"]
    key = "timeline.finance.lease.finding" if less > 0 else "timeline.finance.lease.finding_buy"
    st.markdown(dollars(t(key, amount=formatting.money(abs(less), view.currency, fine=True))))
    _table(lease_rows(view, both))
    st.markdown(f":small[:gray[{t('timeline.finance.lease.note')}]]")


def lease_rows(view: View, both: Row) -> list[dict[str, str]]:
    """The same machines leased and bought: value, cash at the start, by fiscal year; a lease may run for longer."""
    spans = max((both[side]["years"] for side in ("leased", "bought")), key=len)
    rows = []
    for side in ("leased", "bought"):
        found = both[side]
        by_year = [year["amount_usd"] for year in found["years"]] + [0.0] * (len(spans) - len(found["years"]))
        rows.append(
            {
                t("timeline.finance.lease.side"): t(f"timeline.finance.lease.{side}"),
                t("timeline.finance.lease.present_value"): f"**{_amount(view, found['present_value_usd'])}**",
                t("timeline.finance.lease.start"): _amount(view, found["cash_at_start_usd"]),
                **{year["fiscal_year"]: _amount(view, amount) for year, amount in zip(spans, by_year, strict=True)},
                t("timeline.finance.lease.total"): _amount(view, found["total_usd"]),
            }
        )
    return rows


def _table(rows: Sequence[Row]) -> None:
    short_tables.show(rows)


def _span(year: Row) -> str:
    first, last = year["first_month"], year["last_month"]
    months = str(first) if first == last else f"{first}{EN_DASH}{last}"
    return t("timeline.finance.months", year=year["fiscal_year"], months=months)


def _short(view: View, amount_usd: float) -> str:
    """An amount in a sentence: a minus stays with it where the line ends."""
    text = formatting.money(amount_usd, view.currency, fine=True)
    return text.replace(formatting.MINUS, f"{formatting.MINUS}\N{WORD JOINER}")


def _amount(view: View, amount_usd: float) -> str:
    """Whole units of the plan's currency, as a finance reader adds them up."""
    amount = view.currency.of(amount_usd)
    return formatting.exact(amount if abs(amount) >= 0.5 else 0.0, 0)
