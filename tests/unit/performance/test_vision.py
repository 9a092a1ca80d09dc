from dataclasses import replace

import numpy as np
import pytest

from planner.catalog.hardware import GpuSpec
from planner.catalog.records import VisionSpec
from planner.performance.device import device_of
from planner.performance.scaling import link_of
from planner.performance.vision import VisionWork, sample_s, vision_step, work_of
from tests.unit.performance.hardware import figure, geforce, gpu, shipped_constants

RESNET50 = VisionSpec(gmacs=4.11, activations_m=11.11, input="3x224x224")
CONSTANTS = shipped_constants(
    vision_efficiency=0.5,
    vision_bytes_factor=4.0,
    vision_cycles=2.0,
    vision_patch_share=0.6,
    vision_plain_share=0.8,
    vision_channels_last_share=0.75,
    bandwidth_share=0.8,
)
SHIPPED = shipped_constants()
CARD = gpu(spec=GpuSpec(sm_count=figure(100), boost_mhz=figure(2000)))


def bounds(spec=RESNET50, card=CARD, **layout):
    return sample_s(work_of(spec, 25.6e6, device_of(card, "fp16", CONSTANTS), **layout), CONSTANTS)


def step(card=CARD, batch=256, *, spec=RESNET50, gpus=1, steps=1.0, constants=CONSTANTS):
    device = device_of(card, "fp16", constants)
    return vision_step(spec, 25.6e6, batch, steps, device, link_of(card, gpus, 8, None, constants), constants)


def test_both_times_by_hand():
    arithmetic, activations = bounds()
    assert arithmetic == pytest.approx(6 * 4.11e9 / (80e12 * 0.5))
    # three passes over 11.11 million values: four times two bytes at 0.8 TB/s, two cycles of 100 units at 2 GHz
    assert activations == pytest.approx(3 * 11.11e6 * (8 / 0.8e12 + 2 / (100 * 2e9)))


def test_a_step_by_hand():
    constants = replace(CONSTANTS, vision_launch_ms=20.0, vision_parameter_bytes=80.0)
    found = step(batch=100, steps=2.0, constants=constants)
    arithmetic, activations = bounds()
    assert found.parts_s["matmul"] == pytest.approx(200 * arithmetic)
    assert found.parts_s["elementwise"] == pytest.approx(200 * activations)
    assert found.parts_s["launch"] == pytest.approx(2 * 0.020)
    assert found.parts_s["optimizer"] == pytest.approx(80 * 25.6e6 / 0.8e12)
    assert found.parts_s["communication"] == found.parts_s["waiting"] == 0


@pytest.mark.parametrize(("kind", "share"), [("patches", 0.6), ("plain", 0.8)])
def test_kinds_change_the_time_of_activations_alone(kind, share):
    arithmetic, activations = bounds(replace(RESNET50, **{kind: True}))
    assert (arithmetic, activations) == pytest.approx((bounds()[0], share * bounds()[1]))


def test_the_layout_of_images_matters_to_convolutions_alone():
    assert bounds(channels_last=True) == pytest.approx([0.75 * seconds for seconds in bounds()])
    patches = replace(RESNET50, patches=True)
    assert bounds(patches, channels_last=True) == bounds(patches)


def test_multiprocessors_and_clock_come_from_the_rated_fp32_where_they_are_not_known():
    assert device_of(CARD, "fp16", CONSTANTS).multiprocessor_hz == pytest.approx(2e11)
    assert device_of(gpu(), "fp16", CONSTANTS).multiprocessor_hz == pytest.approx(20e12 / 256)


def test_columns_give_what_single_models_give():
    specs = [RESNET50, replace(RESNET50, gmacs=15.5, plain=True), replace(RESNET50, activations_m=23.9, patches=True)]
    device = device_of(CARD, "fp16", SHIPPED)
    works = [work_of(spec, 25.6e6, device, channels_last=last) for spec in specs for last in (False, True)]
    names = VisionWork.__dataclass_fields__
    columns = VisionWork(**{name: np.array([getattr(work, name) for work in works]) for name in names})
    assert np.transpose(sample_s(columns, SHIPPED)) == pytest.approx(np.array([sample_s(w, SHIPPED) for w in works]))


def test_a_larger_batch_is_never_slower_a_sample():
    seconds = [step(batch=batch, constants=SHIPPED).total_s / batch for batch in (1, 8, 32, 256, 2048)]
    assert seconds == sorted(seconds, reverse=True) and seconds[0] > seconds[-1]


@pytest.mark.parametrize("kind", [{}, {"plain": True}, {"patches": True}])
@pytest.mark.parametrize("more", [{"gmacs": 8.22}, {"activations_m": 22.22}])
def test_more_work_is_never_faster(kind, more):
    usual = replace(RESNET50, **kind)
    assert step(spec=replace(usual, **more), constants=SHIPPED).total_s > step(spec=usual, constants=SHIPPED).total_s


@pytest.mark.parametrize(
    "better",
    [
        {"memory_bandwidth_gb_per_s": figure(2000)},
        {"spec": GpuSpec(sm_count=figure(200), boost_mhz=figure(2000))},
        {"spec": GpuSpec(sm_count=figure(100), boost_mhz=figure(3000))},
        {"dense_tflop_per_s": {"fp32": figure(20), "fp16": figure(200), "bf16": figure(200)}},
    ],
)
def test_a_better_card_is_never_slower(better):
    assert step(replace(CARD, **better), constants=SHIPPED).total_s < step(constants=SHIPPED).total_s


def test_parts_add_up_and_links_cost_time():
    found = step(geforce(), gpus=4, steps=2.0)
    assert found.total_s == pytest.approx(sum(found.parts_s.values()))
    assert found.parts_s["communication"] > 0 == step(geforce()).parts_s["communication"]
