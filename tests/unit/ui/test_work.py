"""The Work page's titles, choices of places, words and charts."""

from __future__ import annotations

import itertools
from dataclasses import replace

import altair as alt
import pytest

from planner.performance.memory_parts import PARTS
from tests.planning import shipped_catalog
from tests.unit.report.test_candidates import solved
from tests.unit.ui.contrast import contrast
from ui import work_blocks, work_charts, work_words
from ui.formatting import NBSP, USD
from ui.palette import palette
from ui.plans import plan_of
from ui.view import View
from ui.work_charts import TimeRow
from ui.work_data import MOST_OFFERS, MOST_RULED_OUT, CardMemory, cards, month_of, shown, used_by

JOB = {"rented": False, "resource": "pc", "gpu": "rtx-4090", "gpus": 1, "gpu_hours": 36.0, "deadline_h": None}
MACHINE = {"gpu": "rtx-4090", "gpus_per_machine": 1, "count": 4, "utilisation": 0.71, "target_utilisation": 0.7}


def opened(name="hybrid-lab", **changes):
    """A shipped example as the page has it."""
    result = solved(name=name, **changes)
    jobs = {job.id: {"deadline_h": job.deadline_h, "class": job.job_class} for job in result.problem.jobs}
    plan = plan_of(result, {"jobs": jobs})
    return View(plan.report, plan.document, shipped_catalog(), USD), plan


@pytest.fixture(scope="module")
def lab():
    return opened()


def made(jobs, machines=()):
    """A view of a way that was made up: (id, runs a month, rented)."""
    rows = [{**JOB, "id": id, "runs": runs * 36.0, "rented": rented} for id, runs, rented in jobs]
    way = {"id": "hybrid", "kind": "hybrid", "feasible": True, "jobs": rows, "problems": [], "machines": list(machines)}
    report = {"horizon_months": 36, "recommended": "hybrid", "strategies": [way], "figures": []}
    return View(report, {"jobs": {job[0]: {} for job in jobs}}, shipped_catalog(), USD)


@pytest.mark.parametrize(
    ("jobs", "machines", "title"),
    [
        ([("daily", 60, False)], [MACHINE], "60 daily runs a month fill four RTX 4090 to 71 %"),
        ([("daily", 60, False), ("key", 2, True)], [MACHINE], "60 daily runs a month fill four RTX 4090 to 71 %"),
        ([("daily", 60, False), ("key", 2, False)], [MACHINE], "62 runs a month fill four RTX 4090 to 71 %"),
        ([("key", 1, False)], [MACHINE], "1 key run a month fills four RTX 4090 to 71 %"),
        ([("key", 0.25, False)], [MACHINE], "3 key runs a year fill four RTX 4090 to 71 %"),
        ([("a_b", 1 / 12, False)], [MACHINE], "1 a\\_b run a year fills four RTX 4090 to 71 %"),
        (
            [("daily", 60, False)],
            [{**MACHINE, "utilisation": 0.2}, {**MACHINE, "gpu": "a100-sxm4-80gb", "count": 1}],
            "60 daily runs a month fill one A100 to 71 % and four RTX 4090 to 20 %",
        ),
        (
            [("daily", 60, False)],
            [MACHINE, MACHINE, {**MACHINE, "utilisation": 0.9}],
            "60 daily runs a month fill three kinds of machines, the fullest to 90 %",
        ),
        ([("daily", 60, True)], [], "60 daily runs a month take 1.0 rented GPU-hours"),
        ([("daily", 60, True)], [{**MACHINE, "utilisation": 0.0}], "60 daily runs a month take 1.0 rented GPU-hours"),
        ([("daily", 0.25, True)], [], "3 daily runs a year take 12 rented GPU-hours"),
    ],
)
def test_the_title_is_chosen_by_the_result(jobs, machines, title):
    assert work_words.title(made(jobs, machines)) == title.replace(" %", f"{NBSP}%")


def test_without_a_way_the_title_names_the_job_that_all_ways_stumble_over():
    view = made([("daily", 60, False), ("key", 2, True)])
    view.recommended = None
    view.strategies = [{"problems": [{"params": {"job": "key"}}]}, {"problems": [{"params": {"job": "key"}}]}]
    assert work_words.title(view) == "No way runs key as asked"
    view.strategies[0]["problems"] = [{"params": {"machine": "pc"}}]
    assert work_words.title(view) == "No way does all of this work as asked"


