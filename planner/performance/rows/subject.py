"""What a measured row ran: its GPU, model, training code, precision and method, with what isn't said filled in."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from planner.catalog.query import find_accelerator, find_workload
from planner.catalog.records import Catalog, Gpu, PartialGpu, Precision, TransformerSpec
from planner.errors import PlannerError
from planner.measurements.rows import LanguageRow
from planner.performance.device import supports
from planner.performance.stacks import Stack, find_stack
from planner.workload.settings import SOFTWARE, Method, Software
from planner.workload.transformer import parameter_count

DEFAULT_SEQ_LEN = 2048
DEFAULT_VOCAB = 32000
HEAD_DIM = 128
LARGE_GPT = 1e10
_VENDORS_CODES = ("megatron", "nemo", "transformer engine", "transformer-engine", "transformerengine")
_ENCODERS = ("bert", "roberta", "electra", "distilbert", "deberta")
# As words of a name: mpt500m is no T5.
_UNSUPPORTED = tuple(
    (re.compile(rf"(?<![a-z0-9])(?:{names})(?![a-z0-9])"), why)
    for names, why in (
        ("transformer-xl", "segment memory and an adaptive softmax"),
        ("(?:m|distil)?bart", "an encoder and a decoder"),
        ("(?:m|um|by|code|long)?t5p?", "an encoder and a decoder"),
        ("(?:falcon-?)?mamba2?|nemotron-[3h]|jamba", "state-space layers"),
    )
)
_PRECISIONS: Mapping[str, Precision] = MappingProxyType(
    {
        "bf16": "bf16",
        "bfloat16": "bf16",
        "fp16": "fp16",
        "float16": "fp16",
        "16": "fp16",
        "half": "fp16",
        "fp32": "fp32",
        "float32": "fp32",
        "32": "fp32",
        "tf32": "tf32",
        "fp8": "fp8",
        "float8": "fp8",
        "mxfp8": "fp8",
        "nvfp4": "fp8",
        "mxfp4": "fp8",
        "fp4": "fp8",
        "nf4": "bf16",  # weights of QLoRA; it computes in 16 bit
        "int4": "bf16",
        "4bit": "bf16",
        "int8": "bf16",
        "8bit": "bf16",
    }
)
_INSTEAD: Mapping[Precision, tuple[Precision, ...]] = MappingProxyType(
    {
        "fp8": ("fp8", "bf16", "fp16", "fp32"),
        "bf16": ("bf16", "fp16", "fp32"),
        "fp16": ("fp16", "bf16", "fp32"),
        "tf32": ("tf32", "fp32"),
        "fp32": ("fp32",),
    }
)
_GPT_LAYERS = ((1e9, 24), (5e9, 32), (2e10, 40), (5e10, 60), (1.5e11, 80), (2.2e11, 72), (math.inf, 96))
"""Layers of published GPT models up to a number of parameters: GPT-3's table, and BLOOM's 70."""


class RowError(ValueError):
    """A row that the estimator doesn't understand; the text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What ran. `choices` says in words what was filled in."""

    row: LanguageRow
    gpu: Gpu | PartialGpu
    stack: Stack
    software: Software
    spec: TransformerSpec
    parameters: float
    precision: Precision
    method: Method
    seq_len: int
    element_bytes: float  # of an activation: also on GPUs that lack the arithmetic, 16 bit where that was asked for
    choices: list[str] = field(default_factory=list)

    @property
    def is_encoder(self) -> bool:
        """Whether attention looks both ways and no head stands over every token."""
        return self.spec.encoder

    @property
    def fused_attention(self) -> bool:
        """Whether the code has flash attention: as its notes say, else as usual: decoders do, encoders don't."""
        notes = (self.row.compile_flash_notes or "").casefold()
        if "no flash" in notes:
            return False
        if "flash" in notes or "cudnn" in notes or "sdpa" in notes:
            return True
        return not self.is_encoder

    @property
    def fused_elementwise(self) -> bool:
        """Whether norms and activations are fused kernels, by the stack's rule."""
        if self.stack.elementwise != "by model":
            return self.stack.elementwise == "fused"
        if self.is_encoder:
            return False
        return self.software != "eager" or not self.spec.gated_mlp


