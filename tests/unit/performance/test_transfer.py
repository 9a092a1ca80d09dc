"""Transfer of a known model to another card: terms, scaling, and what a table's rows get."""

from __future__ import annotations

import dataclasses
from functools import lru_cache

import numpy as np
import pytest

from planner.catalog.load import load_catalog
from planner.catalog.query import find_accelerator
from planner.catalog.records import Catalog
from planner.errors import CatalogError
from planner.measurements.prediction import RowPrediction
from planner.measurements.rows import SampleRow
from planner.performance.constants import constants_of
from planner.performance.scaling import link_of
from planner.performance.transfer.answer import Answer, answer
from planner.performance.transfer.cards import Card, card_of
from planner.performance.transfer.links import units_of_sample
from planner.performance.transfer.models import load_transfer
from planner.performance.transfer.predict import predict_sample_rows
from planner.performance.transfer.published import input_key, precision_class, unit_key
from planner.performance.transfer.software import NO_RELEASE, UNKNOWN_STACK, release_of, source_of_stack, stack_of
from planner.performance.transfer.terms import log_speeds, part_times

A_CARD = Card(matmul_tflop_per_s=100.0, vector_tflop_per_s=20.0, bandwidth_gb_per_s=1000.0)
RESNET = SampleRow(
    id="r", line=2, gpu="rtx-4090", n_gpus=1, model="ResNet50-v1.5", input="3x224x224", batch_per_gpu=256,
    precision="amp-fp16", source="lambda-benchmark-v1",
)  # fmt: skip


@lru_cache
def catalog() -> Catalog:
    return load_catalog()


def predict(**changes: object) -> RowPrediction:
    (found,) = predict_sample_rows([dataclasses.replace(RESNET, **changes)], catalog())  # type: ignore[arg-type]
    return found


def speed(**changes: object) -> float:
    found = predict(**changes)
    assert found.predicted is not None, found.skipped
    return found.predicted


def test_terms_add_up_to_the_time_of_a_sample() -> None:
    # 1 ms by matmul, 2 by traffic, 3 by fp32, 8 a step shared by 4, 4 fixed: 12 ms a sample on the card of the scale.
    terms = tuple(np.log([0.001, 0.002, 0.003, 0.008, 0.004]).tolist())
    assert sum(part_times(terms, A_CARD, "16-bit", 4)) == pytest.approx(0.012)
    assert sum(part_times(terms, A_CARD, "fp32", 4)) == pytest.approx(0.014)
    twice = dataclasses.replace(A_CARD, bandwidth_gb_per_s=2000.0)
    assert sum(part_times(terms, twice, "16-bit", 4)) == pytest.approx(0.011)


def test_slopes_of_terms_are_those_of_the_formula() -> None:
    terms, basis = np.log([[0.001, 0.002, 0.003, 0.008, 0.004]]), np.array([[1.0, 0.5, 2.0, 0.25, 1.0]])
    speeds, slopes = log_speeds(terms, basis)
    for at in range(5):
        moved = terms.copy()
        moved[0, at] += 1e-6
        assert (log_speeds(moved, basis)[0] - speeds)[0] / 1e-6 == pytest.approx(slopes[0, at], rel=1e-4)


def ask(gpu_id: str = "rtx-3090", gpus: int = 1, **changes: object) -> Answer:
    """ResNet-50 on some card, as an answer."""
    constants, transfer = constants_of(catalog().assumptions), load_transfer()
    gpu = find_accelerator(catalog(), gpu_id)
    asked: dict[str, object] = {"precision": "16-bit", "batch": 64, "stack": "lambda-benchmark-v1/1.13", **changes}
    found = answer(
        transfer.models["resnet50-v1.5"][0], gpu=gpu, link=link_of(gpu, gpus, gpus, None, constants),
        constants=constants, transfer=transfer, **asked,  # type: ignore[arg-type]
    )  # fmt: skip
    assert found is not None
    return found


def test_several_cards_lose_to_each_other() -> None:
    assert ask().speed < ask(gpus=4).speed < 4 * ask().speed


