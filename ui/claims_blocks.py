"""Blocks of the Claims page: frame, bar of verdicts, filters, and a box for each claim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from ui import claims_charts, formatting, frame
from ui.claims_rows import (
    TOPICS,
    VERDICTS,
    about,
    claims_csv,
    claims_json,
    figure_rows,
    groups,
    listed,
    matching,
    ours,
    printed,
    title,
    value_rows,
    verdict_word,
)
from ui.formatting import dollars, escaped
from ui.i18n import t

Row = Mapping[str, Any]

PAGE = 14
"""Claims drawn at once; the others follow on request, so that a change of filter redraws quickly."""

PRINTED_PX, OURS_PX = 120, 170
"""Widths of the two figures: the same in every box, so that they stand under each other."""

_BADGE = {
    "holds": ("blue", ":material/check_circle:"),
    "conditional": ("yellow", ":material/rule:"),
    "does_not_hold": ("orange", ":material/cancel:"),
    "undecidable": ("gray", ":material/help:"),
}


def top(document: Row) -> None:
    """Row 1: what was compared with what, and saving."""
    with st.container(horizontal=True, vertical_alignment="center", key="claims_top"):
        with st.popover(t("frame.save.label"), icon=":material/download:", key="claims_save"):
            for kind, icon, mime, content in (
                ("csv", ":material/table:", "text/csv", partial(claims_csv, listed(document["claims"]))),
                ("json", ":material/data_object:", "application/json", partial(claims_json, document)),
            ):
                st.download_button(
                    t(f"claims.save_{kind}"),
                    content,
                    file_name=f"claims.{kind}",
                    mime=mime,
                    key=f"claims_save_{kind}",
                    on_click="ignore",
                    icon=icon,
                )
        count, date = len(document["claims"]), formatting.date(document["catalog_as_of"])
        st.markdown(f":gray[{t('claims.line', count=count, date=date)}]", width="content")


def answer(document: Row) -> None:
    """Title with the counts, sentence, bar."""
    counts = document["counts"]
    st.title(title(document), anchor=False)
    st.markdown(about(document))
    chart = claims_charts.verdict_bar(counts, dark=st.context.theme.type == "dark")
    st.vega_lite_chart(chart, theme=None, key="verdict_bar", alt=claims_charts.verdict_alt(counts))


@st.fragment
def claims(document: Row) -> None:
    """Filters and the claims that pass them; a change redraws nothing else."""
    found = _filtered(document)
    if not found:
        st.markdown(t("claims.nothing"))
        st.button(t("claims.show_all"), key="claims_reset", on_click=_show_all, icon=":material/undo:")
        return
    shown = st.session_state.get("claims_shown", PAGE)
    for row in found[:shown]:
        _box(row, document)
    rest = len(found) - shown
    if rest > 0:
        label = t("claims.more", count=min(rest, PAGE), rest=rest)
        st.button(label, key="claims_more", on_click=_show_more, icon=":material/expand_more:", width="stretch")


def _filtered(document: Row) -> list[Row]:
    with st.container(horizontal=True, vertical_alignment="center", key="claims_filters"):
        verdicts = st.pills(
            t("claims.verdict"),
            VERDICTS,
            selection_mode="multi",
            format_func=lambda verdict: t(
                "claims.part", verdict=verdict_word(verdict), count=document["counts"][verdict]
            ),
            key="claims_verdicts",
            label_visibility="collapsed",
            wrap=True,
            on_change=_first_page,
            persist_state="session",
        )
        topic = st.pills(
            t("claims.topic"),
            TOPICS,
            format_func=lambda topic: t(f"claims.topics.{topic}"),
            key="claims_topic",
            label_visibility="collapsed",
            wrap=True,
            on_change=_first_page,
            persist_state="session",
        )
        search = st.text_input(
            t("claims.search"),
            key="claims_search",
            placeholder=t("claims.search"),
            label_visibility="collapsed",
            icon=":material/search:",
            width=260,
            on_change=_first_page,
            persist_state="session",
        )
    found = matching(document, verdicts=verdicts or (), topic=topic, search=search or "")
    if verdicts or topic or search:
        words = t("claims.found", count=len(found), all=len(document["claims"]))
        st.markdown(f":small[:gray[{words}]]")
    return found


def _first_page() -> None:
    st.session_state["claims_shown"] = PAGE


def _show_more() -> None:
    st.session_state["claims_shown"] = st.session_state.get("claims_shown", PAGE) + PAGE


def _show_all() -> None:
    st.session_state["claims_verdicts"] = []
    st.session_state["claims_topic"] = None
    st.session_state["claims_search"] = ""
    _first_page()


def _box(row: Row, document: Row) -> None:
    """One claim: verdict, printed sentence, one line why, both figures, sources."""
    colour, icon = _BADGE[row["verdict"]]
    with st.container(border=True, key=f"claim_{row['id']}"):
        words, numbers = frame.columns(row["id"], [1.65, 1], vertical_alignment="center")
        badge = f":{colour}-badge[{icon} {verdict_word(row['verdict'])}]"
        claim = t("claims.quoted", claim=escaped(row["claim"].removesuffix(".")))
        words.markdown(f"{badge} **{claim}**  \n{escaped(row['explanation'])}")
        with numbers, st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f":small[:gray[{t('claims.printed')}]]  \n{dollars(printed(row))}", width=PRINTED_PX)
            st.markdown(f":small[:gray[{t('claims.ours')}]]  \n**{dollars(ours(row))}**", width=OURS_PX)
            _sources(row, document)
        spread = groups(row)
        if spread:
            chart = claims_charts.spread_chart(
                spread, row["printed_value"], row["unit"], dark=st.context.theme.type == "dark"
            )
            alt = claims_charts.spread_alt(spread, row["printed_value"], row["unit"])
            st.vega_lite_chart(chart, theme=None, key=f"spread_{row['id']}", alt=alt)


def _sources(row: Row, document: Row) -> None:
    count = len(row["sources"])
    label = t("claims.source") if count == 1 else t("claims.sources", count=count)
    popover = st.popover(label, type="tertiary", key=f"sources_{row['id']}", on_change="rerun")
    if not popover.open:  # lists that nobody looks at would be drawn after every change
        return
    with popover:
        if row["definition"]:
            st.markdown(t("claims.tested", definition=escaped(row["definition"])))
        st.markdown("\n".join(f"- {_source(document['sources'][id])}" for id in row["sources"]))
        _table(value_rows(row), f"values_{row['id']}")
        _table(figure_rows(row, document), f"figures_{row['id']}")


def _table(rows: Sequence[Mapping[str, str]], key: str) -> None:
    if rows:
        height = min(38 + 35 * len(rows), 250)
        st.dataframe(pd.DataFrame(rows), hide_index=True, key=key, height=height)


def _source(source: Row) -> str:
    name = escaped(source["title"])
    words = f"[{name}]({source['url']})" if source["url"] else name
    if source["retrieved"]:
        words += f" :gray[{t('claims.read', date=formatting.date(source['retrieved']))}]"
    if source["kind"] in ("estimate", "assumption"):
        words += f" :gray-badge[{t('word.estimate')}]"
    return words


def foot(document: Row) -> None:
    """How a verdict comes about."""
    date = formatting.date(document["catalog_as_of"])
    st.markdown(f":small[:gray[{t('claims.foot', date=date)}]]")
