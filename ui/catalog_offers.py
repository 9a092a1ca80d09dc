"""Offers of the Catalog page: filters, prices per GPU-hour and per instance-hour, and how prices went."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import streamlit as st

from planner.catalog.records import TERMS, Catalog, Offer
from planner.report.listing import list_rows
from planner.report.price_history import PriceSeries, price_histories
from ui import catalog_charts, catalog_rows, catalog_tables, formatting, frame, state
from ui.catalog_charts import PricePoint
from ui.formatting import dollars, escaped
from ui.i18n import t

_TABLE_PX, _SHORT_PX = 640, 320
_WIDTHS_PX = {
    "provider": 135, "instance": 190, "region": 85, "gpu": 180, "term": 90, "usd_per_gpu_h": 90, "usd_per_h": 75,
    "price_seen": 92, "status": 75, "market": 98, "planned": 72, "age": 110, "note": 260, "sources": 300,
}  # fmt: skip
_HISTORY_PX = {"price_seen": 88, "usd_per_gpu_h": 85, "usd_per_h": 72, "status": 76, "retired_on": 100}
_STATUSES = ("current", "stale", "retired")
_MARKETS = ("cloud", "marketplace")
Row = dict[str, Any]


def show(catalog: Catalog, today: dt.date) -> None:
    """The whole view."""
    title, about = st.container(), st.container()
    offers = _filtered(catalog, today)
    own = _own_rows(catalog) if st.session_state["offers_own"] else []
    title.title(_title(catalog, offers), anchor=False)
    about.markdown(t("catalog.about.offers"))
    if offers or own:
        rows = [*own, *_rows(catalog, offers, today)]
        _table(rows, key="catalog_offers", height=_TABLE_PX)
        ids = {offer.id for offer in offers}
        catalog_tables.export(
            lambda: [row for row in list_rows(catalog, "offers", today=today) if row["id"] in ids], len(ids), "offers"
        )
    else:
        st.markdown(t("offers.none"))
        st.button(t("offers.reset"), key="offers_reset", on_click=_reset)
    st.markdown(f":small[:gray[{t('offers.note')}]]")
    _history(catalog, today)


def of_gpus(catalog: Catalog, gpus: Sequence[str], today: dt.date) -> None:
    """Current offers of some GPUs, cheapest first."""
    found = [
        offer
        for offer in catalog.offers.values()
        if (offer.gpu or offer.partial_gpu) in gpus and offer.status(today) == "current"
    ]
    found.sort(key=lambda offer: offer.price_usd_per_gpu_h)
    if not found:
        st.subheader(t("offers.none_of"), anchor=False)
        return
    heading = t(
        "offers.of",
        count=len(found),
        low=formatting.price(found[0].price_usd_per_gpu_h),
        high=formatting.price(found[-1].price_usd_per_gpu_h),
    )
    st.subheader(dollars(heading), anchor=False)
    _table(_rows(catalog, found, today), key="compare_offers", height=_SHORT_PX)


def open_for(gpus: Collection[str]) -> None:
    """Callback: show all offers of some GPUs, old ones too."""
    _reset()
    st.session_state["catalog_kind"] = "offers"
    st.session_state["offers_gpus"] = list(gpus)


def _reset() -> None:
    st.session_state["offers_gpus"] = []
    st.session_state["offers_providers"] = []
    st.session_state["offers_regions"] = []
    st.session_state["offers_terms"] = []
    st.session_state["offers_markets"] = []
    st.session_state["offers_statuses"] = []


def _filtered(catalog: Catalog, today: dt.date) -> list[Offer]:
    """Offers that pass what was chosen; an empty choice lets everything pass."""
    offers = list(catalog.offers.values())
    names = {
        **{id: gpu.name for id, gpu in catalog.gpus.items()},
        **{id: p.name for id, p in catalog.partial_gpus.items()},
    }
    rented = {gpu for offer in offers if (gpu := _gpu(offer))}
    columns = frame.columns("filters", 3)
    with columns[0]:
        gpus = _choice("gpus", sorted(rented, key=lambda id: names.get(id, id)), lambda id: names.get(id, id))
    with columns[1]:
        ids = sorted({offer.provider for offer in offers})
        providers = _choice("providers", ids, lambda id: catalog.providers[id].name if id in catalog.providers else id)
    with columns[2]:
        regions = _choice("regions", sorted({offer.region for offer in offers}), lambda id: id or formatting.unknown())
    with st.container(horizontal=True, vertical_alignment="bottom"):
        terms = _pills("terms", TERMS, lambda term: t(f"term.{term}"))
        markets = _pills("markets", _MARKETS, lambda market: t(f"market.{market}"))
        statuses = _pills("statuses", _STATUSES, lambda status: t(f"status.{status}"), first=("current",))
        st.toggle(t("offers.own"), value=True, key="offers_own", persist_state="session")
    return [
        offer
        for offer in sorted(offers, key=lambda offer: (offer.price_usd_per_gpu_h, offer.id))
        if (not gpus or _gpu(offer) in gpus)
        and (not providers or offer.provider in providers)
        and (not regions or offer.region in regions)
        and (not terms or offer.term in terms)
        and (not markets or offer.market in markets)
        and (not statuses or offer.status(today) in statuses)
    ]


def _gpu(offer: Offer) -> str:
    return offer.gpu or offer.partial_gpu or offer.gpu_label


def _choice(name: str, options: Sequence[str], words: Callable[[str], str]) -> list[str]:
    return st.multiselect(
        t(f"offers.{name}"),
        options,
        format_func=words,
        key=f"offers_{name}",
        placeholder=t("offers.any"),
        persist_state="session",
    )


def _pills(name: str, options: Sequence[str], words: Callable[[str], str], first: Sequence[str] = ()) -> list[str]:
    return st.pills(
        t(f"offers.{name}"),
        options,
        selection_mode="multi",
        default=list(first),
        format_func=words,
        key=f"offers_{name}",
        wrap=True,
        persist_state="session",
    )


def _title(catalog: Catalog, offers: Sequence[Offer]) -> str:
    if not offers:
        return t("offers.title_none")
    prices = [offer.price_usd_per_gpu_h for offer in offers]
    span = {"low": formatting.price(min(prices)), "high": formatting.price(max(prices))}
    if len(offers) == len(catalog.offers):
        return t("offers.title_all", count=len(offers), **span)
    return t("offers.title", count=len(offers), all=len(catalog.offers), **span)


def _rows(catalog: Catalog, offers: Sequence[Offer], today: dt.date) -> list[Row]:
    """Rows of offers, each made once for a version of the data."""
    made = _row_cache(catalog.content_hash, today)
    for offer in offers:
        if offer.id not in made:
            made[offer.id] = _row(catalog, offer, today)
    return [made[offer.id] for offer in offers]


@st.cache_resource(max_entries=2, show_spinner=False)
def _row_cache(content_hash: str, today: dt.date) -> dict[str, Row]:
    return {}


def _row(catalog: Catalog, offer: Offer, today: dt.date) -> Row:
    price = offer.price_usd_per_h
    origin = catalog_rows.origin(catalog, [price], today)
    digits = catalog_rows.ESTIMATE_DIGITS if price.estimate else 6
    return {
        t("column.provider"): catalog_rows.provider_of(catalog, offer),
        t("column.instance"): offer.instance_type,
        t("column.region"): offer.region or formatting.unknown(),
        t("column.gpu"): f"{formatting.plain(offer.gpu_count)} × {catalog_rows.gpu_of(catalog, offer)}",
        t("column.term"): t(f"term.{offer.term}"),
        t("column.usd_per_gpu_h"): float(f"{offer.price_usd_per_gpu_h:.{digits}g}"),
        t("column.usd_per_h"): float(f"{price.value:.{digits}g}"),
        t("column.price_seen"): origin[t("column.as_of")],
        t("column.status"): t(f"status.{offer.status(today)}"),
        t("column.market"): t(f"market.{offer.market}"),
        t("column.planned"): t("word.yes" if _planned(offer) else "word.no"),
        t("column.age"): origin[t("column.age")],
        t("column.note"): offer.note,
        t("column.sources"): origin[t("column.sources")],
    }


def _planned(offer: Offer) -> bool:
    """Whether a plan could count it: one known GPU model, whole ones, by the hour or by commitment."""
    whole = offer.gpu_count == int(offer.gpu_count)
    return offer.gpu is not None and whole


def _own_rows(catalog: Catalog) -> list[Row]:
    """Own quotes of the scenario, in the same columns."""
    rows = []
    quotes: Mapping[str, Any] = state.document().get("offers") or {}
    for id, quote in quotes.items():
        known = catalog.offers.get(id)
        gpu = known.gpu if known else str(quote.get("gpu", ""))
        count = known.gpu_count if known else quote.get("gpu_count", 1)
        per_h, per_gpu_h = quote.get("price_usd_per_h"), quote.get("price_usd_per_gpu_h")
        if isinstance(per_h, int | float):
            per_gpu_h = per_h / count
        elif isinstance(per_gpu_h, int | float):
            per_h = per_gpu_h * count
        rows.append(
            {
                t("column.provider"): t("own.source"),
                t("column.instance"): str(quote.get("instance_type") or (known.instance_type if known else id)),
                t("column.region"): str(quote.get("region") or (known.region if known else "") or formatting.unknown()),
                t("column.gpu"): f"{count} × {catalog.gpus[gpu].name if gpu in catalog.gpus else gpu}",
                t("column.term"): t("term.on_demand"),
                t("column.usd_per_gpu_h"): per_gpu_h if isinstance(per_gpu_h, int | float) else None,
                t("column.usd_per_h"): per_h if isinstance(per_h, int | float) else None,
                t("column.price_seen"): formatting.unknown(),
                t("column.status"): t("status.current"),
                t("column.market"): t(f"market.{quote.get('market', 'cloud')}"),
                t("column.planned"): t("word.yes"),
                t("column.age"): t("own.mark"),
                t("column.note"): _foreign(quote),
                t("column.sources"): t("own.source"),
            }
        )
    return rows


def _foreign(quote: Mapping[str, Any]) -> str:
    """A price in another currency as it was written."""
    texts = [str(value) for key, value in quote.items() if key.startswith("price") and isinstance(value, str)]
    return ", ".join(texts)


def _table(rows: Sequence[Row], *, key: str, height: int, widths: Mapping[str, int] = _WIDTHS_PX) -> None:
    money = [t("column.usd_per_gpu_h"), t("column.usd_per_h")]
    heads = {t(f"column.{column}"): px for column, px in widths.items()}
    catalog_tables.table(rows, key=key, height=height, numbers=money, widths=heads)


@st.fragment  # another way to rent redraws its history alone
def _history(catalog: Catalog, today: dt.date) -> None:
    """How the price of one way to rent went: a sentence, and under it chart and table."""
    found = {series.last.id: series for series in price_histories(catalog)}
    if not found:
        return
    chosen = st.session_state.get("history_offer")
    series = found.get(chosen) or next(iter(found.values()))
    heading = escaped(_history_heading(catalog, series))
    folded = st.expander(f"**{heading}**", key="history", icon=":material/timeline:", on_change="rerun")
    if not folded.open:
        return
    with folded:
        st.selectbox(
            t("history.choose", count=len(found)),
            list(found),
            format_func=lambda id: _series_name(catalog, found[id]) if id in found else id,
            key="history_offer",
            persist_state="session",
        )
        left, right = frame.columns("history", [1.65, 1], gap="large")
        with left:
            _history_chart(series, today)
        with right:
            _table(_history_rows(catalog, series, today), key="history_table", height=_SHORT_PX, widths=_HISTORY_PX)
            st.markdown(f":small[:gray[{t('history.note')}]]")


def _history_chart(series: PriceSeries, today: dt.date) -> None:
    points = _points(series)
    if len(points) > 1:
        st.vega_lite_chart(
            None,
            catalog_charts.history_chart(points, today=today.isoformat(), dark=st.context.theme.type == "dark"),
            theme=None,
            key="price_history",
            alt=t("history.alt", points=", ".join(f"{p['day']}: {p['text']}" for p in points)),
        )


def _history_rows(catalog: Catalog, series: PriceSeries, today: dt.date) -> list[Row]:
    return [
        {
            t("column.price_seen"): formatting.date(offer.price_usd_per_h.as_of),
            t("column.usd_per_gpu_h"): offer.price_usd_per_gpu_h,
            t("column.usd_per_h"): offer.price_usd_per_h.value,
            t("column.status"): t(f"status.{offer.status(today)}"),
            t("column.retired_on"): t("history.in_force")
            if offer.retired_on is None
            else formatting.date(offer.retired_on.isoformat()),
            t("column.note"): offer.note,
            t("column.sources"): catalog_rows.origin(catalog, [offer.price_usd_per_h], today)[t("column.sources")],
        }
        for offer in series.offers
    ]


def _points(series: PriceSeries) -> list[PricePoint]:
    """When each price began: the day it was seen, or the earlier one on which the last was withdrawn."""
    points, replaced = [], ""
    for offer in series.offers:
        if offer.price_usd_per_h.as_of is not None:
            seen = _day(offer.price_usd_per_h.as_of)
            began = min(seen, replaced) if replaced and points else seen
            words = formatting.price(offer.price_usd_per_gpu_h)
            points.append(PricePoint(day=began, usd_per_gpu_h=offer.price_usd_per_gpu_h, text=words))
        replaced = "" if offer.retired_on is None else offer.retired_on.isoformat()
    return sorted(points, key=lambda point: point["day"])


def _series_name(catalog: Catalog, series: PriceSeries) -> str:
    offer = series.last
    parts = [catalog_rows.provider_of(catalog, offer), offer.instance_type, offer.region, t(f"term.{offer.term}")]
    gpu = f"{formatting.plain(offer.gpu_count)} × {catalog_rows.gpu_of(catalog, offer)}"
    return ", ".join(part for part in (*parts, gpu) if part)


def _history_heading(catalog: Catalog, series: PriceSeries) -> str:
    offer, change = series.last, series.change()
    first = formatting.date(series.offers[0].price_usd_per_h.as_of)
    names = {"instance": offer.instance_type, "provider": catalog_rows.provider_of(catalog, offer), "since": first}
    if abs(change) < 0.005:
        return t("history.same", **names)
    share = formatting.percent(abs(change))
    return t("history.fell" if change < 0 else "history.rose", share=share, **names)


def _day(as_of: str | None) -> str:
    """A date to the day for a time axis: the first of a month or year that is known no closer."""
    parts = (as_of or "").split("-")
    return "-".join([*parts, "01", "01"][:3]) if len(parts) < 3 else str(as_of)
