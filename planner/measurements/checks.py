"""Rows that can't be predicted: GPUs and models nobody knows, and configurations that can't exist."""

from __future__ import annotations

import re
from collections.abc import Collection

from planner.catalog.query import accelerators_named, find_accelerator, find_workload, workloads_named
from planner.catalog.records import Catalog, Gpu, PartialGpu, TransformerSpec, Workload
from planner.errors import InputError, UnknownIdError
from planner.measurements.fault import Fault
from planner.measurements.parallelism import EXPECTED, Parallelism, ParallelismError, parse_parallelism
from planner.measurements.rows import LanguageRow, MemoryRow, Row, SampleRow, TimeRow
from planner.measurements.table import Table
from planner.messages import as_text
from planner.units import FLOP_PER_TFLOP, MACS_PER_GMAC

TASKS = ("pretrain", "full-finetune", "lora", "qlora")
SAMPLE_TASKS = ("train",)
CLOSED = "closed"
_DIVISION = re.compile(r"division=(\w+)")
_SMALLER_LAST = ("composer", "llm-foundry")
"""Frameworks that run a last micro-batch with fewer sequences, so that micro-batches need not divide the batch."""
_SAMPLES = ("samples", "sequences", "images")
_SHOWN = 60
_MOST_OF_NOMINAL = 1.1  # nominal GB are GiB
_ABOVE_PEAK = 2.0  # 4-bit formats are twice as fast as the 8 bit of the catalog
_MOST_NAMES = 200
"""Names after which those resembling an unknown one are no longer looked for: that takes a millisecond each."""


def reason(column: str, found: object, expected: str) -> Fault:
    """A fault of a column."""
    return Fault(field=column, found=str(found), expected=expected)


class Subjects:
    """GPUs and models that are known, each name looked up once however many rows have it.

    Parameters
    ----------
    catalog : Catalog
        GPUs and workloads.
    other_models : collection of str
        Names, in lower case, that the estimator knows besides the catalog's workloads.
    """

    def __init__(self, catalog: Catalog, other_models: Collection[str] = frozenset()) -> None:
        self._catalog = catalog
        self._other_models = frozenset(other_models)
        self._gpus: dict[str, Fault | None] = {}
        self._found: dict[str, Gpu | PartialGpu] = {}
        self._models: dict[str, Workload | UnknownIdError] = {}

    def gpu_reason(self, text: str) -> Fault | None:
        """Why a GPU isn't known; None when it is, if only in part."""
        if text not in self._gpus:
            self._gpus[text] = self._find_gpu(text)
        return self._gpus[text]

    def is_ambiguous(self, text: str) -> bool:
        """Whether several GPUs go by a name."""
        return self.gpu_reason(text) is not None and len(accelerators_named(self._catalog, text)) > 1

    def gpu(self, text: str) -> Gpu | PartialGpu | None:
        """The catalog's GPU of a name; None where it isn't known or could be several."""
        if self.gpu_reason(text) is not None:
            return None
        if text not in self._found:
            self._found[text] = find_accelerator(self._catalog, text)
        return self._found[text]

    def _find_gpu(self, text: str) -> Fault | None:
        if len(self._gpus) > _MOST_NAMES and not accelerators_named(self._catalog, text):
            return reason("gpu", _quoted(text), "a GPU of the catalog")
        try:
            find_accelerator(self._catalog, text)
        except UnknownIdError as error:
            return reason("gpu", _quoted(text), _one_of("a GPU of the catalog", error))
        except InputError as error:
            return reason("gpu", _quoted(text), as_text(error.params["could_be"]))
        return None

    def model(self, text: str) -> Workload | UnknownIdError:
        """The catalog's model of a name, or the error that names those resembling it."""
        if text not in self._models:
            self._models[text] = self._find_model(text)
        return self._models[text]

    def _find_model(self, text: str) -> Workload | UnknownIdError:
        if len(self._models) > _MOST_NAMES and not workloads_named(self._catalog, text):
            return UnknownIdError("workload", text, [])
        try:
            return find_workload(self._catalog, text)
        except UnknownIdError as error:
            return error

    def shape(self, row: LanguageRow | MemoryRow) -> TransformerSpec | None:
        """Shape of the catalog's model of that name; None where there is none."""
        known = self.model(row.model) if row.model else None
        return known.transformer if isinstance(known, Workload) else None

    def model_reason(self, row: LanguageRow | MemoryRow) -> Fault | None:
        """Why nothing is known of a row's model: no shape, no number of parameters, and no name that is known."""
        if row.n_params is not None or (row.n_layers is not None and row.d_model is not None):
            return None
        if not row.model:
            return reason("model", "nothing", "a model of the catalog; or n_layers and d_model")
        if row.model.strip().casefold() in self._other_models:
            return None
        known = self.model(row.model)
        if isinstance(known, Workload):
            if known.transformer is not None:
                return None
            return reason("model", _quoted(row.model), "a language model; or n_layers and d_model")
        named = _one_of("a model of the catalog", known)
        return reason("model", _quoted(row.model), f"{named}; or n_layers and d_model")


