"""The two usual questions: more people, or one more machine. Both are planned and simulated anew."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from planner.report.variants import as_chosen, extra_usd_per_month, people_jobs, with_machines, with_more_runs
from ui import deferred, formatting, frame, short_tables, state
from ui.formatting import dollars, escaped
from ui.i18n import t
from ui.plan_waiting import SHORT_H, wait_words
from ui.plans import Plan
from ui.timeline_data import Timeline, waiting_jobs
from ui.view import View

MOST_PEOPLE = 1000
_PEOPLE, _MORE = 4, 2
_KEPT = 8  # answers a session remembers
_CLOSE = 0.1  # relative difference of waits that nobody notices


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One situation: where the job with most runs is, its waits there, the load, and what all costs more."""

    machine: str | None  # None: it isn't on owned machines
    mean_h: float | None
    p90_h: float | None
    load: float | None
    extra_usd_per_month: float
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """The plan as it is, with more people, and with one more machine; None where that can't be planned."""

    job: str
    machine: str
    now: Answer
    people: Answer | None
    more: Answer | None


def answers(timeline: Timeline, plan: Plan, machine: str, factor: float) -> Answers:
    """Plan and simulate both changes, with the machines of this way otherwise kept."""
    way, document = timeline.way, as_chosen(plan.document, plan.report["owned_options"])
    counts = {entry["id"]: entry["count"] for entry in way["machines"]}
    kept = with_machines(document, counts)
    jobs = [job for name, job in waiting_jobs(plan.simulations.waits(way["id"])) if name == machine]
    job = jobs[0]["id"]
    base = _way(state.plan_with(kept), way["id"]) or way
    grown = state.plan_with(with_more_runs(kept, people_jobs(document), factor))
    larger = state.plan_with(with_machines(document, {**counts, machine: counts[machine] + 1}))
    now = _answer(timeline, plan, way, machine, job, way)
    assert now is not None
    return Answers(
        job=job,
        machine=machine,
        now=now,
        people=_answer(timeline, grown, base, machine, job, _way(grown, way["id"])),
        more=_answer(timeline, larger, base, machine, job, _way(larger, way["id"])),
    )


def _way(plan: Plan | None, id: str) -> Mapping[str, Any] | None:
    if plan is None:
        return None
    return next(way for way in plan.report["strategies"] if way["id"] == id)


def _answer(
    timeline: Timeline,
    plan: Plan | None,
    base: Mapping[str, Any],
    machine: str,
    job: str,
    way: Mapping[str, Any] | None,
) -> Answer | None:
    if plan is None or way is None or not way["months"]:
        return None
    there = [name for name, entry in waiting_jobs(plan.simulations.waits(way["id"])) if entry["id"] == job]
    where = machine if machine in there else next(iter(there), None)  # a changed plan may put it elsewhere
    waits = plan.simulations.waits(way["id"]).get(where or "", {"jobs": []})
    found = next((entry for entry in waits["jobs"] if entry["id"] == job), None)
    loads = [entry["utilisation"] for entry in way["machines"] if entry["id"] == where]
    view = View(plan.report, plan.document, timeline.view.catalog, timeline.view.currency)
    return Answer(
        machine=where,
        mean_h=None if found is None else found["wait_mean_h"],
        p90_h=None if found is None else found["wait_p90_h"],
        load=loads[0] if loads else None,
        extra_usd_per_month=extra_usd_per_month(base, way, timeline.horizon_months),
        problems=tuple(view.problem_words(way)),
    )


def show(timeline: Timeline, plan: Plan, machine: str) -> None:
    """The box; it answers after the page has drawn, and anew when a number of people changes."""
    key = (json.dumps(plan.document, default=str, sort_keys=True), timeline.way["id"], machine)
    people = _people(plan.document)
    known = _remembered((*key, *people)) is not None
    if plan.simulations.known(timeline.way["id"]):
        compute = partial(_answers, timeline, plan, key, *people)
        deferred.show(partial(_box, timeline, plan, key), ready=known, compute=compute)
    else:  # the plan itself is simulated first
        _box(timeline, plan, key, False)


def _people(document: Mapping[str, Any]) -> tuple[int, int]:
    usual = people_of(document)
    now = st.session_state.get(_people_key(document), usual)
    return now or usual, st.session_state.get("timeline_more", _MORE) or _MORE


def people_of(document: Mapping[str, Any]) -> int:
    """The people of the scenario's groups; a usual number where it says nothing of them."""
    counts = [group.get("people") for group in (document.get("groups") or {}).values() if group]
    known = sum(count for count in counts if count)
    return min(max(round(known), 1), MOST_PEOPLE) if known else _PEOPLE


def _people_key(document: Mapping[str, Any]) -> str:
    """The field of the people now; another one where groups say how many there are."""
    usual = people_of(document)
    return "timeline_people" if usual == _PEOPLE else f"timeline_people_{usual}"


