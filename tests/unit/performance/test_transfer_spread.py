"""Deviations that measured rows leave to a transferred speed, and the intervals in new software that follow."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from planner.performance.transfer.answer import spread
from planner.performance.transfer.calibrated import SingleErrors, stack_factor
from planner.performance.transfer.cards import Card, card_of
from planner.performance.transfer.fit_terms import LeftOut, term_deviations
from planner.performance.transfer.likeness import ROW_SPREAD, covariance, variance
from planner.performance.transfer.models import load_transfer
from planner.performance.transfer.spread import Spreads
from planner.performance.transfer.terms import log_speeds
from planner.performance.transfer.widths import ModelWidths, single_width
from tests.unit.performance.hardware import shipped_constants
from tests.unit.performance.transfer_fit import catalog, constants

SHIPPED = load_transfer()
(RESNET,) = SHIPPED.models["resnet50-v1.5"]


def expected(gpu: str, stack: str, batch: float = 256) -> float:
    card = card_of(catalog(), gpu, "16-bit", constants())
    assert card is not None
    return spread(SHIPPED, RESNET, card, gpu, "16-bit", stack, batch)


def test_variance_is_the_covariance_of_a_run_with_itself() -> None:
    places = SHIPPED.places.take(np.arange(0, len(SHIPPED.weights), 25))
    assert variance(places) == pytest.approx(np.diag(covariance(places, places)))


def test_deviations_are_those_of_the_whole_process() -> None:
    """By the definition: what is left of a run's variance, given others', of their joint covariance."""
    rows = SHIPPED.rows.take(np.arange(0, len(SHIPPED.rows.workload), 12))
    slopes = log_speeds(SHIPPED.terms[rows.workload], rows.basis)[1] * SHIPPED.term_deviations
    joint = covariance(rows.places, rows.places) + slopes @ slopes.T * np.equal.outer(rows.workload, rows.workload)
    joint += ROW_SPREAD**2 * np.eye(len(joint))
    precision = np.linalg.inv(joint)  # of each given all others: one over its diagonal
    others = np.arange(1, len(joint))
    found = Spreads(rows.take(others), SHIPPED.terms, SHIPPED.term_deviations).of(rows.take(np.array([0])))
    assert found[0] == pytest.approx(precision[0, 0] ** -0.5)


def test_rows_like_a_run_make_it_surer() -> None:
    run, released = expected("rtx-3090", "lambda-benchmark-v1/1.13"), expected("rtx-3090", "lambda-benchmark-v1/1.14")
    elsewhere, far = expected("rtx-3090", "somebody"), expected("mi300x-192gb", "somebody")
    assert ROW_SPREAD < run < released < elsewhere < far
    assert expected("rtx-3090", "somebody", batch=1) > elsewhere  # of which launches are most, and none were measured


def test_rows_as_shipped_are_those_that_were_fitted() -> None:
    card = Card(matmul_tflop_per_s=90.0, vector_tflop_per_s=20.0, bandwidth_gb_per_s=900.0, memory_gb=16.0)
    assert Card.of_features(card.features).features == pytest.approx(card.features)
    assert SHIPPED.term_deviations == pytest.approx(term_deviations(catalog()), rel=1e-3)
    assert len(SHIPPED.rows.workload) == len(SHIPPED.rows.basis) == len(SHIPPED.rows.places.model)
    assert set(SHIPPED.rows.workload.tolist()) == {model.at for of in SHIPPED.models.values() for model in of}
    batches = 1 / SHIPPED.rows.basis[SHIPPED.rows.workload == RESNET.at, 3]
    assert batches.min() >= 32 and batches.max() <= 2048


def test_new_software_is_as_wide_as_errors_of_sources_left_out_over_what_was_expected() -> None:
    new = LeftOut(errors=np.array([0.1, -0.4, 0.3, np.nan, 9.0]), spreads=np.array([0.1, 0.2, 0.1, np.nan, 0.1]))
    errors = cast("SingleErrors", SimpleNamespace(new_stack=new))
    assert stack_factor(errors, np.array([True, True, True, True, False])) == pytest.approx(2.6)  # of 1, 2 and 3
    widths = ModelWidths(known=0.1, new_gpu=0.2, new_desktop_gpu=0.3)

    def width(*, new_gpu: bool, of_stack: float, launch_share: float = 0.0) -> float:
        return single_width(
            widths, new_gpu=new_gpu, new_stack=True, datacenter=True, strange=0.0, of_stack=of_stack,
            launch_share=launch_share, constants=shipped_constants(launch_bound_share=0.4, half_width_regime=0.24),
        )  # fmt: skip

    assert width(new_gpu=False, of_stack=0.15) == 0.15
    assert width(new_gpu=False, of_stack=0.05) == 0.1
    assert width(new_gpu=True, of_stack=0.15) == 0.2
    assert width(new_gpu=True, of_stack=0.32, launch_share=0.5) == pytest.approx(0.4)
