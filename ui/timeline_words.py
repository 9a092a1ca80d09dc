"""Sentences of the Timeline page: title, headings and figures, chosen by what came out."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from ui import formatting
from ui.formatting import escaped
from ui.i18n import t
from ui.plan_waiting import LATE_SHARE, SHORT_H, wait_words
from ui.timeline_cash import months_of
from ui.timeline_data import NO_CASH, Load, Timeline, waiting_jobs
from ui.timeline_gantt import span_key
from ui.view import way_name

Waits = Mapping[str, Mapping[str, Any]]
_ALIKE = 0.02  # difference of loads, below which months differ by chance alone


def title(timeline: Timeline, waits: Waits | None) -> str:
    """Who waits, where that is known, and when most cash goes out."""
    usual = formatting.money(timeline.usual_usd(), timeline.view.currency)
    cash = t(f"timeline.title.{timeline.shape()}", month=timeline.peak().number, usual=usual)
    jobs = waiting_jobs(waits or {})
    if not jobs:
        return cash[:1].upper() + cash[1:]
    machine, job = jobs[0]
    overfull = any(load.machine == machine and load.mean > 1.0 for load in timeline.loads())
    wait = t("timeline.title.overfull", machine=escaped(machine)) if overfull else _wait_words(job)
    return t("timeline.title.both", wait=wait, cash=cash)


def _wait_words(job: Mapping[str, Any]) -> str:
    name = escaped(job["id"])
    if job["wait_p90_h"] >= SHORT_H:
        return t("timeline.title.wait", job=name, wait=formatting.duration(job["wait_p90_h"]))
    if job["wait_mean_h"] >= SHORT_H:  # a few wait long, say behind a large run
        return t("timeline.title.few_wait", job=name, wait=formatting.duration(job["wait_mean_h"]))
    return t("timeline.title.at_once", job=name)


def sentence(timeline: Timeline, waits: Waits | None = None) -> str:
    """The amounts behind the title, resale, what is paid after the horizon, and who is late for waiting."""
    view, way = timeline.view, timeline.way
    peak, months = timeline.peak(), timeline.cash("month")
    words = t(
        f"timeline.sentence.{timeline.shape()}",
        way=way_name(way),
        amount=formatting.money(peak.paid_usd, view.currency, fine=True),
        month=peak.number,
        usual=formatting.money(timeline.usual_usd(), view.currency),
    )
    sold = [month for month in months if month.resale_usd < 0]
    if sold:
        amount = formatting.money(-sum(month.resale_usd for month in sold), view.currency, fine=True)
        key = "timeline.sentence.resale" if len(sold) == 1 else "timeline.sentence.resales"
        words += " " + t(key, amount=amount, month=sold[-1].number)
    if after := timeline.after_usd():
        amount = formatting.money(after, view.currency, fine=True)
        words += " " + t("timeline.sentence.after", amount=amount, months=timeline.horizon_months)
    if not timeline.loads():
        words += " " + t("timeline.sentence.nothing_owned")
    return " ".join([words, *_late(timeline, waits or {})])


def _late(timeline: Timeline, waits: Waits) -> list[str]:
    """The job of which most attempts end past their limit."""
    late = [job for _, job in waiting_jobs(waits) if (job["late_share"] or 0.0) >= LATE_SHARE]
    if not late:
        return []
    most = max(late, key=lambda job: job["late_share"])
    limits = [job["deadline_h"] for job in timeline.way["jobs"] if job["id"] == most["id"]]
    return [
        t(
            "timeline.sentence.late",
            share=formatting.share(most["late_share"]),
            job=escaped(most["id"]),
            limit=formatting.duration(limits[0] if limits else None),
        )
    ]


def figures(timeline: Timeline, waits: Waits | None) -> list[tuple[str, str, str]]:
    """Label, value and pill of the four figures."""
    view, quarter = timeline.view, timeline.top_quarter()
    found = [
        (
            t("timeline.figure.quarter"),
            formatting.money(quarter.paid_usd, view.currency, fine=True),
            t("timeline.figure.months", months=months_of(quarter)),
        )
    ]
    loads = timeline.loads()
    if loads and timeline.against_renting():
        found.append(_payback(timeline))
    else:
        paid = [month.paid_usd for month in timeline.cash("month")[: timeline.horizon_months]]
        usual = formatting.money(timeline.usual_usd(), view.currency)
        span = formatting.money_range(min(paid), max(paid), view.currency)
        alike = formatting.money(min(paid), view.currency) == formatting.money(max(paid), view.currency)
        pill = t("timeline.figure.alike") if alike else t("timeline.figure.between", span=span)
        found.append((t("timeline.figure.usual"), usual, pill))
    if loads:
        return [*found, _wait(waits), _busy(loads)]
    total = formatting.money(timeline.way["tco_usd"], view.currency, fine=True)
    after = timeline.after_usd()
    return [
        *found,
        (t("timeline.figure.total"), total, t("timeline.figure.over", months=timeline.months)),
        (
            t("timeline.figure.after"),
            formatting.money(after, view.currency, fine=True) if after else t("timeline.figure.nothing"),
            t("timeline.figure.commitments"),
        ),
    ]


def _payback(timeline: Timeline) -> tuple[str, str, str]:
    month, last = timeline.payback_month(), timeline.for_good()
    if month is not None and last is not None and last > month:
        pill = t("timeline.figure.for_good", month=last)
        return t("timeline.figure.payback"), t("timeline.name.month", number=month), pill
    if month is None:
        pill = t("timeline.figure.by_end", months=timeline.horizon_months)
        return t("timeline.figure.payback"), t("timeline.figure.not_yet"), pill
    return t("timeline.figure.payback"), t("timeline.name.month", number=month), t("timeline.figure.against")


def _wait(waits: Waits | None) -> tuple[str, str, str]:
    label = t("timeline.figure.wait")
    if waits is None:
        return label, t("timeline.figure.simulating"), t("timeline.figure.moment")
    jobs = waiting_jobs(waits)
    if not jobs:
        return label, formatting.unknown(), t("timeline.figure.no_runs")
    _, job = jobs[0]
    p90 = wait_words(job["wait_p90_h"])
    return label, wait_words(job["wait_p50_h"]), t("timeline.figure.ninth", wait=p90)


def _busy(loads: Sequence[Load]) -> tuple[str, str, str]:
    most = max(loads, key=lambda load: load.mean)
    low, high = formatting.percent(min(most.load)), formatting.percent(max(most.load))
    safe = formatting.percent(most.safe)
    pill = t("timeline.figure.same", safe=safe) if low == high else t("timeline.figure.by_month", low=low, high=high)
    return t("timeline.figure.busy"), formatting.percent(most.mean), pill


def cash_heading(timeline: Timeline, period: str) -> str:
    """What makes up most of the cash of a usual period."""
    entries = [entry for entry in timeline.cash(period) if not entry.after]
    sums: dict[str, float] = {}
    for entry in entries:
        for role, amount in entry.parts_usd.items():
            sums[role] = sums.get(role, 0.0) + amount
    if not sums:
        return t("timeline.cash.nothing")
    role = max(sums, key=lambda role: sums[role])
    share = formatting.percent(sums[role] / sum(sums.values()))
    usual = statistics.median(entry.paid_usd for entry in entries)
    return t(
        "timeline.cash.heading",
        part=t(f"timeline.part.{role}"),
        share=share,
        period=t(f"timeline.usual.{period}"),
        usual=formatting.money(usual, timeline.view.currency),
    )


def load_heading(loads: Sequence[Load]) -> str:
    """Whether machines stay under the safe load."""
    most = max(loads, key=lambda load: (len(load.over), load.mean))
    params = {"machine": escaped(most.machine), "safe": formatting.percent(most.safe)}
    if most.over:
        peak = max(range(len(most.load)), key=lambda at: most.load[at])
        share = formatting.percent(most.load[peak])
        key = "timeline.load.over_all" if len(most.over) == len(most.load) else "timeline.load.over"
        months = {} if key.endswith("all") else {"over": len(most.over), "all": len(most.load)}
        return t(key, **params, **months, month=peak + 1, high=share)
    low, high = formatting.percent(min(most.load)), formatting.percent(max(most.load))
    if low == high:
        return t("timeline.load.same", **params, share=high)
    return t("timeline.load.under", **params, low=low, high=high)


def wait_heading(job: Mapping[str, Any], loads: Sequence[Load]) -> str:
    """Who waits how long; months are told apart only where their loads differ, not by chance."""
    known = [month for month in job["by_month"] if month["wait_p90_h"] is not None]
    name = escaped(job["id"])
    if not known:
        return t("timeline.wait.few", job=name)
    longest = max(known, key=lambda month: month["wait_p90_h"])
    if longest["wait_p90_h"] < SHORT_H:
        return t("timeline.wait.none", job=name)
    wait = formatting.duration(longest["wait_p90_h"])
    if all(max(load.load) - min(load.load) < _ALIKE for load in loads):
        return t("timeline.wait.worst", job=name, wait=wait)
    return t("timeline.wait.longest", job=name, wait=wait, month=longest["month"])


def gantt_heading(course: Mapping[str, Any]) -> str:
    """What the picture shows, and what happens in it."""
    bars = {(bar["job"], bar["submitted_h"], bar["started_h"]): bar for bar in course["bars"]}.values()
    if not bars:
        return t("timeline.gantt.empty", machine=escaped(course["machine"]))
    longest = max(bar["started_h"] - bar["submitted_h"] for bar in bars)
    failed = sum(bar["failed"] for bar in bars)
    return t(
        f"timeline.gantt.heading.{span_key(course)}",
        month=course["month"],
        attempts=formatting.plain(course["attempts"]),
        failed=t("timeline.gantt.none_failed")
        if not failed
        else t("timeline.gantt.some_failed", count=formatting.plain(failed)),
        waits=t("timeline.gantt.none_waits")
        if longest < SHORT_H
        else t("timeline.gantt.longest", wait=formatting.duration(longest)),
    )


def years_note(timeline: Timeline) -> str:
    """What is said below the table of fiscal years, of what there is in it."""
    years, lines = timeline.years(), timeline.way["lines"]
    keys = ["calendar" if timeline.view.document.get("plan_starts") else "plan", "before"]
    if any(year.machines_usd for year in years):
        keys.append("purchase")
    if any(year.running_usd for year in years):
        keys.append("running")
    if any(line["id"].split(".")[0] == NO_CASH for line in lines):
        keys.append("there")
    return " ".join(t(f"timeline.years.note.{key}") for key in keys)