def test_the_figures_are_those_of_the_way(lab):
    view, _ = lab
    way = view.recommended
    month = month_of(view, way)
    assert month.runs == pytest.approx(sum(job["runs"] for job in way["jobs"]) / 36)
    assert month.attempts > month.runs
    assert month.own_gpu_h + month.rented_gpu_h == pytest.approx(sum(job["gpu_hours"] for job in way["jobs"]) / 36)
    labels = [label for label, _, _ in work_words.figures(view, way)]
    assert labels == ["Runs a month", "GPU-hours a month", "Owned cards busy", "Longest attempt"]
    assert max(map(len, labels)) <= 20
    rented, _ = opened("student")
    (_, _, pill), (label, gpus, gpu) = work_words.figures(rented, rented.recommended)[1:3]
    assert (pill, label, gpus, gpu) == ("all rented", "GPUs of a run", "1", "V100")


def test_places_worth_comparing_hold_what_the_plan_uses_and_each_gpu_once(lab):
    _, plan = lab
    for job in plan.places.jobs:
        places = plan.places.of(job)
        compared = shown(places, "hybrid")
        assert used_by(compared, "hybrid") is used_by(places, "hybrid") is not None
        assert [place for place in places if not place.rented] == [place for place in compared if not place.rented]
        rented = [place for place in compared if place.rented]
        assert len({(place.gpu, place.gpus) for place in rented}) == len(rented)
        on_time = [place for place in rented if place.on_time]
        assert len(on_time) <= MOST_OFFERS and len(rented) - len(on_time) <= MOST_RULED_OUT
        for one in on_time:
            alike = [place.marginal_usd for place in places if (place.gpu, place.gpus) == (one.gpu, one.gpus)]
            assert "hybrid" in one.ways or one.marginal_usd == min(alike[-len(alike) :])


def test_cards_with_one_short_name_are_told_apart_by_their_memory(lab):
    view, plan = lab
    names = work_words.card_names(view, plan.places.of("key"))
    assert names["rtx-4090"] == "RTX 4090"
    assert names["a100-sxm4-40gb"] == f"A100{NBSP}40{NBSP}GB"
    assert names["a100-sxm4-80gb"] == f"A100{NBSP}80{NBSP}GB"


def test_headings_say_what_was_found(lab):
    view, plan = lab
    places, heading = plan.places.of("key"), work_words.time_heading
    compared = shown(places, "hybrid")
    names = work_words.card_names(view, compared)
    count = sum(place.on_time for place in places)
    assert heading(view, places, compared, names).startswith(
        f"{count} of {len(places)} places can do a key run; on 4 ×"
    )
    late = [replace(place, reasons=({"code": "deadline_missed"},)) for place in compared]
    assert heading(view, late, late, names).startswith(f"Nothing ends a key run within 7{NBSP}days; the fastest takes ")
    nowhere = [replace(place, done_h=None) for place in late]
    assert heading(view, nowhere, nowhere, names) == "Nothing here can run key as asked"
    of_daily = plan.places.of("daily")
    daily = heading(view, of_daily, shown(of_daily, "hybrid"), names)
    assert daily.startswith(f"One daily run takes 32{NBSP}min on 1 × RTX 4090, workstation, at the fastest ")


def test_memory_is_told_of_the_card_in_use_and_too_much_of_it_as_such(lab):
    view, plan = lab
    compared = shown(plan.places.of("daily"), "hybrid")
    names = work_words.card_names(view, compared)
    found = work_words.memory_heading(cards(compared), used_by(compared, "hybrid"), names)
    assert found == f"Activations take 73{NBSP}% of 24{NBSP}GB; a run can use 26{NBSP}GB of each RTX 4090"
    large = CardMemory(gpu="rtx-4090", gpus=1, parts_gb={"weights": 30.0}, used_gb=30.0, whole_gb=25.6)
    assert not large.fits
    assert work_words.memory_heading([large], None, names) == (f"It does not fit: 30 of 25.6{NBSP}GB on each RTX 4090")


