"""Training codes: how one is known, and files of them that are wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner.catalog.load import load_catalog
from planner.errors import CatalogError
from planner.performance.evidence import load_evidence
from planner.performance.stacks import STACKS_FILE, UNKNOWN, Stack, find_stack, load_stacks

STACKS = load_stacks()


@pytest.mark.parametrize(
    ("framework", "source", "expected"),
    [
        ("llm-foundry/Composer (PyTorch FSDP)", "llm-foundry-benchmark", "llm-foundry"),
        ("LLM-FOUNDRY", None, "llm-foundry"),
        ("Megatron-LM", "anybody", "megatron-lm"),
        ("Megatron-DeepSpeed", "anybody", "megatron-deepspeed"),  # before the two it is made of
        ("NGC PyTorch Release 24.01 Deepspeed N8", "mlcommons-training-v4.0", "deepspeed"),
        ("NVIDIA NEMO", "mlcommons-training-v4.1", "mlperf"),
        ("DeepSpeed", "anybody", ""),  # measured in one collection only
        ("PyTorch+apex (NGC)", None, "ngc-apex"),
        ("a code of our own", "our lab", ""),
        (None, None, ""),
    ],
)
def test_a_stack_is_known_by_its_framework_or_source(framework: str | None, source: str | None, expected: str) -> None:
    assert find_stack(framework, source, STACKS).id == expected


def test_what_was_never_measured_has_no_offset() -> None:
    assert find_stack("own", "own", STACKS) is UNKNOWN
    assert (UNKNOWN.offset, UNKNOWN.rows, UNKNOWN.by_gpu) == (0.0, 0, {})


def test_the_first_that_fits_counts() -> None:
    def stack(id: str, *frameworks: str) -> Stack:
        return Stack(
            id=id, name=id, frameworks=frameworks, sources=(), software=None, elementwise="fused", drops_padding=False
        )

    assert find_stack("abc", None, (stack("one", "ab"), stack("two", "abc"))).id == "one"


def test_shipped_stacks_are_whole() -> None:
    ids = [stack.id for stack in STACKS]
    assert len(ids) == len(set(ids)) and all(ids)
    catalog = load_catalog()
    for stack in STACKS:
        assert stack.frameworks or stack.sources, stack.id
        assert all(text == text.casefold() for text in (*stack.frameworks, *stack.sources)), stack.id
        assert set(stack.by_gpu) <= {*catalog.gpus, *catalog.partial_gpus}, stack.id
        assert bool(stack.rows) == bool(stack.by_gpu), stack.id
        assert abs(stack.offset) < 0.3 and all(abs(value) < 0.3 for value in stack.by_gpu.values()), stack.id
    assert "rtx-4090" not in {gpu for stack in STACKS for gpu in stack.by_gpu}


def test_every_measured_code_is_a_stack() -> None:
    for m in load_evidence().measurements:
        if m.unit == "tokens_per_s":
            assert find_stack(m.framework, m.source, STACKS).rows, m.id


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "stacks.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_what_an_entry_lacks_is_usual(tmp_path: Path) -> None:
    (stack,) = load_stacks(written(tmp_path, "schema_version: 1\nstacks:\n  - {id: a, name: A, frameworks: [Code]}\n"))
    assert stack.frameworks == ("code",)
    assert (stack.software, stack.elementwise, stack.drops_padding, stack.rows) == (None, "by model", False, 0)


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("{name: A}", "'id'"),
        ("{id: a, name: A, elementwise: some}", "elementwise 'some'"),
        ("{id: a, name: A, software: quick}", "software 'quick'"),
        ("{id: a, name: A, frameworks: code}", "a list of texts is expected"),
        ("{id: a, name: A, offset: much}", "could not convert"),
        ("{id: a, name: A, by_gpu: [1]}", "offsets by GPU are expected"),
        ("a", "can't be read"),
    ],
)
def test_faults_are_named_with_their_entry(entry: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(CatalogError) as caught:
        load_stacks(written(tmp_path, f"schema_version: 1\nstacks:\n  - {entry}\n"))
    (problem,) = caught.value.problems
    assert problem.file == STACKS_FILE.name
    assert words in problem.found
    assert problem.record == ("a" if entry.startswith("{id: a") else "")


def test_files_that_are_none(tmp_path: Path) -> None:
    for text in ("stacks: [", "stacks: 5", "a: 1", ""):
        with pytest.raises(CatalogError):
            load_stacks(written(tmp_path, text))
    with pytest.raises(CatalogError):
        load_stacks(tmp_path / "nothing.yaml")
