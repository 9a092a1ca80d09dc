"""Tables of the Timeline page: cash by fiscal year, and every month with its cash, load and waits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner.units import HALF_CENT_USD, MONTHS_PER_YEAR
from ui import formatting
from ui.i18n import t
from ui.palette import COST_ROLES
from ui.timeline_cash import part_name
from ui.timeline_data import Timeline, YearCash

_JOINED = "\N{WORD JOINER}"  # a minus stays with its amount in a narrow column


def year_rows(timeline: Timeline) -> list[dict[str, str]]:
    """Cash by fiscal year with a total; columns that are zero throughout are left out."""
    years = timeline.years()
    kinds = [kind for kind in ("machines", "rental", "running") if any(_of(year, kind) for year in years)]
    return [
        {
            t("timeline.years.year"): _year(year),
            **{t(f"timeline.years.{kind}"): _amount(timeline, _of(year, kind)) for kind in kinds},
            t("timeline.years.cash"): f"**{_amount(timeline, year.cash_usd)}**",
        }
        for year in years
    ]


def _of(year: YearCash, kind: str) -> float:
    return float(getattr(year, f"{kind}_usd"))


def _amount(timeline: Timeline, amount_usd: float) -> str:
    amount = amount_usd if abs(amount_usd) >= HALF_CENT_USD else 0.0
    text = formatting.money(amount, timeline.view.currency, fine=True)
    return text.replace(formatting.MINUS, formatting.MINUS + _JOINED).replace("$", r"\$")


def _year(year: YearCash) -> str:
    if year.number is None:
        return f"**{t('timeline.years.total')}**"
    if year.after:
        return t("timeline.years.after", number=year.label)
    if year.months < MONTHS_PER_YEAR:
        return t("cash.part_of_year", year=year.label, months=year.months)
    return year.label


def month_rows(
    timeline: Timeline, waits: Mapping[str, Mapping[str, Any]], place: tuple[str, str] | None
) -> list[dict[str, Any]]:
    """Every month: cash by part in USD, exact; load; and waits of the chosen job."""
    months = timeline.cash("month")
    roles = [role for role in COST_ROLES if any(role in month.parts_usd for month in months)]
    sold = any(month.resale_usd for month in months)
    loads = timeline.loads()
    entry = waits.get(place[0], {"jobs": []}) if place is not None else {"jobs": []}
    by_month = next((job["by_month"] for job in entry["jobs"] if place is not None and job["id"] == place[1]), [])
    rows = []
    for month in months:
        row: dict[str, Any] = {t("chart.spend.x"): month.number}
        row |= {
            t("timeline.table.usd", part=part_name(role)): formatting.exact(month.parts_usd.get(role, 0.0))
            for role in roles
        }
        if sold:
            row[t("timeline.table.usd", part=t("timeline.resale"))] = formatting.exact(month.resale_usd)
        row[t("timeline.table.usd", part=t("timeline.years.cash"))] = formatting.exact(month.cash_usd)
        within = month.number <= timeline.horizon_months
        for load in loads:
            share = formatting.percent(load.load[month.number - 1]) if within else ""
            row[t("timeline.table.load", machine=load.machine)] = share
        if by_month and place is not None:
            waited = by_month[month.number - 1] if month.number <= len(by_month) else None
            for key, name in (("wait_p50_h", "timeline.wait.median"), ("wait_p90_h", "timeline.wait.p90")):
                row[t("timeline.table.wait", job=place[1], which=t(name))] = (
                    "" if waited is None or waited[key] is None else formatting.duration(waited[key])
                )
        rows.append(row)
    return rows
