"""Tables and predictors of the tests: short ways to write a file, and estimators whose answer is known."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from planner.catalog.load import load_catalog
from planner.measurements.prediction import RowPrediction
from planner.measurements.table import Table, read_table
from planner.validate.run import Validation, validate_table
from planner.validate.score import ScoredRow
from tests.planning import TODAY

LANGUAGE: Mapping[str, object] = {
    "id": "a",
    "source": "lab/bench@123 table 2",
    "gpu": "A100-SXM4-80GB",
    "n_gpus": 8,
    "task": "pretrain",
    "model": "own-7b",
    "n_params": 7e9,
    "n_layers": 32,
    "d_model": 4096,
    "n_heads": 32,
    "seq_len": 2048,
    "global_batch_seqs": 64,
    "micro_batch_seqs": 2,
    "precision": "bf16",
    "parallelism": "fsdp",
    "tokens_per_s_total": 100.0,
    "notes": "",
}
MEMORY: Mapping[str, object] = {
    "id": "m",
    "source": "lab/memory",
    "gpu": "A100-SXM4-80GB",
    "n_gpus": 1,
    "model": "llama-2-7b",
    "micro_batch_seqs": 1,
    "seq_len": 2048,
    "task": "lora",
    "peak_memory_gb": 20.0,
    "notes": "",
}
TIMES: Mapping[str, object] = {
    "id": "t",
    "round": "v4.0",
    "submitter": "somebody",
    "system": "some system",
    "gpu": "H100-SXM5-80GB",
    "n_gpus": 16,
    "nodes": 2,
    "benchmark": "bert",
    "global_batch_size": 768,
    "minutes": 3.2,
    "notes": "",
}

catalog = partial(load_catalog, today=TODAY)


def text_of(*changes: Mapping[str, object], base: Mapping[str, object] = LANGUAGE, separator: str = ",") -> str:
    """A file with a row for each mapping of changed cells; names that the base lacks become columns."""
    names = list(dict.fromkeys([*base, *(name for change in changes for name in change)]))
    rows = [names, *([str({**base, **change}.get(name, "")) for name in names] for change in changes)]
    return "\n".join(separator.join(row) for row in rows) + "\n"


def table_of(*changes: Mapping[str, object], base: Mapping[str, object] = LANGUAGE) -> Table:
    return read_table(text_of(*changes, base=base).encode(), file="t.csv")


def always(value: float | None, **given: Any) -> Callable[[Sequence[Any]], list[RowPrediction]]:
    """An estimator that says the same of every row."""
    return lambda rows: [RowPrediction(predicted=value, **given) for _ in rows]


def validate(
    *changes: Mapping[str, object],
    predictor: Callable[[Sequence[Any]], Sequence[RowPrediction]] | None = None,
    base: Mapping[str, object] = LANGUAGE,
) -> Validation:
    predictor = predictor or always(110.0, low=90.0, high=130.0)
    return validate_table(
        table_of(*changes, base=base),
        catalog(),
        language=predictor,
        memory=predictor,
        samples=predictor,
        times=predictor,
    )


def scored(measured: float | None, predicted: float | None, **given: Any) -> ScoredRow:
    """A scored row; low and high are those given."""
    cells: dict[str, Any] = {
        "id": "a", "line": 2, "low": None, "high": None, "unit": "tokens_per_s", "basis": "estimated", "novelty": "",
        "skipped": None, "flagged": False, "source": "s", "gpu": "g", "model": "m", "task": "t", "choices": (),
    }  # fmt: skip
    return ScoredRow(**{**cells, **given, "measured": measured, "predicted": predicted})
