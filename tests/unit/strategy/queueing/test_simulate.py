"""Courses that one can follow by hand: who starts when."""

from __future__ import annotations

import numpy as np
import pytest

from planner.strategy.queueing.attempts import Attempts
from planner.strategy.queueing.breakdowns import Breakdowns, Failing
from planner.strategy.queueing.hours import Powered
from planner.strategy.queueing.simulate import Pool, carry_out, simulate
from planner.strategy.queueing.streams import Overflow, Stream, Submissions


def stream(id: str = "job", **changes: object) -> Stream:
    return Stream(**{"id": id, "runs_per_month": (10.0,), "duration_h": 1.0, **changes})  # type: ignore[arg-type]


def submitted(*moments: float, lasting: float = 1.0, attempts: int = 1) -> Submissions:
    return Submissions(
        submitted_h=np.array(moments),
        first_attempt=np.arange(len(moments) + 1) * attempts,
        duration_h=np.full(len(moments) * attempts, lasting),
    )


def starts(course: Attempts, index: int) -> list[float]:
    return course.started_h[course.of(index)].tolist()


def test_twenty_runs_submitted_together_on_four_cards_wait_twenty_hours() -> None:
    course = carry_out(Pool(machines=4, gpus=1), [stream()], [submitted(*[0.0] * 20, lasting=10.0)])
    assert course.wait_h.mean() == 20.0
    assert sorted(course.ended_h.tolist()) == [10.0] * 4 + [20.0] * 4 + [30.0] * 4 + [40.0] * 4 + [50.0] * 4


def test_a_long_key_run_holds_up_short_ones_on_a_single_card() -> None:
    streams = [stream("short"), stream("key")]
    drawn = [submitted(*range(5, 205, 10)), submitted(0.0, lasting=200.0)]
    alone = carry_out(Pool(machines=1, gpus=1), streams, drawn)
    assert starts(alone, 1) == [0.0]
    assert starts(alone, 0) == [200.0 + at for at in range(20)]  # the last was submitted at 195
    beside = carry_out(Pool(machines=2, gpus=1), streams, drawn)
    assert beside.wait_h[beside.of(0)].max() == 0.0


def test_priority_goes_first_and_never_interrupts() -> None:
    streams = [stream("usual"), stream("urgent", priority=5)]
    course = carry_out(Pool(machines=1, gpus=1), streams, [submitted(0.0, 0.1, lasting=2.0), submitted(0.2, 0.3)])
    assert starts(course, 0) == [0.0, 4.0]
    assert starts(course, 1) == [2.0, 3.0]


def test_a_gang_waits_for_all_its_gpus_and_short_runs_go_ahead_only_if_they_are_over_in_time() -> None:
    streams = [stream("gang", gpus=4), stream("small", gpus=1), stream("long", gpus=1)]
    drawn = [submitted(1.0, lasting=5.0), submitted(0.0, 2.0, lasting=4.0), submitted(1.5, lasting=10.0)]
    course = carry_out(Pool(machines=1, gpus=4), streams, drawn)
    assert starts(course, 0) == [4.0]  # when the small run of hour 0 is over
    assert starts(course, 1) == [0.0, 9.0]  # 2 + 4 is later than 4: it may not go ahead
    assert starts(course, 2) == [9.0]
    shorter = [drawn[0], Submissions(submitted_h=np.array([0.0, 2.0]), first_attempt=np.array([0, 1, 2]),
                                     duration_h=np.array([4.0, 2.0])), drawn[2]]  # fmt: skip
    assert starts(carry_out(Pool(machines=1, gpus=4), streams, shorter), 1) == [0.0, 2.0]


def test_runs_over_several_machines_take_whole_ones_where_they_ask_for_them() -> None:
    streams = [stream("wide", gpus=8, machines=2), stream("small", gpus=1)]
    course = carry_out(Pool(machines=2, gpus=8), streams, [submitted(1.0, lasting=2.0), submitted(0.0, lasting=3.0)])
    assert starts(course, 0) == [3.0]


def test_small_runs_fill_the_fullest_machine_and_leave_whole_ones_free() -> None:
    streams = [stream("small", gpus=1), stream("whole", gpus=8)]
    drawn = [submitted(0.0, 0.1, 0.2, lasting=10.0), submitted(1.0)]
    course = carry_out(Pool(machines=2, gpus=8), streams, drawn)
    assert starts(course, 1) == [1.0]
    assert set(course.machine[course.of(0)].tolist()) == {0}