def row_reason(row: Row, subjects: Subjects) -> Fault | None:
    """Why a row can't be predicted; None when nothing speaks against it.

    Parameters
    ----------
    row : LanguageRow, MemoryRow, SampleRow or TimeRow
        What is written in the table.
    subjects : Subjects
        GPUs and models that are known.

    Returns
    -------
    Fault or None
        Column, what was found there and what would be right.
    """
    if not row.gpu:
        return reason("gpu", "nothing", "the name of a GPU")
    if row.n_gpus is None:
        return reason("n_gpus", "nothing", "the number of GPUs")
    if isinstance(row, TimeRow):
        return subjects.gpu_reason(row.gpu) or _time_reason(row)
    tasks = SAMPLE_TASKS if isinstance(row, SampleRow) else TASKS
    if row.task and row.task.casefold() not in tasks:
        return reason("task", _quoted(row.task), as_text(tasks))
    if isinstance(row, SampleRow):
        # A name of several cards is left to the estimator: where one of them was measured under it, that is meant.
        unknown = None if subjects.is_ambiguous(row.gpu) else subjects.gpu_reason(row.gpu)
        return unknown or _sample_reason(row) or _sample_speed_reason(row, subjects)
    spread = Parallelism()
    if row.parallelism:
        try:
            spread = parse_parallelism(row.parallelism)
        except ParallelismError:
            return reason("parallelism", _quoted(row.parallelism), EXPECTED)
    return (
        subjects.gpu_reason(row.gpu)
        or subjects.model_reason(row)
        or _shape_reason(row, spread, subjects.shape(row))
        or _gpus_reason(row, spread)
        or _batch_reason(row, spread)
        or _measured_reason(row, subjects)
    )


def faults_of(table: Table, at: int, subjects: Subjects) -> tuple[Fault, ...]:
    """What is wrong with a row of a table: its cells, or else what they mean together."""
    found = table.faults.get(at, ())
    if found:
        return found
    together = row_reason(table.rows[at], subjects)
    return () if together is None else (together,)


def _sample_reason(row: SampleRow) -> Fault | None:
    if not row.model and (row.fwd_gmacs_per_sample is None or row.activations_m_per_sample is None):
        return reason("model", "nothing", "its name; or fwd_gmacs_per_sample and activations_m_per_sample")
    if not row.precision:
        return reason("precision", "nothing", "the precision that was computed in: it decides the speed")
    return None


