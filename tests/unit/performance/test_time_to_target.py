"""Time to a target: batch law, terms of a system, offsets, and what a table's rows get."""

from __future__ import annotations

import csv
import dataclasses
import io
import shutil
from pathlib import Path

import numpy as np
import pytest
import yaml

from planner.errors import CatalogError
from planner.measurements.prediction import RowPrediction
from planner.measurements.rows import TimeRow
from planner.performance.constants import constants_of
from planner.performance.evidence import MEASUREMENTS_FOLDER, load_evidence
from planner.performance.time_to_target.baselines import baselines
from planner.performance.time_to_target.benchmarks import find_benchmark, year_of_round
from planner.performance.time_to_target.effects import fit_offsets, offset_of
from planner.performance.time_to_target.fit import widths
from planner.performance.time_to_target.held_out import Miss
from planner.performance.time_to_target.larger_batch import TARGET_OF, samples_factor
from planner.performance.time_to_target.model import NOVELTIES, Novelty, fit_target
from planner.performance.time_to_target.predict import predict_time_rows
from planner.performance.time_to_target.runs import TIME_FILE, Rates, Run, published_runs
from planner.performance.time_to_target.samples import BatchLaw, fit_batch_law
from planner.performance.time_to_target.step import TERMS, StepTerms, features, fit_step, log_minutes
from planner.performance.time_to_target.targets import TARGETS_FILE, as_entry, load_targets
from tests.unit.performance.targets import catalog, left_out, runs_of

BERT = TimeRow(
    id="r", line=2, round="v4.0", submitter="somebody", system="a new one", gpu="h100-sxm5-80gb", n_gpus=8, nodes=1,
    benchmark="bert", global_batch_size=768,
)  # fmt: skip
RATES = Rates(
    s_per_tflop=1 / 250, bandwidth_gb_per_s=2000, inside_gb_per_s=20, network_gb_per_s=50, fabric_gb_per_s=200,
    switched=True, local=8,
)  # fmt: skip
RUN = Run(
    id="r", benchmark="bert", year=2024.0, submitter="s", system="x", gpu="g", generation="Ampere", gpus=16, nodes=2,
    batch=32, rates=RATES,
)  # fmt: skip


def predict(**changes: object) -> RowPrediction:
    (found,) = predict_time_rows([dataclasses.replace(BERT, **changes)], catalog())  # type: ignore[arg-type]
    return found


def minutes(**changes: object) -> float:
    found = predict(**changes)
    assert found.predicted is not None, found.skipped
    return found.predicted


def test_rounds_and_names() -> None:
    assert year_of_round("v4.1") == pytest.approx(2024.87) and year_of_round("5.0") == pytest.approx(2025.45)
    assert year_of_round("v0.7") == 2020.55 and year_of_round("v0.9") is None and year_of_round("four") is None
    retinanet, ssd = find_benchmark("RetinaNet"), find_benchmark("ssd")
    assert retinanet is ssd is not None
    assert find_benchmark("minigo") is None


def test_larger_batches_need_more_samples_and_ever_more() -> None:
    law = BatchLaw(log_samples=np.log(1e6), reference_batch=256, slope=0.1, curvature=0.05)
    logs = law.log_at(np.array([256, 256 * np.e, 256 * np.e**2]))
    assert logs - logs[0] == pytest.approx([0, 0.15, 0.4])


def test_the_batch_law_is_found_and_never_bends_down() -> None:
    batch = np.array([64.0, 256, 1024, 4096, 16384])
    true = BatchLaw(log_samples=14.0, reference_batch=1024, slope=0.1, curvature=0.08)
    found = fit_batch_law(batch, np.exp(true.log_at(batch)))
    assert np.abs(found.log_at(batch) - true.log_at(batch)).max() < 0.02
    bent = fit_batch_law(batch, np.exp(14 - 0.2 * np.log(batch / 1024) ** 2))
    assert 0 < bent.curvature < 0.1


