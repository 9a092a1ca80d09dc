"""Speeds that plans take over from the same model on other cards, and when they don't."""

from __future__ import annotations

import csv
import dataclasses
import io
import math
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from planner.performance import transferred
from planner.performance.constants import constants_of
from planner.performance.estimate import Prediction, Setup, estimate, predict_unmeasured
from planner.performance.evidence import (
    LANGUAGE_FILE,
    MEASUREMENTS_FOLDER,
    SAMPLE_FILE,
    SOURCES_FILE,
    Evidence,
    load_evidence,
)
from planner.performance.repeated import MOST_SOURCES
from planner.performance.scaling import link_of
from planner.performance.transfer.answer import answer
from planner.performance.transfer.left_out import refitted
from planner.performance.transfer.models import TRANSFER_FILE, load_transfer
from planner.performance.transfer.published import shipped_table, table_of
from tests.planning import shipped_catalog

CATALOG = shipped_catalog()
EVIDENCE = load_evidence()
RESNET, BERT = "resnet50-imagenet", "bert-large-squad"


def setup(workload: str, gpu: str = "l40s", gpus: int = 1, **settings: Any) -> Setup:
    per_node = settings.pop("gpus_per_node", 8)
    return Setup(
        workload=CATALOG.workloads[workload], gpu=CATALOG.gpus[gpu], gpus=gpus, gpus_per_node=per_node, **settings
    )


def predict(workload: str, gpu: str = "l40s", gpus: int = 1, **settings: Any) -> Prediction:
    evidence = settings.pop("evidence", EVIDENCE)
    return estimate(setup(workload, gpu, gpus, **settings), CATALOG, evidence)


def codes(found: Prediction) -> list[str]:
    return [warning.code for warning in found.warnings]


def test_a_known_model_on_a_card_without_a_row_is_taken_over() -> None:
    found = predict(RESNET, micro_batch=256)
    constants = constants_of(CATALOG.assumptions)
    (model,) = load_transfer().models["resnet50-v1.5"]
    told = answer(
        model, gpu=CATALOG.gpus["l40s"], precision="16-bit", batch=256, stack=load_transfer().newest_stack,
        link=link_of(CATALOG.gpus["l40s"], 1, 1, None, constants), constants=constants,
        transfer=load_transfer(),
    )  # fmt: skip
    assert told is not None
    assert (found.basis, found.estimate) == ("transferred", True)
    assert found.throughput == pytest.approx(told.speed)
    assert sum(found.breakdown_s.values()) == pytest.approx(256 / found.throughput)
    (said,) = [warning for warning in found.warnings if warning.code == "transferred"]
    assert said.params["software"] == found.software == "PyTorch 2.5"
    # Plans don't say the software that will run: the interval is no narrower than of one that is new.
    known = predict(RESNET, "a100-sxm4-80gb", micro_batch=300)
    assert math.log(known.throughput_high / known.throughput) == pytest.approx(constants.half_width_known_gpu)
    assert math.log(found.throughput_high / found.throughput) == pytest.approx(
        max(told.half_width, constants.half_width_known_gpu)
    )


def test_rows_it_rests_on_are_named_and_are_of_the_cards_most_like_it() -> None:
    rows = [id.removeprefix("measurements:") for id in predict(BERT).sources if id.startswith("measurements:")]
    assert len(rows) == MOST_SOURCES
    found = [EVIDENCE.find(id) for id in rows]
    assert all(row is not None and row.model == "BERT-large-SQuAD-finetune" and row.gpus == 1 for row in found)
    assert {row.gpu for row in found if row} & {"rtx-6000-ada", "rtx-4090"}  # the same generation, as much memory
    assert all(row.source.startswith("lambda-benchmark") for row in found if row)


@pytest.mark.parametrize(
    ("workload", "settings"),
    [
        (BERT, {"seq_len": 128}),
        (BERT, {"checkpointing": "full"}),
        (BERT, {"optimizer": "adamw-8bit"}),
        (BERT, {"method": "lora"}),
        (BERT, {"precision": "fp8"}),
        (RESNET, {"micro_batch": 8}),
        (RESNET, {"micro_batch": 16_384}),
        ("convnext-tiny-imagenet", {}),
        ("gpt2-small", {}),
    ],
    ids=str,
)
def test_what_is_far_from_what_was_measured_is_estimated(workload: str, settings: dict[str, Any]) -> None:
    gpu = "h200-sxm-141gb"
    assert predict(workload, gpu, **settings).basis == "estimated"


@pytest.mark.parametrize(("batch", "basis"), [(28, "transferred"), (27, "estimated"), (6144, "transferred")])
def test_batches_up_to_four_times_beyond_those_measured_count(batch: int, basis: str) -> None:
    # ResNet-50 was measured with 112 to 1,536 images a card in 16 bit.
    assert predict(RESNET, "h200-sxm-141gb", micro_batch=batch).basis == basis


