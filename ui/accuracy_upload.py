"""The user's own runs: attached, compared row by row, and used for the plan or not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import streamlit as st

from planner.errors import Problem
from planner.report.errors_by_group import errors_of, worst_rows
from ui import accuracy_charts, accuracy_data, catalog_own, formatting, frame, own_rows
from ui.accuracy_data import OwnTable
from ui.accuracy_words import percent, signed
from ui.formatting import escaped
from ui.i18n import t

_TIMES, _NOTE = "own_upload_times", "own_rows_note"
_HEAD_PX, _ROW_PX, _TABLE_PX = 38, 35, 260
_MOST_LINES = 20  # of faults; how many more there are is said
_MOST_ROWS, _MOST_POINTS = 2000, 5000  # shown and drawn; where there are more, that is said
_EXAMPLE = (
    "id,gpu,n_gpus,model,input,batch_per_gpu,precision,throughput,throughput_unit,spread\n"
    "run-1,rtx-4090,1,bert-large-squad,seq384,32,amp-fp16,100,sequences/s,0.02\n"
)
"""A row as `measure` writes it; its speed is made up and only shows the form."""


def popover() -> None:
    """Row 1: attach tables."""
    with st.popover(t("accuracy.own.label"), icon=":material/upload_file:", key="accuracy_own"):
        st.markdown(t("accuracy.own.about"))
        times = st.session_state.get(_TIMES, 0)
        key = f"own_upload_{times}"  # a new one after each time, so that what was taken is gone from it
        st.file_uploader(
            t("accuracy.own.upload"),
            type=["csv", "txt", "tsv"],
            accept_multiple_files=True,
            key=key,
            on_change=_take,
            args=(key,),
            help=t("accuracy.own.upload_help"),
            max_upload_size=16,
        )
        st.download_button(
            t("accuracy.own.example"),
            _EXAMPLE,
            file_name="runs-samples.csv",
            mime="text/csv",
            key="own_example",
            on_click="ignore",
            icon=":material/description:",
            type="tertiary",
        )
        st.markdown(f":small[:gray[{t('accuracy.own.session')}]]")


def _take(key: str) -> None:
    """Callback: keep the files that were chosen."""
    for upload in st.session_state[key] or ():
        own_rows.put(upload.name, upload.getvalue())
    st.session_state[_TIMES] = st.session_state.get(_TIMES, 0) + 1
    st.session_state[_NOTE] = ""


def results() -> None:
    """A box for each attached table, right below the figures; nothing while there is none."""
    tables = own_rows.tables()
    if not tables:
        return
    with st.spinner(t("accuracy.comparing")):
        found = [accuracy_data.own_table(file, content) for file, content in tables.items()]
    st.markdown(f"### {own_title(found)}", anchors=False)
    if note := st.session_state.get(_NOTE):
        st.markdown(formatting.dollars(note))
    for table in found:
        with st.container(border=True, key=f"own_box_{table.file}"):
            _box(table)


def own_title(tables: list[OwnTable]) -> str:
    """The finding over all attached tables."""
    rows = [row for table in tables if table.compared for row in table.compared.validation.rows]
    errors = errors_of(rows)
    if errors.median_ape is None:
        return t("accuracy.own.title_none")
    worst = signed(worst_rows(rows, 1)[0].error)
    return t("accuracy.own.title", median=percent(errors.median_ape), worst=worst)


def _box(table: OwnTable) -> None:
    file = escaped(table.file)
    if table.compared is None:
        lines = "\n".join(f"- {_fault(problem)}" for problem in table.refused)
        st.error(f"**{t('accuracy.own.refused', file=file)}**\n\n{lines}", icon=":material/error:")
        st.button(
            t("accuracy.own.remove"), key=f"own_remove_{table.file}", on_click=own_rows.remove, args=(table.file,)
        )
        return
    in_use = table.file in own_rows.used()
    badge = f":green-badge[:material/check: {t('accuracy.own.in_use')}]" if in_use else _unused_badge()
    st.markdown(f"**{file}** {badge}  \n{_counts(table)}")
    _buttons(table, in_use=in_use)
    for problem in table.unusable:
        words = {"found": escaped(problem.found), "expected": escaped(problem.expected)}
        st.markdown(f":orange-badge[:material/info:] {t('accuracy.own.no_plan', **words)}")
    for problem in table.remarks:
        words = {"record": problem.record, "found": problem.found, "expected": problem.expected}
        st.markdown(f":orange-badge[:material/info:] {escaped(t('accuracy.own.remark', **words))}")
    for move in table.moves:
        st.markdown(f":blue-badge[:material/tune:] {escaped(move[:1].upper() + move[1:])}.")
    if not table.points.empty:
        left, right = frame.columns(f"own_{table.file}", [1, 1.65], gap="large")
        with left:
            _chart(table)
    else:
        right = st.container()
    with right:
        rows = own_table_rows(table)
        if (count := len(table.compared.validation.rows)) > _MOST_ROWS:
            st.markdown(f":small[:gray[{t('accuracy.own.first_rows', shown=_MOST_ROWS, count=count)}]]")
        st.dataframe(
            pd.DataFrame(rows),
            hide_index=True,
            key=f"own_rows_{table.file}",
            column_config={t("accuracy.column.run"): st.column_config.TextColumn(pinned=True)},
            height=min(_HEAD_PX + _ROW_PX * max(len(rows), 1), _TABLE_PX),
        )
    _faults(table)


def _faults(table: OwnTable) -> None:
    """What is wrong with rows, row by row, in words."""
    lines = own_faults(table)
    if not lines:
        return
    shown = "\n".join(f"- {escaped(line)}" for line in lines[:_MOST_LINES])
    more = f"\n- {t('accuracy.own.more', count=len(lines) - _MOST_LINES)}" if len(lines) > _MOST_LINES else ""
    st.markdown(f"**{t('accuracy.own.faults', count=len(lines))}**\n\n{shown}{more}")


def _unused_badge() -> str:
    return f":gray-badge[{t('accuracy.own.not_in_use')}]"


def _counts(table: OwnTable) -> str:
    assert table.compared is not None
    rows = table.compared.validation.rows
    errors = errors_of(rows)
    words = t(
        "accuracy.own.counts",
        what=t(f"accuracy.schema.{table.compared.validation.schema}"),
        rows=len(rows),
        compared=errors.n,
        answers=len(table.counted),
    )
    if errors.coverage_80 is not None:
        coverage, bias = formatting.percent(errors.coverage_80), signed(errors.bias)
        words += f" {t('accuracy.own.coverage', coverage=coverage, bias=bias)}"
    return words


def _buttons(table: OwnTable, *, in_use: bool) -> None:
    with st.container(horizontal=True, key=f"own_buttons_{table.file}"):
        st.button(
            t("accuracy.own.stop") if in_use else t("accuracy.own.use"),
            key=f"own_use_{table.file}",
            type="secondary" if in_use else "primary",
            disabled=not table.counted and not in_use,
            on_click=_change,
            args=(own_rows.stop if in_use else own_rows.use, table.file, in_use),
        )
        st.button(
            t("accuracy.own.remove"),
            key=f"own_remove_{table.file}",
            type="tertiary",
            on_click=_change,
            args=(own_rows.remove, table.file, in_use),
        )


def _change(change: Callable[[str], None], file: str, was_in_use: bool) -> None:
    """Callback: use a table or no longer, and say what that moved."""
    before = catalog_own.total()
    change(file)
    is_in_use = file in own_rows.used()
    st.session_state[_NOTE] = ""
    if is_in_use == was_in_use:
        return
    after = catalog_own.total()
    moved = t("own.same", total=after) if before == after else t("own.moved", total=after, was=before)
    said = t("accuracy.own.used" if is_in_use else "accuracy.own.stopped", file=escaped(file))
    st.session_state[_NOTE] = f"{said} {moved}"


def _chart(table: OwnTable) -> None:
    if table.compared is None:
        return
    validation = table.compared.validation
    unit, what = t(f"accuracy.unit.{validation.unit}"), t(f"accuracy.schema.{validation.schema}")
    points = table.points
    if len(points) > _MOST_POINTS:  # the same ones at each redraw
        points = points.sample(_MOST_POINTS, random_state=0)
        st.markdown(f":small[:gray[{t('accuracy.own.some_points', shown=_MOST_POINTS, count=len(table.points))}]]")
    chart = accuracy_charts.agreement_chart(
        points,
        accuracy_charts.band(validation.rows),
        unit=unit,
        chosen=None,
        all_in_ink=True,
        dark=st.context.theme.type == "dark",
        height=accuracy_charts.HEIGHT_PX - 40,
    )
    alt = accuracy_charts.agreement_alt(what, errors_of(validation.rows), table.points, unit)
    st.vega_lite_chart(chart, theme=None, key=f"own_chart_{table.file}", alt=alt)


def own_table_rows(table: OwnTable) -> list[dict[str, Any]]:
    """Rows of the table, of very many the first: what was predicted, and whether it can answer a plan."""
    if table.compared is None:
        return []
    return [
        {
            t("accuracy.column.run"): row.id,
            t("column.gpu"): table.gpus.name(row),
            t("accuracy.column.model"): row.model,
            t("accuracy.column.measured"): formatting.plain(row.measured),
            t("accuracy.column.predicted"): formatting.plain(row.predicted),
            t("column.likely"): _span(row.low, row.high),
            t("accuracy.column.error"): signed(row.error),
            t("accuracy.column.answers"): t("word.yes") if row.line in table.counted else t("word.no"),
        }
        for row in table.compared.validation.rows[:_MOST_ROWS]
    ]


def own_faults(table: OwnTable) -> list[str]:
    """A sentence for each row with something wrong: why it is not compared, and why it answers no plan."""
    rows = () if table.compared is None else table.compared.validation.rows
    found = []
    for row in rows:
        problems, skipped = table.faults.get(row.line, ()), row.skipped
        kept_out = "; ".join(f"{problem.field}: {_found(problem)}" for problem in problems)
        if skipped is not None and [problem.field for problem in problems] == [skipped.partition(":")[0]]:
            parts = [t("accuracy.own.neither", reason=skipped)]  # one fault that counts for both
        else:
            parts = [] if skipped is None else [t("accuracy.own.not_compared", reason=skipped)]
            key = "accuracy.own.odd" if row.line in table.counted else "accuracy.own.no_answer"
            parts += [t(key, reason=kept_out)] if kept_out else []
        if parts:
            found.append(t("accuracy.own.row", line=row.line, run=row.id, what="; ".join(parts)))
    return found


def _span(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return formatting.unknown()
    return f"{formatting.plain(low)}{formatting.EN_DASH}{formatting.plain(high)}"


def _found(problem: Problem) -> str:
    return t("accuracy.own.fault", found=problem.found, expected=problem.expected)


def _fault(problem: Problem) -> str:
    subject = ", ".join(part for part in (problem.record, problem.field) if part)
    words = _found(problem)
    return escaped(f"{subject}: {words}" if subject else words)
