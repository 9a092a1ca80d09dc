import numpy as np
import pytest

from planner.performance.duration import attempt_h, training_time_s


def test_checkpoints_pause_the_run():
    assert attempt_h(7200.0, 1.0) == 2.0
    assert attempt_h(7200.0, 1.0, checkpoints=10, checkpoint_s=360) == 3.0


def test_arrays_give_what_scalars_give():
    speeds = np.array([1.0, 2.0, 4.0])
    assert attempt_h(7200.0, speeds) == pytest.approx([2.0, 1.0, 0.5])
    assert training_time_s(8.0, speeds, 2.0, 0.5) == pytest.approx([8.0, 4.0, 2.0])
