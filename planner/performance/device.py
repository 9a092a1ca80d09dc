"""What a GPU reaches in practice: matmul and attention rates, bandwidth, and bytes a program can use."""

from __future__ import annotations

from dataclasses import dataclass

from planner.catalog.records import Figure, Gpu, PartialGpu, Precision
from planner.performance.constants import Constants
from planner.units import BYTES_PER_GB, BYTES_PER_GIB, BYTES_PER_MIB, FLOP_PER_TFLOP, HZ_PER_MHZ

# Precisions whose published matmul rate stands in for another's of the same width, best first.
_STAND_INS: dict[Precision, tuple[Precision, ...]] = {
    "fp16": ("fp16", "bf16"),
    "bf16": ("bf16", "fp16"),
    "tf32": ("tf32", "bf16", "fp16"),
    "fp32": ("fp32",),
    "fp8": ("fp8", "bf16", "fp16"),
}


SINGLE_ISSUE = frozenset({"Maxwell", "Pascal", "Volta", "Turing"})
"""Generations whose rated fp32 needs no pairs of instructions: plain matmuls come near to it."""
WITHOUT_TENSOR_CORES = frozenset({"Kepler", "Maxwell", "Pascal"})
FP32_FLOP_PER_CYCLE = 256.0  # of one multiprocessor of GeForce since Ampere, of Hopper and Blackwell: 128 units


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """One GPU in one training precision."""

    matmul_flop_per_s: float  # achieved by large plain matrix products
    attention_flop_per_s: float  # achieved by flash attention
    vendor_attention_flop_per_s: float  # by the vendor's own kernels, in a training step
    vector_flop_per_s: float  # rated fp32 outside the matrix units, for elementwise work
    multiprocessor_hz: float  # multiprocessors times their clock: what issues elementwise work
    bandwidth_bytes_per_s: float  # datasheet
    element_bytes: float  # of activations and gradients
    linear_fp8: bool
    head_flop_per_s: float  # of the projection onto the vocabulary, which stays in 16 bit when other layers run in fp8
    generation: str
    datacenter: bool
    cache_bytes: float  # of the last level; 0 where it isn't known
    tensor_cores: bool  # whether matrix units multiply in this precision


def known(figure: Figure | None) -> float:
    """Value of a figure that a card in part known may lack; whoever asks has made sure that it doesn't."""
    assert figure is not None
    return figure.value


def usable_bytes(gpu: Gpu | PartialGpu, constants: Constants) -> float:
    """Memory a program can use: nominal GB are GiB, less what the card keeps for itself. [bytes]

    An "80 GB" card reports 81,559 MiB, a "24 GB" one 24,564 MiB.
    """
    return known(gpu.memory_gb) * BYTES_PER_GIB * constants.usable_memory_share


def supports(gpu: Gpu | PartialGpu, precision: Precision) -> bool:
    """Whether the GPU has arithmetic of this precision."""
    return precision in gpu.dense_tflop_per_s


def matmul_fraction(gpu: Gpu | PartialGpu, precision: Precision, constants: Constants) -> float:
    """Share of the dense peak that large matrix products reach: published where it is, else by rule. [-]"""
    for candidate in _STAND_INS[precision]:
        if candidate in gpu.matmul_fraction:
            return gpu.matmul_fraction[candidate].value
    if gpu.segment == "consumer":
        # The rating counts fp32 accumulation at a clock that real cards exceed.
        return constants.matmul_fraction_geforce if precision != "fp32" else constants.matmul_fraction_default
    if precision == "fp32" and generation_of(gpu) in SINGLE_ISSUE:
        return constants.matmul_fraction_fp32
    return constants.matmul_fraction_default


def generation_of(gpu: Gpu | PartialGpu) -> str:
    """First word of the architecture's name."""
    return gpu.architecture.split()[0].split("+")[0]


def training_share(gpu: Gpu | PartialGpu, constants: Constants) -> float:
    """What training gets of the rates that single kernels reach: less than 1 where the software is young. [-]"""
    return constants.training_share_cdna if generation_of(gpu) == "CDNA" else 1.0


def _attention_share(gpu: Gpu | PartialGpu, constants: Constants) -> float:
    generation = generation_of(gpu)
    if generation == "Blackwell" and gpu.segment != "datacenter":
        return constants.attention_share_default  # a lower peak than the data-centre chips of the same name
    return {
        "Volta": constants.attention_share_volta,
        "Ampere": constants.attention_share_ampere,
        "Hopper": constants.attention_share_hopper,
        "Blackwell": constants.attention_share_blackwell,
    }.get(generation, constants.attention_share_default)


def _vendor_attention_share(gpu: Gpu | PartialGpu, constants: Constants) -> float:
    usual = _attention_share(gpu, constants) * constants.attention_efficiency
    if gpu.segment != "datacenter":
        return usual
    tuned = {
        "Hopper": constants.vendor_attention_share_hopper,
        "Blackwell": constants.vendor_attention_share_blackwell,
    }
    return tuned.get(generation_of(gpu), usual)


def _multiprocessor_hz(gpu: Gpu | PartialGpu) -> float | None:
    """Multiprocessors times their boost clock, where both are known. [1/s]"""
    count, clock = gpu.spec.sm_count, gpu.spec.boost_mhz
    return None if count is None or clock is None else count.value * clock.value * HZ_PER_MHZ


def device_of(gpu: Gpu | PartialGpu, precision: Precision, constants: Constants) -> Device:
    """Rates of a GPU in a precision it supports.

    With fp8 only the linear layers run in 8 bit: everything else keeps 16 bit.
    """
    share = training_share(gpu, constants)
    peak = gpu.dense_tflop_per_s[precision].value * FLOP_PER_TFLOP * share
    sixteen: Precision = "bf16" if "bf16" in gpu.dense_tflop_per_s else "fp16"
    wide: Precision = sixteen if precision == "fp8" else precision
    wide_peak = gpu.dense_tflop_per_s[wide].value * FLOP_PER_TFLOP * share
    fp32 = gpu.dense_tflop_per_s.get("fp32")
    vector = peak / 16 if fp32 is None else fp32.value * FLOP_PER_TFLOP * share
    issued = _multiprocessor_hz(gpu)
    return Device(
        matmul_flop_per_s=peak * matmul_fraction(gpu, precision, constants),
        vector_flop_per_s=vector,
        multiprocessor_hz=vector / FP32_FLOP_PER_CYCLE if issued is None else issued * share,
        attention_flop_per_s=wide_peak * _attention_share(gpu, constants),
        vendor_attention_flop_per_s=wide_peak * _vendor_attention_share(gpu, constants),
        bandwidth_bytes_per_s=known(gpu.memory_bandwidth_gb_per_s) * BYTES_PER_GB * share,
        element_bytes=4.0 if precision in ("fp32", "tf32") else 2.0,
        linear_fp8=precision == "fp8",
        head_flop_per_s=wide_peak * matmul_fraction(gpu, wide, constants),
        generation=generation_of(gpu),
        datacenter=gpu.segment == "datacenter",
        cache_bytes=0.0 if gpu.spec.l2_mb is None else gpu.spec.l2_mb.value * BYTES_PER_MIB,
        tensor_cores=generation_of(gpu) not in WITHOUT_TENSOR_CORES,
    )