def test_terms_add_up_to_minutes() -> None:
    """On this system each of seven terms is 1 but for two samples a GPU, one doubling of nodes, 7/8 of a ring twice."""
    assert features([RUN], np.array([32.0]))[0] == pytest.approx([2, 2, 2, 1, 1, 1.75, 1])
    terms = StepTerms(logs=tuple(np.log([0.1, 0.2, 0.05, 0.3, 0.4, 0.2, 0.5])), progress=0.0, overhead_min=0.5)
    # 0.7 + 0.3 + 0.4 + 0.35 + 0.5 = 2.25 s a step, 32,000 samples in 1,000 steps: 37.5 minutes, and half a one besides
    assert np.exp(log_minutes(terms, [RUN], np.array([32.0]), np.array([32000.0])))[0] == pytest.approx(38.0)


def test_more_cards_share_a_bus_but_not_a_switch() -> None:
    def inside(*, switched: bool, local: int) -> float:
        run = dataclasses.replace(RUN, rates=dataclasses.replace(RATES, switched=switched, local=local))
        return float(features([run], np.array([32.0]))[0, TERMS.index("inside")])

    assert inside(switched=False, local=16) == pytest.approx(2 * 2 * 15 / 16)
    assert inside(switched=True, local=16) == pytest.approx(2 * 15 / 16)
    assert inside(switched=False, local=8) == inside(switched=True, local=8) == pytest.approx(1.75)


def test_software_gets_faster_less_each_year() -> None:
    terms = StepTerms(logs=(0.0,) * len(TERMS), progress=0.5, overhead_min=1e-9)
    years = [dataclasses.replace(RUN, year=year) for year in (2021.0, 2022.0, 2023.0, 2024.0)]
    logs = log_minutes(terms, years, np.full(4, 32.0), np.full(4, 1e6))
    gains = -np.diff(logs)
    assert (gains > 0).all() and (np.diff(gains) < 0).all()


def test_the_fit_finds_times_that_its_terms_made() -> None:
    rng = np.random.default_rng(5)
    true = StepTerms(logs=tuple(np.log([0.02, 0.016, 0.002, 0.05, 0.02, 0.05, 0.06])), progress=0.2, overhead_min=0.03)
    made = []
    for at in range(40):
        nodes = int(rng.choice([1, 1, 2, 8]))
        rates = dataclasses.replace(
            RATES, s_per_tflop=1 / rng.uniform(100, 900), bandwidth_gb_per_s=rng.uniform(700, 5000)
        )
        run = dataclasses.replace(
            RUN, gpu=f"g{at % 7}", gpus=8 * nodes, nodes=nodes, batch=256.0, rates=rates, work=1e6
        )
        time = float(np.exp(log_minutes(true, [run], np.array([256.0]), np.array([1e6]))[0]))
        made.append(dataclasses.replace(run, minutes=time))
    terms, of = fit_step(made)
    batch, work = np.full(40, 256.0), np.full(40, 1e6)
    cards = np.array([of["gpu"][run.gpu] + of["generation"][run.generation] for run in made])
    logs = log_minutes(terms, made, batch, work) + cards
    assert np.abs(logs - np.log([run.minutes for run in made if run.minutes])).max() < 0.05


def test_a_larger_batch_of_a_workload_needs_a_factor_of_samples() -> None:
    law = load_targets()["resnet"].law
    least = law.reference_batch * np.exp(-law.slope / (2 * law.curvature))
    assert samples_factor("resnet50-imagenet", least / 4) == samples_factor("resnet50-imagenet", least) == 1
    of = np.exp(law.log_at(np.array([least, 8 * least])))
    assert samples_factor("resnet50-imagenet", 8 * least) == pytest.approx(of[1] / of[0])
    assert samples_factor("gpt2-small", 1e9) == 1
    assert set(TARGET_OF) <= set(catalog().workloads) and set(TARGET_OF.values()) <= set(load_targets())


def test_offsets_keep_less_the_fewer_rows_show_them() -> None:
    one = fit_offsets([{"gpu": "a"}], np.array([0.2]), {"gpu": 0.1}, 0.1)
    assert one == {"gpu": {"a": pytest.approx(0.1)}}
    three = fit_offsets([{"gpu": "a"}] * 3, np.full(3, 0.2), {"gpu": 0.1}, 0.1)
    assert three["gpu"]["a"] == pytest.approx(0.15)
    wild = fit_offsets([{"gpu": "a"}], np.array([9.0]), {"gpu": 0.1}, 0.1)
    assert wild["gpu"]["a"] == pytest.approx(0.125)
    assert offset_of(three, {"gpu": "b", "bus": "pcie"}) == 0


