"""The search for batches, memory that runs out in it, and training steps that really run."""

from __future__ import annotations

from typing import Any

import pytest

from planner.measure.devices import Device
from planner.measure.gpt import gpt_subject
from planner.measure.power import Meter
from planner.measure.results import Skipped, TrainingStep
from planner.measure.subjects import Built, Configuration, Subject, training_step
from planner.measure.timing import Rule
from planner.measure.training import Search, measure_training, search_batches, training_precisions
from tests.unit.measure.fakes import BERT, CPU, H100, real_torch

SHORT = Rule(limit_s=0.0, warm_up_s=0.0, warm_up_runs=1, least_samples=3)
NO_METER = Meter(said="none")


def searched(holds: int, most: int = 4096, limit_s: float = 1e9, each_s: float = 0.0) -> tuple[list[int], list[int]]:
    """Batches that were measured and those that were tried, where the memory holds so many."""
    tried: list[int] = []

    def attempt(batch: int) -> int | None:
        tried.append(batch)
        return batch if batch <= holds else None

    search = Search(most=most, limit_s=limit_s)
    return list(search_batches(attempt, search, lambda: each_s * len(tried))), tried


def test_batches_double_until_one_is_too_large_and_close_in_on_the_largest() -> None:
    assert searched(100) == ([1, 2, 4, 8, 16, 32, 64, 96], [1, 2, 4, 8, 16, 32, 64, 128, 96, 112])
    assert searched(5) == ([1, 2, 4, 5], [1, 2, 4, 8, 6, 5])
    assert searched(1) == ([1], [1, 2])


def test_the_search_ends_at_its_limits() -> None:
    assert searched(100, most=8) == ([1, 2, 4, 8], [1, 2, 4, 8])
    assert searched(100, limit_s=25, each_s=10) == ([1, 2, 4], [1, 2, 4])
    assert searched(100, limit_s=75, each_s=10)[0] == [1, 2, 4, 8, 16, 32, 64]


def test_nothing_is_found_where_one_sample_is_too_large() -> None:
    assert searched(0) == ([], [1])


def test_precisions_are_those_one_would_train_in() -> None:
    from dataclasses import replace

    assert training_precisions(CPU, quick=True) == (("fp32", False), ("bf16", True))
    assert training_precisions(H100, quick=False) == (("bf16", True), ("tf32", False))
    assert training_precisions(H100, quick=True) == (("bf16", True),)
    assert training_precisions(replace(H100, capability=(7, 0)), quick=False) == (("fp16", True), ("fp32", False))


def subject_that(fails_after: dict[int, int], error: Any) -> Subject:
    """A model of one weight whose loss fails after so many calls, by batch."""

    def build(torch: Any, device: Device, configuration: Configuration) -> Built:
        model, calls = torch.nn.Linear(1, 1), [0]

        def loss() -> Any:
            calls[0] += 1
            if calls[0] > fails_after.get(configuration.batch, 10**9):
                raise error
            return model(torch.ones(configuration.batch, 1)).sum()

        return Built(loss=loss, model=model)

    return Subject(shape=BERT, framework="test", optimizer="sgd", checkpointings=("none",), build=build)


@pytest.mark.slow
def test_memory_that_runs_out_in_the_middle_of_the_timed_steps_is_a_batch_too_large() -> None:
    torch = real_torch()
    subject = subject_that({4: 2, 3: 0}, torch.OutOfMemoryError("CUDA out of memory"))
    search = Search(most=64, limit_s=1e9)
    found = list(measure_training(torch, CPU, subject, SHORT, search, NO_METER, quick=True))
    assert [(step.precision, step.batch) for step in found if isinstance(step, TrainingStep)] == [
        ("fp32", 1), ("fp32", 2), ("bf16", 1), ("bf16", 2),
    ]  # fmt: skip


@pytest.mark.slow
def test_no_memory_for_one_sample_and_other_failures_are_said() -> None:
    torch = real_torch()
    search = Search(most=64, limit_s=1e9)
    nothing = subject_that({1: 0}, torch.OutOfMemoryError("CUDA out of memory"))
    found = list(measure_training(torch, CPU, nothing, SHORT, search, NO_METER, quick=True))
    assert all(isinstance(entry, Skipped) for entry in found)
    assert {entry.reason for entry in found if isinstance(entry, Skipped)} == {"out of memory with a batch of 1"}
    broken = subject_that({2: 1}, RuntimeError("no kernel image is available\nlong story"))
    found = list(measure_training(torch, CPU, broken, SHORT, search, NO_METER, quick=True))
    assert [type(entry).__name__ for entry in found] == ["TrainingStep", "Skipped"] * 2
    assert isinstance(found[1], Skipped)
    assert (found[1].what, found[1].reason) == ("fp32, checkpointing none", "no kernel image is available")


@pytest.mark.slow
def test_energy_of_a_step_is_that_of_the_timed_steps() -> None:
    torch = real_torch()
    counted = iter((100.0, 130.0))
    meter = Meter(said="test", read_j=lambda: next(counted))
    slow = Rule(limit_s=1.0, warm_up_s=0.0, warm_up_runs=1, least_samples=10**6, most_samples=10**6, least_sample_s=0.1)
    subject = subject_that({}, None)
    (found, *_) = measure_training(torch, CPU, subject, slow, Search(most=1, limit_s=1e9), meter, quick=True)
    assert isinstance(found, TrainingStep)
    assert found.j_per_step == pytest.approx(30.0 / found.timing.runs)
    assert found.mean_w == pytest.approx(30.0 / found.timing.total_s)


def test_the_gpt_is_gpt2_and_learns() -> None:
    torch = real_torch()
    tiny = gpt_subject(torch, tiny=True)
    for checkpointing in tiny.checkpointings:
        torch.manual_seed(0)
        chosen = Configuration(precision="fp32", amp=False, checkpointing=checkpointing, batch=2)
        built = tiny.build(torch, CPU, chosen)
        assert sum(weight.numel() for weight in built.model.parameters()) == tiny.shape.parameters
        assert built.loss().item() == pytest.approx(6.9, abs=0.4)  # log of the vocabulary: it knows nothing yet
    with torch.device("meta"):
        small = gpt_subject(torch, tiny=False)
        from planner.measure.gpt import _gpt

        assert sum(weight.numel() for weight in _gpt(torch, small.shape, False).parameters()) == 124_439_808


def test_checkpointing_changes_the_memory_and_not_the_gradient() -> None:
    torch = real_torch()
    tiny = gpt_subject(torch, tiny=True)
    gradients = []
    for checkpointing in ("none", "full"):
        torch.manual_seed(0)
        chosen = Configuration(precision="fp32", amp=False, checkpointing=checkpointing, batch=1)
        built = tiny.build(torch, CPU, chosen)
        built.loss().backward()
        gradients.append(next(built.model.parameters()).grad)
    assert torch.allclose(*gradients, atol=1e-6)


def test_a_step_changes_the_weights() -> None:
    torch = real_torch()
    tiny = gpt_subject(torch, tiny=True)
    kept: list[Any] = []

    def build(torch: Any, device: Device, configuration: Configuration) -> Built:
        kept.append(tiny.build(torch, device, configuration))
        return kept[0]

    subject = Subject(
        shape=tiny.shape, framework="", optimizer="adamw", checkpointings=("none",), build=build
    )  # fmt: skip
    chosen = Configuration(precision="bf16", amp=True, checkpointing="none", batch=1)
    step = training_step(torch, CPU, subject, chosen)
    before = kept[0].loss().item()
    for _ in range(20):
        step()
    assert kept[0].loss().item() < before - 0.003
