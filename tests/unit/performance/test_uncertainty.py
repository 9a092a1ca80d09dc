import math
from dataclasses import replace

import pytest

from planner.catalog.load import load_catalog
from planner.catalog.records import VisionSpec
from planner.performance.evidence import load_evidence
from planner.performance.layout import Layout
from planner.performance.uncertainty import estimated_half_width, vision_half_width
from tests.unit.performance.hardware import gpu, shipped_constants

CATALOG = load_catalog()
EVIDENCE = load_evidence()
CONSTANTS = shipped_constants(
    half_width_known_gpu=0.14,
    half_width_new_gpu=0.2,
    half_width_vision=0.26,
    half_width_vision_patches=0.18,
    half_width_regime=0.2,
    half_width_layout=0.3,
    half_width_new_architecture=0.35,
    half_width_new_vendor=0.8,
)
PLAIN = Layout(sharding="replicated", gpus=8)
CALM = {"launch": 0.1, "communication": 0.1, "attention": 0.2}


def width(card, *, unit="tokens_per_s", layout=PLAIN, shares=CALM, precision="bf16", evidence=EVIDENCE, vision=None):
    return estimated_half_width(unit, card, precision, layout, shares, CATALOG, evidence, CONSTANTS, vision)


@pytest.mark.parametrize(
    ("card", "expected", "codes"),
    [
        (CATALOG.gpus["a100-sxm4-80gb"], 0.14, []),
        (CATALOG.gpus["h100-pcie-80gb"], 0.2, []),
        (gpu(architecture="Tomorrow", vendor="NVIDIA"), 0.35, ["no_training_evidence"]),
        (CATALOG.gpus["mi300x-192gb"], 0.8, ["no_training_evidence"]),
    ],
)
def test_the_less_is_known_of_a_gpu_the_wider(card, expected, codes):
    found, warnings = width(card)
    assert found == expected
    assert [warning.code for warning in warnings] == codes


@pytest.mark.parametrize(("kind", "expected"), [({}, 0.26), ({"patches": True}, 0.18), ({"plain": True}, 0.14)])
def test_a_vision_model_is_the_less_certain_the_less_is_known_of_its_blocks(kind, expected):
    spec = VisionSpec(gmacs=4.0, activations_m=10.0, input="3x224x224", **kind)
    calm = {"launch": 0.1, "communication": 0.0}
    known, new = (CATALOG.gpus[id] for id in ("a100-sxm4-80gb", "l40s"))
    assert width(known, shares=calm, unit="samples_per_s", vision=spec)[0] == pytest.approx(expected)
    assert width(new, shares=calm, unit="samples_per_s", vision=spec)[0] == pytest.approx(max(expected, 0.2))


def test_channels_last_is_less_certain_but_for_patches():
    spec = VisionSpec(gmacs=4.0, activations_m=10.0, input="3x224x224")
    assert vision_half_width(spec, CONSTANTS, channels_last=True) == pytest.approx(math.hypot(0.26, 0.2))
    assert vision_half_width(replace(spec, patches=True), CONSTANTS, channels_last=True) == 0.18


def test_launches_links_and_unseen_layouts_add_in_quadrature():
    card = CATALOG.gpus["a100-sxm4-80gb"]
    busy = {**CALM, "communication": 0.2}
    assert width(card, shares=busy)[0] == pytest.approx(math.hypot(0.14, 0.2))
    hybrid = Layout(sharding="sharded", gpus=64, shards=8)
    assert width(card, layout=hybrid)[0] == pytest.approx(math.hypot(0.14, 0.3))
    assert width(card, precision="fp8")[0] == 0.14
    unseen = EVIDENCE.without_ids([m.id for m in EVIDENCE.measurements if m.precision == "fp8"])
    assert width(card, precision="fp8", evidence=unseen)[0] == pytest.approx(math.hypot(0.14, 0.2))
    everywhere = Layout(sharding="sharded", gpus=64, shards=64)
    assert width(card, layout=everywhere)[0] == 0.14