def test_a_vendor_without_a_row_is_estimated_and_a_generation_without_one_is_said() -> None:
    assert predict(RESNET, "mi300x-192gb").basis == "estimated"
    new, known = predict(RESNET, "b200-sxm-180gb"), predict(RESNET, "l40s")
    assert new.basis == known.basis == "transferred"
    assert "no_training_evidence" in codes(new) and "no_training_evidence" not in codes(known)
    assert new.throughput_high / new.throughput > known.throughput_high / known.throughput


def test_an_input_of_another_size_is_estimated() -> None:
    workload = CATALOG.workloads[RESNET]
    assert workload.vision is not None
    larger = dataclasses.replace(workload, vision=dataclasses.replace(workload.vision, input="3x448x448"))
    found = estimate(dataclasses.replace(setup(RESNET), workload=larger), CATALOG, EVIDENCE)
    assert found.basis == "estimated"


def test_several_cards_lose_to_each_other_what_the_formulas_say() -> None:
    alone, four = predict(BERT, "rtx-3090", micro_batch=16), predict(BERT, "rtx-3090", 4, micro_batch=16)
    alone = predict_unmeasured(setup(BERT, "rtx-3090", micro_batch=16), CATALOG, EVIDENCE)
    assert alone.basis == four.basis == "transferred"
    exchange_s = four.breakdown_s["communication"] + four.breakdown_s["waiting"]
    assert 64 / four.throughput == pytest.approx(16 / alone.throughput + exchange_s)
    # lambdal/deeplearning-benchmark: four cards of one host do 68 sequences/s, not even twice one's 47
    assert four.throughput < 2 * alone.throughput
    accumulated = predict(BERT, "rtx-3090", 4, micro_batch=16, global_batch=256)
    assert 256 / accumulated.throughput == pytest.approx(4 * 16 / alone.throughput + exchange_s, rel=0.05)


def test_a_card_whose_rows_are_left_out_leaks_nothing() -> None:
    """The terms are fitted to the rest: so is the speed of a card that alone was left out of fit and transfer."""
    whole, left = EVIDENCE, EVIDENCE.without_gpu("a100-sxm4-80gb")
    there = predict_unmeasured(setup(RESNET, "a100-sxm4-80gb", micro_batch=1280), CATALOG, whole)
    without = predict_unmeasured(setup(RESNET, "a100-sxm4-80gb", micro_batch=1280), CATALOG, left)
    assert there.basis == without.basis == "transferred"
    assert there.throughput != without.throughput
    named = {id.removeprefix("measurements:") for id in without.sources}
    assert not any(row.gpu == "a100-sxm4-80gb" for row in (*whole.measurements, *whole.for_transfer) if row.id in named)
    # Nor do rows that answer no plan: they are gone too.
    assert not any(row.gpu == "a100-sxm4-80gb" for row in (*left.measurements, *left.for_transfer))


def test_too_few_cards_are_no_ground() -> None:
    kept = {"rtx-4090", "a100-sxm4-80gb"}
    few: Evidence = EVIDENCE
    for gpu in {row.gpu for row in (*EVIDENCE.measurements, *EVIDENCE.for_transfer)} - kept:
        few = few.without_gpu(gpu)
    assert predict(RESNET, evidence=few).basis == "estimated"


def test_a_fit_to_all_rows_is_what_is_shipped() -> None:
    constants = constants_of(CATALOG.assumptions)
    table = table_of(EVIDENCE.samples)
    found = refitted(table, {row.id for row in (*EVIDENCE.measurements, *EVIDENCE.for_transfer)}, CATALOG, constants)
    assert found is not None
    for name, models in load_transfer().models.items():
        for one, other in zip(models, found.models[name], strict=True):
            assert one.terms == pytest.approx(other.terms, abs=2e-3)
            assert (one.cards, one.widths) == (other.cards, other.widths)
    assert refitted(table, set(), CATALOG, constants) is None


def test_a_measurement_of_the_configuration_still_comes_first() -> None:
    assert predict(BERT, "a100-sxm4-80gb").basis == "measured"


def edited(folder: Path, old: str, new: str) -> Evidence:
    """Evidence of a folder whose table of speeds counted in samples differs from the one that ships."""
    for name in (LANGUAGE_FILE, SAMPLE_FILE, SOURCES_FILE):
        shutil.copy(MEASUREMENTS_FOLDER / name, folder / name)
    text = (folder / SAMPLE_FILE).read_text(encoding="utf-8")
    assert old in text
    (folder / SAMPLE_FILE).write_text(text.replace(old, new), encoding="utf-8")
    return load_evidence(folder)


