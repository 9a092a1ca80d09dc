from dataclasses import replace

import pytest

from planner.catalog.records import VisionSpec
from planner.performance.device import device_of
from planner.performance.scaling import link_of
from planner.performance.vision import roofline_s, vision_step
from tests.unit.performance.hardware import figure, geforce, gpu, shipped_constants

RESNET50 = VisionSpec(gmacs=4.11, activations_m=11.11, input="3x224x224")
CONSTANTS = shipped_constants(
    vision_efficiency=0.5,
    vision_intensity_half=0.0,
    vision_bytes_factor=4.0,
    vision_vector_flop=0.0,
    bandwidth_share=0.8,
)


def step(card, batch=256, *, gpus=1, steps=1.0, constants=CONSTANTS):
    device = device_of(card, "fp16", constants)
    return vision_step(RESNET50, 25.6e6, batch, steps, device, link_of(card, gpus, 8, None, constants), constants)


def test_both_bounds_by_hand():
    arithmetic, activations = roofline_s(RESNET50, device_of(gpu(), "fp16", CONSTANTS), CONSTANTS)
    assert arithmetic == pytest.approx(6 * 4.11e9 / (80e12 * 0.5))
    assert activations == pytest.approx(3 * 11.11e6 * 2 * 4 / (1e12 * 0.8))


def test_half_the_rate_at_the_half_intensity():
    intensity = 4.11e9 / 11.11e6
    at_half = replace(CONSTANTS, vision_intensity_half=intensity)
    device = device_of(gpu(), "fp16", CONSTANTS)
    assert roofline_s(RESNET50, device, at_half)[0] == pytest.approx(2 * roofline_s(RESNET50, device, CONSTANTS)[0])


def test_elementwise_arithmetic_favours_the_faster_vector_units():
    constants = replace(CONSTANTS, vision_vector_flop=100.0)
    rates = {**gpu().dense_tflop_per_s, "fp32": figure(80)}
    assert step(gpu(dense_tflop_per_s=rates), constants=constants).total_s < step(gpu(), constants=constants).total_s


def test_a_larger_batch_is_faster_a_sample():
    assert step(gpu(), 256).total_s / 256 < step(gpu(), 32).total_s / 32


def test_parts_add_up_and_links_cost_time():
    found = step(geforce(), gpus=4, steps=2.0)
    assert found.total_s == pytest.approx(sum(found.parts_s.values()))
    assert found.parts_s["communication"] > 0 == step(geforce()).parts_s["communication"]


def test_a_vision_transformer_takes_its_share_of_the_time():
    constants = replace(CONSTANTS, vision_patch_share=0.8)
    device = device_of(gpu(), "fp16", constants)
    plain, patches = (roofline_s(replace(RESNET50, patches=p), device, constants) for p in (False, True))
    assert patches == pytest.approx([0.8 * seconds for seconds in plain])