def test_a_failed_attempt_is_submitted_again_and_the_run_ends_with_its_last() -> None:
    course = carry_out(Pool(machines=1, gpus=1), [stream()], [submitted(0.0, 0.5, lasting=2.0, attempts=2)])
    assert starts(course, 0) == [0.0, 2.0, 4.0, 6.0]
    assert course.run.tolist() == [0, 1, 0, 1]
    assert course.failed.tolist() == [True, True, False, False]
    assert course.submitted_h.tolist() == [0.0, 0.5, 2.0, 4.0]
    assert course.turnaround_h(0).tolist() == [6.0, 7.5]


def test_work_rests_while_machines_are_off() -> None:
    pool = Pool(machines=1, gpus=1, powered=Powered(h_per_month=730 / 3))  # 9 to 17 o'clock
    course = carry_out(pool, [stream()], [submitted(9.0, 9.5, lasting=6.0)])
    assert course.started_h.tolist() == [9.0, 15.0]
    assert course.ended_h.tolist() == [15.0, 24 + 13.0]
    overnight = carry_out(pool, [stream()], [submitted(20.0, lasting=8.0)])
    assert (overnight.submitted_h[0], overnight.started_h[0], overnight.ended_h[0]) == (20.0, 24 + 9.0, 24 + 17.0)


def test_what_never_fits_is_refused() -> None:
    with pytest.raises(ValueError, match="wide takes more than there is"):
        simulate(Pool(machines=1, gpus=8), [stream("wide", machines=2)], seed=1)


def test_seeds_reproduce_and_another_stream_changes_no_submission() -> None:
    pool = Pool(machines=2, gpus=4)
    first = stream("first", runs_per_month=(50.0,) * 6, variation=0.5, attempts_per_run=1.3)
    second = stream("second", runs_per_month=(20.0,) * 6)
    alone, again, other = simulate(pool, [first], 7), simulate(pool, [first], 7), simulate(pool, [first], 8)
    assert np.array_equal(alone.ended_h, again.ended_h)
    assert not np.array_equal(alone.submitted_h[:20], other.submitted_h[:20])
    both = simulate(pool, [first, second], 7)
    earliest = [np.sort(course.submitted_h[course.of(0)])[:5].tolist() for course in (alone, both)]
    assert earliest[0] == earliest[1]


def failing(*up_h: float, repair_h: float = 5.0) -> Breakdowns:
    """Machines that fail after these hours, one after the other as they begin to work, and then no more."""
    return Breakdowns(up_h=iter([*up_h, *[np.inf] * 100]), repair_h=repair_h)


def rows(course: Attempts, index: int) -> list[tuple[float, float]]:
    mine = course.of(index)
    return list(zip(course.started_h[mine].tolist(), course.ended_h[mine].tolist(), strict=True))


def test_a_failed_machine_takes_its_attempt_back_to_what_was_saved() -> None:
    pool, drawn = Pool(machines=1, gpus=1), [submitted(0.0, lasting=10.0)]
    unsaved = carry_out(pool, [stream()], drawn, failing(7.0))
    assert rows(unsaved, 0) == [(0.0, 7.0), (12.0, 22.0)]
    saved = carry_out(pool, [stream(segments=5.0, restart_h=0.5)], drawn, failing(7.0))
    assert rows(saved, 0) == [(0.0, 7.0), (12.0, 16.5)]  # six of ten hours were saved
    assert [part.tolist() for part in saved.whole(0)] == [[0.0], [5.0], [16.5]]
    assert saved.turnaround_h(0).tolist() == [16.5]
    again = carry_out(pool, [stream(segments=5.0, restart_h=0.5)], drawn, failing(7.0, 2.6))
    assert rows(again, 0) == [(0.0, 7.0), (12.0, 14.6), (19.6, 22.1)]  # two more hours were saved, restart not counted


def test_a_failure_stops_a_gang_as_a_whole_and_leaves_the_others_alone() -> None:
    streams = [stream("gang", gpus=2, machines=2), stream("small", gpus=1)]
    drawn = [submitted(0.0, lasting=4.0), submitted(0.5, lasting=8.0)]
    course = carry_out(Pool(machines=3, gpus=2), streams, drawn, failing(3.0, repair_h=20.0))
    assert rows(course, 0) == [(0.0, 3.0), (8.5, 12.5)]  # of three machines, one is away and one has a small run
    assert rows(course, 1) == [(0.5, 8.5)]


def test_an_attempt_that_was_stopped_goes_first_and_a_failed_one_still_comes_again() -> None:
    drawn = [submitted(0.0, 1.0, lasting=4.0, attempts=2)]
    course = carry_out(Pool(machines=1, gpus=1), [stream()], drawn, failing(2.0, repair_h=1.0))
    assert rows(course, 0) == [(0.0, 2.0), (3.0, 7.0), (7.0, 11.0), (11.0, 15.0), (15.0, 19.0)]
    assert course.run[course.of(0)].tolist() == [0, 0, 1, 0, 1]
    assert course.failed.tolist() == [True, True, True, False, False]
    assert course.turnaround_h(0).tolist() == [15.0, 18.0]


