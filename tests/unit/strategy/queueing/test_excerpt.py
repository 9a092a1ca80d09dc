"""What of a course is drawn: which month, how much of it, and which GPUs an attempt holds."""

from __future__ import annotations

import numpy as np
import pytest

from planner.strategy.queueing.attempts import Attempts
from planner.strategy.queueing.excerpt import MOST_ATTEMPTS, Excerpt, excerpt, month_work_h, typical_month
from planner.strategy.queueing.simulate import Pool, carry_out
from planner.strategy.queueing.streams import Stream, Submissions


def stream(id: str = "job", runs: tuple[float, ...] = (10.0,), **changes: object) -> Stream:
    return Stream(**{"id": id, "runs_per_month": runs, "duration_h": 1.0, **changes})  # type: ignore[arg-type]


def submitted(*moments: float, lasting: float = 1.0) -> Submissions:
    return Submissions(
        submitted_h=np.array(moments),
        first_attempt=np.arange(len(moments) + 1),
        duration_h=np.full(len(moments), lasting),
    )


def course_of(pool: Pool, *jobs: tuple[Stream, Submissions]) -> tuple[list[Stream], Attempts]:
    streams = [job for job, _ in jobs]
    return streams, carry_out(pool, streams, [moments for _, moments in jobs])


def test_work_by_month_counts_attempts_gpus_and_machines() -> None:
    plain = stream(runs=(10.0, 20.0))
    gang = stream(runs=(1.0, 0.0), duration_h=5.0, gpus=4, machines=2, attempts_per_run=1.5)
    assert month_work_h([plain, gang]).tolist() == [10.0 + 1.5 * 5 * 8, 20.0]


def test_the_typical_month_is_nearest_the_median_and_of_equals_in_the_middle() -> None:
    assert typical_month(np.array([1.0, 2.0, 30.0, 4.0, 5.0])) == 4
    assert typical_month(np.ones(36)) == 18
    assert typical_month(np.ones(1)) == 1


def test_a_month_with_few_enough_attempts_is_shown_whole() -> None:
    pool = Pool(machines=1, gpus=1)
    months = stream(runs=(5.0, 5.0, 5.0))
    moments = [730.0 * month + 100.0 * at for month in range(3) for at in range(5)]
    streams, course = course_of(pool, (months, submitted(*moments)))
    part = excerpt(pool, streams, course, 3)
    assert (part.month, part.start_h, part.end_h, part.attempts) == (2, 730.0, 1460.0, 5)
    assert [placed.attempt for placed in part.placed] == [5, 6, 7, 8, 9]


@pytest.mark.parametrize(("per_day", "span_h"), [(20, 168.0), (100, 24.0), (480, 1.0)])
def test_of_more_attempts_a_week_a_day_or_an_hour_is_shown(per_day: int, span_h: float) -> None:
    pool = Pool(machines=per_day, gpus=1)
    moments = np.arange(30 * per_day) * 24.0 / per_day
    streams, course = course_of(pool, (stream(), submitted(*moments.tolist(), lasting=0.001)))
    part = excerpt(pool, streams, course, 1)
    assert part.end_h - part.start_h == span_h
    assert part.start_h == (9.0 if span_h == 1 else 0.0)
    assert part.attempts <= MOST_ATTEMPTS
    assert abs(part.attempts - per_day * span_h / 24) <= 1


def test_an_hour_with_too_many_attempts_is_cut_and_says_how_many_there_were() -> None:
    pool = Pool(machines=500, gpus=1)
    streams, course = course_of(pool, (stream(), submitted(*[9.5] * 500, lasting=0.1)))
    part = excerpt(pool, streams, course, 1)
    assert part.end_h - part.start_h == 1.0
    assert (part.attempts, len(part.placed)) == (500, MOST_ATTEMPTS)


def test_rare_runs_are_shown_over_a_year() -> None:
    pool = Pool(machines=1, gpus=1)
    rare = stream(runs=(0.5,) * 24, duration_h=100.0)
    streams, course = course_of(pool, (rare, submitted(0.0, 3000.0, 9000.0, lasting=100.0)))
    part = excerpt(pool, streams, course, 24)
    assert (part.month, part.start_h, part.end_h, part.attempts) == (12, 0.0, 8760.0, 2)
    ending = excerpt(pool, [stream(runs=(0.1,) * 5)], course, 5)
    assert ending.end_h == 5 * 730.0


def held(part: Excerpt) -> list[tuple[int, int, int, int]]:
    return [(placed.attempt, placed.machine, placed.first_gpu, placed.gpus) for placed in part.placed]


def test_attempts_hold_gpus_side_by_side_where_they_are_free() -> None:
    pool = Pool(machines=1, gpus=4)
    two = (stream("two", gpus=2), submitted(0.0, 2.0, 2.0, lasting=3.0))
    one = (stream("one"), submitted(1.0, 1.5, lasting=1.2))
    part = excerpt(pool, *course_of(pool, two, one), 1)
    # two on 0 and 1, ones on 2 and 3; the next two begins on 2 and 3 as both ones have ended, the last as the first has
    assert held(part)[:3] == [(0, 0, 0, 2), (1, 0, 2, 1), (2, 0, 3, 1)]
    assert held(part)[3] == (3, 0, 2, 2)
    assert held(part)[4] == (4, 0, 0, 2)


def test_gpus_that_lie_apart_are_separate_bars() -> None:
    pool = Pool(machines=1, gpus=3)
    short, long = (stream("short"), submitted(0.0, 0.2, lasting=1.0)), (stream("long"), submitted(0.1, lasting=9.0))
    two = (stream("two", gpus=2), submitted(2.0, lasting=1.0))
    part = excerpt(pool, *course_of(pool, short, long, two), 1)
    assert held(part)[-2:] == [(3, 0, 0, 1), (3, 0, 2, 1)]
    larger = Pool(machines=1, gpus=5)
    part = excerpt(larger, *course_of(larger, short, long, two), 1)
    assert held(part)[-1] == (3, 0, 2, 2)  # 0 is free too, but has no free neighbour


def test_an_attempt_on_several_machines_has_a_bar_on_each() -> None:
    pool = Pool(machines=3, gpus=2)
    gang = (stream("gang", gpus=2, machines=2), submitted(0.0))
    streams, course = course_of(pool, gang)
    assert course.occupied == ((0, 1),)
    assert held(excerpt(pool, streams, course, 1)) == [(0, 0, 0, 2), (0, 1, 0, 2)]