def rows_of(view, plan, job):
    compared = shown(plan.places.of(job), "hybrid")
    names = work_words.card_names(view, compared)
    return compared, names, [work_blocks._time_row(view, plan, place, names) for place in compared]


@pytest.mark.parametrize("job", ["daily", "key"])
def test_charts_are_valid_and_told_in_words(lab, job):
    view, plan = lab
    compared, names, rows = rows_of(view, plan, job)
    limit = compared[0].limit_h
    for dark, faded in itertools.product((False, True), repeat=2):
        for spec in (
            work_charts.time_chart(rows, limit, dark=dark, faded=faded),
            work_charts.memory_chart(cards(compared), names, dark=dark, faded=faded),
        ):
            alt.LayerChart.from_dict(spec, validate=True)
    told = work_charts.time_alt(rows, limit)
    assert all(row.name in told for row in rows)
    assert "The limit is" in told
    told = work_charts.memory_alt(cards(compared), names)
    assert f"1 × RTX 4090: 24.3 of 25.6{NBSP}GB, of that Weights " in told


def test_a_row_says_what_a_speed_rests_on_both_costs_and_why_it_is_ruled_out(lab):
    _, _, rows = rows_of(*lab, "key")
    late = rows[0]
    assert late.role == "owned" and late.ruled_out == f"over its limit of 7{NBSP}days"
    assert late.notes[0].endswith("estimated") and late.notes[1].startswith(f"{late.ruled_out} · $")
    used = next(row for row in rows if row.notes[0].startswith("in the plan"))
    assert used.role == "on_demand" and "on demand · likely " in used.notes[0]
    assert " in full, $" in used.notes[1] and used.notes[1].endswith(" for one more")


def time_row(low, done, high):
    return TimeRow(name="x", role="owned", done_h=done, low_h=low, high_h=high, notes=("", ""), ruled_out="")


@pytest.mark.parametrize(
    ("hours", "kind", "first"),
    [
        ((0.4, 0.5, 0.6), "linear", f"10{NBSP}min"),
        ((0.2, 0.5, 60), "log", f"6{NBSP}h"),
        ((400, 500, 600), "linear", f"10{NBSP}days"),
        ((0.0002, 0.0003, 0.0004), "linear", f"0.5{NBSP}s"),
    ],
)
def test_the_axis_of_times_is_linear_from_zero_or_log_with_few_ticks_in_words(hours, kind, first):
    x = work_charts.time_chart([time_row(*hours)], None, dark=False)["layer"][0]["encoding"]["x"]
    assert x["scale"]["type"] == kind
    assert 2 <= len(x["axis"]["values"]) <= 6
    assert first in x["axis"]["labelExpr"]
    assert ("(log)" in x["axis"]["title"]) == (kind == "log")


def test_a_limit_far_beyond_all_times_leaves_them_room():
    near = work_charts.time_chart([time_row(1, 2, 3)], 50, dark=False)
    far = work_charts.time_chart([time_row(1, 2, 3)], 100, dark=False)
    assert len(near["layer"]) == len(far["layer"]) + 2


@pytest.mark.parametrize("dark", [False, True])
def test_parts_of_memory_stand_out_from_the_page(dark):
    colours = palette(dark=dark)
    assert set(colours.memory) == set(PARTS)
    for part in ("weights", "states", "gradients", "optimizer", "logits"):
        assert contrast(colours.memory[part], colours.page) >= 3, part


def test_the_table_of_candidates_has_every_job_and_place_with_reasons_in_full(lab):
    view, plan = lab
    found = [place for job in plan.places.jobs for place in plan.places.of(job)]
    rows = [
        work_words.candidate_row(view, place, plan.places.full_usd(place), plan.places.bottleneck(place))
        for place in found
    ]
    assert len({tuple(row.keys()) for row in rows}) == 1
    late = next(row for row, place in zip(rows, found, strict=True) if place.runs and not place.on_time)
    assert "its limit is 7" in late["Why not"] and late["Status"].startswith("over its limit")
    assert {row["Status"] for row in rows} >= {"in the plan", "possible"}
    assert all(row["What takes the time, and a remedy"] for row in rows)