def test_the_shipped_fit_is_that_of_the_shipped_rows() -> None:
    assert load_transfer().table == table_of(EVIDENCE.samples).digest == shipped_table().digest


def test_comments_and_the_order_of_rows_are_no_other_table(tmp_path: Path) -> None:
    content = (MEASUREMENTS_FOLDER / SAMPLE_FILE).read_text(encoding="utf-8")
    lines = content.splitlines()
    assert table_of("\n".join(["# a remark", *lines]).encode()).digest == shipped_table().digest
    head = next(at for at, line in enumerate(lines) if not line.startswith("#"))
    turned = [*lines[: head + 1], *reversed(lines[head + 1 :])]
    assert table_of("\n".join(turned).encode()).digest == shipped_table().digest
    assert table_of("\n".join(lines[:-1]).encode()).digest != shipped_table().digest


def test_rows_that_were_edited_are_fitted_anew(tmp_path: Path) -> None:
    """A table other than that of the shipped fit: all its ResNet-50 twice as fast, and so is what is taken over."""
    text = (MEASUREMENTS_FOLDER / SAMPLE_FILE).read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    names = lines[0].split(",")
    at, model = names.index("throughput"), names.index("model")
    for name in (LANGUAGE_FILE, SOURCES_FILE):
        shutil.copy(MEASUREMENTS_FOLDER / name, tmp_path / name)
    faster = [lines[0]]
    rows = list(csv.reader(lines[1:]))
    for cells in rows:
        cells[at] = str(2 * float(cells[at])) if cells[model] == "ResNet50-v1.5" else cells[at]
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(rows)
    (tmp_path / SAMPLE_FILE).write_text("\n".join([*faster, stream.getvalue()]), encoding="utf-8")
    evidence = load_evidence(tmp_path)
    assert evidence.complete
    shipped, found = predict(RESNET, micro_batch=256), predict(RESNET, micro_batch=256, evidence=evidence)
    assert shipped.basis == found.basis == "transferred"
    assert found.throughput / shipped.throughput == pytest.approx(2, rel=0.1)
    assert predict(RESNET, micro_batch=256).throughput == shipped.throughput


def test_a_model_that_only_another_table_has_is_as_unsure_as_the_least_sure(tmp_path: Path) -> None:
    evidence = edited(tmp_path, ",ResNet50-v1.5,", ",ResNet50-of-mine,")
    constants = constants_of(CATALOG.assumptions)
    ids = {row.id for row in (*evidence.measurements, *evidence.for_transfer)}
    found = refitted(table_of(evidence.samples), ids, CATALOG, constants)
    assert found is not None and "resnet50-v1.5" not in found.models
    widths = [model.widths.new_gpu for models in load_transfer().models.values() for model in models]
    assert found.models["resnet50-of-mine"][0].widths.new_gpu == max(widths)


def test_constants_and_the_file_of_the_fit_are_part_of_the_question(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    usual = predict(RESNET, micro_batch=256)
    path = tmp_path / "transfer.yaml"
    text = TRANSFER_FILE.read_text(encoding="utf-8")
    path.write_text(re.sub("unit: (-[0-9.]+)}", lambda found: f"unit: {float(found[1]) + 1}}}", text), encoding="utf-8")
    monkeypatch.setattr(transferred, "load_transfer", lambda: load_transfer(path))
    assert predict(RESNET, micro_batch=256).throughput < usual.throughput
    monkeypatch.undo()
    assert predict(RESNET, micro_batch=256).throughput == usual.throughput


def test_a_card_that_was_measured_in_another_precision_only_is_no_surer_than_a_new_one() -> None:
    (model,) = load_transfer().models["bert-large-squad-finetune"]
    gpu, constants = CATALOG.gpus["a40"], constants_of(CATALOG.assumptions)
    assert gpu.id in model.cards and not any((of, kind) == (gpu.id, "fp32") for of, kind, _ in model.runs)
    surer = dict(CATALOG.assumptions)
    for name in ("half_width_known_gpu", "half_width_new_architecture"):  # which are wider
        one = surer[f"estimator_{name}"]
        surer[one.id] = dataclasses.replace(one, figure=dataclasses.replace(one.figure, value=0.01))
    catalog = dataclasses.replace(CATALOG, assumptions=surer)
    found = estimate(setup(BERT, gpu.id, micro_batch=8, precision="fp32"), catalog, EVIDENCE)
    told = answer(
        model, gpu=gpu, precision="fp32", batch=8, stack=load_transfer().newest_stack,
        link=link_of(gpu, 1, 1, None, constants), constants=constants, transfer=load_transfer(),
    )  # fmt: skip
    assert found.basis == "transferred" and told is not None
    assert told.half_width > 0.01
    assert math.log(found.throughput_high / found.throughput) == pytest.approx(told.half_width)
