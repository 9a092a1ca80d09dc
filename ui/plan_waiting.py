"""Who waits how long for the owned machines of a plan, and with one machine more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from planner.report.waiting import FEW_RUNS, unsure
from ui import formatting
from ui.formatting import dollars, escaped
from ui.i18n import t
from ui.plans import Plan
from ui.view import Row, View, way_name

SHORT_H = 0.05
"""A wait that nobody notices. [h]"""
LATE_SHARE = 0.01
"""Of attempts, from which it is said that they end late."""


def show(view: View, plan: Plan) -> None:
    """Folded: simulated only for those who look."""
    ways = [way for way in view.distinct if any(machine["utilisation"] > 0 for machine in way["machines"])]
    if not ways:
        return
    folded = st.expander(t("details.waiting"), key="details_waiting", on_change="rerun")
    if not folded.open:
        return
    with folded, st.spinner(t("waiting.simulating")):
        planned = {way["id"]: plan.simulations.waits(way["id"]) for way in ways}
        with_more = {way["id"]: plan.simulations.waits(way["id"], 1) for way in ways}
    with folded:
        for line in [*_sentences(view, planned, with_more), *overflow_sentences(view, ways, planned)]:
            st.markdown(dollars(line))
        rows = [row for way in ways for row in _rows(view, way, planned[way["id"]], with_more[way["id"]])]
        st.dataframe(pd.DataFrame(rows), hide_index=True, key="waiting_table")
        st.markdown(f":small[:gray[{t('waiting.note')}]]")


def _sentences(view: View, planned: Mapping[str, Any], with_more: Mapping[str, Any]) -> list[str]:
    """Of the recommended way: who waits, and what a machine more would change."""
    way = view.recommended
    if way is None or way["id"] not in planned:
        return []
    lines = []
    for machine in way["machines"]:
        now, more = planned[way["id"]].get(machine["id"]), with_more[way["id"]].get(machine["id"])
        if now is None or more is None:
            continue
        for job in now["jobs"]:
            other = next((entry for entry in more["jobs"] if entry["id"] == job["id"]), job)
            params = {
                "job": escaped(job["id"]),
                "wait": wait_words(job["wait_p90_h"]),
                "mean": wait_words(job["wait_mean_h"]),
                "more": wait_words(other["wait_p90_h"]),
                "machine": escaped(machine["id"]),
                "count": machine["count"],
                "next": machine["count"] + 1,
            }
            short = job["wait_p90_h"] < SHORT_H
            line = t("waiting.none" if short else "waiting.some", **params)
            if late := late_words(job, _limit_h(way, job["id"])):
                line += f" {late}"
            lines.append(line)
    return lines


def _limit_h(way: Row, job: str) -> float | None:
    return next((entry["deadline_h"] for entry in way["jobs"] if entry["id"] == job), None)


def late_words(job: Row, limit_h: float | None) -> str:
    """How many attempts of a simulated job end past its limit; nothing where hardly any does."""
    if limit_h is None or job["late_share"] is None or job["late_share"] < LATE_SHARE:
        return ""
    return t("waiting.ends_late", share=formatting.share(job["late_share"]), limit=formatting.duration(limit_h))


def overflow_sentences(view: View, ways: Sequence[Row], planned: Mapping[str, Any]) -> list[str]:
    """What renting would take to keep the limits that waiting breaks, in ways that may do both."""
    lines = []
    for way in ways:
        for machine, waiting in planned[way["id"]].items():
            for job in waiting["jobs"]:
                found = job["overflow"]
                if found is None or (found["resource"] is not None and not found["share"]):
                    continue
                params = {"job": escaped(job["id"]), "machine": escaped(machine), "way": way_name(way)}
                if found["resource"] is None:
                    lines.append(t("waiting.overflow_nowhere", **params))
                    continue
                lines.append(
                    t(
                        "waiting.overflow",
                        share=formatting.share(found["share"]),
                        place=escaped(view.offer_words(found["resource"])),
                        count=formatting.trimmed(found["attempts"], 2),
                        cost=formatting.money(found["cost_usd"], view.currency),
                        month=formatting.money(found["cost_usd_per_month"], view.currency),
                        total=formatting.money(found["strategy_tco_usd"], view.currency),
                        **params,
                    )
                )
    return lines


def _rows(view: View, way: Row, planned: Mapping[str, Any], with_more: Mapping[str, Any]) -> list[dict[str, str]]:
    rows = []
    for machine in way["machines"]:
        now, more = planned.get(machine["id"]), with_more.get(machine["id"])
        if now is None:
            continue
        others = {} if more is None else {job["id"]: job for job in more["jobs"]}
        for job in now["jobs"]:
            other = others.get(job["id"])
            few = job["runs"] < FEW_RUNS
            rows.append(
                {
                    t("waiting.way"): way_name(way),
                    t("waiting.job"): job["id"],
                    t("waiting.machines"): f"{machine['count']} × {machine['id']}",
                    t("waiting.mean"): _mean_words(job),
                    t("waiting.p90"): t("waiting.few") if few else wait_words(job["wait_p90_h"]),
                    t("waiting.done"): formatting.duration(job["turnaround_p50_h"]),
                    t("waiting.done_p90"): t("waiting.few") if few else formatting.duration(job["turnaround_p90_h"]),
                    t("waiting.late"): t("waiting.no_limit")
                    if job["late_share"] is None
                    else formatting.share(job["late_share"]),
                    t("waiting.more"): formatting.unknown() if other is None else wait_words(other["wait_p90_h"]),
                }
            )
    return rows


def _mean_words(job: Mapping[str, Any]) -> str:
    """A mean wait, with its standard error where that is large."""
    mean = wait_words(job["wait_mean_h"])
    return f"{mean} ± {formatting.duration(job['wait_mean_error_h'])}" if unsure(job) else mean


def wait_words(hours: float) -> str:
    """A wait, or that there is none."""
    return t("waiting.at_once") if hours < SHORT_H else formatting.duration(hours)