def subject_of(row: LanguageRow, catalog: Catalog, stacks: tuple[Stack, ...]) -> Subject:
    """Settle what ran.

    Raises
    ------
    RowError
        The GPU's rates aren't known, or the model isn't a decoder or an encoder.
    """
    gpu = _gpu(row, catalog)
    stack = find_stack(row.framework, row.source, stacks)
    choices: list[str] = []
    software = _software(row, stack, choices)
    spec, parameters = _model(row, catalog, choices)
    method: Method = {"lora": "lora", "qlora": "qlora"}.get((row.task or "").casefold(), "full")  # type: ignore[assignment]
    if not row.task:
        choices.append("task full training")
    seq_len = row.seq_len or min(spec.seq_len, DEFAULT_SEQ_LEN)
    if row.seq_len is None:
        choices.append(f"sequence length {seq_len}")
    return Subject(
        row=row,
        gpu=gpu,
        stack=stack,
        software=software,
        spec=spec,
        parameters=parameters,
        precision=_precision(row, gpu, software, spec, choices),
        method=method,
        seq_len=seq_len,
        element_bytes=4.0 if _wanted(row, software, gpu, spec) in ("fp32", "tf32") else 2.0,
        choices=choices,
    )


def _gpu(row: LanguageRow, catalog: Catalog) -> Gpu | PartialGpu:
    try:
        gpu = find_accelerator(catalog, row.gpu or "")
    except PlannerError as error:
        raise RowError(f"gpu: found '{row.gpu}', expected a GPU of the catalog") from error
    if gpu.vendor not in ("NVIDIA", "AMD"):
        raise RowError(f"gpu: found '{row.gpu}', expected a GPU: {gpu.vendor}'s accelerators aren't estimated")
    if gpu.memory_gb is None or gpu.memory_bandwidth_gb_per_s is None or not gpu.dense_tflop_per_s:
        raise RowError(f"gpu: found '{row.gpu}', whose rates aren't known, expected a GPU with known rates")
    return gpu


def _software(row: LanguageRow, stack: Stack, choices: list[str]) -> Software:
    if stack.software is not None:
        return stack.software
    said = (row.software_tier or "").casefold()
    for tier in SOFTWARE:
        if said == tier:
            return tier
    notes = (row.compile_flash_notes or "").casefold()
    guess: Software = "compiled" if "compile" in notes and "no compile" not in notes else "eager"
    if _is_vendors_code(row):
        guess = "vendor"
    choices.append(f"software {guess}")
    return guess


def _is_vendors_code(row: LanguageRow) -> bool:
    """Whether the framework's name stands for the vendor's own kernels."""
    return any(name in (row.framework or "").casefold() for name in _VENDORS_CODES)


def _model(row: LanguageRow, catalog: Catalog, choices: list[str]) -> tuple[TransformerSpec, float]:
    name = (row.model or "").casefold()
    for names, why in _UNSUPPORTED:
        if names.search(name.split("/")[-1]):
            raise RowError(f"model: found '{row.model}', with {why}, expected a decoder or an encoder")
    if row.n_layers and row.d_model:
        spec = _given_shape(row, name, choices)
        return spec, float(row.n_params or parameter_count(spec))
    known = known_model(row.model, catalog)
    if known is not None:
        choices.append("shape of the catalog's model")
        return known[0], float(row.n_params or known[1])
    if row.n_params:
        spec = _usual_shape(float(row.n_params), row.vocab or DEFAULT_VOCAB, row.seq_len or DEFAULT_SEQ_LEN)
        choices.append("usual shape for the number of parameters")
        return spec, float(row.n_params)
    raise RowError(f"model: found '{row.model or ''}', expected a model of the catalog; or n_layers and d_model")


def known_model(model: str | None, catalog: Catalog) -> tuple[TransformerSpec, float] | None:
    """Shape and parameters of the catalog's model of that name; None without one."""
    try:
        workload = find_workload(catalog, model or "")
    except PlannerError:
        return None
    return None if workload.transformer is None else (workload.transformer, workload.parameters.value)