def test_widths_cover_four_of_five_and_lean_on_all_benchmarks_where_rows_are_few() -> None:
    def found(sizes: list[float], novelty: Novelty) -> list[Miss]:
        return [Miss(run=RUN, error=size, novelty=novelty) for size in sizes]

    many = [m for novelty in NOVELTIES for m in found([0.1] * 100, novelty)]
    got = widths({"a": many, "b": found([0.9], "known-gpu")})
    assert got["a"]["known-setup"] == pytest.approx(0.1)
    assert got["b"]["known-gpu"] == pytest.approx(0.9 / 9 + 0.1 * 8 / 9)
    assert got["b"]["new-gpu"] == got["b"]["known-gpu"]  # never narrower


@pytest.mark.refit
def test_shipped_targets_are_what_the_fit_gives() -> None:
    shipped = {entry["id"]: entry for entry in yaml.safe_load(TARGETS_FILE.read_text(encoding="utf-8"))["targets"]}
    assert set(shipped) == set(runs_of())
    known = {
        id: [
            miss
            for split in ("unseen system", "newest round", "unseen GPU")
            for miss in left_out(id, split)
            if miss.novelty != "new-gpu" or split == "unseen GPU"
        ]
        for id in shipped
    }
    of_width = widths(known)
    for id, entry in shipped.items():
        fitted = as_entry(fit_target(runs_of()[id]))
        assert set(entry) == set(fitted) and entry["setups"] == fitted["setups"]
        for part in ("law", "terms"):
            assert entry[part] == pytest.approx(fitted[part], abs=2e-3)
        for part in ("work_offsets", "time_offsets"):
            for name, keys in entry[part].items():
                assert keys == pytest.approx(fitted[part][name], abs=2e-3)
        assert (entry["progress"], entry["overhead_min"]) == pytest.approx(
            (fitted["progress"], fitted["overhead_min"]), abs=2e-3
        )
        assert entry["half_widths"] == pytest.approx(dict(of_width[id]), abs=2e-3)


def test_intervals_cover_four_of_five_runs_left_out() -> None:
    targets = load_targets()
    for split in ("unseen system", "newest round", "unseen GPU"):
        inside = [
            abs(miss.error) <= targets[id].half_widths[miss.novelty] for id in runs_of() for miss in left_out(id, split)
        ]
        assert 0.75 <= np.mean(inside) <= 0.88


def test_a_row_is_predicted_from_its_configuration() -> None:
    found = predict()
    assert found.novelty == "known-setup" and found.basis == "transferred" and not found.choices
    assert found.low is not None and found.high is not None and found.predicted is not None
    assert found.low < found.predicted < found.high
    assert minutes(n_gpus=16, nodes=2) < minutes() < minutes(gpu="h100-pcie-80gb")
    assert minutes(round="v5.0") < minutes(round="v2.1")
    wider = predict(n_gpus=32, nodes=4)
    assert wider.novelty == "known-gpu" and wider.high is not None and wider.predicted is not None
    assert wider.high / wider.predicted > found.high / found.predicted
    new = predict(gpu="b200-sxm-180gb")
    assert (new.novelty, new.basis) == ("new-gpu", "estimated")
    assert minutes(gpu="gb200-186gb", n_gpus=64, nodes=16) == minutes(gpu="gb200-186gb", n_gpus=64, nodes=8)  # one rack


def test_what_is_missing_is_filled_in_and_said() -> None:
    found = predict(global_batch_size=None, nodes=None, round=None, n_gpus=12)
    assert set(found.choices) == {"batch 768", "2 nodes", "the newest round"}
    assert predict(global_batch_size=None).predicted == minutes()
    of_card = predict(benchmark="resnet", gpu="l40s", n_gpus=9, nodes=1, global_batch_size=None)
    assert of_card.choices == ("batch 1600",)  # of eight L40S; eight of any other card have 3,200 or so


