"""Sentences of the Work page: title, sentence, figures and headings, chosen by what came out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from planner.performance.memory_parts import PARTS, Part
from planner.report.job_places import JobPlace
from planner.units import MONTHS_PER_YEAR
from ui import formatting
from ui.formatting import NBSP, escaped
from ui.i18n import t
from ui.plan_blocks import limit_words
from ui.view import Row, View, way_name
from ui.work_data import CardMemory, busy_machines, month_of, used_by

_NAMED_MACHINES = 2  # of more kinds, how many there are
_KNOWN_REASONS = (
    "block_too_short",
    "in_house_only",
    "pinned_elsewhere",
    "pinned_off",
    "quota_below_run",
    "quota_zero",
    "region_not_allowed",
    "term_not_allowed",
)
_EVERYWHERE = "all"  # the region of an offer with one price wherever it stands
_OWN_BASES = ("own", "given")
_NUMBERS = ("done_h", "low_h", "high_h", "full_usd", "marginal_usd", "memory_gb", "capacity_gb")


def title(view: View) -> str:
    """How full the work makes the machines, or what it takes of rented ones."""
    way = view.recommended
    if way is None:
        return _impossible(view)
    machines = busy_machines(way)
    if not machines:
        runs, number, months = _runs_words(view, way["jobs"])
        hours = formatting.rounded(month_of(view, way).rented_gpu_h * months)
        return t(f"work_page.title.rented_{number}", runs=runs, hours=hours)
    runs, number, _ = _runs_words(view, [job for job in way["jobs"] if not job["rented"]])
    if len(machines) > _NAMED_MACHINES:
        share = formatting.percent(machines[0]["utilisation"])
        what = t("work_page.title.kinds", count=formatting.number_word(len(machines)), share=share)
    else:
        what = formatting.listed(
            t("work_page.title.filled", cards=_cards_words(view, one), share=formatting.percent(one["utilisation"]))
            for one in machines
        )
    return t(f"work_page.title.{number}", runs=runs, what=what)


def _impossible(view: View) -> str:
    """Which jobs stand in the way of all ways, where it is always the same ones."""
    found = [{str(one["params"].get("job", "")) for one in way["problems"]} for way in view.strategies]
    common = sorted(set.intersection(*found) - {""}) if found else []
    if len(common) == 1:
        return t("work_page.title.job_impossible", job=escaped(common[0]))
    return t("work_page.title.impossible")


def _cards_words(view: View, machine: Row) -> str:
    count = machine["count"] * machine["gpus_per_machine"]
    return f"{formatting.number_word(count)} {view.gpu_name(machine['gpu'])}"


def _runs_words(view: View, jobs: Sequence[Row]) -> tuple[str, str, float]:
    """ "60 daily runs a month", "one" or "many", and the months these are counted by: rare runs by the year.

    The name is left out where there are several jobs.
    """
    ids = list(dict.fromkeys(job["id"] for job in jobs))
    a_month = sum(job["runs"] for job in jobs) / view.report["horizon_months"]
    months, period = (1.0, "month") if a_month >= 1.0 else (MONTHS_PER_YEAR, "year")
    count = formatting.trimmed(a_month * months, 3)
    number = "one" if count == "1" else "many"
    name = f"{escaped(ids[0])} " if len(ids) == 1 else ""
    return f"{count} {name}{t(f'work_page.title.runs.{period}_{number}')}", number, months


def sentence(view: View) -> str:
    """In which way, what of it is rented, and which job comes nearest to its limit."""
    way = view.recommended
    if way is None:
        return t("work_page.sentence.impossible")
    rented = view.rented_words(way)
    key = "both" if rented and busy_machines(way) else "rented" if rented else "own"
    words = t(f"work_page.sentence.{key}", way=way_name(way), cards=rented, work=view.work_words(way, rented=True))
    limited = [job for job in way["jobs"] if job["deadline_h"] is not None]
    if limited:
        near = max(limited, key=lambda job: job["time_to_train_h"] / job["deadline_h"])
        span = formatting.duration_range(near["low_h"], near["high_h"])
        limit = formatting.duration(near["deadline_h"])
        words += " " + t("work_page.sentence.nearest", job=escaped(near["id"]), span=span, limit=limit)
    return words


def figures(view: View, way: Row) -> list[tuple[str, str, str]]:
    """Label, value and pill of the four figures."""
    month, machines = month_of(view, way), busy_machines(way)
    hours = month.own_gpu_h + month.rented_gpu_h
    if not month.rented_gpu_h:
        pill = t("work_page.figure.all_own")
    elif not month.own_gpu_h:
        pill = t("work_page.figure.all_rented")
    else:
        pill = t("work_page.figure.rented", share=formatting.share(month.rented_gpu_h / hours))
    if machines:
        safe = formatting.percent(machines[0]["target_utilisation"])
        busy = (
            t("timeline.figure.busy"),
            formatting.percent(machines[0]["utilisation"]),
            t("timeline.figure.same", safe=safe),
        )
    else:
        most = max(way["jobs"], key=lambda job: job["gpus"])
        busy = t("work_page.figure.gpus"), formatting.plain(most["gpus"]), view.gpu_name(most["gpu"])
    run = view.longest_run(way)
    return [
        (
            t("work_page.figure.runs"),
            formatting.trimmed(month.runs, 2 if month.runs < 1 else 3),
            t("work_page.figure.attempts", count=formatting.trimmed(month.attempts, 2 if month.attempts < 1 else 3)),
        ),
        (t("work_page.figure.hours"), formatting.rounded(hours), pill),
        busy,
        (t("work_page.figure.longest"), formatting.duration(run["time_to_train_h"]), limit_words(run)),
    ]


def card_names(view: View, places: Sequence[JobPlace]) -> dict[str, str]:
    """Names of the cards by id, with their memory where two have the same short name."""
    names = {place.gpu: view.gpu_name(place.gpu) for place in places}
    alike = [name for name in names.values() if list(names.values()).count(name) > 1]
    return {id: _with_memory(view, id, name) if name in alike else name for id, name in names.items()}


def _with_memory(view: View, gpu: str, name: str) -> str:
    known = view.catalog.gpus.get(gpu)
    return name if known is None else f"{name}{NBSP}{formatting.memory(known.memory_gb.value)}"


def place_words(view: View, place: JobPlace, names: Mapping[str, str]) -> str:
    """Where a place is: GPUs of a run, and the machine or instance."""
    where = place.resource if not place.rented else view.offer(place.resource).instance
    return t("work_page.place", gpus=f"{place.gpus} × {names[place.gpu]}", where=where)


def basis_words(place: JobPlace) -> str:
    """What a speed rests on."""
    return t(f"work_page.basis.{place.basis}") if place.basis in _OWN_BASES else t(f"basis.{place.basis}")


def cost_words(view: View, place: JobPlace, full_usd: float | None) -> str:
    """Full and marginal cost of a run."""
    return t(
        "work_page.cost",
        full=formatting.price(full_usd, view.currency, estimate=True),
        marginal=formatting.price(place.marginal_usd, view.currency, estimate=True),
    )


def known_words(view: View, place: JobPlace, full_usd: float | None) -> str:
    """Likely time, basis as a badge, and costs, of the place that a heading names."""
    words = [f":gray-badge[:material/query_stats: {basis_words(place)}]", cost_words(view, place, full_usd)]
    if place.done_low_h is not None:
        span = formatting.duration_range(place.done_low_h, place.done_high_h)
        words.insert(0, t("work_page.likely", span=span))
    return " · ".join(words)


def short_reason(place: JobPlace) -> str:
    """Why a place is ruled out, short enough for a chart."""
    problem = place.reasons[0]
    if problem["code"] == "deadline_missed":
        return t("work_page.reason.late", limit=formatting.duration(problem["params"]["deadline_h"]))
    if problem["code"] in ("does_not_fit", "fits_nowhere"):
        memory = formatting.memory_of(place.memory_gb, place.capacity_gb)
        return t("work_page.reason.does_not_fit", memory=memory)
    known = problem["code"] in _KNOWN_REASONS
    return t(f"work_page.reason.{problem['code']}" if known else "work_page.reason.other")


def reason_words(view: View, place: JobPlace) -> str:
    """Why a place is ruled out, in full."""
    words = view.problem_words({"problems": place.reasons})
    return " ".join(word.removeprefix(f"jobs.{place.job}: ") for word in words)


def heading_place(view: View, compared: Sequence[JobPlace]) -> JobPlace | None:
    """The place that the heading of times names: where the plan runs the job, else the fastest."""
    running = [place for place in compared if place.done_h is not None]
    used = used_by(running, view.recommended["kind"] if view.recommended else None)
    return used or min(running, key=_done_h, default=None)


def time_heading(view: View, places: Sequence[JobPlace], compared: Sequence[JobPlace], names: Mapping[str, str]) -> str:
    """Whether a run is in time and where, or how long it takes where it runs and at the fastest of those compared."""
    name = escaped(places[0].job)
    running = [place for place in compared if place.done_h is not None]
    if not running:
        return t("work_page.time.nowhere", job=name)
    fastest = min(running, key=_done_h)
    on_time = [place for place in places if place.on_time]
    if not on_time:
        return t(
            "work_page.time.late",
            job=name,
            limit=formatting.duration(fastest.limit_h),
            time=formatting.duration(fastest.done_h),
            place=escaped(place_words(view, fastest, names)),
        )
    mine = heading_place(view, compared) or fastest
    params = {"job": name, "time": formatting.duration(mine.done_h), "place": escaped(place_words(view, mine, names))}
    if len(on_time) < len(places):
        return t("work_page.time.some", **params, count=len(on_time), all=len(places))
    if mine is not fastest and _done_h(fastest) < 0.98 * _done_h(mine):
        return t("work_page.time.faster", **params, least=formatting.duration(fastest.done_h))
    return t("work_page.time.all", **params)


def _done_h(place: JobPlace) -> float:
    return place.done_h if place.done_h is not None else float("inf")


def memory_heading(cards: Sequence[CardMemory], used: JobPlace | None, names: Mapping[str, str]) -> str:
    """What takes the most memory of the card in use, and what is left; or that it is too much for any."""
    card = next((one for one in cards if used and (one.gpu, one.gpus) == (used.gpu, used.gpus)), cards[0])
    gpu = names[card.gpu]
    if not card.fits:
        need = formatting.memory_of(card.used_gb, card.whole_gb)
        return t("work_page.memory.too_large", need=need, gpu=gpu)
    part = max(card.parts_gb, key=lambda part: card.parts_gb[part])
    return t(
        "work_page.memory.heading",
        part=t(f"work_page.part.{part}"),
        share=formatting.percent(card.parts_gb[part] / card.used_gb),
        used=formatting.memory(card.used_gb),
        whole=formatting.memory(card.whole_gb),
        gpu=gpu,
    )


def layout_words(place: JobPlace) -> str:
    """How a run is spread over its GPUs."""
    layout = place.layout
    if layout is None:
        return formatting.unknown()
    if layout.gpus == 1:
        return t("work_page.layout.one")
    if layout.sharding == "replicated":
        return t("work_page.layout.replicated", count=layout.gpus)
    if layout.sharding == "sharded":
        return t("work_page.layout.sharded", count=layout.shards)
    return t("work_page.layout.split", tensor=layout.tensor, pipeline=layout.pipeline, replicas=layout.shards)


def candidate_row(view: View, place: JobPlace, full_usd: float | None, limit: Mapping[str, object] | None) -> Row:
    """A row of the table of all candidates, units in the heads, numbers that can be sorted."""
    settings = place.settings
    return {
        t("column.job"): place.job,
        t("column.resource"): _where(view, place),
        t("column.gpus"): place.gpus,
        t("work_page.column.status"): _status(view, place),
        t("work_page.column.done_h"): place.done_h,
        t("work_page.column.low_h"): place.done_low_h,
        t("work_page.column.high_h"): place.done_high_h,
        t("work_page.column.full_usd"): full_usd,
        t("work_page.column.marginal_usd"): place.marginal_usd,
        t("column.basis"): basis_words(place),
        t("work_page.column.memory_gb"): place.memory_gb,
        t("work_page.column.capacity_gb"): place.capacity_gb,
        **{part_head(part): place.memory_parts_gb.get(part) for part in PARTS},
        t("work_page.column.layout"): layout_words(place),
        t("work_page.column.micro_batch"): settings.get("micro_batch"),
        t("work_page.column.global_batch"): settings.get("global_batch"),
        t("work_page.column.checkpointing"): settings.get("checkpointing"),
        t("work_page.column.precision"): settings.get("precision"),
        t("work_page.column.bottleneck"): str(limit["text"]) if limit else formatting.unknown(),
        t("work_page.column.reason"): reason_words(view, place) if place.reasons else "",
    }


def _where(view: View, place: JobPlace) -> str:
    """The card, and the machine or the offer by its name with its region, which tells alike ones apart."""
    words = [_with_memory(view, place.gpu, view.gpu_name(place.gpu)), view.place_name(place.resource)]
    known = view.catalog.offers.get(place.resource)
    if known is not None and known.region not in ("", _EVERYWHERE):
        words.append(known.region)
    return ", ".join(words)


def part_head(part: Part) -> str:
    """Head of the column of a part of memory."""
    return t("work_page.column.part_gb", part=t(f"work_page.part.{part}"))


def numbers() -> list[str]:
    """Heads of the columns that sort by value."""
    return [*(t(f"work_page.column.{name}") for name in _NUMBERS), *map(part_head, PARTS)]


def _status(view: View, place: JobPlace) -> str:
    if place.reasons:
        return short_reason(place)
    if view.recommended is not None and view.recommended["kind"] in place.ways:
        return t("work_page.status.used")
    return t("work_page.status.possible")