def _given_shape(row: LanguageRow, name: str, choices: list[str]) -> TransformerSpec:
    assert row.n_layers is not None and row.d_model is not None
    heads = row.n_heads or max(1, row.d_model // HEAD_DIM)
    missing = [column for column in ("n_heads", "d_ff", "vocab") if getattr(row, column) is None]
    if missing:
        choices.append(f"usual {', '.join(missing)}")
    encoder = name.startswith(_ENCODERS)
    spec = TransformerSpec(
        layers=row.n_layers,
        d_model=row.d_model,
        heads=heads,
        kv_heads=row.n_kv_heads or heads,
        d_ff=row.d_ff or 4 * row.d_model,
        gated_mlp=False,
        vocab=row.vocab or DEFAULT_VOCAB,
        seq_len=row.seq_len or DEFAULT_SEQ_LEN,
        encoder=encoder,
        tied_embeddings=encoder,
    )
    return replace(spec, gated_mlp=_is_gated(row, spec))


def _is_gated(row: LanguageRow, spec: TransformerSpec) -> bool:
    """Whether the feed-forward block is gated: as said, else whichever comes nearer to the number of parameters."""
    if row.gated_mlp is not None:
        return row.gated_mlp
    if spec.encoder:
        return False
    if row.n_params is None:
        return spec.d_ff != 4 * spec.d_model
    alternatives = [
        (abs(parameter_count(replace(spec, gated_mlp=gated, tied_embeddings=tied)) - row.n_params), gated)
        for gated in (False, True)
        for tied in (False, True)
    ]
    return min(alternatives)[1]


def _usual_shape(parameters: float, vocab: int, seq_len: int) -> TransformerSpec:
    """A GPT of that size: layers by the published ones, width by 12 weights a layer and squared width.

    J. Kaplan et al., "Scaling Laws for Neural Language Models," 2020, sec. 2.1, arXiv:2001.08361.
    """
    layers = next(count for most, count in _GPT_LAYERS if parameters < most)
    step = 8 * HEAD_DIM if parameters > LARGE_GPT else HEAD_DIM  # heads that eight GPUs can share
    width = max(step, round(math.sqrt(parameters / (12 * layers)) / step) * step)
    return TransformerSpec(
        layers=layers,
        d_model=width,
        heads=width // HEAD_DIM,
        kv_heads=width // HEAD_DIM,
        d_ff=4 * width,
        gated_mlp=False,
        vocab=vocab,
        seq_len=seq_len,
        encoder=False,
        tied_embeddings=True,
    )


def _precision(
    row: LanguageRow, gpu: Gpu | PartialGpu, software: Software, spec: TransformerSpec, choices: list[str]
) -> Precision:
    wanted = _wanted(row, software, gpu, spec)
    found = next((candidate for candidate in _INSTEAD[wanted] if supports(gpu, candidate)), None)
    if found is None:
        raise RowError(f"gpu: found '{row.gpu}', without a known rate in {wanted}, expected a GPU with one")
    if not row.precision or found != wanted:
        choices.append(f"precision {found}")
    return found


def _wanted(row: LanguageRow, software: Software, gpu: Gpu | PartialGpu, spec: TransformerSpec) -> Precision:
    """The precision that is said; else 8 bit where vendors' recent entries have it, and 16 bit elsewhere.

    Vendors' codes that aren't said to be tuned by the vendor run in 16 bit as they come.
    """
    said = re.sub(r"^(amp|pure)[-_ ]|[-_ ](mixed|true|amp|dq).*$", "", (row.precision or "").casefold().strip())
    if not said:
        tuned = software == "vendor" and bool(row.software_tier or not _is_vendors_code(row))
        return "fp8" if tuned and supports(gpu, "fp8") and not spec.encoder else "bf16"
    wanted = next((value for text, value in _PRECISIONS.items() if said.startswith(text)), None)
    if wanted is None:
        raise RowError(f"precision: found '{row.precision}', expected one of {', '.join(_PRECISIONS)}")
    return wanted
