"""The user's own measurements: what they answer, what they don't, and what is said about them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pytest

from planner.errors import Problem, TableError
from planner.performance import own_rows
from planner.performance.estimate import Prediction, Setup, estimate
from planner.performance.evidence import Evidence, load_evidence
from planner.performance.own_offset import MOST_CONFIGURATIONS
from planner.performance.own_rows import with_own_rows, with_own_tables
from planner.performance.recalibrate import with_offsets
from tests.planning import shipped_catalog

CATALOG = shipped_catalog()
GPT: Mapping[str, object] = {
    "id": "a", "date": "2026-11", "gpu": "RTX 4090", "n_gpus": 1, "task": "pretrain", "framework": "own code",
    "model": "gpt2", "n_params": 124e6, "seq_len": 1024, "micro_batch_seqs": 8, "global_batch_seqs": 8,
    "precision": "bf16", "parallelism": "single", "activation_checkpointing": "none", "tokens_per_s_total": 61000,
    "spread": 0.02, "notes": "",
}  # fmt: skip
BERT: Mapping[str, object] = {
    "id": "b", "date": "2026-11", "gpu": "rtx-4090", "n_gpus": 1, "task": "train", "framework": "own code",
    "model": "bert-large", "n_params": 334e6, "input": "seq384", "batch_per_gpu": 16, "precision": "amp-bf16",
    "throughput": 99.0, "spread": "", "notes": "", "activation_checkpointing": "none",
}  # fmt: skip


def table(*rows: Mapping[str, object], base: Mapping[str, object] = GPT) -> bytes:
    whole = [{**base, **row} for row in rows]
    lines = [",".join(whole[0]), *(",".join(str(cell) for cell in row.values()) for row in whole)]
    return "\n".join(lines).encode()


def read(*rows: Mapping[str, object], base: Mapping[str, object] = GPT) -> tuple[Evidence, tuple[Problem, ...]]:
    return with_own_rows(load_evidence(), table(*rows, base=base), file="own.csv", catalog=CATALOG)


def predict(evidence: Evidence, workload: str = "gpt2-small", gpu: str = "rtx-4090", **settings: Any) -> Prediction:
    setup = Setup(workload=CATALOG.workloads[workload], gpu=CATALOG.gpus[gpu], gpus=1, gpus_per_node=1, **settings)
    return estimate(setup, CATALOG, evidence)


def test_an_own_row_comes_before_an_estimate() -> None:
    evidence, problems = read({})
    assert problems == ()
    assert predict(load_evidence()).basis == "estimated"
    found = predict(evidence)
    assert (found.basis, found.throughput, found.estimate) == ("measured", 61000, False)
    assert found.sources == ("measurements:own:own.csv:a",)
    assert (found.micro_batch, found.software) == (8, "own code")
    assert found.throughput_low < 61000 < found.throughput_high
    assert evidence.content_hash != load_evidence().content_hash


def test_an_own_row_comes_before_a_published_measurement() -> None:
    published = predict(load_evidence(), "bert-large-squad")
    assert published.basis == "measured"
    evidence, problems = read({}, base=BERT)
    assert problems == ()
    found = predict(evidence, "bert-large-squad")
    assert (found.throughput, found.sources) == (99.0, ("measurements:own:own.csv:b",))
    assert found.throughput != published.throughput
    # Another batch than the own row's is answered as before.
    assert predict(evidence, "bert-large-squad", micro_batch=8) == predict(
        load_evidence(), "bert-large-squad", micro_batch=8
    )


@pytest.mark.parametrize(
    "settings",
    [
        {"precision": "fp32"},
        {"micro_batch": 4},
        {"global_batch": 12},
        {"seq_len": 512},
        {"checkpointing": "full"},
        {"gpu": "rtx-3090"},
        {"workload": "gpt2-xl"},
    ],
    ids=str,
)
def test_another_configuration_is_not_answered(settings: dict[str, Any]) -> None:
    assert predict(read({})[0], **settings).basis == "estimated"


@pytest.mark.parametrize(
    ("changed", "field", "words"),
    [
        ({"gpu": "RTX 9999"}, "gpu", "a GPU of the catalog"),
        ({"model": "gpt2-tiny"}, "model", "a model of the catalog"),
        ({"model": "bert-large"}, "model", "one that counts its work in tokens"),
        ({"n_params": 2e6}, "n_params", "another name of the model"),
        ({"n_gpus": ""}, "n_gpus", "the number of GPUs"),
        ({"micro_batch_seqs": ""}, "micro-batch", "a speed counts for its batch"),
        ({"seq_len": ""}, "seq_len", "length of sequences"),
        ({"precision": "int4"}, "precision", "one of amp-fp16"),
        ({"precision": ""}, "precision", "one of amp-fp16"),
        ({"task": "qlora"}, "task", "training in full"),
        ({"parallelism": "tp2", "n_gpus": 2}, "parallelism", "split models"),
        ({"parallelism": "magic"}, "parallelism", "docs/validate.md"),
        ({"activation_checkpointing": "some"}, "activation_checkpointing", "one of none"),
        ({"tokens_per_s_total": -3}, "tokens_per_s_total", "a number greater than 0"),
        ({"tokens_per_s_total": ""}, "throughput", "a measured speed"),
        ({"spread": "wide"}, "spread", "a fraction"),
        ({"spread": -0.1}, "spread", "a fraction"),
        ({"notes": "flag=doubtful"}, "notes", "nobody doubts"),
        ({"tokens_per_s_total": 6.1e9}, "tokens_per_s_total", "all that the GPUs can compute"),
    ],
    ids=str,
)
def test_a_row_that_cannot_answer_is_said_and_the_others_count(
    changed: dict[str, object], field: str, words: str
) -> None:
    evidence, (problem,) = read({"id": "good"}, {"id": "bad", **changed})
    assert [row.id for row in evidence.own] == ["own:own.csv:good"]
    assert (problem.record, problem.field, problem.line) == ("bad", field, 3)
    assert words in problem.expected


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"batch_per_gpu": 1.5}, "batch_per_gpu"),
        ({"throughput": "fast"}, "throughput"),
        ({"n_gpus": 0}, "n_gpus"),
        ({"throughput": 99e3}, "throughput"),
        ({"model": "resnet50", "n_params": 25.6e6, "input": "3x224x224", "throughput": 1e6}, "throughput"),
    ],
)
def test_cells_of_the_other_table_are_checked_too(changed: dict[str, object], field: str) -> None:
    evidence, (problem,) = read(changed, base=BERT)
    assert (evidence.own, problem.field) == ((), field)


def test_a_table_of_another_kind_is_refused() -> None:
    for content, words in (
        (b"gpu,n_gpus,model,peak_memory_gb\na,1,b,2\n", "a table of memory_peaks"),
        (b"gpu,model,throughput\na,b,2\n", "no column 'n_gpus'"),
        (b"x,y\n1,2\n", "no measured column"),
        (b"", "found nothing"),
    ):
        with pytest.raises(TableError, match=words):
            with_own_rows(load_evidence(), content, file="own.csv", catalog=CATALOG)


def test_rows_that_contradict_each_other_are_said_and_widen_the_interval() -> None:
    evidence, (problem,) = read({}, {"id": "b", "tokens_per_s_total": 90000})
    assert (problem.record, problem.found) == ("a, b", "61000 to 90000 for one configuration")
    found = predict(evidence)
    assert found.throughput == 75500
    assert found.throughput_low < 61000 and found.throughput_high > 90000
    (warning,) = [entry for entry in found.warnings if entry.code == "own_rows_contradict"]
    assert (warning.params["slowest"], warning.params["fastest"]) == (61000, 90000)


@pytest.mark.parametrize(
    "other", [{"micro_batch_seqs": 4}, {"tokens_per_s_total": 79000}, {"gpu": "rtx-3090"}], ids=str
)
def test_rows_of_two_configurations_and_rows_near_each_other_do_not_contradict(other: dict[str, object]) -> None:
    speed = {"tokens_per_s_total": 90000}
    evidence, problems = read({}, {"id": "b", **speed, **other})
    assert problems == ()
    assert "own_rows_contradict" not in [entry.code for entry in predict(evidence).warnings]


def test_a_spread_of_zero_and_a_wild_one_are_said() -> None:
    evidence, problems = read({"spread": 0}, {"id": "b", "gpu": "rtx-3090", "spread": 0.3})
    assert [(problem.record, problem.field, problem.found) for problem in problems] == [
        ("a", "spread", "0"), ("b", "spread", "30%"),
    ]  # fmt: skip
    wild, calm = predict(evidence, gpu="rtx-3090"), predict(evidence)
    assert [entry.code for entry in wild.warnings] == ["own_rows_wild"]
    assert math.log(wild.throughput_high / wild.throughput) > 0.3 > math.log(calm.throughput_high / calm.throughput)


def test_ids_are_told_apart_and_found() -> None:
    evidence, _ = read({"id": ""}, {"id": ""}, {"id": "a"}, {"id": "a"})
    assert [row.id for row in evidence.own] == [
        "own:own.csv:row 1", "own:own.csv:row 2", "own:own.csv:a (3)", "own:own.csv:a (4)",
    ]  # fmt: skip
    found = evidence.find("own:own.csv:a (3)")
    assert found is not None
    assert evidence.sources[found.source].title == "own measurements in own.csv"


def test_no_constant_rests_on_own_rows_and_they_can_be_left_out() -> None:
    evidence, _ = read({})
    assert evidence.measurements == load_evidence().measurements
    assert evidence.known_gpus == load_evidence().known_gpus
    assert evidence.without_gpu("rtx-4090").own == ()
    assert evidence.without_gpu("rtx-3090").own == evidence.own


# ---- what own rows say of other configurations


def sweep(*factors: float, batches: tuple[int, ...] = (1, 2, 4, 8, 16), **changes: object) -> list[dict[str, object]]:
    """Own rows of GPT-2 small, so many times as fast as estimated."""
    rows = []
    for batch, factor in zip(batches, factors, strict=False):
        cold = predict(load_evidence(), precision="bf16", micro_batch=batch, global_batch=batch).throughput
        rows.append(
            {"id": f"b{batch}", "micro_batch_seqs": batch, "global_batch_seqs": batch,
             "tokens_per_s_total": f"{factor * cold:.12g}", **changes}
        )  # fmt: skip
    return rows


def own_codes(found: Prediction) -> list[str]:
    return [warning.code for warning in found.warnings if warning.code.startswith("own_rows")]


def test_rows_that_agree_move_other_configurations_of_their_software_and_card() -> None:
    evidence, problems = read(*sweep(0.8, 0.8, 0.8))
    assert problems == ()
    cold = predict(load_evidence(), precision="bf16", micro_batch=32, global_batch=32)
    found = predict(evidence, precision="bf16", micro_batch=32, global_batch=32)
    # The median of three is shrunk: 0.15² / (0.15² + 0.08² / 3) of the log of 0.8.
    factor = math.exp(math.log(0.8) * 0.15**2 / (0.15**2 + 0.08**2 / 3))
    assert found.throughput == pytest.approx(factor * cold.throughput)
    assert (found.basis, found.estimate) == ("estimated", True)
    assert found.sources[:3] == tuple(f"measurements:own:own.csv:b{batch}" for batch in (1, 2, 4))
    assert found.throughput_high / found.throughput < cold.throughput_high / cold.throughput
    assert sum(found.breakdown_s.values()) == pytest.approx(32 * 1024 / found.throughput)
    (said,) = [warning for warning in found.warnings if warning.code == "own_rows_slower"]
    assert said.params["change"] == pytest.approx(1 - factor)
    assert said.params["error"] < 0.05 < said.params["error_without"]
    # Another model there is moved as much, but what is shown of the first says nothing of its error.
    larger, cold = predict(evidence, "gpt2-xl"), predict(load_evidence(), "gpt2-xl")
    assert larger.throughput == pytest.approx(factor * cold.throughput)
    assert larger.throughput_high / larger.throughput == pytest.approx(cold.throughput_high / cold.throughput)


def test_rows_move_neither_other_cards_nor_other_kinds_of_models_nor_other_training() -> None:
    evidence, _ = read(*sweep(0.8, 0.8, 0.8))
    for others in (
        {"gpu": "rtx-3090"},
        {"workload": "convnext-tiny-imagenet"},
        {"method": "lora"},
        {"optimizer": "adamw-8bit"},
        {"workload": "gpt2-xl", "software": "vendor"},
    ):
        assert predict(evidence, **others) == predict(load_evidence(), **others), others  # type: ignore[arg-type]


def test_rows_move_what_is_taken_over_from_other_cards_too() -> None:
    """BERT-large on a card is known from others; own rows of GPT-2 on it are of the same kind of model."""
    evidence, _ = read(*sweep(0.8, 0.8, 0.8))
    batch = {"micro_batch": 8, "global_batch": 8}
    cold, found = (predict(one, "bert-large-squad", **batch) for one in (load_evidence(), evidence))
    assert cold.basis == found.basis == "transferred"
    assert found.throughput < 0.85 * cold.throughput


@pytest.mark.parametrize("factors", [(0.7, 1.3, 0.7, 1.3), (1.0, 1.0, 1.0)], ids=str)
def test_rows_that_do_not_help_each_other_move_nothing_and_it_is_said(factors: tuple[float, ...]) -> None:
    evidence, _ = read(*sweep(*factors))
    found, cold = predict(evidence, "gpt2-xl"), predict(load_evidence(), "gpt2-xl")
    assert found.throughput == cold.throughput
    assert own_codes(found) == ["own_rows_no_help"]


def test_two_configurations_and_many_rows_of_one_say_nothing_of_others() -> None:
    two, _ = read(*sweep(0.8, 0.8))
    assert two.offsets == () and own_codes(predict(two, "gpt2-xl")) == []
    same, (problem,) = read(*[{"id": str(at)} for at in range(8)])
    assert "8 rows of one configuration with the same speed" in problem.found
    assert same.offsets == () and len(same.own) == 8
    assert predict(same).throughput == 61000


def test_software_is_told_apart_by_its_name_and_the_one_that_ran_the_model_counts() -> None:
    rows = [
        *sweep(0.8, 0.8, 0.8, framework="mine 1.0"),
        *sweep(1.3, 1.3, 1.3, 1.3, framework="other", model="gpt2-xl", n_params=1.56e9),
    ]
    evidence, _ = read(*rows)
    assert {own.software for own in evidence.offsets} == {"mine", "other"}
    assert own_codes(predict(evidence, precision="bf16", micro_batch=32, global_batch=32)) == ["own_rows_slower"]


def test_a_table_given_twice_counts_once_and_two_of_one_name_are_told_apart() -> None:
    once, _ = read({})
    content = table({})
    twice, (problem,) = with_own_rows(once, content, file="copy.csv", catalog=CATALOG)
    assert twice == once
    assert (problem.file, problem.found) == ("copy.csv", "the same table as own.csv")
    other, _ = with_own_rows(once, table({"tokens_per_s_total": 62000}), file="own.csv", catalog=CATALOG)
    assert [row.id for row in other.own] == ["own:own.csv:a", "own:own.csv (2):a"]
    assert predict(other).throughput == 61500


def test_rows_of_two_files_count_together() -> None:
    first, second, third = sweep(0.8, 0.8, 0.8)
    evidence, _ = read(first, second)
    evidence, _ = with_own_rows(evidence, table(third), file="more.csv", catalog=CATALOG)
    (own,) = evidence.offsets
    assert (own.files, own.rows) == (("own.csv", "more.csv"), 3)


def test_every_faulty_cell_is_a_problem_of_its_own_with_the_text_that_stands_there() -> None:
    words = "a: found b; expected c"
    evidence, problems = read({"n_gpus": "x", "micro_batch_seqs": words})
    assert not evidence.own
    assert [(problem.field, problem.found) for problem in problems] == [
        ("n_gpus", "'x'"), ("micro_batch_seqs", f"'{words}'")
    ]  # fmt: skip
    _, problems = read({"batch_per_gpu": words, "n_gpus": "-1"}, base=BERT)
    assert {(problem.field, problem.found) for problem in problems} == {
        ("batch_per_gpu", f"'{words}'"), ("n_gpus", "'-1'")
    }  # fmt: skip


def test_several_tables_are_read_as_one_after_the_other_and_recalibrated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = sweep(0.8, 0.8, 0.8, 0.8)
    files = [(f"{at}.csv", table(row)) for at, row in enumerate(rows)]
    files.append(("copy.csv", files[0][1]))
    apart, said = load_evidence(), []
    for file, content in files:
        apart, problems = with_own_rows(apart, content, file=file, catalog=CATALOG)
        said.append(problems)
    calls = []

    def counted(*given: Any) -> Evidence:
        calls.append(given)
        return with_offsets(*given)

    monkeypatch.setattr(own_rows, "with_offsets", counted)
    together, problems_of = with_own_tables(load_evidence(), files, catalog=CATALOG)
    assert (together, problems_of) == (apart, tuple(said))
    assert together.offsets and len(calls) == 1
    assert with_own_tables(together, files[:2], catalog=CATALOG)[0] is together
    assert with_own_tables(together, [], catalog=CATALOG) == (together, ())


def test_very_many_rows_are_read_and_many_configurations_are_sampled() -> None:
    rows = [{"id": at, "micro_batch_seqs": at, "global_batch_seqs": at} for at in range(1, 3_001)]
    evidence, problems = read(*rows)
    assert (len(evidence.own), problems) == (3_000, ())
    (own,) = evidence.offsets
    assert own.rows == MOST_CONFIGURATIONS


def test_what_is_left_out_takes_what_own_rows_say_of_others_along() -> None:
    evidence, _ = read(*sweep(0.8, 0.8, 0.8))
    assert evidence.offsets and evidence.without_gpu("rtx-3090").offsets == ()
    assert evidence.without_gpu("rtx-3090").own == evidence.own


def test_a_spread_beyond_all_clocks_is_refused_and_a_far_speed_is_pointed_out() -> None:
    header = "id,gpu,n_gpus,model,precision,batch_per_gpu,input,throughput,throughput_unit,task,spread\n"
    rows = "far,rtx-3090,1,resnet50,amp-bf16,64,3x224x224,60,samples/s,train,0.02\n"
    rows += "odd,rtx-3090,1,resnet50,amp-bf16,32,3x224x224,600,samples/s,train,1.5\n"
    catalog = shipped_catalog()
    evidence, problems = with_own_rows(load_evidence(), (header + rows).encode(), file="mine.csv", catalog=catalog)
    assert [(problem.record, problem.field) for problem in problems] == [("odd", "spread")]
    gpu, workload = catalog.gpus["rtx-3090"], catalog.workloads["resnet50-imagenet"]
    found = estimate(Setup(workload=workload, gpu=gpu, gpus=1, gpus_per_node=1, micro_batch=64), catalog, evidence)
    assert found.throughput == 60
    far = next(warning for warning in found.warnings if warning.code == "own_row_far")
    assert far.params["factor"] > 10
