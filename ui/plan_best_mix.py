"""The best mix on the Plan page: what to own and rent for which work, what holds it back, and what was left out."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from planner.report.optimum_text import binding_lines, rejected_reason, sure_lines
from ui import formatting, frame, progress_line, short_tables
from ui.formatting import dollars, escaped
from ui.i18n import t
from ui.limit_words import with_labels
from ui.plans import Plan
from ui.view import Row, View

KEY = "best_mix"
NEAREST = 5
"""Options left out that are shown at once."""


def searching(plan: Plan | None) -> bool:
    """Whether the best mix of a plan is about to be looked for."""
    return plan is not None and not plan.with_best_mix.known and not progress_line.is_left(KEY)


def show(view: View, plan: Plan) -> None:
    """What was found; until then, how far the search is. `view` is of the plan with the best mix once that is there."""
    st.space("small")
    with st.container(key="best_mix_block"):  # one place, whatever stands in it: what follows stays where it is
        _block(view, plan)


def _block(view: View, plan: Plan) -> None:
    if not plan.with_best_mix.known:
        st.markdown(f"### {t('best.title')}", anchors=False)
        progress_line.look(KEY, plan.with_best_mix)
        return
    found = view.report["optimal"]
    if not found["found"]:
        st.markdown(f"### {t('best.none')}", anchors=False)
        st.markdown("\n".join(f"- {line}" for line in none_lines(view)))
        return
    st.markdown(f"### {dollars(heading(view))}", anchors=False)
    entry = next(way for way in view.report["strategies"] if way["id"] == "optimal")
    left, right = frame.columns("best_mix", [1.65, 1], gap="large")
    with left:
        short_tables.show(place_rows(view, entry))
        _rejected(view)
    with right, st.container(border=True, key="best_mix_reasons"):
        st.markdown(f"**{t('best.reasons')}**")
        st.markdown("\n".join(f"- {line}" for line in reason_lines(view)))


def heading(view: View) -> str:
    """How the best mix compares with the best of the named ways."""
    found = view.report["optimal"]
    if found["same_as"] is not None:
        return t("best.same", way=t(f"way.{_kind(view, found['same_as'])}"))
    mine = next(way for way in view.strategies if way["kind"] == "optimal")
    others = [way for way in view.distinct if way is not mine]
    if not others:
        return t("best.only")
    next_best = min(others, key=lambda way: float(way["present_value_usd"]))
    less = next_best["present_value_usd"] - mine["present_value_usd"]
    amount = formatting.money(abs(less), view.currency, fine=True)
    return t("best.less" if less >= 0 else "best.more", amount=amount, way=t(f"than.{next_best['kind']}"))


def place_rows(view: View, way: Row) -> list[dict[str, str]]:
    """What to own and what to rent, for which work."""
    rows = []
    for machine in way["machines"]:
        cards = machine["count"] * machine["gpus_per_machine"]
        work = [job["id"] for job in way["jobs"] if not job["rented"] and job["resource"] == machine["id"]]
        month = _from_month(machine["count_by_month"])
        what = t("best.machines", count=machine["count"], machine=escaped(machine["id"]), cards=cards,
                 gpu=view.gpu_name(machine["gpu"]))  # fmt: skip
        rows.append(
            {
                t("best.column.do"): t("best.own") if month is None else t("best.own_from", month=month),
                t("best.column.what"): what,
                t("best.column.work"): escaped(formatting.listed(dict.fromkeys(work))) or t("best.idle"),
                t("best.column.use"): t("best.busy", share=formatting.percent(machine["utilisation"])),
            }
        )
    return [*rows, *(_rented_row(view, way, job) for job in way["jobs"] if job["rented"])]


def _rented_row(view: View, way: Row, job: Row) -> dict[str, str]:
    runs = "best.runs.one" if job["gpus"] == 1 else "best.runs.many"
    gpu = view.gpu_name(job["gpu"])
    return {
        t("best.column.do"): t("best.rent"),
        t("best.column.what"): escaped(view.offer_words(job["resource"])),
        t("best.column.work"): escaped(job["id"]) + _part(way, job),
        t("best.column.use"): t(runs, runs=formatting.trimmed(job["runs"], 3), gpus=job["gpus"], gpu=gpu),
    }


def _from_month(counts: Any) -> int | None:
    """The month in which machines come, None where they are there from the first one on."""
    if not isinstance(counts, list) or not counts or counts[0] == counts[-1]:
        return None
    return next((month for month, count in enumerate(counts, start=1) if count == max(counts)), None)


def _part(way: Row, job: Row) -> str:
    """The share of its runs that a job has at a place, where it has some elsewhere."""
    runs = sum(other["runs"] for other in way["jobs"] if other["id"] == job["id"])
    share = job["runs"] / runs if runs else 1.0
    return "" if share >= 1.0 else t("best.part", share=formatting.percent(share))


def reason_lines(view: View) -> list[str]:
    """How good it is, which limits hold it back, and how often waiting made it look again."""
    document = dict(view.report)
    same = document["optimal"]["same_as"] is not None  # which the heading says
    lines = [*sure_lines(document)[int(same) :], *binding_lines(document)]
    rounds = len(document["optimal"]["rounds"])
    if rounds > 1:
        lines.append(t("best.rounds", count=rounds))
    if not document["optimal"]["binding_limits"]:
        lines.append(t("best.no_limit"))
    return [_said(view, line.removeprefix("Best mix: ")) for line in lines]


def none_lines(view: View) -> list[str]:
    """Why there is none: which limit would have to give way, and by how much."""
    way = next(way for way in view.report["strategies"] if way["id"] == "optimal")
    return [dollars(escaped(line)) for line in view.problem_words(way)]


def _said(view: View, line: str) -> str:
    words = with_labels(view.named(line)).removesuffix(".")
    return dollars(escaped(f"{words[:1].upper()}{words[1:]}."))


def rejected_rows(view: View) -> list[dict[str, str]]:
    """What the best mix doesn't use and why, the nearest first."""
    document = dict(view.report)
    rejected = document["optimal"]["rejected"]
    names = [_option(view, one) for one in rejected]
    return [
        {
            t("best.column.option"): name if names.count(name) == 1 else _with_region(view, one, name),
            t("best.column.why"): with_labels(view.named(rejected_reason(document, one))),
        }
        for name, one in zip(names, rejected, strict=True)
    ]


