"""Result -> text for a terminal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from planner.catalog.source_ids import MEASUREMENTS
from planner.messages import Tender, fill_template, render
from planner.performance.evidence import OWN
from planner.report.break_even import break_even_sentences
from planner.report.certainty_text import certainty_lines
from planner.report.finance_text import finance_lines
from planner.report.optimum_text import front_lines, rejected_lines, sure_lines
from planner.report.owned_options import option_name
from planner.report.text_table import UNKNOWN, cell_text, table, whole_text
from planner.report.waiting import FEW_RUNS, unsure

WAYS_EXPLAINED = (
    "likely: in 8 of 10 cases; at the start: cash paid at once; estimated: share of the money that rests on estimates"
)
JOBS_EXPLAINED = (
    "one attempt: without start-up and waiting for owned machines; full / run: all costs shared by the runs;"
    " marginal: what one run more adds"
)
_CENTS_BELOW = 100  # of an amount
_TINY_SHARE, _LARGE_SHARE = 0.0001, 0.1  # between them in two digits
_TINY_H = 0.01


def plan_text(document: dict[str, Any]) -> str:
    """A plan's document as a page of text: the answer, the ways beside each other, jobs, problems and warnings."""
    currency = document["currency"]
    rate = currency["usd_per_unit"]
    tender = None if currency["code"] == "USD" else Tender(code=currency["code"], usd_per_unit=rate)
    ways = _distinct_ways(document)
    lines = [
        f"{document['name']}: {document['horizon_months']} months, prices as of {document['catalog_as_of']},"
        f" {currency['code']}",
        "",
        f"Recommended: {_name(document['recommended'])}. {_reason(document, tender)}",
        "",
        *table(
            ["", "total", "likely", "present value", "at the start", "kWh", "kg CO2e", "estimated"],
            [_way_row(entry, rate) for entry in document["strategies"]],
        ),
        WAYS_EXPLAINED,
        *(
            f"{_name(entry['id'])}: {issue_sentence(problem, tender)}"
            for entry in document["strategies"]
            for problem in entry["problems"]
        ),
        "",
        *table(
            ["way", "job", "resource", "GPUs", "one attempt h", "likely", "basis", "full / run", "marginal"],
            [_job_row(entry, job, rate) for entry in ways for job in entry["jobs"]],
        ),
        JOBS_EXPLAINED,
    ]
    if options := document["owned_options"]:
        head = ["machines that are there already", "best way", "total", "present value", ""]
        lines += ["", *table(head, [_option_row(option, rate) for option in options])]
    if waits := [row for entry in ways for row in _waiting_rows(entry)]:
        head = ["way", "job", "waits for", "wait h, mean", "nine in ten", "done after h, mean", "nine in ten", "late"]
        lines += [
            "",
            *table(head, waits),
            *(line for entry in ways for line in _overflow(entry, rate, currency["code"])),
        ]
    for expected in (
        _job_lines(document, "spot", partial(_spot_line, rate=rate)),
        _job_lines(document, "start_wait", _start_wait_line),
    ):
        if expected:
            lines += ["", *expected]
    if same := break_even_sentences(document):
        lines += ["", *same]
    if sure := sure_lines(document):
        lines += ["", *sure, *rejected_lines(document), *front_lines(document)]
    lines += certainty_lines(document)
    if groups := [row for entry in ways for row in _group_rows(entry, rate)]:
        lines += ["", *table(["way", "group", "people", "total", "share", "a person", "kWh"], groups)]
    if money := finance_lines(document):
        lines += ["", *money]
    if currency["code"] != "USD":
        dated = f"as of {currency['as_of']}" if currency["as_of"] else "your own rate"
        lines += [
            "",
            f"1 {currency['code']} = {rate:g} USD ({dated}); amounts without a currency are in {currency['code']}",
        ]
    lines += _notes(document["warnings"], tender)
    return "\n".join(lines) + "\n"


def _distinct_ways(document: dict[str, Any]) -> list[dict[str, Any]]:
    """The strategies without the best mix where that is the same plan as another."""
    found = document.get("optimal")
    if found is None or found["same_as"] is None:
        return list(document["strategies"])
    return [entry for entry in document["strategies"] if entry["id"] != found["id"]]


def _reason(document: dict[str, Any], tender: Tender | None) -> str:
    """Why this way, with money in the currency asked for."""
    params = document["reason_params"]
    names = {f"{key}_name": _name(params[key]) for key in ("strategy", "runner_up") if params.get(key) is not None}
    return render(document["reason_code"], tender, **params, **names)


def issue_sentence(issue: Mapping[str, Any], tender: Tender | None) -> str:
    """A problem or warning of a document, its money in the currency asked for."""
    return "".join(_where_and_what(issue, tender))


def _where_and_what(issue: Mapping[str, Any], tender: Tender | None) -> tuple[str, str]:
    """The job and resource that a problem or warning begins with, and its sentence in the currency asked for."""
    in_usd = render(issue["code"], field=issue["field"], **issue["params"])
    if not issue["message"].endswith(in_usd):
        return "", issue["message"]
    return issue["message"].removesuffix(in_usd), render(issue["code"], tender, field=issue["field"], **issue["params"])


