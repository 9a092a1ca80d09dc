"""Import of own offers from a CSV file: what it would change is shown first, and a faulty file changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from planner.catalog.records import Catalog
from planner.errors import Problem
from planner.report.listing import rows_csv
from planner.scenario.imports import COLUMNS, MAX_ROWS, ImportRow, OfferImport, Quote, read_offers
from ui import catalog_own, catalog_tables, formatting, state
from ui.formatting import escaped
from ui.i18n import t

_TABLE_PX, _MOST_LINES = 360, 20
_EXAMPLE = {
    "id": "campus-cluster",
    "provider": "",
    "instance_type": "Campus cluster",
    "region": "",
    "gpu": "a100-sxm4-80gb",
    "gpu_count": 8,
    "price_usd_per_gpu_h": 1.1,
    "includes_tax": False,
    "billing_unit_s": 60,
    "minimum_s": 0,
    "startup_s": 300,
}


def show(catalog: Catalog, close: Callable[[], None]) -> None:
    """Choose a file, see what it would change, take it over or not."""
    st.markdown(f"**{t('own.kind.csv')}** :gray[{t('import.about', rows=MAX_ROWS)}]")
    upload = st.file_uploader(t("import.file"), type=["csv", "txt", "tsv"], key="import_file", max_upload_size=16)
    if upload is None:
        st.markdown(f":small[:gray[{escaped(t('import.columns', columns=', '.join(COLUMNS)))}]]")
        with st.container(horizontal=True):
            st.download_button(
                t("import.example"),
                lambda: rows_csv([_EXAMPLE]),
                file_name="offers.csv",
                mime="text/csv",
                key="import_example",
                on_click="ignore",
                icon=":material/description:",
            )
            st.button(t("own.cancel"), key="import_cancel", on_click=close, type="tertiary")
        return
    own = state.document().get("offers") or {}
    found = read_offers(upload.getvalue(), catalog, own, file=upload.name)
    _preview(catalog, found, upload.name)
    with st.container(horizontal=True):
        st.button(
            t("import.take", count=len(found.quotes)),
            key="import_take",
            type="primary",
            disabled=not found.ready,
            on_click=_take,
            args=(found, upload.name, close),
        )
        st.button(t("own.cancel"), key="import_cancel", on_click=close, type="tertiary")


def _take(found: OfferImport, file: str, close: Callable[[], None]) -> None:
    """Callback: all of it, or nothing where a plan can't be made with it."""
    if catalog_own.add("offers", found.quotes, file):
        close()


def _preview(catalog: Catalog, found: OfferImport, file: str) -> None:
    faults = [*found.problems, *(problem for row in found.rows for problem in row.problems)]
    if faults:
        title = t("import.refused", file=escaped(file), count=len(faults))
        shown = "\n".join(f"- {_line(problem)}" for problem in faults[:_MOST_LINES])
        more = f"\n- {t('import.more', count=len(faults) - _MOST_LINES)}" if len(faults) > _MOST_LINES else ""
        st.error(f"**{title}**\n\n{shown}{more}", icon=":material/error:")
    unplanned = catalog_own.problems()
    if unplanned and not faults:
        lines = "\n".join(f"- {escaped(str(problem) if problem.found else problem.expected)}" for problem in unplanned)
        st.error(f"**{t('own.refused')}**\n\n{lines}", icon=":material/error:")
    if not found.rows:
        return
    counts = {state: found.count(state) for state in ("new", "changed", "unchanged", "faulty")}
    st.markdown(t("import.counts", **counts))
    if found.ignored:
        st.markdown(f":small[:gray[{escaped(t('import.ignored', columns=', '.join(found.ignored)))}]]")
    order = {"faulty": 0, "changed": 1, "new": 2, "unchanged": 3}
    rows = [_row(catalog, row) for row in sorted(found.rows, key=lambda row: (order[row.state], row.line))]
    catalog_tables.table(rows, key="import_preview", height=_TABLE_PX)


def _line(problem: Problem) -> str:
    place = t("import.line", line=problem.line) if problem.line else ""
    subject = ", ".join(part for part in (place, problem.record, problem.field) if part)
    words = t("import.fault", found=problem.found, expected=problem.expected)
    return escaped(f"{subject}: {words}" if subject else words)


def _row(catalog: Catalog, row: ImportRow) -> dict[str, Any]:
    known = catalog.offers.get(row.id)
    gpu = known.gpu if known else row.quote.get("gpu")
    count = known.gpu_count if known else row.quote.get("gpu_count")
    name = catalog.gpus[gpu].name if gpu in catalog.gpus else formatting.unknown()
    before = row.before or (None if known is None else {"price_usd_per_h": known.price_usd_per_h.value})
    return {
        t("column.row"): str(row.line),
        t("column.change"): t(f"import.state.{row.state}"),
        t("column.offer"): row.id or formatting.unknown(),
        t("column.gpu"): name if count is None else f"{formatting.plain(count)} × {name}",
        t("column.price_before"): t("import.none") if before is None else _price(before),
        t("column.price_after"): formatting.unknown() if row.state == "faulty" else _price(row.quote),
        t("column.fault"): "; ".join(
            t("import.fault", found=problem.found, expected=problem.expected) for problem in row.problems
        ),
    }


def _price(quote: Quote) -> str:
    """Price of a quote as it is written, per instance-hour or GPU-hour."""
    for key, words in (("price_usd_per_h", "import.per_h"), ("price_usd_per_gpu_h", "import.per_gpu_h")):
        value = quote.get(key)
        if value is not None:
            shown = value if isinstance(value, str) else formatting.price(value)
            return t(words, price=shown)
    return formatting.unknown()
