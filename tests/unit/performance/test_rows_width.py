"""How sure the prediction of a row is, by what of its stack and GPU was measured before."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from planner.performance.rows.predict import SpeedPrediction, complete_row, predict_runs, stack_offset
from planner.performance.rows.width import Widths
from tests.unit.performance.rows import CATALOG, CONSTANTS, STACKS, language_row

WIDTHS = Widths(
    CATALOG,
    STACKS,
    replace(
        CONSTANTS,
        half_width_same_stack=0.1,
        half_width_same_stack_new_gpu=0.15,
        half_width_known_gpu=0.2,
        half_width_new_gpu=0.25,
        half_width_new_architecture=0.4,
        half_width_new_vendor=0.8,
        half_width_regime=0.3,
        half_width_experts=0.22,
        half_width_open=0.12,
        unknown_code_slower=1.5,
        unknown_code_faster=0.5,
    ),
)
SAID = {"parallelism": "fsdp", "micro_batch_seqs": 4, "activation_checkpointing": "none"}
FOUNDRY = {"framework": "llm-foundry/Composer (PyTorch FSDP)"}


def predicted(*, shares: dict[str, float] | None = None, **changes: Any) -> SpeedPrediction:
    """A prediction in which neither launches nor links take long, unless said."""
    run = complete_row(language_row(**{**SAID, **changes}), CATALOG, STACKS, CONSTANTS)
    (found,) = predict_runs([run], CONSTANTS)
    return replace(found, shares={"launch": 0.1, "communication": 0.1} | (shares or {}))


@pytest.mark.parametrize(
    ("changes", "novelty", "width"),
    [
        (FOUNDRY, "same-stack", 0.1),
        ({**FOUNDRY, "gpu": "h200-sxm-141gb"}, "new-gpu", 0.15),
        ({}, "new-stack", 0.2),
        ({"gpu": "rtx-3090-ti"}, "new-stack-and-gpu", 0.25),
        ({"gpu": "t4", "precision": "fp16"}, "new-stack-and-gpu", 0.4),  # no Turing was measured
        ({**FOUNDRY, "gpu": "mi300x-192gb"}, "new-gpu", 0.8),
        ({"gpu": "mi300x-192gb"}, "new-stack-and-gpu", 0.8),
        ({"framework": "litgpt"}, "new-stack", 0.2),  # known by name, never measured
    ],
)
def test_the_less_was_measured_the_wider(changes: dict[str, Any], novelty: str, width: float) -> None:
    found = predicted(**changes)
    assert (WIDTHS.novelty(found), WIDTHS.parts(found).base) == (novelty, width)


def test_what_else_is_uncertain_adds_in_quadrature() -> None:
    calm = predicted(**FOUNDRY)
    busy = replace(calm, shares={"launch": 0.13, "communication": 0.13})
    assert WIDTHS.half_widths(busy) == pytest.approx((math.hypot(0.1, 0.3),) * 2)
    experts = replace(calm.run.subject, spec=replace(calm.run.subject.spec, experts=8, experts_per_token=2))
    routed = replace(calm, run=replace(calm.run, subject=experts))
    assert WIDTHS.half_widths(routed) == pytest.approx((math.hypot(0.1, 0.22),) * 2)
    assert WIDTHS.half_widths(predicted(**FOUNDRY, parallelism=None)) == pytest.approx((math.hypot(0.1, 0.12),) * 2)
    shapeless = dict.fromkeys(("n_layers", "d_model", "n_heads", "d_ff"))
    usual = predicted(**FOUNDRY, model="who-knows", **shapeless)
    assert WIDTHS.half_widths(usual) == pytest.approx((math.hypot(0.1, 0.12),) * 2)


def test_code_that_nobody_measured_is_rather_slower_than_faster() -> None:
    busy = predicted(shares={"launch": 0.3})
    assert WIDTHS.half_widths(predicted()) == pytest.approx((0.3, 0.1))
    assert WIDTHS.half_widths(busy) == pytest.approx((math.hypot(0.3, 0.3), math.hypot(0.1, 0.3)))
    assert WIDTHS.half_widths(predicted(gpu="mi300x-192gb")) == pytest.approx((0.8, 0.8))  # nothing of a vendor's card
    assert WIDTHS.half_widths(predicted(gpu="t4", precision="fp16")) == pytest.approx((0.4, 0.4))


def test_a_stacks_offset_is_in_the_speed() -> None:
    row = language_row(**SAID, **FOUNDRY)
    run = complete_row(row, CATALOG, STACKS, CONSTANTS)
    bare = complete_row(row, CATALOG, tuple(replace(s, offset=0.0, by_gpu={}) for s in STACKS), CONSTANTS)
    with_offset, without = predict_runs([run, bare], CONSTANTS)
    stack = next(stack for stack in STACKS if stack.id == "llm-foundry")
    offset = stack.offset + stack.by_gpu["a100-sxm4-80gb"]
    assert stack_offset(run.subject) == offset != 0
    assert math.log(with_offset.tokens_per_s / without.tokens_per_s) == pytest.approx(offset)
