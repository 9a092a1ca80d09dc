import pytest

from planner.catalog.records import VisionSpec
from planner.workload.convolutional import activation_elements, training_flop_per_sample

RESNET50 = VisionSpec(gmacs=4.11, activations_m=11.11, input="3x224x224")


def test_a_sample_costs_six_flop_a_multiply_accumulate():
    assert training_flop_per_sample(RESNET50) == pytest.approx(24.66e9)


def test_intensity_is_work_for_each_value_written():
    assert activation_elements(RESNET50) == pytest.approx(11.11e6)