def test_measured_card_keeps_what_its_terms_leave_unexplained() -> None:
    # Lambda's v1 table: an RTX 4090 does 1,301 images/s, an A100 80GB 1,582, with 448 and 1,280 images a step.
    assert ask("rtx-4090", batch=448).speed == pytest.approx(1301, rel=0.04)
    assert ask("a100-sxm4-80gb", batch=1280).speed == pytest.approx(1582, rel=0.04)
    # Its releases before 1.10 were slower: 1,385 on the same A100.
    assert ask("a100-sxm4-80gb", batch=1440, stack="lambda-benchmark-v0/1.9").speed == pytest.approx(1385, rel=0.04)


def test_software_that_is_not_known_is_the_newest_and_less_sure() -> None:
    newest, mine = ask("h100-sxm5-80gb", stack=load_transfer().newest_stack), ask("h100-sxm5-80gb", stack=UNKNOWN_STACK)
    assert mine.speed == pytest.approx(newest.speed, rel=0.05)
    assert mine.novelty == "new-stack" and mine.half_width > newest.half_width


def test_interval_widens_with_what_was_never_measured_and_with_what_is_exchanged() -> None:
    known = ask().half_width
    like, unlike = ask("rtx-3080-10gb").half_width, ask("b200-sxm-180gb").half_width
    assert known < like < unlike
    assert ask("rtx-3080-10gb").novelty == "new-gpu"
    widths = [ask(gpus=gpus, batch=batch).half_width for gpus, batch in ((2, 256), (8, 256), (8, 8))]
    assert known < widths[0] < widths[1] < widths[2]


def test_interval_widens_with_other_vendors_launches_and_releases_not_run_on_a_card() -> None:
    constants = constants_of(catalog().assumptions)
    assert ask("mi300x-192gb").half_width > constants.half_width_new_vendor > 2 * ask("b200-sxm-180gb").half_width
    # Of one image a step the launches are most, on a card like those measured as surely as on none.
    tiny, full = ask("rtx-3080-10gb", batch=1).half_width, ask("rtx-3080-10gb", batch=128).half_width
    assert tiny == pytest.approx(np.hypot(full, constants.half_width_regime))
    # GH200 ran in Lambda's second version of its suite alone.
    run = ask("gh200-96gb", stack="lambda-benchmark-v2/2.5").half_width
    assert ask("gh200-96gb", stack="lambda-benchmark-v1/1.13").half_width > 1.3 * run


def test_units_of_a_sample() -> None:
    assert units_of_sample("sample", "3x224x224", 50) == 1
    assert units_of_sample("token", "tgt_len=192;mem_len=192", 50) == 192
    assert units_of_sample("token", "wmt16 en-de", 50) == 50
    assert units_of_sample("audio-sample", "ljspeech-1.1 segment=8000", 50) == 8000
    assert unit_key("sequences/s") == unit_key("images/s") == unit_key("samples/s") == "sample"


def test_inputs_are_told_apart_by_their_dimensions_where_only_the_notes_say_them() -> None:
    assert input_key("SEQ_LEN=384") == "seq384"
    assert input_key("", "PyTorch/Segmentation/nnUNet; Dimension=3") == "3d"
    assert input_key("3x224x224", "Dimension=3") == "3x224x224"


def test_spellings_of_sources_and_precisions() -> None:
    assert stack_of("lambdal/deeplearning-benchmark results(v1)", "PyTorch") == "lambda-benchmark-v1/1.13"
    assert stack_of("lambda-benchmark-v2", "PyTorch 2.5.0a0+872d972e41") == "lambda-benchmark-v2/2.5"
    assert stack_of("NVIDIA/DeepLearningExamples README", "PyTorch 1.8") == "nvidia-deeplearningexamples/pytorch"
    assert stack_of("mine", "") == UNKNOWN_STACK == "other"
    assert (release_of("lambda-benchmark-v1/1.13"), release_of("lambda-benchmark-v2/2.1")) == (13, 15)
    assert release_of("timm-benchmark") == release_of("nvidia-deeplearningexamples/pytorch") == NO_RELEASE
    assert source_of_stack("lambda-benchmark-v1/1.13") == "lambda-benchmark-v1"
    assert source_of_stack("nvidia-deeplearningexamples/mxnet") == "nvidia-deeplearningexamples/mxnet"
    assert (precision_class("amp-bf16"), precision_class("TF32"), precision_class("int4")) == ("16-bit", "tf32", None)