def _notes(warnings: Sequence[dict[str, Any]], tender: Tender | None) -> list[str]:
    """A line for each warning; what holds for several jobs or quarters alike is said once."""
    anyway = [warning for warning in warnings if _above_anyway(warning)]
    places: dict[str, list[str]] = {}
    for warning in warnings:
        where, what = _where_and_what(warning, tender)
        if _above_anyway(warning):
            alike = [other["params"] for other in anyway if other["params"]["way"] == warning["params"]["way"]]
            what = _quarters_above(alike, tender) if len(alike) > 1 else what
        wheres = places.setdefault(what, [])
        if where:
            wheres.append(where.removesuffix(": "))
    return [f"Note: {', '.join(wheres)}{': ' if wheres else ''}{what}" for what, wheres in places.items()]


def _above_anyway(warning: dict[str, Any]) -> bool:
    """Whether it is of a quarter above the ceiling in which no purchase could move."""
    return warning["code"] == "quarter_above_ceiling_anyway" and warning["params"]["purchases"] is None


def _quarters_above(alike: Sequence[dict[str, Any]], tender: Tender | None) -> str:
    def amount(usd: float) -> str:
        return fill_template("{usd:usd}", {"usd": usd}, tender=tender)

    ceiling = amount(alike[0]["ceiling_usd"])
    quarters = ", ".join(f"{params['quarter']} by {amount(params['above_usd'])}" for params in alike)
    return (
        f"{alike[0]['way']} is above the {ceiling} that a quarter may take for running costs and financing alone:"
        f" {quarters}"
    )


def _name(strategy: str | None) -> str:
    return "none" if strategy is None else render(f"strategy_{strategy}")


def _way_row(entry: dict[str, Any], rate: float) -> list[str]:
    name = _name(entry["id"]) + ("" if entry["feasible"] else " (not feasible)")
    likely = (
        f"{_money(entry['tco_low_usd'], rate)} to {_money(entry['tco_high_usd'], rate)}"
        if entry["tco_low_usd"]
        else UNKNOWN
    )
    share = UNKNOWN if entry["estimated_share"] is None else f"{100 * entry['estimated_share']:.0f} %"
    money = [
        _money(entry["tco_usd"], rate),
        likely,
        _money(entry["present_value_usd"], rate),
        _money(entry["cash_at_start_usd"], rate),
    ]
    return [name, *money, whole_text(entry["energy_kwh"]), whole_text(entry["kg_co2e"]), share]


def _option_row(option: dict[str, Any], rate: float) -> list[str]:
    money = [_money(option["tco_usd"], rate), _money(option["present_value_usd"], rate)]
    return [option_name(option), _name(option["recommended"]), *money, "chosen" if option["chosen"] else ""]


def _job_row(entry: dict[str, Any], job: dict[str, Any], rate: float) -> list[str]:
    return [
        _name(entry["id"]),
        job["id"],
        job["resource"],
        str(job["gpus"]),
        cell_text(job["time_to_train_h"]),
        f"{cell_text(job['low_h'])} to {cell_text(job['high_h'])}",
        _basis(job),
        _money(job["cost_per_run_usd"], rate, cents=True),
        _money(job["marginal_cost_per_run_usd"], rate, cents=True),
    ]


def _basis(job: dict[str, Any]) -> str:
    own = any(source.startswith(f"{MEASUREMENTS}{OWN}") for source in job["sources"])
    return f"{job['basis']}, own" if own else str(job["basis"])


def _waiting_rows(entry: dict[str, Any]) -> list[list[str]]:
    """Simulated waits at the machines and quotas of a way, where the document has them."""
    places = [(f"{machine['count']} x {machine['id']}", machine.get("waiting")) for machine in entry["machines"]]
    places += [(f"quota of {quota['gpus']} GPUs, {quota['id']}", quota.get("waiting")) for quota in entry["quotas"]]
    return [
        [
            _name(entry["id"]),
            job["id"],
            place,
            *_simulated(job, "wait"),
            *_simulated(job, "turnaround"),
            "" if job["late_share"] is None else _percent(job["late_share"]),
        ]
        for place, waiting in places
        if waiting is not None
        for job in waiting["jobs"]
    ]


def _group_rows(entry: dict[str, Any], rate: float) -> list[list[str]]:
    """What each group pays for, where the document has groups; what belongs to none only where there is any."""
    return [
        [
            _name(entry["id"]),
            "no group" if group["id"] is None else group["name"],
            "" if group["people"] is None else whole_text(group["people"]),
            _money(group["amount_usd"], rate),
            f"{100 * group['amount_usd'] / entry['tco_usd']:.0f} %" if entry["tco_usd"] else "",
            "" if group["people"] is None else _money(group["amount_usd_per_person"], rate),
            whole_text(group["kwh"]),
        ]
        for group in entry.get("groups", ())
        if group["id"] is not None or round(group["amount_usd"], 2) or group["jobs"]
    ]


