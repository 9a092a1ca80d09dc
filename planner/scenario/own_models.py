"""Models of a scenario's own become workloads of its catalog, before anything is looked up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from planner.catalog.query import find_workload
from planner.catalog.records import Catalog, Figure, Precision, Workload
from planner.errors import InputError, UnknownIdError
from planner.scenario.jobs import ModelInput
from planner.workload.huggingface import ModelConfig, read_config

MAX_BYTES = 1_000_000
_SOURCES = ("scenario",)
_USUAL_BATCH = {"decoder": 512, "encoder": 256, "vision": 1024}  # as the catalog's recipes have it for such models


def with_own_models(catalog: Catalog, own: Mapping[str, ModelInput]) -> Catalog:
    """The catalog with the models of a scenario beside its own workloads.

    Raises
    ------
    InputError
        An id that already means a workload of the catalog (`model_identity`), or a config that isn't understood;
        `field` is the path of the key.
    """
    if not own:
        return catalog
    for id in own:
        _check_free(catalog, id)
    models = {id: _workload(id, entry) for id, entry in own.items()}
    return replace(catalog, workloads={**catalog.workloads, **models})


def model_workload(
    id: str,
    config: Mapping[str, Any] | str | bytes,
    *,
    name: str | None = None,
    seq_len: int | None = None,
    precision: Precision = "bf16",
    global_batch: int | None = None,
    tokens: float | None = None,
    samples: float | None = None,
    epochs: float | None = None,
) -> Workload:
    """A workload from a config.json; decoders count their work in tokens, the others in samples.

    Raises
    ------
    InputError
        As `read_config`; also a model whose speed can't be estimated (`model_not_estimated`).
    """
    model = read_config(config, seq_len=seq_len)
    kind = _kind_of(model)
    return Workload(
        id=id,
        name=name or id,
        unit="tokens" if kind == "decoder" else "samples",
        parameters=_given(model.parameters),
        transformer=model.transformer,
        vision=model.vision,
        precision=precision,
        global_batch=global_batch or _USUAL_BATCH[kind],
        checkpointing="none",
        samples=None if samples is None else _given(samples),
        epochs=epochs,
        tokens=None if tokens is None else _given(tokens),
        evidence_models=(),
        aliases=(),
        source="scenario",
        note="\n".join(model.notes),
    )


def model_from_file(path: Path, *, seq_len: int | None = None) -> Workload:
    """A workload from a config.json on disk, called like the file.

    Raises
    ------
    InputError
        As `model_workload`, and when the file can't be read; `field` is the option of the command line.
    """
    try:
        with path.open("rb") as stream:
            content = stream.read(MAX_BYTES + 1)
    except OSError as error:
        reason = error.strerror or "an error"
        raise InputError("cannot_read", field="--model-config", value=str(path), reason=reason) from None
    if len(content) > MAX_BYTES:
        raise InputError("cannot_read", field="--model-config", value=str(path), reason=f"above {MAX_BYTES:,} bytes")
    try:
        return model_workload(path.stem, content, seq_len=seq_len)
    except InputError as error:
        field = "--seq-len" if error.field == "seq_len" else f"--model-config {error.field}".strip()
        raise InputError(error.code, field=field, **error.params) from None


def _kind_of(model: ModelConfig) -> str:
    if model.transformer is not None:
        return "encoder" if model.transformer.encoder else "decoder"
    if model.vision is None:
        raise InputError("model_not_estimated", field="model_type", value=model.family)
    return "vision"


def _check_free(catalog: Catalog, id: str) -> None:
    try:
        find_workload(catalog, id)
    except UnknownIdError:
        return
    raise InputError("model_identity", field=f"models.{id}", value=id)


def _workload(id: str, entry: ModelInput) -> Workload:
    where = f"models.{id}"
    try:
        return model_workload(
            id,
            entry.config,
            name=entry.name,
            seq_len=entry.seq_len,
            precision=entry.precision,
            global_batch=entry.global_batch,
            tokens=entry.tokens,
            samples=entry.samples,
            epochs=entry.epochs,
        )
    except InputError as error:
        inner = "" if error.field == "seq_len" else ".config"
        field = ".".join(part for part in (where + inner, error.field) if part)
        raise InputError(error.code, field=field, **error.params) from None


def _given(value: float) -> Figure:
    return Figure(value=float(value), sources=_SOURCES)
