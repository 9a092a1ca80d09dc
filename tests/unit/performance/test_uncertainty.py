import math

import pytest

from planner.catalog.load import load_catalog
from planner.performance.evidence import load_evidence
from planner.performance.layout import Layout
from planner.performance.uncertainty import estimated_half_width
from tests.unit.performance.hardware import gpu, shipped_constants

CATALOG = load_catalog()
EVIDENCE = load_evidence()
CONSTANTS = shipped_constants(
    half_width_known_gpu=0.14,
    half_width_new_gpu=0.2,
    half_width_vision=0.26,
    half_width_regime=0.2,
    half_width_layout=0.3,
    half_width_new_architecture=0.35,
    half_width_new_vendor=0.8,
)
PLAIN = Layout(sharding="replicated", gpus=8)
CALM = {"launch": 0.1, "communication": 0.1, "attention": 0.2}


def width(card, *, unit="tokens_per_s", layout=PLAIN, shares=CALM, precision="bf16", evidence=EVIDENCE):
    return estimated_half_width(unit, card, precision, layout, shares, CATALOG, evidence, CONSTANTS)


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


def test_a_vision_model_is_less_certain():
    assert width(CATALOG.gpus["a100-sxm4-80gb"], shares={"launch": 0.1, "communication": 0.0}, unit="samples_per_s")[
        0
    ] == pytest.approx(0.26)


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