def _overflow(entry: dict[str, Any], rate: float, code: str) -> list[str]:
    """What it would take to keep limits by renting, where waiting breaks them."""
    lines, totals = [], set()
    for machine in entry["machines"]:
        for job in machine["waiting"]["jobs"] if machine.get("waiting") is not None else ():
            where, found = f"{_name(entry['id'])}: {job['id']} on {machine['id']}", job["overflow"]
            if found is None or (found["resource"] is not None and not found["share"]):
                continue
            if found["resource"] is None:
                lines.append(
                    f"{where}: no rented machine that it may use keeps its limit, so none can take what waits too long"
                )
                continue
            cost, monthly = found["cost_usd"] / rate, found["cost_usd_per_month"] / rate
            lines.append(
                f"{where}: to keep its limit {_percent(found['share'])} of the attempts would go to"
                f" {found['resource']}, {cell_text(found['attempts'])} in all for"
                f" {cost:,.{2 if cost < _CENTS_BELOW else 0}f} {code} ({monthly:,.2f} a month)"
            )
            totals.add(_money(found["strategy_tco_usd"], rate))
    return [
        *lines,
        *(
            f"{_name(entry['id'])} would then cost {total} {code} in all, with disk and people for renting"
            for total in sorted(totals)
        ),
    ]


def _simulated(job: dict[str, Any], what: str) -> list[str]:
    """Mean and 90th percentile, known to a tenth of an hour; of few runs the latter says nothing."""
    mean, p90 = (cell_text(round(job[f"{what}_{name}_h"], 1)) for name in ("mean", "p90"))
    if what == "wait" and unsure(job):
        mean += f" ± {cell_text(round(job['wait_mean_error_h'], 1))}"
    return [mean, p90 if job["runs"] >= FEW_RUNS else "too few runs"]


def _spot_line(job: dict[str, Any], *, rate: float) -> str:
    spot = job["spot"]
    wins_at = spot["on_demand_wins_at_per_instance_h"]
    granted = f"a request for instances is granted in {_percent(spot['available_share'])} of the tries"
    mean, wait_h = _money(spot["cost_mean_usd"], rate, cents=True), spot["capacity_wait_h"]
    parts = [
        f"{job['id']} on {job['resource']}: {_percent(spot['interrupted_probability'])} of the attempts are"
        f" interrupted; expected of each are {_hours(spot['lost_h'])} paid for nothing"
        f" and {_hours(spot['waiting_h'])} of waiting",
        *([] if wins_at is None else [f"on demand is cheaper from {cell_text(wins_at)} interruptions an hour"]),
        f"8 of 10 attempts cost {_money_range(spot, 'cost', rate)} (mean {mean})"
        f" and take {_range(cell_text(spot['time_p10_h']), cell_text(spot['time_p90_h']))} h",
        f"8 of 10 months with {spot['month_attempts']} of them cost {_money_range(spot, 'month', rate)}",
        *([] if job["start_wait"] is not None else [f"{granted}, the first after {_hours(wait_h)} on average"]),
    ]
    if spot["no_capacity_probability"] is not None:
        parts.append(
            f"within the limit none is granted in {_percent(spot['no_capacity_probability'])} of the cases,"
            f" and {_percent(spot['late_probability'])} end late for whatever reason"
        )
    return ";\n  ".join(parts)


def _money_range(entry: dict[str, Any], what: str, rate: float) -> str:
    return _range(*(_money(entry[f"{what}_{name}_usd"], rate, cents=True) for name in ("p10", "p90")))


def _range(low: str, high: str) -> str:
    return low if low == high else f"{low} to {high}"


def _percent(share: float) -> str:
    if 0 < share < _TINY_SHARE:
        return "less than 0.01 %"
    return f"{100 * share:.2g} %" if share < _LARGE_SHARE else f"{100 * share:.0f} %"


def _hours(hours: float) -> str:
    return "less than 0.01 h" if 0 < hours < _TINY_H else f"{cell_text(hours)} h"


def _start_wait_line(job: dict[str, Any]) -> str:
    wait = job["start_wait"]
    asked = "" if wait["offer"] == job["resource"] else f", beyond the commitment on {wait['offer']}"
    line = (
        f"{job['id']} on {job['resource']}{asked}: instances are there in {_percent(wait['available_share'])} of the"
        f" tries; a session waits {_hours(wait['mean_h'])} on average before it starts, unpaid, nine in ten at most"
        f" {_hours(wait['p90_h'])}"
    )
    if wait["late_share"] is None:
        return line
    return f"{line}; {_percent(wait['late_share'])} end after {cell_text(job['deadline_h'])} h"


def _job_lines(document: dict[str, Any], key: str, line: Callable[[dict[str, Any]], str]) -> list[str]:
    """A sentence for each job that has something under a key; ways share them."""
    lines = [line(job) for entry in document["strategies"] for job in entry["jobs"] if job[key] is not None]
    return list(dict.fromkeys(lines))


def _money(usd: float | None, rate: float, *, cents: bool = False) -> str:
    """An amount in the currency asked for."""
    if usd is None:
        return UNKNOWN
    return f"{usd / rate:,.2f}" if cents else f"{usd / rate:,.0f}"
