"""How sure the order of the ways is: the likely range of each, and in how many futures it is the cheapest."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from ui import deferred, frame, plan_best_mix, progress_line, short_tables, whatif_charts
from ui.i18n import t
from ui.plans import Plan
from ui.view import Row, View, way_name
from ui.whatif_certainty import chance_rows, distinct_ways, futures
from ui.whatif_charts import Group, Range


def show(view: View, plan: Plan, *, outdated: bool) -> None:
    """Nothing while the best mix is still looked for: it has a chance too."""
    if not plan.uncertainty.known:
        if not outdated and progress_line.is_left(plan_best_mix.KEY):
            deferred.later(plan.uncertainty.result)
        return
    found = plan.uncertainty.answer or {"strategies": []}
    ways = distinct_ways(view, found)
    if not ways:
        return
    st.space("small")
    left, right = frame.columns("band", [1.65, 1], gap="large")
    with left:
        st.markdown(f"### {heading(view, ways)}", anchors=False)
        groups = [group_of(view, ways)]
        horizon, dark = str(view.report["horizon_months"]), st.context.theme.type == "dark"
        chart = whatif_charts.ranges_chart(
            groups, title_key="values", horizon=horizon, currency=view.currency, dark=dark, faded=outdated
        )
        alt = whatif_charts.ranges_alt(groups, view.currency)
        st.vega_lite_chart(chart, theme=None, key="band_chart", alt=alt)
    with right:
        st.markdown(f"### {t('whatif.chances.title')}", anchors=False)
        short_tables.show(chance_rows(view, found))
        samples = f"{found['samples']:,}"
        st.markdown(f":small[:gray[{t('whatif.chances.note', samples=samples)}]]")


def group_of(view: View, ways: Sequence[Row]) -> Group:
    """The likely present value of each way, the recommended one first."""
    of = {way["id"]: way for way in ways}
    return Group(
        name=t("band.head"),
        ranges=tuple(
            Range(
                way=way["kind"],
                label=way_name(way),
                low_usd=of[way["id"]]["present_value_usd_p10"],
                high_usd=of[way["id"]]["present_value_usd_p90"],
                middle_usd=of[way["id"]]["present_value_usd_p50"],
            )
            for way in view.distinct
            if way["id"] in of
        ),
    )


def heading(view: View, ways: Sequence[Row]) -> str:
    """Which way is the cheapest most often."""
    often = max(ways, key=lambda way: float(way["cheapest_probability"]))
    kind = next(way["kind"] for way in view.strategies if way["id"] == often["id"])
    if len(ways) == 1:
        return t("band.only", way=t(f"the.{kind}"), count=futures(often["works_probability"]))
    return t("band.heading", way=t(f"the.{kind}"), count=futures(often["cheapest_probability"]))
