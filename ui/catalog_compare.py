"""Up to four GPUs side by side: their figures, what their speed costs, and who rents them out."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from planner.catalog.records import Catalog, Figure, Gpu
from planner.performance.evidence import Evidence, load_evidence
from planner.report.gpu_table import CompareRow, compare_rows, is_derived
from planner.report.gpu_values import (
    BASES,
    MEASURES,
    Accelerator,
    Basis,
    Measure,
    accelerators,
    purchase_price,
    saving,
    speed,
    usd_per_speed,
)
from ui import catalog_charts, catalog_offers, catalog_rows, formatting, frame, short_tables
from ui.catalog_charts import Dot
from ui.formatting import EN_DASH, NBSP
from ui.i18n import t
from ui.names import short_gpu

MOST = 4
FIRST = ("rtx-3090", "rtx-4090", "a100-sxm4-80gb", "h100-sxm5-80gb")
_RANKED_BY: Measure = "dense_16_bit"  # training runs on 16-bit matrix units
_JOINER = "\N{WORD JOINER}"  # a range in a narrow cell stays on one line


@st.fragment  # another choice redraws the comparison alone, not the table of all GPUs below it
def show(catalog: Catalog, today: dt.date) -> None:
    """Title, choice, sheet, chart and offers."""
    evidence, known = load_evidence(), accelerators(catalog)
    title = st.container()
    names = {id: gpu.name for id, gpu in known.items()}
    left, right = frame.columns("choice", [2.4, 1])
    with left:
        chosen = st.multiselect(
            t("compare.choose"),
            sorted(names, key=lambda id: names[id]),
            default=[id for id in FIRST if id in names],
            format_func=lambda id: names.get(id, id),
            max_selections=MOST,
            key="compare_gpus",
            placeholder=t("compare.placeholder"),
            persist_state="session",
        )
    with right:
        basis: Basis = st.segmented_control(
            t("compare.basis"),
            BASES,
            default="new",
            format_func=lambda basis: t(f"compare.basis_{basis}"),
            key="compare_basis",
            required=True,
            help=t("compare.basis_help"),
            persist_state="session",
        )
    gpus = [known[id] for id in chosen if id in known]
    pair = _pair(catalog, evidence, gpus, basis)
    title.title(_title(catalog, evidence, pair, basis, count=len(known)), anchor=False)
    if gpus:
        labels = _labels(gpus)
        sheet, chart = frame.columns("compared", [1.65, 1], gap="large")
        with sheet:
            _spec_sheet(catalog, evidence, gpus, labels, basis, today)
        with chart:
            _speed_prices(catalog, evidence, gpus, labels, pair, basis)
        catalog_offers.of_gpus(catalog, [gpu.id for gpu in gpus], today)
    else:
        st.markdown(t("compare.empty"))


def _labels(gpus: Sequence[Accelerator]) -> list[str]:
    """Short names where they tell the GPUs apart, else the full ones."""
    short = [short_gpu(gpu.name) for gpu in gpus]
    return [name if short.count(name) == 1 else gpu.name for name, gpu in zip(short, gpus, strict=True)]


def _pair(
    catalog: Catalog, evidence: Evidence, gpus: Sequence[Accelerator], basis: Basis
) -> tuple[Accelerator, Accelerator] | None:
    """The GPUs whose speed is cheapest and dearest, by dense 16-bit rate."""
    costs = []
    for gpu in gpus:
        cost = usd_per_speed(purchase_price(catalog, gpu, basis), speed(gpu, _RANKED_BY, evidence))
        if cost is not None:
            costs.append((cost.value, gpu))
    if len(costs) < 2:
        return None
    costs.sort(key=lambda cost: cost[0])
    return costs[0][1], costs[-1][1]


def _title(
    catalog: Catalog,
    evidence: Evidence,
    pair: tuple[Accelerator, Accelerator] | None,
    basis: Basis,
    *,
    count: int,
) -> str:
    if pair is None:
        return t("catalog.title.gpus", count=count)
    bought = t(f"compare.bought.{basis}")
    found = [saving(catalog, evidence, *pair, measure, basis) for measure in MEASURES]
    known = [figure.value for figure in found if figure is not None]
    low, high = formatting.percent(min(known)), formatting.percent(max(known))
    cheap, dear = _labels(pair)
    if min(known) <= 0:
        return t("compare.title_turns", bought=bought, cheap=cheap, dear=dear)
    if low == high:
        return t("compare.title_one", bought=bought, cheap=cheap, dear=dear, share=low)
    return t("compare.title", bought=bought, cheap=cheap, dear=dear, low=low.partition(NBSP)[0], high=high)


def _spec_sheet(
    catalog: Catalog,
    evidence: Evidence,
    gpus: Sequence[Accelerator],
    labels: Sequence[str],
    basis: Basis,
    today: dt.date,
) -> None:
    st.subheader(t("compare.sheet"), anchor=False)
    rows = compare_rows(catalog, evidence, gpus, basis)
    table: list[dict[str, str]] = []
    for row in rows:
        if not _is_shown(row, basis):
            continue
        cells = [_cell(row, index, gpu) for index, gpu in enumerate(gpus)]
        table.append(_named(_row_name(row.id, basis), labels, cells))
        if row.id.startswith("price"):
            seen = [_seen(figure, today) for figure in row.figures]
            table.append(_named(t(f"compare.seen.{row.id}"), labels, seen))
        if row.id == "nvlink_gb_per_s":
            table.append(_named(t("compare.row.peer"), labels, [_peer(gpu) for gpu in gpus]))
    # One Markdown table: in `st.table` each of some hundred cells is an element that is drawn by itself.
    with st.container(key="wide_sheet"):
        st.markdown(short_tables.markdown(table))
    st.markdown(f":small[:gray[{t('compare.note')}]]")
    cited = [row for row in rows if row.id != "price_usd" or _is_shown(row, basis)]
    count = sum(figure is not None for row in cited for figure in row.figures)
    folded = st.expander(
        t("compare.sources", count=count), key="compare_sources", icon=":material/link:", on_change="rerun"
    )
    if folded.open:
        with folded:
            st.dataframe(
                pd.DataFrame(_source_rows(catalog, cited, labels, basis, today)),
                hide_index=True,
                key="compare_sources_table",
            )


def _is_shown(row: CompareRow, basis: Basis) -> bool:
    """Rows with a figure; a link by bridge stands with the other links, and a price in a condition once."""
    if row.id == "nvlink_bridge_gb_per_s" or (row.id == "price_usd" and basis != "launch"):
        return False
    return row.id == "nvlink_gb_per_s" or any(figure is not None for figure in row.figures)


def _row_name(id: str, basis: Basis) -> str:
    """Name of a figure; one that is computed from a price says from which."""
    name = t(f"compare.row.{id}")
    return t("compare.row_of", name=name, of=t(f"compare.of.{basis}")) if "usd" in id and is_derived(id) else name


def _named(name: str, labels: Sequence[str], cells: Sequence[str]) -> dict[str, str]:
    return {t("compare.figure"): name, **dict(zip(labels, cells, strict=True))}


def _cell(row: CompareRow, index: int, gpu: Accelerator) -> str:
    figure = row.figures[index]
    if figure is None:
        if row.id == "nvlink_gb_per_s" and catalog_rows.link(gpu) != formatting.unknown():
            return catalog_rows.link(gpu)
        if row.id == "dense_fp8_tflop_per_s" and "fp8" not in gpu.spec.features and isinstance(gpu, Gpu):
            return t("word.none")
        return f":gray[{formatting.unknown()}]"
    derived = is_derived(row.id)
    if row.id.startswith("price"):
        text = formatting.trimmed(catalog_rows.usd(figure))
    else:
        text = catalog_rows.text(figure, digits=3 if derived or row.id == "bert_large_samples_per_s" else 6)
    if index in row.best:
        text = f"**{text}**"
    return f"{text} :gray-badge[{t('compare.estimate')}]" if figure.estimate and not derived else text


def _seen(figure: Figure | None, today: dt.date) -> str:
    if figure is None:
        return f":gray[{formatting.unknown()}]"
    months = formatting.age_months(figure.as_of, today)
    if months is None or months < formatting.OLD_AFTER_MONTHS:
        return formatting.date(figure.as_of)
    return f"{formatting.date(figure.as_of)} :orange-badge[{t('compare.old', months=months)}]"


def _peer(gpu: Accelerator) -> str:
    if gpu.nvlink_gb_per_s is not None:
        return t("compare.linked")
    bridge = gpu.spec.nvlink_bridge_gb_per_s
    if bridge is not None:
        return t("compare.bridged")
    return t("compare.peer" if getattr(gpu, "peer_to_peer", False) else "compare.no_peer")


def _source_rows(
    catalog: Catalog, rows: Sequence[CompareRow], labels: Sequence[str], basis: Basis, today: dt.date
) -> list[dict[str, Any]]:
    return [
        {
            t("column.figure"): _row_name(row.id, basis),
            t("column.gpu"): label,
            t("column.amount"): catalog_rows.text(figure),
            t("column.likely"): t("word.not_stated")
            if figure.low is None or figure.high is None
            else f"{formatting.trimmed(figure.low, 3)}{EN_DASH}{formatting.trimmed(figure.high, 3)}",
            **catalog_rows.origin(catalog, [figure], today),
        }
        for row in rows
        for label, figure in zip(labels, row.figures, strict=True)
        if figure is not None
    ]


def _speed_prices(
    catalog: Catalog,
    evidence: Evidence,
    gpus: Sequence[Accelerator],
    labels: Sequence[str],
    pair: tuple[Accelerator, Accelerator] | None,
    basis: Basis,
) -> None:
    """The chart of what speed costs, and how far it depends on the measure and on the price."""
    if pair is None:
        st.subheader(t("compare.speed"), anchor=False)
        st.markdown(t("compare.no_pair"))
        return
    cheap, dear = pair
    names = dict(zip([gpu.id for gpu in gpus], labels, strict=True))
    spans = {of: {measure: saving(catalog, evidence, cheap, dear, measure, of) for measure in MEASURES} for of in BASES}
    st.subheader(_speed_heading(spans[basis]), anchor=False)
    dots = _dots(catalog, evidence, gpus, names, cheap.id, dear.id, basis)
    dark = st.context.theme.type == "dark"
    st.vega_lite_chart(
        None,
        catalog_charts.speed_price_chart(dots, reference=names[dear.id], dark=dark),
        theme=None,
        key="speed_prices",
        alt=catalog_charts.speed_price_alt(dots),
    )
    st.markdown(f":small[:gray[{t('compare.wrong_measure')}]]")
    priceless = [names[gpu.id] for gpu in gpus if purchase_price(catalog, gpu, basis) is None]
    if priceless:
        st.markdown(f":small[:gray[{t(f'compare.priceless.{basis}', gpus=', '.join(priceless))}]]")
    st.markdown(f"**{t('compare.gap', cheap=names[cheap.id], dear=names[dear.id])}**")
    table = [
        {
            t("compare.basis"): t(f"compare.basis_{of}"),
            **{t(f"compare.measure.{measure}"): _gap(found) for measure, found in spans[of].items()},
        }
        for of in BASES
    ]
    short_tables.show(table)
    st.markdown(f":small[:gray[{t('compare.gap_about')}]]")


def _speed_heading(found: Mapping[Measure, Figure | None]) -> str:
    left = [1 - figure.value for figure in found.values() if figure is not None]
    if len(left) < 2 or min(left) <= 0 or max(left) / min(left) < 1.5:
        return t("compare.speed")
    times = max(left) / min(left)
    return t("compare.speed_moves", times=formatting.plain(times, 1 if times >= 3 else 2))


def _gap(found: Figure | None) -> str:
    if found is None:
        return f":gray[{formatting.unknown()}]"
    middle = formatting.percent(found.value)
    low, high = (formatting.percent(end).partition(NBSP)[0] for end in (found.low, found.high))
    span = f"({low}{_JOINER}{EN_DASH}{_JOINER}{high})"
    return middle if low == high else f"{middle} :small[:gray[{span}]]"


def _dots(
    catalog: Catalog,
    evidence: Evidence,
    gpus: Sequence[Accelerator],
    names: Mapping[str, str],
    cheap: str,
    dear: str,
    basis: Basis,
) -> list[Dot]:
    """A dot for each GPU and measure; 100 is the GPU whose 16-bit speed is dearest."""
    dots = []
    for measure in MEASURES:
        costs = {
            gpu.id: usd_per_speed(purchase_price(catalog, gpu, basis), speed(gpu, measure, evidence)) for gpu in gpus
        }
        reference = costs[dear]
        if reference is None:
            continue
        unit = t("unit.samples_per_s" if measure == "bert_large" else "unit.tflop_per_s")
        dots += [
            Dot(
                measure=t(f"compare.measure_long.{measure}"),
                name=names[id],
                index=100.0 * cost.value / reference.value,
                exact=t("chart.speed.exact", price=f"${formatting.plain(cost.value)}", unit=unit),
                chosen=id == cheap,
            )
            for id, cost in costs.items()
            if cost is not None
        ]
    return dots
