"""How runs are spread, in the words of published tables."""

from __future__ import annotations

from typing import Any

import pytest

from planner.measurements.parallelism import Parallelism, ParallelismError, parse_parallelism

MODEL: dict[str, Any] = {"kind": "model-parallel"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("single", {"kind": "single"}),
        ("Single GPU", {"kind": "single"}),
        ("ddp", {"kind": "ddp"}),
        ("dp8", {"kind": "ddp", "data": 8}),
        ("fsdp", {"kind": "fsdp"}),
        ("fsdp-full", {"kind": "fsdp"}),
        ("FSDP (full shard)", {"kind": "fsdp"}),
        ("fsdp or single (see notes)", {"kind": "fsdp"}),
        ("fsdp-zero3", {"kind": "fsdp"}),
        ("fsdp2", {"kind": "fsdp"}),
        ("fsdp2-tp4", {"kind": "fsdp", "tensor": 4}),
        ("fsdp8", {"kind": "fsdp", "shard_group": 8}),
        ("fsdp128", {"kind": "fsdp", "shard_group": 128}),
        ("fsdp8-cp2", {"kind": "fsdp", "shard_group": 8, "context": 2}),
        ("fsdp-shard_grad_op(zero2-like)", {"kind": "zero2"}),
        ("hsdp", {"kind": "fsdp", "hybrid": True}),
        ("hsdp2", {"kind": "fsdp", "hybrid": True, "shard_group": 2}),
        ("fsdp-hybrid_shard", {"kind": "fsdp", "hybrid": True}),
        ("DeepSpeed ZeRO-1", {"kind": "zero1"}),
        ("deepspeed-zero2", {"kind": "zero2"}),
        ("zero-3", {"kind": "fsdp"}),
        ("zero0", {"kind": "ddp"}),
        ("tp1-zero1(8)-dp1024", {"kind": "zero1", "shard_group": 8, "data": 1024}),
        ("tp2-zero1(all)-dp8", {"kind": "zero1", "tensor": 2, "data": 8}),
        ("tp4-pp12-dp8", {**MODEL, "tensor": 4, "pipeline": 12, "data": 8}),
        ("tp1-pp1-cp1-dp8", {**MODEL, "data": 8}),
        ("tp8-pp8-cp2-vp8-dp8", {**MODEL, "tensor": 8, "pipeline": 8, "context": 2, "virtual": 8, "data": 8}),
        ("tp2-pp8-cp1-vp4-ep32-dp16", {**MODEL, "tensor": 2, "pipeline": 8, "virtual": 4, "expert": 32, "data": 16}),
        ("tp8-pp35-dp1-interleave3", {**MODEL, "tensor": 8, "pipeline": 35, "virtual": 3, "data": 1}),
        ("TP=8, PP=4, DP=2", {**MODEL, "tensor": 8, "pipeline": 4, "data": 2}),
        ("tp8 x pp4 x dp2", {**MODEL, "tensor": 8, "pipeline": 4, "data": 2}),
        ("tensor parallel 8; sequence parallel", {**MODEL, "tensor": 8, "sequence": True}),
        ("tp8-sp", {**MODEL, "tensor": 8, "sequence": True}),
        ("ddp-tp2", {**MODEL, "tensor": 2}),
    ],
)
def test_what_the_words_mean(text: str, expected: dict[str, Any]) -> None:
    assert parse_parallelism(text) == Parallelism(**expected)


@pytest.mark.parametrize(
    "text",
    ["", " ", "(see notes)", "nonsense", "8", "tp0", "tp2-tp4", "tp", "fsdp0", "single-tp4", "single-ddp", "tp8!",
     "tp8-magic", "fsdpx", "zero7", "tp99999999"],
)  # fmt: skip
def test_what_is_not_understood_is_said(text: str) -> None:
    with pytest.raises(ParallelismError):
        parse_parallelism(text)


def test_what_one_sequence_is_spread_over() -> None:
    assert parse_parallelism("tp8-pp4-cp2-ep8-dp3").split == 64
