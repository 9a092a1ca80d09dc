"""Blocks of the Accuracy page: frame, answer, figures, and a panel for each kind of table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from planner.report.comparison import Compared, comparison_csv
from planner.report.errors_by_group import errors_of
from ui import accuracy_charts, accuracy_upload, formatting, frame, state
from ui.accuracy_data import Shipped
from ui.accuracy_words import percent, signed, whole
from ui.formatting import escaped
from ui.i18n import t

_ORDER = ("llm_throughput", "dl_throughput", "memory_peaks")
"""Kinds of tables in the order in which they are shown; others follow."""


def top(shipped: Shipped) -> None:
    """Row 1: saving, own runs, and what was compared."""
    with st.container(horizontal=True, vertical_alignment="center", key="accuracy_top"):
        with st.popover(t("frame.save.label"), icon=":material/download:", key="accuracy_save"):
            st.download_button(
                t("accuracy.save_csv"),
                lambda: comparison_csv(shipped.comparison.tables),
                file_name="accuracy.csv",
                mime="text/csv",
                key="accuracy_save_csv",
                on_click="ignore",
                icon=":material/table:",
            )
            st.markdown(f":small[:gray[{t('accuracy.save_note')}]]")
        accuracy_upload.popover()
        words = t("accuracy.line", tables=len(shipped.comparison.tables), sources=_source_count(shipped))
        st.markdown(f":gray[{words}]", width="content")


def _source_count(shipped: Shipped) -> int:
    return len({row.source for row in shipped.rows if row.counts})


def answer(shipped: Shipped) -> None:
    """Title, and what was compared."""
    errors = shipped.errors
    if errors.median_ape is None:
        st.title(t("accuracy.title_nothing"), anchor=False)
        return
    st.title(t("accuracy.title", median=whole(errors.median_ape), p90=whole(errors.p90_ape)), anchor=False)
    st.markdown(
        t(
            "accuracy.sentence",
            count=formatting.plain(errors.n),
            sources=_source_count(shipped),
            skipped=formatting.plain(len(shipped.rows) - errors.n),
        )
    )


def figures(shipped: Shipped) -> None:
    """Runs, median, nine in ten, and how many lie within their range."""
    errors = shipped.errors
    left, right = frame.columns("accuracy_figures", 2)
    with left:
        runs, median = st.columns(2, wrap=False)
    with right:
        most, covered = st.columns(2, wrap=False)
    all_rows = t("accuracy.figure.rows_all", count=formatting.plain(len(shipped.rows)))
    bias = t("accuracy.figure.bias", bias=signed(errors.bias))
    aim = t("accuracy.figure.coverage_aim", width=percent(errors.median_half_width))
    _metric(runs, t("accuracy.figure.rows"), formatting.plain(errors.n), all_rows)
    _metric(median, t("accuracy.figure.median"), percent(errors.median_ape), bias)
    _metric(most, t("accuracy.figure.p90"), percent(errors.p90_ape), t("accuracy.figure.p90_note"))
    _metric(covered, t("accuracy.figure.coverage"), formatting.percent(errors.coverage_80), aim)


def _metric(column: Any, label: str, value: str, pill: str) -> None:
    column.metric(label, value, pill, delta_color="off", delta_arrow="off", border=True)


def _ordered(tables: Sequence[Compared]) -> list[Compared]:
    def place(table: Compared) -> tuple[int, str]:
        schema = table.validation.schema
        return (_ORDER.index(schema) if schema in _ORDER else len(_ORDER), table.file)

    return sorted(tables, key=place)


@st.fragment
def panels(shipped: Shipped) -> None:
    """A small chart for each kind of table; runs of a chosen GPU in ink. A choice redraws nothing else."""
    chosen, as_errors = _choices(shipped)
    tables = _ordered(shipped.comparison.tables)
    for start in range(0, len(tables), 2):
        columns = frame.columns(f"panels_{start}", 2, gap="large")
        for column, table in zip(columns, tables[start : start + 2], strict=False):
            with column:
                _panel(shipped, table, chosen, as_errors=as_errors)
    place = columns[-1] if len(tables) % 2 else st.container()  # beside the last panel, or below them
    place.markdown(f":small[:gray[{t('accuracy.note')}]]")


def _choices(shipped: Shipped) -> tuple[str | None, bool]:
    """Name of the GPU to show, and whether errors are drawn; says how far predictions for the GPU are off."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="accuracy_choices"):
        chosen = st.selectbox(
            t("accuracy.gpu"),
            sorted(shipped.gpu_counts, key=lambda name: (-shipped.gpu_counts[name], name)),
            index=None,
            placeholder=t("accuracy.gpu_any"),
            format_func=lambda name: t("accuracy.gpu_count", gpu=name, count=shipped.gpu_counts[name]),
            key="accuracy_gpu",
            width=320,
            persist_state="session",
        )
        view = st.segmented_control(
            t("accuracy.view"),
            ("values", "errors"),
            default="values",
            format_func=lambda view: t(f"accuracy.views.{view}"),
            key="accuracy_view",
            required=True,
            persist_state="session",
        )
    with st.container(key="accuracy_gpu_words"):
        st.markdown(_gpu_words(shipped, chosen))
    return chosen, view == "errors"


def _gpu_words(shipped: Shipped, chosen: str | None) -> str:
    if chosen is None:
        return f":gray[{t('accuracy.gpu_all')}]"
    errors = errors_of([row for row in shipped.rows if shipped.gpus.name(row) == chosen])
    return t(
        "accuracy.gpu_errors",
        gpu=escaped(chosen),
        count=formatting.plain(errors.n),
        median=percent(errors.median_ape),
        p90=percent(errors.p90_ape),
        coverage=formatting.percent(errors.coverage_80),
    )


def _panel(shipped: Shipped, table: Compared, chosen: str | None, *, as_errors: bool) -> None:
    what = t(f"accuracy.schema.{table.validation.schema}")
    errors = shipped.by_table[table.file]
    points = shipped.points[table.file]
    if points.empty:
        st.markdown(f"### {t('accuracy.panel_none', what=what)}", anchors=False)
        return
    heading = t("accuracy.panel", what=what, median=percent(errors.median_ape), p90=percent(errors.p90_ape))
    st.markdown(f"### {heading}", anchors=False)
    unit = t(f"accuracy.unit.{table.validation.unit}")
    dark = st.context.theme.type == "dark"
    chart = accuracy_charts.agreement_chart(
        points, shipped.bands[table.file], unit=unit, chosen=chosen, dark=dark, as_errors=as_errors
    )
    alt = accuracy_charts.agreement_alt(what, errors, points, unit)
    st.vega_lite_chart(chart, theme=None, key=f"agreement_{table.file}", alt=alt)


def foot() -> None:
    """What the words mean, and how old the catalog is."""
    date = formatting.date(state.catalog().as_of)
    st.markdown(f":small[:gray[{t('accuracy.foot', date=date)}]]")