def _sample_speed_reason(row: SampleRow, subjects: Subjects) -> Fault | None:
    """A speed beyond what the GPUs can compute, of what is counted in samples and whose arithmetic is known."""
    gpu = subjects.gpu(row.gpu or "")
    counted = (row.throughput_unit or "samples").casefold().removesuffix("/s")
    if gpu is None or row.measured is None or row.fwd_gmacs_per_sample is None or counted not in _SAMPLES:
        return None
    macs = row.fwd_gmacs_per_sample * MACS_PER_GMAC
    return speed_reason("throughput", row.measured, gpu, row.n_gpus or 1, flop_of_macs(macs))


def _time_reason(row: TimeRow) -> Fault | None:
    if not row.benchmark:
        return reason("benchmark", "nothing", "the name of a benchmark")
    division = row.division or next(iter(_DIVISION.findall(row.notes or "")), "")
    if division and division.casefold() != CLOSED:
        return reason("division", _quoted(division), f"{CLOSED}: others may change model, data and target")
    if row.nodes is not None and row.n_gpus is not None and row.n_gpus % row.nodes:
        return reason("n_gpus", row.n_gpus, f"a multiple of the {row.nodes} nodes")
    return None


def _shape_reason(row: LanguageRow | MemoryRow, spread: Parallelism, known: TransformerSpec | None) -> Fault | None:
    """A split that the model doesn't allow."""
    heads = row.n_heads or (known.heads if known else None)
    layers = row.n_layers or (known.layers if known else None)
    kv_heads = row.n_kv_heads
    if heads is not None and kv_heads is not None and (kv_heads > heads or heads % kv_heads):
        return reason("n_kv_heads", kv_heads, f"a divisor of the {heads} attention heads")
    if heads is not None and spread.tensor > heads:
        found = f"tensor parallel over {spread.tensor}"
        return reason("parallelism", found, f"at most the {heads} attention heads")
    if heads is not None and heads % spread.tensor:
        found = f"tensor parallel over {spread.tensor}"
        return reason("parallelism", found, f"a divisor of the {heads} attention heads")
    if layers is not None and spread.pipeline > layers:
        return reason("parallelism", f"{spread.pipeline} pipeline stages", f"at most the {layers} layers")
    chunks = spread.pipeline * spread.virtual
    if layers is not None and chunks > layers:
        found = f"{spread.pipeline} pipeline stages of {spread.virtual} chunks"
        return reason("parallelism", found, f"at most {layers} chunks in all, one for each layer")
    if row.seq_len is not None and row.seq_len % spread.context:
        found = f"context parallel over {spread.context}"
        return reason("parallelism", found, f"a divisor of the {row.seq_len} tokens of a sequence")
    return None


