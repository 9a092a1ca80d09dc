"""Predictions of a table of speeds counted in samples: known models by transfer, others by their arithmetic."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from planner.catalog.query import accelerators_named, find_accelerator
from planner.catalog.records import Catalog, Gpu, PartialGpu
from planner.errors import CatalogError
from planner.measurements.prediction import Basis, RowPrediction
from planner.measurements.rows import SampleRow
from planner.messages import as_text
from planner.performance.constants import Constants, constants_of
from planner.performance.data_file import file_problem
from planner.performance.device import device_of
from planner.performance.evidence import PRECISIONS, SAMPLE_FILE, find_precision
from planner.performance.scaling import Link, link_of
from planner.performance.transfer.answer import answer
from planner.performance.transfer.cards import PrecisionClass
from planner.performance.transfer.known_rows import Speeds, measured_before, speeds_of
from planner.performance.transfer.links import kind_of
from planner.performance.transfer.models import KnownModel, Transfer, load_transfer
from planner.performance.transfer.published import CHANNELS_LAST, input_key, precision_class, shipped_table, unit_key
from planner.performance.transfer.software import stack_of
from planner.performance.transfer.widths import exchange_width
from planner.performance.uncertainty import vision_half_width
from planner.performance.vision import vision_step
from planner.performance.vision_names import named_spec
from planner.validation import near


@dataclass(frozen=True, slots=True, kw_only=True)
class _Subject:
    """What of a row is understood."""

    gpu: Gpu | PartialGpu
    precision: PrecisionClass
    link: Link
    stack: str
    choices: tuple[str, ...]


def predict_sample_rows(rows: Sequence[SampleRow], catalog: Catalog, *, published: bool = True) -> list[RowPrediction]:
    """Speed of each row, from its configuration and what is known of its model. [samples/s, or the row's unit]

    Parameters
    ----------
    rows : sequence of SampleRow
        What was measured is not looked at.
    catalog : Catalog
        GPUs and the estimator's constants.
    published : bool
        Whether other published rows of a row's own configuration may answer it.

    Returns
    -------
    list of RowPrediction
        In the order of the rows: `measured` where such rows do, `transferred` for models that were measured on other
        cards, `estimated` from the arithmetic of an image otherwise; rows that allow neither say why.
    """
    constants = constants_of(catalog.assumptions)
    transfer, speeds = _fitted(catalog, constants), speeds_of(shipped_table()) if published else {}
    return [_predict(row, catalog, constants, transfer, speeds) for row in rows]


def _fitted(catalog: Catalog, constants: Constants) -> Transfer:
    """What ships, or, where the table of speeds isn't the one of that fit any more, a fit to what it is now."""
    shipped, table = load_transfer(), shipped_table()
    if table.digest == shipped.table:
        return shipped
    from planner.performance.transfer.left_out import refitted  # fits, which the shipped table never needs

    found = refitted(table, {row.id for row in table.rows}, catalog, constants)
    if found is None:
        expected = "rows of a suite of models on one GPU"
        raise CatalogError("catalog_invalid", [file_problem(SAMPLE_FILE, "none that can be fitted", expected)])
    return found


def _skipped(reason: str) -> RowPrediction:
    return RowPrediction(predicted=None, skipped=reason)


def _predict(
    row: SampleRow, catalog: Catalog, constants: Constants, transfer: Transfer, speeds: Speeds
) -> RowPrediction:
    precision = precision_class(row.precision or "")
    if precision is None:
        usable = ", ".join(name for name in PRECISIONS if precision_class(name) is not None)
        return _skipped(f"precision: found '{row.precision}', expected one of {usable}")
    named = accelerators_named(catalog, row.gpu or "")
    meant = named if len(named) == 1 else [id for id in named if id in transfer.cards]
    if len(meant) != 1:
        return _skipped(f"gpu: found '{row.gpu}', expected {as_text(list(named))}")
    gpu = find_accelerator(catalog, meant[0])
    gpus = row.n_gpus
    if gpus is None:
        return _skipped("n_gpus: found nothing, expected the number of GPUs")
    subject = _Subject(
        gpu=gpu,
        precision=precision,
        link=link_of(gpu, gpus, row.gpus_per_node or gpus, None, constants),
        stack=stack_of(row.source or "", row.framework or ""),
        choices=() if len(named) == 1 else (f"gpu {gpu.id}",),
    )
    found = measured_before(row, gpu.id, precision, subject.stack, constants, speeds)
    if found is not None:
        return replace(found, choices=subject.choices)
    known = transfer.models.get((row.model or "").strip().casefold(), ())
    if known:
        return _transferred(row, subject, known, constants, transfer)
    return _estimated(row, subject, constants, transfer)


def _transferred(
    row: SampleRow, subject: _Subject, known: Sequence[KnownModel], constants: Constants, transfer: Transfer
) -> RowPrediction:  # fmt: skip
    size = input_key(row.input or "", row.notes or "")
    most_measured = max(known, key=lambda model: len(model.cards))
    model = next((model for model in known if model.input == size), None if size else most_measured)
    if model is None:
        sizes = ", ".join(sorted(model.input for model in known))
        return _skipped(f"input: found '{row.input}', expected one it was measured with: {sizes}")
    choices = () if model.input == size else (f"input {model.input or 'as published'}",)
    if row.throughput_unit and unit_key(row.throughput_unit) != model.unit:
        return _skipped(f"throughput_unit: found '{row.throughput_unit}', expected {model.unit}s/s, as published")
    batch: float | None = row.batch_per_gpu
    if batch is None:
        batch = model.usual_batch
        choices = (*choices, f"batch {batch:g}")
    found = answer(
        model, gpu=subject.gpu, precision=subject.precision, batch=batch, stack=subject.stack, link=subject.link,
        constants=constants, transfer=transfer,
    )  # fmt: skip
    if found is None:
        return _skipped(f"gpu: found '{row.gpu}', expected a card whose memory, bandwidth and rates are known")
    return _with_interval(found.speed, [found.half_width], "transferred", found.novelty, (*subject.choices, *choices))


def _estimated(row: SampleRow, subject: _Subject, constants: Constants, transfer: Transfer) -> RowPrediction:
    if row.fwd_gmacs_per_sample is None or row.activations_m_per_sample is None:
        expected = "a model that was measured elsewhere; or fwd_gmacs_per_sample and activations_m_per_sample"
        resembling = near(row.model or "", transfer.models)
        hint = f"; did you mean {' or '.join(resembling)}?" if resembling else ""
        return _skipped(f"model: found '{row.model}', expected {expected}{hint}")
    if isinstance(subject.gpu, PartialGpu) and subject.gpu.missing:
        return _skipped(f"gpu: found '{row.gpu}', expected a card all of whose figures are known")
    precision = find_precision(row.precision)
    usable = precision if precision in subject.gpu.dense_tflop_per_s else None
    if usable is None:
        return _skipped(f"precision: found '{row.precision}', expected one that {subject.gpu.name} computes in")
    spec = named_spec(row.model or "", row.fwd_gmacs_per_sample, row.activations_m_per_sample, row.input or "")
    batch, parameters, choices = row.batch_per_gpu, row.n_params, subject.choices
    if batch is None:
        batch = round(constants.usual_image_batch)
        choices = (*choices, f"batch {batch}")
    if parameters is None:
        parameters = 0.0
        choices = (*choices, "no parameters to update or exchange")
    device = device_of(subject.gpu, usable, constants)
    channels_last = CHANNELS_LAST in f"{row.notes or ''} {row.framework or ''}".casefold()
    step = vision_step(spec, parameters, batch, 1.0, device, subject.link, constants, channels_last=channels_last)
    speed = subject.link.gpus * batch / step.total_s
    widths = [vision_half_width(spec, constants, channels_last=channels_last)]
    if subject.link.gpus > 1:
        share = (step.parts_s["communication"] + step.parts_s["waiting"]) / step.total_s
        widths.append(exchange_width(kind_of(subject.gpu), share, transfer.exchange_widths, constants))
    return _with_interval(speed, widths, "estimated", "new-model", choices)


def _with_interval(
    speed: float, widths: Sequence[float], basis: Basis, novelty: str, choices: tuple[str, ...]
) -> RowPrediction:
    factor = math.exp(math.hypot(*widths))
    return RowPrediction(
        predicted=speed,
        low=speed / factor,
        high=speed * factor,
        basis=basis,
        novelty=novelty,
        choices=choices,
    )
