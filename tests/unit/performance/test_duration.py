import math

import numpy as np
import pytest

from planner.performance.duration import (
    attempt_h,
    attempt_parts,
    checkpoint_interval_s,
    interrupted_s,
    training_time_s,
)

DAY_S = 86_400.0
USUAL = {"interruptions_per_gpu_year": 0.173, "checkpoint_s": 30.0, "restart_s": 300.0}


def test_checkpoints_pause_the_run():
    assert attempt_h(7200.0, 1.0) == 2.0
    assert attempt_h(7200.0, 1.0, checkpoints=10, checkpoint_s=360) == 3.0


def test_arrays_give_what_scalars_give():
    speeds = np.array([1.0, 2.0, 4.0])
    assert attempt_h(7200.0, speeds) == pytest.approx([2.0, 1.0, 0.5])
    assert training_time_s(8.0, speeds, 2.0, 0.5) == pytest.approx([8.0, 4.0, 2.0])
    works = np.array([1.0, 30.0, 300.0]) * DAY_S
    together = attempt_parts(works, gpus=512, **USUAL)
    alone = [attempt_parts(float(work), gpus=512, **USUAL) for work in works]
    for name in ("total_h", "lost_h", "checkpoints", "interruptions"):
        assert getattr(together, name) == pytest.approx([getattr(one, name) for one in alone])


def test_without_interruptions_the_parts_are_what_was_asked():
    parts = attempt_parts(7200.0, eval_share=0.5, checkpoints=10, checkpoint_s=360.0)
    assert (parts.work_h, parts.evaluation_h, parts.checkpoint_h) == (2.0, 1.0, 1.0)
    assert (parts.lost_h, parts.interruptions, parts.total_h) == (0.0, 0.0, 4.0)


def test_the_rate_is_that_of_the_llama_3_paper():
    parts = attempt_parts(54 * DAY_S, gpus=16_384, checkpoints=1, **{**USUAL, "checkpoint_s": 0.0})
    assert parts.interruptions == pytest.approx(419, rel=0.002)


@pytest.mark.parametrize(("gpus", "days", "share"), [(1, 2, 0.0005), (8, 10, 0.002), (8, 100, 0.002)])
def test_small_runs_are_practically_unchanged(gpus, days, share):
    parts = attempt_parts(days * DAY_S, gpus=gpus, **USUAL)
    assert 0 < parts.total_h / (days * 24) - 1 < share


def test_evaluation_is_interrupted_as_training_is():
    longer = attempt_parts(1.5 * 30 * DAY_S, gpus=512, **USUAL)
    parts = attempt_parts(30 * DAY_S, eval_share=0.5, gpus=512, **USUAL)
    assert parts.total_h == pytest.approx(longer.total_h)
    assert (parts.work_h, parts.evaluation_h) == (30 * 24, 15 * 24)


def test_large_runs_lose_a_tenth():
    assert 0.08 < attempt_parts(54 * DAY_S, gpus=16_384, **USUAL).total_h / (54 * 24) - 1 < 0.12


def test_an_interruption_loses_half_a_segment_and_the_restart():
    """To first order: n interruptions, each in the middle of a segment."""
    parts = attempt_parts(10 * DAY_S, gpus=64, checkpoints=99, **USUAL)
    segment_h = (10 * 24 + 99 * 30 / 3600) / 100
    assert parts.lost_h == pytest.approx(parts.interruptions * (segment_h / 2 + 300 / 3600), rel=0.01)


def test_the_chosen_number_of_checkpoints_loses_the_least():
    work = 30 * DAY_S
    best = attempt_parts(work, gpus=1024, **USUAL)
    for factor in (0.7, 0.9, 1.1, 1.4):
        other = attempt_parts(work, gpus=1024, **{**USUAL, "checkpoints": best.checkpoints * factor})
        assert other.total_h > best.total_h


def test_the_interval_is_youngs_for_rare_interruptions_and_never_above_the_time_between_them():
    assert checkpoint_interval_s(30.0, 1e9) == pytest.approx(math.sqrt(2 * 30 * 1e9), rel=1e-3)
    assert checkpoint_interval_s(500.0, 200.0) == 200.0


def test_a_run_shorter_than_the_interval_makes_no_checkpoint():
    parts = attempt_parts(3600.0, gpus=8, **USUAL)
    assert parts.checkpoints == 0 and parts.checkpoint_h == 0


def test_restarts_are_interrupted_too():
    assert interrupted_s(100.0, 1.0, 50.0, 25.0) == pytest.approx(50 * math.exp(0.5) * (math.exp(2) - 1))


def test_a_run_that_never_gets_to_its_next_checkpoint_stays_finite_and_says_so():
    """One checkpoint of a trillion seconds, on GPUs that are interrupted every year: exp() would overflow."""
    lost = attempt_parts(DAY_S, gpus=64, checkpoints=1, **{**USUAL, "checkpoint_s": 1e12})
    assert np.isfinite(lost.total_h) and not lost.ends
    assert attempt_parts(300 * DAY_S, gpus=16_384, **USUAL).ends
    assert attempt_parts(DAY_S).ends