def _gpus_reason(row: LanguageRow | MemoryRow, spread: Parallelism) -> Fault | None:
    """A split that the number of GPUs doesn't allow."""
    gpus = row.n_gpus or 1
    if spread.kind == "single" and gpus > 1:
        return reason("parallelism", f"'{row.parallelism}' on {gpus} GPUs", "how they are used together, or n_gpus 1")
    if gpus % spread.split:
        return reason("n_gpus", gpus, f"a multiple of {spread.split} ({_degrees(spread)})")
    if spread.data is not None and spread.kind != "fsdp" and spread.split * spread.data != gpus:
        product = spread.split * spread.data
        return reason("n_gpus", gpus, f"{product} ({_degrees(spread)} x data {spread.data})")
    if (gpus // spread.pipeline) % spread.expert:
        whole = f"a divisor of the {gpus // spread.pipeline} GPUs of a pipeline stage"
        return reason("parallelism", f"expert parallel over {spread.expert}", whole)
    if spread.shard_group is not None:
        # A group may span context ranks (they hold the same weights), never tensor or pipeline ranks.
        holders = gpus // (spread.tensor * spread.pipeline)
        if holders % spread.shard_group:
            return reason("parallelism", f"groups of {spread.shard_group}", f"a divisor of the {holders} copies")
    return None


def _batch_reason(row: LanguageRow | MemoryRow, spread: Parallelism) -> Fault | None:
    """A batch that can't be dealt out evenly. Where the parallelism isn't said, any split of the GPUs may be meant."""
    if not isinstance(row, LanguageRow) or row.global_batch_seqs is None:
        return None
    batch, micro = row.global_batch_seqs, row.micro_batch_seqs
    copies = (row.n_gpus or 1) // spread.split if row.parallelism else 1
    if copies > 1 and batch % copies:
        return reason("global_batch_seqs", batch, f"a multiple of the {copies} copies of the model")
    if micro is None:
        return None
    if micro * copies > batch:
        return reason("micro_batch_seqs", micro, f"at most the {batch // copies} of the global batch for each copy")
    uneven = any(name in (row.framework or "").casefold() for name in _SMALLER_LAST)
    if batch % (copies * micro) and not uneven:
        one_pass = f"{copies * micro} ({copies} copies x micro-batch {micro})" if copies > 1 else f"{micro}"
        return reason("global_batch_seqs", batch, f"a multiple of {one_pass}")
    if row.grad_accum is not None and row.parallelism and not uneven:
        product = copies * micro * row.grad_accum
        if abs(product - batch) > 0.5:
            expected = f"{product:g} ({copies} copies x micro-batch {micro} x {row.grad_accum:g} passes)"
            return reason("global_batch_seqs", batch, expected)
    return None


def _measured_reason(row: LanguageRow | MemoryRow, subjects: Subjects) -> Fault | None:
    """A measured value beyond what the GPUs have: one in other units, of other GPUs, or a slip."""
    gpu = subjects.gpu(row.gpu or "")
    if gpu is None or row.measured is None:
        return None
    if isinstance(row, MemoryRow):
        has_gb = None if gpu.memory_gb is None else gpu.memory_gb.value
        if has_gb is not None and row.measured > _MOST_OF_NOMINAL * has_gb:
            return reason("peak_memory_gb", f"{row.measured:g}", f"at most the {has_gb:g} GB of {gpu.name}")
        return None
    known = subjects.shape(row)
    layers = row.n_layers or (known.layers if known else None)
    width = row.d_model or (known.d_model if known else None)
    if layers is None or width is None:
        return None
    return speed_reason("tokens_per_s_total", row.measured, gpu, row.n_gpus or 1, flop_of_token(layers, width))


def flop_of_token(layers: int, width: int) -> float:
    """FLOP of a token in attention's projections alone, forward and back to the activations: training needs more."""
    return 4.0 * 2.0 * layers * float(width) ** 2


def flop_of_macs(macs: float) -> float:
    """FLOP of a sample, forward and back to the activations: training needs more."""
    return 4.0 * macs


def speed_reason(column: str, measured: float, gpu: Gpu | PartialGpu, gpus: int, flop: float) -> Fault | None:
    """Why a speed can't be meant, as the GPUs can't compute that much; None where they can, or aren't known enough.

    Parameters
    ----------
    column : str
        Where the speed stands.
    measured : float
        Of all GPUs together. [units/s]
    gpu, gpus
        The GPU, and how many.
    flop : float
        The least that a unit needs. [FLOP]
    """
    rates = [figure.value for figure in gpu.dense_tflop_per_s.values()]
    if not rates:
        return None
    most = _ABOVE_PEAK * max(rates) * FLOP_PER_TFLOP * gpus / flop
    if measured <= most:
        return None
    return reason(column, f"{measured:g}", f"at most {most:.3g}, all that the GPUs can compute")


def _degrees(spread: Parallelism) -> str:
    degrees = {"tensor": spread.tensor, "pipeline": spread.pipeline, "context": spread.context}
    return " x ".join(f"{name} {size}" for name, size in degrees.items() if size > 1) or "no split"


def _one_of(what: str, error: UnknownIdError) -> str:
    near = error.params["near"]
    return f"{what}, such as {as_text(near)}" if near else what


def _quoted(text: str) -> str:
    return f"'{text}'" if len(text) <= _SHOWN else f"'{text[: _SHOWN - 3]}...'"
