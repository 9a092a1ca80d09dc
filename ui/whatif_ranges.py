"""Every way in every scenario: likely range of the total, as a chart with its finding."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from ui import formatting, whatif_charts
from ui.formatting import dollars, escaped
from ui.i18n import t
from ui.view import way_name
from ui.whatif_charts import Group, Range
from ui.whatif_rows import Card


def show(cards: Sequence[Card], *, outdated: bool) -> None:
    """The chart, its heading, and what its marks mean."""
    found = groups_of(cards)
    shown = next((card.view for card in cards if card.view is not None), None)
    if shown is None or not found:
        return
    st.space("small")
    st.markdown(f"### {dollars(heading(cards))}", anchors=False)
    months = sorted({card.view.report["horizon_months"] for card in cards if card.view is not None})
    horizon = formatting.EN_DASH.join(map(str, dict.fromkeys([months[0], months[-1]])))
    dark = st.context.theme.type == "dark"
    chart = whatif_charts.ranges_chart(found, horizon=horizon, currency=shown.currency, dark=dark, faded=outdated)
    st.vega_lite_chart(
        chart, theme=None, key="whatif_ranges", alt=whatif_charts.ranges_alt(found, shown.currency), width="stretch"
    )
    st.markdown(f":small[:gray[{t('whatif.ranges.note')}]]")


def groups_of(cards: Sequence[Card]) -> list[Group]:
    """The ways that work of each scenario."""
    return [
        Group(
            name=card.kept.name,
            ranges=tuple(
                Range(
                    way=way["kind"],
                    label=way_name(way),
                    low_usd=way["tco_low_usd"],
                    high_usd=way["tco_high_usd"],
                    middle_usd=way["tco_usd"],
                )
                for way in card.view.distinct
            ),
        )
        for card in cards
        if card.view is not None and card.view.distinct
    ]


def heading(cards: Sequence[Card]) -> str:
    """Whether the best way's range stays clear of the others, scenario by scenario."""
    working = [card for card in cards if card.view is not None and card.way is not None]
    close = [card for card in working if card.view is not None and card.view.overlapping()]
    if len(working) == 1:
        return t("whatif.ranges.close_one" if close else "whatif.ranges.clear_one")
    if not close:
        return t("whatif.ranges.clear_all")
    if len(close) == len(working):
        return t("whatif.ranges.close_all")
    clear = [card for card in working if card not in close]
    names = formatting.listed(escaped(card.kept.name) for card in clear)
    return t("whatif.ranges.some" if len(clear) > 1 else "whatif.ranges.some_one", names=names)
