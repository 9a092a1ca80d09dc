"""The estimator's constants: hand-set and fitted ones, each an entry `estimator_...` of data/assumptions.yaml."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

from planner.catalog.records import Assumption

PREFIX = "estimator_"
SHARED = frozenset({"usable_memory_share"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Constants:
    """One number per assumption; a field's name is the assumption's id without its prefix, its unit stands there."""

    # achieved rates where no matmul rate of the GPU is published
    matmul_fraction_geforce: float
    matmul_fraction_default: float
    matmul_fraction_fp32: float
    attention_share_volta: float
    attention_share_ampere: float
    attention_share_hopper: float
    attention_share_blackwell: float
    attention_share_default: float
    vendor_attention_share_hopper: float
    vendor_attention_share_blackwell: float
    training_share_cdna: float
    bandwidth_share: float
    ecc_bandwidth_share: float
    cache_gain: float
    # transformer step
    gemm_efficiency: float
    gemm_efficiency_compiled: float
    gemm_efficiency_vendor: float
    gemm_share_blackwell: float
    gemm_share_no_tensor_cores: float
    gemm_share_volta_compiled: float
    gemm_bytes_factor: float
    attention_efficiency: float
    unfused_attention_share: float
    unfused_score_passes: float
    score_passes_vendor: float
    elementwise_factor_fused: float
    elementwise_factor_unfused: float
    elementwise_factor_vendor: float
    elementwise_factor_vendor_unfused: float
    expert_efficiency: float
    expert_bytes_factor: float
    fp8_cast_bytes: float
    adapter_backward_share: float
    recompute_share: float
    recompute_share_vendor: float
    selective_matmul_share: float
    head_share_pipeline: float
    generator_factor: float
    unpadded_share: float
    loss_bytes_per_logit: float
    optimizer_bytes_per_parameter: float
    optimizer_factor: float
    kernels_per_layer: float
    kernel_gap_us: float
    kernel_launch_us: float
    launch_share_vendor: float
    launch_share_modern: float
    fp8_efficiency: float
    # links
    nvlink_share_fsdp: float
    nvlink_share_ddp: float
    all_reduce_gain_vendor: float
    network_share: float
    overlap_exposed: float
    tensor_exposed: float
    tensor_exposed_eager: float
    context_exposed: float
    expert_exposed: float
    pipeline_exposed: float
    shared_optimizer_exposed: float
    shared_optimizer_exposed_eager: float
    gather_latency_us: float
    pcie_gb_per_s_professional: float
    pcie_gb_per_s_geforce: float
    geforce_contention: float
    sync_share_per_doubling: float
    node_jitter_per_doubling: float
    link_latency_us: float
    node_latency_us: float
    node_network_gbit_per_s: float
    node_network_gbit_per_s_volta: float
    node_network_gbit_per_s_ampere: float
    node_network_gbit_per_s_hopper: float
    pcie_generation_gain: float
    office_network_gbit_per_s: float
    # vision step
    vision_efficiency: float
    vision_bytes_factor: float
    vision_cycles: float
    vision_patch_share: float
    vision_plain_share: float
    vision_channels_last_share: float
    vision_launch_ms: float
    vision_parameter_bytes: float
    # transfer of measured models: priors of its fit, but for the tokens of a sentence
    transfer_matmul_share: float
    transfer_traffic_share: float
    transfer_vector_share: float
    transfer_step_share: float
    transfer_fixed_share: float
    sample_nvlink_share: float
    sample_pcie_gb_per_s_professional: float
    sample_pcie_gb_per_s_geforce: float
    sample_pcie_generation_gain: float
    sample_geforce_contention: float
    sample_sync_share: float
    sentence_tokens: float
    # what is taken over from other cards, and how sure it is
    transfer_fewest_cards: float
    transfer_beyond_batches: float
    launch_bound_share: float
    exchange_floor_share: float
    usual_image_batch: float
    # runs to a target
    sixteen_bit_share: float
    pcie_host_network_gb_per_s: float
    # memory
    usable_memory_share: float  # shared with the rest of the planner, so without the prefix
    state_bytes_per_parameter: float
    vision_state_bytes_per_parameter: float
    activation_factor_unfused: float
    vision_activation_factor: float
    logit_bytes_fused: float
    logit_bytes_plain: float
    logit_bytes_chunked: float
    logit_bytes_cached: float
    quantised_inputs_kept: float
    memory_overhead_share: float
    memory_reserve_gb: float
    # half-widths of the 80 % interval, on the log of throughput
    half_width_measured: float
    half_width_known_gpu: float
    half_width_new_gpu: float
    half_width_vision: float
    half_width_vision_patches: float
    half_width_regime: float
    half_width_layout: float
    half_width_new_architecture: float
    half_width_new_vendor: float
    half_width_same_stack: float
    half_width_same_stack_new_gpu: float
    half_width_open: float
    half_width_experts: float
    half_width_memory: float
    # factors of the half-width of a training code never measured, by which it may be slower and faster
    unknown_code_slower: float
    unknown_code_faster: float


NAMES: tuple[str, ...] = tuple(field.name for field in fields(Constants))


def assumption_id(name: str) -> str:
    """Id of the assumption that holds a constant."""
    return name if name in SHARED else PREFIX + name


def constants_of(assumptions: Mapping[str, Assumption]) -> Constants:
    """Read the constants out of the catalog's assumptions; a missing one is a fault of the data files."""
    return Constants(**{name: assumptions[assumption_id(name)].figure.value for name in NAMES})