def test_failures_dont_move_what_is_submitted_and_come_again_at_every_call() -> None:
    usual = stream(runs_per_month=(30.0,) * 6, duration_h=5.0)
    never = simulate(Pool(machines=2, gpus=1), [usual], seed=3)
    often = [
        simulate(Pool(machines=2, gpus=1, failing=Failing(per_h=0.01, repair_h=20.0)), [usual], seed=3)
        for _ in range(2)
    ]
    assert often[0].whole(0)[0].tolist() == pytest.approx(np.sort(never.submitted_h).tolist())
    assert often[0].ended_h.tolist() == often[1].ended_h.tolist()
    assert often[0].parts and not never.parts
    assert often[0].whole(0)[1].mean() > never.wait_h.mean()


def rented(course: Attempts) -> list[tuple[float, float]]:
    away = course.machine < 0
    return list(zip(course.started_h[away].tolist(), course.ended_h[away].tolist(), strict=True))


def test_what_would_be_late_is_rented_at_the_last_moment() -> None:
    drawn = [submitted(0.0, 0.5, 1.0, 1.5, lasting=4.0)]
    slower = stream(overflow=Overflow(limit_h=10.0, rented_h=5.0))
    course = carry_out(Pool(machines=1, gpus=1), [slower], drawn)
    assert rows(course, 0)[:2] == [(0.0, 4.0), (4.0, 8.0)]
    assert rented(course) == [
        (6.0, 11.0),
        (6.5, 11.5),
    ]  # ten hours after their submission
    faster = stream(overflow=Overflow(limit_h=10.0, rented_h=1.0))
    assert rented(carry_out(Pool(machines=1, gpus=1), [faster], drawn)) == [(7.0, 8.0), (7.5, 8.5)]
    patient = stream(overflow=Overflow(limit_h=16.0, rented_h=5.0))
    alone = carry_out(Pool(machines=1, gpus=1), [stream()], drawn)
    assert carry_out(Pool(machines=1, gpus=1), [patient], drawn).ended_h.tolist() == alone.ended_h.tolist()


def test_a_rented_attempt_that_fails_comes_back_and_others_move_up() -> None:
    streams = [stream("limited", overflow=Overflow(limit_h=6.0, rented_h=2.0)), stream("usual")]
    twice = Submissions(submitted_h=np.array([1.0]), first_attempt=np.array([0, 2]), duration_h=np.array([4.0, 4.0]))
    drawn = [twice, submitted(0.0, 2.0, lasting=5.0)]
    course = carry_out(Pool(machines=1, gpus=1), streams, drawn)
    assert rented(course) == [(3.0, 5.0), (7.0, 9.0)]  # it may wait for two hours each time
    assert rows(course, 1) == [(0.0, 5.0), (5.0, 10.0)]
    assert course.turnaround_h(0).tolist() == [8.0]


def test_by_night_limits_go_on_and_rented_machines_too() -> None:
    powered = Powered(h_per_month=365.0)  # from 9 to 21 o'clock

    def course(limit_h: float, *, rented_h: float) -> Attempts:
        limited = stream(overflow=Overflow(limit_h=limit_h, rented_h=rented_h))
        drawn = [submitted(18.0, 18.5, lasting=2.0)]
        return carry_out(Pool(machines=1, gpus=1, powered=powered), [limited], drawn)

    assert rented(course(10.0, rented_h=2.0)) == [(19.0, 21.0)]  # two hours after 19 don't end before the morning
    assert rented(course(5.0, rented_h=4.5)) == [(19.0, 23.5)]
    overnight = course(16.5, rented_h=7.0)  # own machines could end at 11 in the morning, rented ones after 4 can't
    assert rented(overnight) == []
    kept = course(17.0, rented_h=2.0)
    assert rented(kept) == []
    assert rows(kept, 0) == [(18.0, 20.0), (20.0, 34.0)]


def test_an_attempt_whose_machine_failed_stays() -> None:
    limited = stream(overflow=Overflow(limit_h=6.0, rented_h=2.0))
    drawn = [submitted(0.0, 1.0, lasting=4.0)]
    course = carry_out(Pool(machines=1, gpus=1), [limited], drawn, failing(1.5, repair_h=10.0))
    assert rows(course, 0) == [(0.0, 1.5), (3.0, 5.0), (11.5, 15.5)]
    assert rented(course) == [(3.0, 5.0)]