def _answers(timeline: Timeline, plan: Plan, key: tuple[str, str, str], now: int, more: int) -> Answers:
    """What is kept, or is found and kept."""
    found = _remembered((*key, now, more))
    if found is None:
        found = answers(timeline, plan, key[2], (now + more) / now)
        kept = st.session_state["timeline_answers"]
        kept[*key, now, more] = found
        while len(kept) > _KEPT:
            del kept[next(iter(kept))]
    return found


def _remembered(key: tuple[Any, ...]) -> Answers | None:
    kept: dict[tuple[Any, ...], Answers] = st.session_state.setdefault("timeline_answers", {})
    return kept.get(key)


def _box(timeline: Timeline, plan: Plan, key: tuple[str, str, str], ready: bool) -> None:
    """Not `ready`: the page is drawn first. Another number of people is answered at once."""
    with st.container(border=True, key="timeline_box"):
        st.markdown(f"### {t('timeline.box.title')}", anchors=False)
        words, numbers = frame.columns("timeline_box", [1, 1.2], gap="large")
        left, right = words.columns(2, wrap=False)
        now = left.number_input(
            t("timeline.box.now"),
            1,
            MOST_PEOPLE,
            people_of(plan.document),
            key=_people_key(plan.document),
            persist_state="session",
        ) or people_of(plan.document)
        more = (
            right.number_input(
                t("timeline.box.more"),
                1,
                MOST_PEOPLE,
                _MORE,
                key="timeline_more",
                persist_state="session",
            )
            or _MORE
        )
        if not ready:
            numbers.markdown(f":gray-badge[:material/hourglass_empty: {t('timeline.simulating')}]")
            return
        found = _remembered((*key, now, more))
        if found is None:
            with numbers, st.spinner(t("timeline.simulating")):
                found = _answers(timeline, plan, key, now, more)
        words.markdown(dollars("\n\n".join(_sentences(found, more))))
        numbers.markdown(short_tables.markdown(_rows(timeline, found, more)))
        jobs = formatting.listed(escaped(id) for id in people_jobs(plan.document))
        note = t(
            "timeline.box.note",
            jobs=jobs,
            share=formatting.percent(more / now),
            job=escaped(found.job),
            months=timeline.horizon_months,
        )
        st.markdown(f":small[:gray[{note}]]")


def _sentences(found: Answers, more: int) -> list[str]:
    people = t(
        "timeline.box.people.one" if more == 1 else "timeline.box.people.many", count=formatting.number_word(more)
    )
    people = people[:1].upper() + people[1:]
    machine = t("timeline.box.machine", machine=escaped(found.machine))
    return [
        t("timeline.box.line", what=people, then=_outcome(found, found.people)),
        t("timeline.box.line", what=machine, then=_outcome(found, found.more)),
    ]


def _outcome(found: Answers, then: Answer | None) -> str:
    if then is None:
        return t("timeline.box.not_planned")
    before = found.now
    if new := [problem for problem in then.problems if problem not in before.problems]:
        return t("timeline.box.impossible", why=escaped(new[0]))
    job = escaped(found.job)
    if then.machine is None or then.p90_h is None or before.p90_h is None:
        return t("timeline.box.elsewhere", job=job)
    if then.machine != found.machine:
        return t("timeline.box.moved", job=job, machine=escaped(then.machine), then=_wait(then.mean_h))
    if max(then.p90_h, before.p90_h) < SHORT_H:
        if max(then.mean_h or 0.0, before.mean_h or 0.0) < SHORT_H:
            return t("timeline.box.still_at_once", job=job)
        return t("timeline.box.on_average", job=job, then=_wait(then.mean_h), now=_wait(before.mean_h))
    if abs(then.p90_h - before.p90_h) <= _CLOSE * max(then.p90_h, before.p90_h):
        return t("timeline.box.same", job=job, then=wait_words(then.p90_h))
    if then.p90_h < SHORT_H:
        return t("timeline.box.at_once", job=job, now=wait_words(before.p90_h))
    return t("timeline.box.within", job=job, then=wait_words(then.p90_h), now=wait_words(before.p90_h))


def _rows(timeline: Timeline, found: Answers, more: int) -> list[dict[str, str]]:
    names = [
        (t("timeline.box.row.now"), found.now),
        (t("timeline.box.row.people", count=more), found.people),
        (t("timeline.box.row.machine"), found.more),
    ]
    return [
        {
            "": name,
            t("timeline.box.mean"): _wait(entry and entry.mean_h),
            t("timeline.box.p90"): _wait(entry and entry.p90_h),
            t("timeline.box.load"): formatting.percent(entry.load if entry else None),
            t("timeline.box.extra"): "" if entry is found.now else _extra(timeline, entry),
        }
        for name, entry in names
    ]


def _wait(hours: float | None) -> str:
    return formatting.unknown() if hours is None else wait_words(hours)


def _extra(timeline: Timeline, entry: Answer | None) -> str:
    if entry is None:
        return formatting.unknown()
    return formatting.money(entry.extra_usd_per_month, timeline.view.currency).replace("$", r"\$")
