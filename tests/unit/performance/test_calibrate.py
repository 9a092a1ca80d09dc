"""The fit: what it may see, and that the shipped constants and offsets of stacks are what it gives."""

from __future__ import annotations

import pytest

from planner.catalog.load import DATA_FOLDER, load_catalog
from planner.measurements.rows import LanguageRow
from planner.performance.calibrate import (
    FITTED,
    KEPT_OUT_GPU,
    Calibration,
    Row,
    calibrated,
    link_rows,
    start_constants,
    write_constants,
)
from planner.performance.constants import assumption_id, constants_of
from planner.performance.evidence import load_evidence
from planner.performance.fit_steps import KEPT_OUT_SOURCES, language_rows, write_stacks
from planner.performance.fit_vision import VisionRows, vision_rows
from planner.performance.stacks import STACKS_FILE, load_stacks

CATALOG = load_catalog()


@pytest.fixture(scope="module")
def links() -> list[Row]:
    return link_rows(CATALOG, load_evidence())


@pytest.fixture(scope="module")
def vision() -> VisionRows:
    return VisionRows(vision_rows(CATALOG, load_evidence()))


@pytest.fixture(scope="module")
def language() -> list[LanguageRow]:
    return language_rows(CATALOG, load_evidence())


@pytest.fixture(scope="module")
def refitted(links: list[Row], vision: VisionRows, language: list[LanguageRow]) -> Calibration:
    return calibrated(CATALOG, links, vision, language)


def test_the_fit_never_sees_an_rtx_4090(links: list[Row], vision: VisionRows, language: list[LanguageRow]) -> None:
    assert KEPT_OUT_GPU == "rtx-4090"
    for seen in ({row.measurement.gpu for row in links}, {row.gpu for row in vision.rows}, {r.gpu for r in language}):
        assert KEPT_OUT_GPU not in seen and "rtx-3090" in seen


def test_rows_of_samples_are_fitted_as_tokens(language: list[LanguageRow]) -> None:
    found = next(row for row in language if row.model == "BERT-large-SQuAD-finetune")
    measured = load_evidence().find(found.id)
    assert measured is not None and measured.seq_len is not None and found.tokens_per_s_total is not None
    assert found.tokens_per_s_total == pytest.approx(measured.throughput * measured.seq_len)
    assert not KEPT_OUT_SOURCES & {row.source for row in language}


@pytest.mark.refit
def test_the_shipped_constants_are_what_the_fit_gives(refitted: Calibration) -> None:
    shipped = constants_of(CATALOG.assumptions)
    for name in FITTED:
        assert getattr(refitted.constants, name) == pytest.approx(getattr(shipped, name), rel=2e-3), name


def test_the_shipped_offsets_are_what_the_fit_gives(refitted: Calibration) -> None:
    shipped = {stack.id: stack for stack in load_stacks() if stack.rows}
    assert set(refitted.offsets.by_stack) == set(shipped)
    for id, stack in shipped.items():
        assert refitted.offsets.by_stack[id] == pytest.approx(stack.offset, abs=2e-3), id
        assert refitted.offsets.rows[id] == stack.rows, id
        by_gpu = {gpu: value for (of, gpu), value in refitted.offsets.by_gpu.items() if of == id}
        assert by_gpu == pytest.approx(dict(stack.by_gpu), abs=2e-3), id


def test_the_fit_does_not_start_from_the_present_values() -> None:
    start = start_constants(CATALOG)
    figure = CATALOG.assumptions[assumption_id("gemm_efficiency")].figure
    assert figure.low is not None and figure.high is not None
    assert start.gemm_efficiency == pytest.approx((figure.low * figure.high) ** 0.5)
    assert start.usable_memory_share == constants_of(CATALOG.assumptions).usable_memory_share


def test_fitted_constants_say_so_and_stay_in_the_range_of_their_prior() -> None:
    for name in FITTED:
        figure = CATALOG.assumptions[assumption_id(name)].figure
        assert figure.estimate and figure.sources == ("own-fit-estimator",)
        assert figure.low is not None and figure.high is not None
        assert figure.low <= figure.value <= figure.high, name


def test_writing_changes_the_values_and_nothing_else(tmp_path, refitted: Calibration) -> None:
    original = (DATA_FOLDER / "assumptions.yaml").read_text(encoding="utf-8")
    copy = tmp_path / "assumptions.yaml"
    copy.write_text(
        original.replace("id: estimator_gemm_efficiency\n    value: ", "id: estimator_gemm_efficiency\n    value: 9")
    )
    write_constants(refitted.constants, copy)
    assert copy.read_text(encoding="utf-8").splitlines() == original.splitlines()


def test_writing_offsets_leaves_the_rest_of_a_stack(tmp_path, refitted: Calibration) -> None:
    original = STACKS_FILE.read_text(encoding="utf-8")
    copy = tmp_path / "stacks.yaml"
    copy.write_text(original.replace("    offset: 0", "    offset: 7", 1))
    write_stacks(refitted.offsets, copy)
    assert copy.read_text(encoding="utf-8") == original