def _option(view: View, one: Row) -> str:
    """A machine and an offer by their names, with their cards: some offers differ in nothing else."""
    if one["kind"] == "machine":
        machine = view.document.get("machines", {}).get(one["option"])
        if machine is None:
            return str(one["option"])
        gpu = view.gpu_name(str(machine["gpu"]))
        return t("best.machine_option", machine=one["option"], cards=machine.get("gpus", 1), gpu=gpu)
    known = view.catalog.offers.get(one["option"])
    gpu_record = None if known is None else view.catalog.gpus.get(known.gpu)
    words = view.offer_words(one["option"])
    return words if gpu_record is None else t("best.offer", offer=words, gpu=gpu_record.name)


def _with_region(view: View, one: Row, name: str) -> str:
    """Of one instance in several regions each has its price."""
    known = view.catalog.offers.get(one["option"])
    return name if known is None or not known.region else t("best.offer_in", offer=name, region=known.region)


def _rejected(view: View) -> None:
    rows = rejected_rows(view)
    if not rows:
        return
    st.markdown(f"**{t('best.rejected')}**")
    short_tables.show([{head: dollars(escaped(text)) for head, text in row.items()} for row in rows[:NEAREST]])
    if len(rows) > NEAREST:
        folded = st.expander(t("best.rejected_all", count=len(rows)), key="best_mix_rejected", on_change="rerun")
        if folded.open:
            folded.dataframe(pd.DataFrame(rows), hide_index=True, key="best_mix_rejected_table")


def _kind(view: View, id: str) -> str:
    return str(next(way["kind"] for way in view.report["strategies"] if way["id"] == id))
