"""Folded on the Timeline page: what each group pays for, in all and month by month."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from planner.units import HALF_CENT_USD
from ui import formatting, number_columns, short_tables
from ui.formatting import Currency, dollars, escaped
from ui.i18n import t
from ui.plans import Plan
from ui.timeline_data import Timeline
from ui.view import Row


def show(timeline: Timeline, plan: Plan) -> None:
    """The section, where the scenario has groups; nothing is shared out before it is opened."""
    if not plan.document.get("groups"):
        return
    folded = st.expander(t("timeline.groups.title"), key="timeline_groups", on_change="rerun")
    if not folded.open:
        return
    groups = shown(plan.groups(timeline.way["id"]))
    currency = timeline.view.currency
    with folded:
        st.markdown(dollars(heading(groups, timeline.way["tco_usd"], currency)))
        short_tables.show(group_rows(groups, timeline.way["tco_usd"], currency))
        months = month_rows(groups)
        columns = number_columns.right(months)
        st.dataframe(pd.DataFrame(months), hide_index=True, key="timeline_groups_months", column_config=columns)
        st.markdown(f":small[:gray[{t('timeline.groups.note')}]]")


def shown(groups: Sequence[Row]) -> list[Row]:
    """Groups, and what belongs to none only where there is any."""
    return [group for group in groups if group["id"] is not None or group["jobs"] or _costs(group)]


def _costs(group: Row) -> bool:
    return any(abs(month["amount_usd"]) >= HALF_CENT_USD for month in group["months"])


def heading(groups: Sequence[Row], total_usd: float, currency: Currency) -> str:
    """Who pays most."""
    most = max((group for group in groups if group["id"] is not None), key=lambda group: group["amount_usd"])
    amount, total = (formatting.money(usd, currency, fine=True) for usd in (most["amount_usd"], total_usd))
    return t("timeline.groups.heading", group=escaped(most["name"]), amount=amount, total=total)


def group_rows(groups: Sequence[Row], total_usd: float, currency: Currency) -> list[dict[str, str]]:
    """A row a group; columns that would be empty throughout are left out."""
    rows: list[dict[str, str]] = []
    counted = any(group["people"] is not None for group in groups)
    for name, group in zip(names(groups), groups, strict=True):
        row = {t("timeline.groups.group"): escaped(name)}
        if counted:
            row[t("timeline.groups.people")] = "" if group["people"] is None else formatting.plain(group["people"])
        row[t("timeline.groups.cost")] = _amount(group["amount_usd"], currency)
        if total_usd > 0:
            row[t("timeline.groups.share")] = formatting.percent(group["amount_usd"] / total_usd)
        if counted:
            each = group["amount_usd_per_person"]
            row[t("timeline.groups.person")] = "" if each is None else _amount(each, currency)
        row[t("timeline.groups.energy")] = formatting.energy(group["kwh"])
        rows.append(row)
    return rows


def month_rows(groups: Sequence[Row]) -> list[dict[str, Any]]:
    """Every month with what each group pays for, in USD, exact."""
    columns = [t("timeline.table.usd", part=name) for name in names(groups)]
    rows: list[dict[str, Any]] = []
    for months in zip(*(group["months"] for group in groups), strict=True):
        amounts = [formatting.exact(month["amount_usd"]) for month in months]
        rows.append({t("chart.spend.x"): months[0]["month"], **dict(zip(columns, amounts, strict=True))})
    return rows


def names(groups: Sequence[Row]) -> list[str]:
    """What groups are called, told apart by their ids where they share a name; words for what belongs to none."""
    called = [t("timeline.groups.none") if group["id"] is None else str(group["name"]) for group in groups]
    return [
        name if called.count(name) == 1 or group["id"] is None else f"{name} ({group['id']})"
        for name, group in zip(called, groups, strict=True)
    ]


def _amount(amount_usd: float, currency: Currency) -> str:
    return dollars(formatting.money(amount_usd if abs(amount_usd) >= HALF_CENT_USD else 0.0, currency, fine=True))
