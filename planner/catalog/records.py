"""Frozen records of the catalog: what can be bought, rented, plugged in or trained, each figure with its source."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

# Everything the catalog holds can be had from here, also what is defined by subject in modules of its own.
from planner.catalog.figures import Fact as Fact
from planner.catalog.figures import Figure as Figure
from planner.catalog.figures import Source as Source
from planner.catalog.figures import first_day as first_day
from planner.catalog.hardware import PRECISIONS as PRECISIONS
from planner.catalog.hardware import AmbiguousLabel as AmbiguousLabel
from planner.catalog.hardware import GpuSpec as GpuSpec
from planner.catalog.hardware import Part as Part
from planner.catalog.hardware import PartialGpu as PartialGpu
from planner.catalog.hardware import Precision as Precision
from planner.catalog.hardware import Segment as Segment
from planner.catalog.hardware import System as System
from planner.catalog.places import Embodied as Embodied
from planner.catalog.places import Facility as Facility
from planner.catalog.places import Grid as Grid
from planner.catalog.places import RegionTariffs as RegionTariffs
from planner.catalog.places import Site as Site
from planner.catalog.places import Tariff as Tariff

Term = Literal["on_demand", "spot", "reserved_1y", "reserved_3y", "capacity_block"]
Market = Literal["cloud", "marketplace"]
Status = Literal["current", "stale", "retired"]
PriceKind = Literal["market", "list", "launch", "benchmark_table", "estimate"]

STALE_AFTER_MONTHS = 18

TERMS: tuple[Term, ...] = ("on_demand", "spot", "reserved_1y", "reserved_3y", "capacity_block")


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpu:
    """An accelerator. Rates are dense, tensor rates with fp32 accumulation; NVLink is the sum of both directions."""

    id: str
    name: str
    vendor: str
    architecture: str
    segment: Segment
    form_factor: str
    launch_date: str | None
    aliases: tuple[str, ...]
    memory_gb: Figure  # nominal, as sold; the usable bytes are performance.memory's business
    memory_bandwidth_gb_per_s: Figure
    tdp_w: Figure
    idle_w: Figure | None
    dense_tflop_per_s: Mapping[Precision, Figure]
    matmul_fraction: Mapping[Precision, Figure]  # measured matmul rate over dense peak
    nvlink_gb_per_s: Figure | None
    pcie_gen: Figure | None
    pcie_lanes: Figure | None
    peer_to_peer: bool  # PCIe peer-to-peer between cards of one host
    spec: GpuSpec = field(default_factory=GpuSpec)
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """A machine without its GPUs.

    Either `load_w` and `idle_w` of the host alone at the wall (PCs), or `wall_w_per_gpu_tdp` and `idle_share_of_load`
    of the whole loaded node (servers), where host, fans and power supplies are inside the factor.
    """

    id: str
    name: str
    gpu_slots: int
    psu_w: float | None
    load_w: Figure | None
    idle_w: Figure | None
    wall_w_per_gpu_tdp: Figure | None
    idle_share_of_load: Figure | None
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HardwarePrice:
    """Purchase price in USD, new or used; an item may have several, of which the newest counts.

    `item` is the id of a GPU, host, system or part, or "" where the source names several at once (`item_label`).
    """

    id: str
    item: str
    condition: Literal["new", "used"]
    price_usd: Figure
    includes_tax: bool = False
    note: str = ""
    item_label: str = ""
    kind: PriceKind = "market"


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """What a cloud provider charges besides instances, and how its machines start. None is unknown."""

    id: str
    name: str
    storage_usd_per_gb_month: Figure | None
    egress_usd_per_gb: Figure | None
    free_egress_gb_per_month: Figure | None
    ingress_usd_per_gb: Figure | None
    startup_s: Figure | None
    pue: Figure | None


def is_old(as_of: str | None, today: dt.date) -> bool:
    """Whether a price is undated or older than 18 months on a day: too old to rely on."""
    day = first_day(as_of)
    if day is None:
        return True
    last = (day.year * 12 + day.month + STALE_AFTER_MONTHS, day.day)
    return (today.year * 12 + today.month, today.day) > last


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """One way to rent: an instance type in a region under a term. Prices are per instance-hour, before tax."""

    id: str
    provider: str
    instance_type: str
    region: str
    grid: str | None
    # None when the source names several GPUs, an unclear or a partly known one: such an offer is never planned with.
    gpu: str | None
    gpu_label: str
    gpu_count: float
    term: Term
    market: Market
    price_usd_per_h: Figure
    printed_per_gpu: bool
    billing_unit_s: Figure
    minimum_s: Figure
    retired_on: dt.date | None
    interrupted_share_per_month: Figure | None
    network_gbit_per_s: Figure | None
    includes_tax: bool = False
    note: str = ""
    partial_gpu: str | None = None  # id of the partly known GPU that is rented

    @property
    def price_usd_per_gpu_h(self) -> float:
        """Price per GPU-hour [USD]."""
        return self.price_usd_per_h.value / self.gpu_count

    def status(self, today: dt.date) -> Status:
        """Derived on the day of the run: retired, stale (undated or older than 18 months) or current."""
        if self.retired_on is not None and self.retired_on <= today:
            return "retired"
        return "stale" if is_old(self.price_usd_per_h.as_of, today) else "current"


@dataclass(frozen=True, slots=True, kw_only=True)
class InterruptionBand:
    """Share of spot machines that a provider reported as interrupted within a month."""

    id: str
    gpu: str | None  # None: of GPUs without a band of their own
    instance_type: str
    interrupted_share_per_month: Figure
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FxRate:
    """Value of one unit of a currency in USD."""

    code: str
    usd_per_unit: Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumption:
    """A default the planner uses when nothing better is known, with its unit and a one-line meaning."""

    id: str
    figure: Figure
    unit: str
    meaning: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ResidualCurve:
    """Resale value over price paid, by age in months since the unit was first sold, ratios at most 1."""

    id: str
    applies_to: Literal["gpu", "host"]
    ratio_by_age_months: Mapping[int, Figure]


@dataclass(frozen=True, slots=True, kw_only=True)
class TransformerSpec:
    """Shape of a transformer; `encoder` has bidirectional attention and no language-model head over every token.

    With `experts`, each of them and those shared stand beside the `dense_layers`, which have one block of `d_ff`.
    """

    layers: int
    d_model: int
    heads: int
    kv_heads: int
    d_ff: int
    gated_mlp: bool
    vocab: int
    seq_len: int
    encoder: bool
    tied_embeddings: bool
    parallel_blocks: bool = False
    learned_positions: int = 0  # rows of a learned position table; 0 for rotary or ALiBi
    head_dim: int | None = None  # of queries and keys, where it isn't d_model / heads
    v_head_dim: int | None = None  # of values, where it isn't that of the keys
    attention_parameters: int | None = None  # weights of one layer's projections, where they are factored (latent)
    experts: int = 0  # routed feed-forward blocks of a layer; 0: one block for all tokens
    experts_per_token: int = 0
    expert_d_ff: int | None = None  # of one routed expert, where it isn't d_ff
    shared_d_ff: int = 0  # of all experts that every token passes, together
    dense_layers: int = 0  # layers without experts


@dataclass(frozen=True, slots=True, kw_only=True)
class VisionSpec:
    """Size of a vision model's forward pass per sample, at the named input."""

    gmacs: float
    activations_m: float  # million activations written in the forward pass
    input: str
    patches: bool = False  # layer norms and two-layer MLPs on patches, as in ViT, Swin, ConvNeXt
    plain: bool = False  # convolutions, batch norm, ReLU and sums alone, as in ResNet and VGG


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """What is trained: a model with the settings of its usual recipe. One of `transformer`, `vision` is set."""

    id: str
    name: str
    unit: Literal["tokens", "samples"]  # in which work and throughput are counted
    parameters: Figure
    transformer: TransformerSpec | None
    vision: VisionSpec | None
    precision: Precision
    global_batch: int  # sequences or samples per optimizer step
    checkpointing: Literal["none", "selective", "full"]
    samples: Figure | None  # samples in the usual data set
    epochs: float | None
    tokens: Figure | None
    evidence_models: tuple[str, ...]  # names of this model in data/measurements
    aliases: tuple[str, ...]
    source: str
    note: str = ""
    software: Literal["eager", "compiled", "fused"] = "eager"  # of a decoder's usual training code


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalog:
    """Everything the data files hold, keyed by id."""

    sources: Mapping[str, Source]
    gpus: Mapping[str, Gpu]
    hosts: Mapping[str, Host]
    offers: Mapping[str, Offer]
    hardware: Mapping[str, HardwarePrice]
    providers: Mapping[str, Provider]
    fx: Mapping[str, FxRate]
    sites: Mapping[str, Site]
    grids: Mapping[str, Grid]
    assumptions: Mapping[str, Assumption]
    residuals: Mapping[str, ResidualCurve]
    workloads: Mapping[str, Workload]
    as_of: str  # the newest date of any figure
    content_hash: str
    partial_gpus: Mapping[str, PartialGpu] = field(default_factory=dict)
    ambiguous: Mapping[str, AmbiguousLabel] = field(default_factory=dict)
    systems: Mapping[str, System] = field(default_factory=dict)
    parts: Mapping[str, Part] = field(default_factory=dict)
    interruption_bands: Mapping[str, InterruptionBand] = field(default_factory=dict)
    region_tariffs: Mapping[str, RegionTariffs] = field(default_factory=dict)
    facilities: Mapping[str, Facility] = field(default_factory=dict)
    embodied: Mapping[str, Embodied] = field(default_factory=dict)
    observations: Mapping[str, Assumption] = field(default_factory=dict)  # published values behind the assumptions

    def assume(self, id: str) -> Figure:
        """The figure of an assumption that must exist; a missing one is a fault of the data files."""
        return self.assumptions[id].figure
