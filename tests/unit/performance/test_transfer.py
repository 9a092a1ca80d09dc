"""Transfer of a known model to another card: terms, scaling, and what a table's rows get."""

from __future__ import annotations

import dataclasses
from functools import lru_cache

import numpy as np
import pytest
import yaml

from planner.catalog.load import load_catalog
from planner.catalog.records import Catalog
from planner.errors import CatalogError
from planner.measurements.prediction import RowPrediction
from planner.measurements.rows import SampleRow
from planner.performance.constants import constants_of
from planner.performance.scaling import link_of
from planner.performance.transfer.answer import answer
from planner.performance.transfer.cards import Card, card_of
from planner.performance.transfer.fit import errors_of, fit_all, groups, held_out_errors
from planner.performance.transfer.models import TRANSFER_FILE, load_transfer
from planner.performance.transfer.predict import CHANNELS_LAST_GAIN, predict_sample_rows
from planner.performance.transfer.published import precision_class, stack_of, unit_key
from planner.performance.transfer.speed import alone, several, units_of_sample
from planner.performance.transfer.terms import Terms, fit_terms, samples_of

A_CARD = Card(matmul_tflop_per_s=100.0, vector_tflop_per_s=20.0, bandwidth_gb_per_s=1000.0)
KNOWN = {"BERT-base-SQuAD-finetune", "BERT-large-SQuAD-finetune", "ResNet50-v1.5", "SSD300-ResNet50", "GNMT-v2"}
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
    terms = Terms(logs=tuple(np.log([0.001, 0.002, 0.003, 0.008, 0.004])), sources=(("a", np.log(2.0)),))
    assert alone(terms, A_CARD, "16-bit", 4, "elsewhere") == pytest.approx(1 / 0.012)
    assert alone(terms, A_CARD, "16-bit", 4, "a") == pytest.approx(1 / 0.024)
    assert alone(terms, A_CARD, "fp32", 4, "elsewhere") == pytest.approx(1 / 0.014)
    twice = dataclasses.replace(A_CARD, bandwidth_gb_per_s=2000.0)
    assert alone(terms, twice, "16-bit", 4, "elsewhere") == pytest.approx(1 / 0.011)


def test_fit_finds_the_terms_that_made_the_rows() -> None:
    true = Terms(logs=tuple(np.log([0.004, 0.004, 0.001, 0.02, 0.0002])), sources=())
    rng = np.random.default_rng(3)
    cards = [
        Card(
            matmul_tflop_per_s=float(m), vector_tflop_per_s=float(v), bandwidth_gb_per_s=float(b),
        )
        for m, v, b in zip(rng.uniform(30, 800, 40), rng.uniform(10, 80, 40), rng.uniform(300, 3300, 40), strict=True)
    ]  # fmt: skip
    batches = rng.integers(2, 200, 40)
    speeds = [alone(true, card, "16-bit", float(b), "x") for card, b in zip(cards, batches, strict=True)]
    samples = samples_of(
        cards, names=[str(at) for at in range(40)], element_bytes=[2.0] * 40, batches=list(batches),
        sources=["x"] * 40, speeds=speeds, known_sources=("x",),
    )  # fmt: skip
    assert np.abs(errors_of(fit_terms(samples), samples)).max() < 0.03


def test_parts_of_an_answer_add_up_to_its_step() -> None:
    constants, transfer = constants_of(catalog().assumptions), load_transfer()
    (model,) = transfer.models["resnet50-v1.5"]
    gpu = catalog().gpus["rtx-3090"]
    for gpus in (1, 4):
        found = answer(
            model, gpu=gpu, precision="16-bit", batch=64, stack="lambda-benchmark-v1",
            link=link_of(gpu, gpus, gpus, None, constants), catalog=catalog(), constants=constants, transfer=transfer,
        )  # fmt: skip
        assert found is not None
        assert found.step_s == pytest.approx(gpus * 64 / found.speed)
        assert all(seconds >= 0 for seconds in found.parts_s.values())
        assert (found.parts_s["communication"] > 0) == (gpus > 1) == (found.parts_s["waiting"] > 0)


def test_scaling_is_perfect_without_gradients_and_latency_and_worse_with_more_of_them() -> None:
    constants = constants_of(catalog().assumptions)
    link = link_of(catalog().gpus["rtx-3090"], 4, 4, None, constants)
    single = several(100.0, 64, 25, "16-bit", link_of(catalog().gpus["rtx-3090"], 1, 1, None, constants), constants)
    assert single == 100.0
    small, large = (several(100.0, 64, m, "16-bit", link, constants) for m in (25.0, 340.0))
    assert large < small < 400.0


def test_units_of_a_sample() -> None:
    assert units_of_sample("sample", "3x224x224") == 1
    assert units_of_sample("token", "tgt_len=192;mem_len=192") == 192
    assert units_of_sample("audio-sample", "ljspeech-1.1 segment=8000") == 8000
    assert unit_key("sequences/s") == unit_key("images/s") == unit_key("samples/s") == "sample"


def test_spellings_of_sources_and_precisions() -> None:
    assert stack_of("lambdal/deeplearning-benchmark results(v1)", "PyTorch") == "lambda-benchmark-v1"
    assert stack_of("NVIDIA/DeepLearningExamples README", "PyTorch 1.8") == "nvidia-deeplearningexamples/pytorch"
    assert stack_of("mine", "") == "other"
    assert (precision_class("amp-bf16"), precision_class("TF32"), precision_class("int4")) == ("16-bit", "tf32", None)


def test_known_models_on_cards_left_out_stay_within_the_limits() -> None:
    """Each card left out in turn, all its rows: 7.5 % at the median and 20 % at the 90th percentile at most."""
    found = held_out_errors(
        [group for group in groups(catalog(), constants_of(catalog().assumptions)) if group.model in KNOWN]
    )
    misses = [
        abs(np.expm1(miss))
        for rows in found.values()
        for group, at, miss in rows
        if group.rows[at].stack.startswith("lambda")
    ]
    assert len(misses) > 200
    assert np.median(misses) < 0.075
    assert np.quantile(misses, 0.9) < 0.20


def test_shipped_terms_are_what_the_fit_gives() -> None:
    shipped = yaml.safe_load(TRANSFER_FILE.read_text(encoding="utf-8"))
    fitted = fit_all(catalog(), constants_of(catalog().assumptions))
    for one, other in zip(shipped["models"], fitted["models"], strict=True):
        assert (one["model"], one["input"], one["cards"]) == (other["model"], other["input"], other["cards"])
        assert one["terms"] == pytest.approx(other["terms"], abs=2e-3)
        assert one["stacks"] == pytest.approx(other["stacks"], abs=2e-3)


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
    channels_last = speed(**unknown, notes="layout=nhwc")
    assert channels_last == pytest.approx(CHANNELS_LAST_GAIN * speed(**unknown))
    assert speed(**{**unknown, "fwd_gmacs_per_sample": 8.2}) < speed(**unknown)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"precision": "int4"}, "precision: found 'int4'"),
        ({"model": "nobody"}, "model: found 'nobody'"),
        ({"input": "3x999x999", "model": "BERT-large-pretrain"}, "input: found '3x999x999'"),
        ({"input": "3x512x512"}, "input: found '3x512x512'"),
        ({"precision": "tf32", "gpu": "v100-sxm2-16gb"}, "gpu: found 'v100-sxm2-16gb'"),
        ({"throughput_unit": "molecules/s"}, "throughput_unit: found 'molecules/s'"),
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