def test_the_measured_value_is_never_looked_at() -> None:
    assert minutes(minutes=1.0) == minutes(minutes=1e5) == minutes()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"benchmark": "minigo"}, "benchmark: found 'minigo', expected one that was published: bert, dlrm"),
        ({"round": "spring"}, "round: found 'spring', expected a form such as v4.1"),
        ({"n_gpus": None}, "n_gpus: found nothing, expected the number of GPUs"),
        ({"gpu": "k80"}, "gpu: found 'k80'"),
    ],
)
def test_rows_that_allow_no_prediction_say_why(changes: dict[str, object], words: str) -> None:
    found = predict(**changes)
    assert found.predicted is None and words in (found.skipped or "")


def test_too_few_runs_are_no_target() -> None:
    with pytest.raises(ValueError, match="2 runs"):
        fit_target(runs_of()["bert"][:2])


def test_baselines_scale_the_nearest_system() -> None:
    other = dataclasses.replace(RUN, gpu="h", rates=dataclasses.replace(RATES, bandwidth_gb_per_s=4000))
    known = [dataclasses.replace(RUN, minutes=10.0), dataclasses.replace(RUN, gpus=128, minutes=3.0)]
    rules = baselines(lambda run: {"g": 100.0, "h": 300.0}[run.gpu])
    assert rules["nearest system"](known, dataclasses.replace(RUN, gpus=32)) == pytest.approx(5.0)
    assert rules["nearest system"](known, other) == pytest.approx(10.0)
    assert rules["TFLOPS ratio"](known, other) == pytest.approx(10.0 / 3)
    assert rules["bandwidth ratio"](known, other) == pytest.approx(5.0)


def test_published_rows_have_sources_and_are_of_the_closed_division() -> None:
    text = (MEASUREMENTS_FOLDER / TIME_FILE).read_text(encoding="utf-8")
    rows = list(csv.DictReader(io.StringIO("\n".join(text.splitlines()[1:]))))
    assert len(rows) == 348 and len({row["id"] for row in rows}) == 348
    sources = load_evidence().sources
    assert all(row["source"] in sources and row["division"] == "closed" and row["round"] for row in rows)
    assert all(float(row["minutes"]) > 0 and int(row["n_gpus"]) % int(row["nodes"]) == 0 for row in rows)
    assert not any("flag=" in row["notes"] for row in rows)


def test_a_spoilt_table_is_named(tmp_path: Path) -> None:
    constants = constants_of(catalog().assumptions)
    with pytest.raises(CatalogError) as caught:
        published_runs(catalog(), constants, tmp_path)
    assert TIME_FILE in caught.value.problems[0].file
    shutil.copy(MEASUREMENTS_FOLDER / TIME_FILE, tmp_path)
    text = (tmp_path / TIME_FILE).read_text(encoding="utf-8")
    (tmp_path / TIME_FILE).write_text(text.replace(",8,1,bert,", ",many,1,bert,", 1), encoding="utf-8")
    with pytest.raises(CatalogError) as caught:
        published_runs(catalog(), constants, tmp_path)
    (problem,) = caught.value.problems
    assert problem.record == "mlperf-0001" and "many" in problem.found
    (tmp_path / TIME_FILE).write_text("\n".join(text.splitlines()[:2]), encoding="utf-8")
    with pytest.raises(CatalogError):
        published_runs(catalog(), constants, tmp_path)


def test_a_broken_file_of_targets_is_named(tmp_path: Path) -> None:
    path = tmp_path / "targets.yaml"
    with pytest.raises(CatalogError):
        load_targets(path)
    path.write_text("targets: [{id: x}]\n", encoding="utf-8")
    with pytest.raises(CatalogError):
        load_targets(path)


def test_a_vendor_without_a_run_has_a_far_wider_interval() -> None:
    amd, known = predict(gpu="mi300x"), predict(gpu="h100-sxm5-80gb")
    assert amd.predicted is not None and amd.high is not None and known.predicted is not None and known.high is not None
    assert amd.high / amd.predicted > 1.9
    assert known.high / known.predicted < 1.25


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"global_batch_size": 10**9}, "global_batch_size: found 1,000,000,000, expected"),
        ({"global_batch_size": 1}, "global_batch_size: found 1, expected"),
        ({"n_gpus": 1_000_000}, "nodes: found 1 for 1,000,000 GPUs"),
    ],
)
def test_systems_and_batches_far_from_any_published_are_not_predicted(changes: dict[str, object], words: str) -> None:
    found = predict(**changes)
    assert found.predicted is None
    assert str(found.skipped).startswith(words)
