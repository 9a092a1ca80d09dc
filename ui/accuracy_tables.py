"""Tables of the Accuracy page: errors by group, the worst runs, held-out errors, and what was not compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from planner.report.errors_by_group import ErrorGroup, error_groups, worst_rows
from planner.report.held_out import Errors, Split
from planner.validate.run import count_reasons
from planner.validate.score import ScoredRow
from ui import formatting, frame
from ui.accuracy_data import Shipped
from ui.accuracy_words import FACTOR_FROM, percent, signed
from ui.formatting import escaped
from ui.i18n import t

BYS = ("gpu", "model", "source", "table")
WORST = 50
"""Worst runs listed."""
_FAR = 50.0  # percent from which a prediction is far off
_TABLE_PX, _HEAD_PX, _ROW_PX = 420, 38, 35


def groups_and_worst(shipped: Shipped) -> None:
    """Errors by group on the left, the worst runs on the right."""
    st.space("small")
    left, right = frame.columns("accuracy_groups", [1.65, 1], gap="large")
    with left:
        _groups(shipped)
    with right:
        _worst(shipped)


@st.fragment
def _groups(shipped: Shipped) -> None:
    st.markdown(f"### {t('accuracy.groups.title')}", anchors=False)
    by = st.segmented_control(
        t("accuracy.groups.by"),
        BYS,
        default="gpu",
        format_func=lambda by: t(f"accuracy.groups.{by}"),
        key="accuracy_by",
        required=True,
        label_visibility="collapsed",
        persist_state="session",
    )
    head = t(f"accuracy.groups.{by}")
    rows = [_group_row(head, group) for group in error_groups(shipped.rows, key_of(shipped, by))]
    config: dict[str, Any] = {head: st.column_config.TextColumn(pinned=True, width=170)}
    for column in (key for key in (rows[0] if rows else {}) if key not in (head, t("accuracy.column.runs"))):
        is_share = column == t("accuracy.column.coverage")
        config[column] = st.column_config.NumberColumn(format="%.0f" if is_share else "%.1f")
    st.dataframe(
        pd.DataFrame(rows),
        hide_index=True,
        key="accuracy_groups_table",
        column_config=config,
        placeholder=formatting.unknown(),
        height=min(_HEAD_PX + _ROW_PX * max(len(rows), 1), _TABLE_PX),
    )


def key_of(shipped: Shipped, by: str) -> Callable[[ScoredRow], str]:
    """What the rows of a group have in common, in words."""
    if by == "gpu":
        return shipped.gpus.name
    if by == "source":
        return shipped.source
    if by == "model":
        return lambda row: row.model
    kinds = {
        id(row): t(f"accuracy.schema.{table.validation.schema}")
        for table in shipped.comparison.tables
        for row in table.validation.rows
    }
    return lambda row: kinds[id(row)]


def _group_row(head: str, group: ErrorGroup) -> dict[str, Any]:
    return {
        head: group.key,
        t("accuracy.column.runs"): group.n,
        t("accuracy.column.median"): group.median_ape,
        t("accuracy.column.p90"): group.p90_ape,
        t("accuracy.column.bias"): group.bias,
        t("accuracy.column.coverage"): None if group.coverage_80 is None else 100.0 * group.coverage_80,
        t("accuracy.column.half_width"): group.median_half_width,
    }


def _worst(shipped: Shipped) -> None:
    st.markdown(f"### {t('accuracy.worst.title')}", anchors=False)
    rows = worst_rows(shipped.rows, WORST)
    if not rows:
        return
    st.markdown(worst_finding(shipped.rows))
    table = [
        {
            t("accuracy.column.run"): row.id,
            t("accuracy.column.error"): signed(row.error),
            t("accuracy.column.predicted"): formatting.plain(row.predicted),
            t("accuracy.column.measured"): formatting.plain(row.measured),
            t("accuracy.column.unit"): t(f"accuracy.unit.{row.unit}"),
            t("column.gpu"): shipped.gpus.name(row),
            t("accuracy.column.model"): row.model,
            t("accuracy.column.source"): shipped.address(row) or shipped.source(row),
        }
        for row in rows
    ]
    link = st.column_config.LinkColumn(display_text=r"https?://(?:www\.)?([^/]+/?[^/]*/?[^/]*)")
    st.dataframe(
        pd.DataFrame(table),
        hide_index=True,
        key="accuracy_worst_table",
        column_config={
            t("accuracy.column.run"): st.column_config.TextColumn(pinned=True),
            t("accuracy.column.source"): link,
        },
        height=min(_HEAD_PX + _ROW_PX * len(table), _TABLE_PX),
    )


def worst_finding(rows: Sequence[ScoredRow]) -> str:
    """The worst run, and how many are far off."""
    counted = [row for row in rows if row.counts and row.ape is not None]
    error = worst_rows(counted, 1)[0].error or 0.0
    if error >= FACTOR_FROM:
        worst = t("accuracy.worst.factor", factor=formatting.plain(1 + error / 100, 2))
    else:
        worst = t(f"accuracy.worst.{'too_high' if error > 0 else 'too_low'}", error=percent(abs(error)))
    over = sum((row.ape or 0.0) > _FAR for row in counted)
    return t(
        "accuracy.worst.finding",
        worst=worst,
        over=formatting.plain(over),
        count=formatting.plain(len(counted)),
    )


def held_out(splits: Sequence[Split]) -> None:
    """Errors on groups that the constants never saw."""
    verdicts = [split.met for split in splits if split.met is not None]
    st.subheader(t("accuracy.held.title", kept=sum(verdicts), count=len(verdicts)), anchor="held-out")
    if not splits:
        st.markdown(t("accuracy.held.note_none"))
        return
    if behind := [split.name for split in splits if split.behind]:
        st.markdown(t("accuracy.held.behind", count=len(behind), names="; ".join(behind)))
    st.dataframe(
        pd.DataFrame([_split_row(split) for split in splits]),
        hide_index=True,
        key="accuracy_held_out",
        column_config={t("accuracy.column.left_out"): st.column_config.TextColumn(pinned=True)},
        height=min(_HEAD_PX + _ROW_PX * len(splits), _TABLE_PX),
    )
    st.markdown(f":small[:gray[{t('accuracy.held.note')}]]")


def _split_row(split: Split) -> dict[str, Any]:
    best = split.best_baseline
    verdict = "no_limit" if split.met is None else "met" if split.met else "missed"
    return {
        t("accuracy.column.left_out"): split.name,
        t("accuracy.groups.table"): t(f"accuracy.held.area.{split.area}"),
        t("accuracy.column.runs"): split.rows,
        t("accuracy.column.errors"): _pair(split.errors),
        t("accuracy.column.coverage"): _in_range(split),
        t("accuracy.column.limit"): t("word.none") if split.limit is None else _pair(split.limit),
        t("accuracy.column.verdict"): t(f"accuracy.held.{verdict}"),
        t("accuracy.column.baseline"): t("word.none")
        if best is None
        else t("accuracy.held.baseline", name=best.name, errors=_pair(best.errors)),
        t("accuracy.column.computed"): formatting.date(split.computed.isoformat()),
    }


def _in_range(split: Split) -> str:
    """Share of the measured values within their range, and how wide that is."""
    if split.coverage_80 is None:
        return formatting.unknown()
    share = formatting.plain(100.0 * split.coverage_80, 2)
    if split.median_half_width is None:
        return share
    return t("accuracy.held.in_range", share=share, width=f"{split.median_half_width:g}")


def _pair(errors: Errors) -> str:
    """Median and 90th percentile as in docs/accuracy.md: "2.6 / 8.9"."""
    return " / ".join(
        f"{value:.1f}" if value < 99.95 else f"{value:,.0f}" for value in (errors.median_ape, errors.p90_ape)
    )


def skipped(shipped: Shipped) -> None:
    """Rows that were not compared, by reason; nothing is left out in silence."""
    left_out = [row for row in shipped.rows if not row.counts]
    unread = shipped.comparison.unread
    if not left_out and not unread:
        return
    title = t("accuracy.skipped.title", count=formatting.plain(len(left_out)))
    folded = st.expander(title, key="accuracy_skipped", on_change="rerun")
    if not folded.open:
        return
    with folded:
        reasons = count_reasons(shipped.rows)
        flagged = sum(row.flagged for row in shipped.rows)
        if flagged:
            reasons[t("accuracy.skipped.flagged")] = flagged
        table = [{t("accuracy.column.reason"): reason, t("accuracy.column.runs"): n} for reason, n in reasons.items()]
        st.dataframe(pd.DataFrame(table), hide_index=True, key="accuracy_skipped_table")
        for problem in unread:
            words = {"file": problem.file, "found": problem.found, "expected": problem.expected}
            st.markdown(escaped(t("accuracy.skipped.unread", **words)))