def test_known_model_is_transferred_and_its_neighbours_are_sound() -> None:
    found = predict()
    assert found.basis == "transferred" and found.low is not None and found.high is not None
    assert found.predicted is not None and found.low < found.predicted < found.high
    assert speed(n_gpus=2) < 2 * speed()
    assert speed(precision="fp32", gpu="v100-sxm2-32gb") < speed(gpu="v100-sxm2-32gb")
    assert predict(gpu="l40s").novelty == "new-gpu"
    new = predict(source="my own")
    assert new.novelty == "new-stack" and new.high is not None and new.predicted is not None
    assert new.high / new.predicted > found.high / found.predicted


def test_measured_value_is_never_looked_at() -> None:
    assert speed(throughput=1.0) == speed(throughput=1e9) == speed()


def test_ambiguous_card_is_the_one_that_was_measured_and_said() -> None:
    found = predict(gpu="V100-16GB")
    assert found.predicted == speed(gpu="v100-sxm2-16gb")
    assert "gpu v100-sxm2-16gb" in found.choices


def test_unknown_model_is_estimated_from_its_arithmetic() -> None:
    unknown = {"model": "my_net", "fwd_gmacs_per_sample": 4.1, "activations_m_per_sample": 11.1, "n_params": 25e6}
    assert predict(**unknown).basis == "estimated"
    channels_last = predict(**unknown, notes="layout=nhwc")
    assert channels_last.predicted is not None and channels_last.predicted > 1.1 * speed(**unknown)
    patches = {**unknown, "model": "vit_mine"}
    assert speed(**patches, notes="layout=nhwc") == speed(**patches) > speed(**unknown)
    assert speed(**{**unknown, "model": "resnet50_mine"}) > speed(**unknown)
    assert speed(**{**unknown, "fwd_gmacs_per_sample": 8.2}) < speed(**unknown)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"precision": "int4"}, "precision: found 'int4'"),
        ({"precision": "fp8"}, "precision: found 'fp8', expected one of "),
        ({"model": "nobody"}, "model: found 'nobody'"),
        ({"input": "3x999x999", "model": "BERT-large-pretrain"}, "input: found '3x999x999'"),
        ({"input": "3x512x512"}, "input: found '3x512x512'"),
        ({"precision": "tf32", "gpu": "v100-sxm2-16gb"}, "gpu: found 'v100-sxm2-16gb'"),
        ({"throughput_unit": "molecules/s"}, "throughput_unit: found 'molecules/s'"),
        ({"n_gpus": None}, "n_gpus: found nothing, expected the number of GPUs"),
        ({"gpu": "RTX3080-Laptop"}, "gpu: found 'RTX3080-Laptop'"),
    ],
)
def test_rows_that_allow_no_prediction_say_why(changes: dict[str, object], words: str) -> None:
    found = predict(**changes)
    assert found.predicted is None and words in (found.skipped or "")


def test_laptop_cards_lack_rates() -> None:
    assert card_of(catalog(), "rtx-3080-laptop", "16-bit", constants_of(catalog().assumptions)) is None


def test_broken_file_is_named(tmp_path: object) -> None:
    from pathlib import Path

    path = Path(str(tmp_path)) / "transfer.yaml"
    with pytest.raises(CatalogError):
        load_transfer(path)
    path.write_text("models: [{model: x}]\n", encoding="utf-8")
    with pytest.raises(CatalogError):
        load_transfer(path)


def test_a_refusal_names_what_may_be_meant() -> None:
    unknown = predict(model="ResNet-50-v1.5", fwd_gmacs_per_sample=None, activations_m_per_sample=None)
    assert unknown.predicted is None
    assert "; did you mean resnet50-v1.5" in str(unknown.skipped)
    assert "fp8" not in str(predict(precision="fp8").skipped).partition("expected")[2]
