"""Pydantic mirror of the data files: what a reviewer may write, figure by figure."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Annotated, Literal, TypeAlias

from pydantic import Field, model_validator

from planner.catalog.fields import (
    AsOf,
    Count,
    Factor,
    FigureIn,
    NonNegative,
    Positive,
    RecordIn,
    Share,
    SourceIds,
    Strict,
    Text,
    Url,
    fault,
)
from planner.catalog.places import EmbodiedBasis, EmbodiedKind, FacilityKind, GridKind
from planner.catalog.records import Market, Precision, PriceKind, Term, TransformerSpec, VisionSpec
from planner.catalog.schema_hardware import (
    AmbiguousIn,
    GpuIn,
    HostIn,
    PartialGpuIn,
    PartIn,
    SystemIn,
)
from planner.yaml_scalars import as_given

SCHEMA_VERSION = 1


class SourceIn(Strict):
    """An entry of `sources`."""

    title: Text
    url: Url | None = None
    retrieved: dt.date | None = None
    kind: Literal["published", "estimate", "definition"] = "published"
    note: str = ""


class ProviderIn(RecordIn):
    """An entry of `providers`."""

    name: Text
    storage_usd_per_gb_month: NonNegative | None = None
    egress_usd_per_gb: NonNegative | None = None
    free_egress_gb_per_month: NonNegative | None = None
    ingress_usd_per_gb: NonNegative | None = None
    startup_s: NonNegative | None = None
    pue: Factor | None = None


class OfferIn(RecordIn):
    """An entry of `offers`."""

    provider: Text
    instance_type: Text
    region: str = ""
    grid: Text | None = None
    gpu: Text | None = None
    gpu_label: Text | None = None
    gpu_count: Annotated[float, Field(gt=0, le=100_000)]
    term: Term
    market: Market = "cloud"
    price_usd_per_h: Positive | None = None
    price_usd_per_gpu_h: Positive | None = None
    billing_unit_s: Positive
    minimum_s: NonNegative
    retired_on: dt.date | None = None
    interrupted_share_per_month: Share | None = None
    network_gbit_per_s: Positive | None = None
    includes_tax: bool = False

    @model_validator(mode="after")
    def _keys_fit(self) -> OfferIn:
        if self.price_usd_per_h is not None and self.price_usd_per_gpu_h is not None:
            raise fault("price_usd_per_h and price_usd_per_gpu_h", "the one that the source prints")
        if self.price_usd_per_h is None and self.price_usd_per_gpu_h is None:
            raise fault("no price", "price_usd_per_h or price_usd_per_gpu_h")
        if self.gpu is None and self.gpu_label is None:
            raise fault("neither gpu nor gpu_label", "gpu, or gpu_label where the GPU is unclear")
        if self.interrupted_share_per_month is not None and self.term != "spot":
            raise fault(f"interrupted_share_per_month with term {self.term}", "it with term spot only")
        return self


class HardwarePriceIn(RecordIn):
    """An entry of `hardware`."""

    item: Text | None = None
    item_label: Text | None = None
    kind: PriceKind = "market"
    condition: Literal["new", "used"]
    price_usd: Positive
    includes_tax: bool = False

    @model_validator(mode="after")
    def _has_item(self) -> HardwarePriceIn:
        if self.item is None and self.item_label is None:
            raise fault("neither item nor item_label", "item, or item_label where the source names several at once")
        return self


class InterruptionBandIn(RecordIn):
    """An entry of `interruption_bands`."""

    gpu: Text | None = None
    instance_type: Text
    interrupted_share_per_month: Share


class FxRateIn(Strict):
    """An entry of `fx`."""

    code: Text
    usd_per_unit: Positive
    source: SourceIds = ()
    as_of: AsOf | None = None
    as_of_note: str = ""
    note: str = ""

    @model_validator(mode="after")
    def _dollar_is_one(self) -> FxRateIn:
        if self.code == "USD" and self.usd_per_unit.value != 1:
            raise fault(f"USD at {as_given(self.usd_per_unit.value)}", "1")
        return self


class GridIn(RecordIn):
    """An entry of `grids`."""

    name: Text
    kind: GridKind = "country"
    g_co2e_per_kwh: NonNegative


class PriceIn(Strict):
    """A published price of electricity."""

    price_per_kwh: Positive
    currency: Text
    includes_tax: bool
    source: SourceIds = ()
    as_of: AsOf | None = None
    as_of_note: str = ""
    note: str = ""


class TariffIn(PriceIn):
    """A price of electricity for one customer class, with further published ones of that class."""

    others: list[PriceIn] = Field(default=[])


Tariffs: TypeAlias = Annotated[dict[Literal["residential", "commercial", "industrial"], TariffIn], Field(min_length=1)]


class SiteIn(RecordIn):
    """An entry of `sites`."""

    name: Text
    grid: Text
    default_tariff: Text
    pue: Factor
    tariffs: Tariffs

    @model_validator(mode="after")
    def _default_exists(self) -> SiteIn:
        if self.default_tariff not in self.tariffs:
            raise fault(f"default_tariff {self.default_tariff}", f"one of {', '.join(self.tariffs)}")
        return self


class RegionTariffsIn(RecordIn):
    """An entry of `region_tariffs`."""

    name: Text
    tariffs: Tariffs


class FacilityIn(RecordIn):
    """An entry of `facilities`."""

    name: Text
    kind: FacilityKind
    pue: Factor


class EmbodiedIn(RecordIn):
    """An entry of `embodied`."""

    name: Text
    kind: EmbodiedKind
    gpu: Text | None = None
    per: EmbodiedBasis = "piece"
    kg_co2e: Positive


class AssumptionIn(RecordIn, FigureIn):
    """An entry of `assumptions`: a figure with a name, written in one mapping."""

    unit: Text
    meaning: Text
    source: SourceIds


class ResidualIn(RecordIn):
    """An entry of `residuals`."""

    applies_to: Literal["gpu", "host"]
    ratio_by_age_months: Annotated[dict[Annotated[int, Field(ge=0, le=1200)], Share], Field(min_length=1)]

    @model_validator(mode="after")
    def _ages_ascend(self) -> ResidualIn:
        ages = list(self.ratio_by_age_months)
        if ages != sorted(ages):
            raise fault("ages out of order", "ages ascending")
        return self


CountFromZero: TypeAlias = Annotated[int, Field(ge=0, le=1_000_000_000)]
_EXPERT_KEYS = ("experts_per_token", "expert_d_ff", "shared_d_ff", "dense_layers")


class TransformerIn(Strict):
    """Shape of a transformer."""

    layers: Count
    d_model: Count
    heads: Count
    kv_heads: Count
    d_ff: Count
    gated_mlp: bool
    vocab: Count
    seq_len: Count
    encoder: bool
    tied_embeddings: bool
    parallel_blocks: bool = False
    learned_positions: CountFromZero = 0
    head_dim: Count | None = None
    v_head_dim: Count | None = None
    attention_parameters: Count | None = None
    experts: CountFromZero = 0
    experts_per_token: CountFromZero = 0
    expert_d_ff: Count | None = None
    shared_d_ff: CountFromZero = 0
    dense_layers: CountFromZero = 0

    @model_validator(mode="after")
    def _heads_divide(self) -> TransformerIn:
        if self.heads % self.kv_heads:
            raise fault(f"{self.heads} heads, {self.kv_heads} kv_heads", "kv_heads that divide heads")
        return self

    @model_validator(mode="after")
    def _values_have_keys(self) -> TransformerIn:
        if self.v_head_dim is not None and self.head_dim is None:
            raise fault("v_head_dim without head_dim", "both, where values and keys differ")
        return self

    @model_validator(mode="after")
    def _experts_fit(self) -> TransformerIn:
        if not self.experts:
            given = [name for name in _EXPERT_KEYS if getattr(self, name)]
            if given:
                raise fault(f"{given[0]} without experts", "it with experts only")
        elif not 1 <= self.experts_per_token <= self.experts:
            raise fault(f"{self.experts_per_token} experts_per_token", f"from 1 to the {self.experts} experts")
        elif self.dense_layers > self.layers:
            raise fault(f"{self.dense_layers} dense_layers", f"at most the {self.layers} layers")
        return self

    def record(self) -> TransformerSpec:
        """The frozen record with the same fields."""
        return TransformerSpec(**self.model_dump())


class VisionIn(Strict):
    """Size of a vision model."""

    gmacs: Annotated[float, Field(gt=0)]
    activations_m: Annotated[float, Field(gt=0)]
    input: Text
    patches: bool = False
    plain: bool = False

    @model_validator(mode="after")
    def _one_kind(self) -> VisionIn:
        if self.patches and self.plain:
            raise fault("patches and plain", "at most one kind")
        return self

    def record(self) -> VisionSpec:
        """The frozen record with the same fields."""
        return VisionSpec(**self.model_dump())


class WorkloadIn(RecordIn):
    """An entry of `workloads`."""

    name: Text
    unit: Literal["tokens", "samples"]
    parameters: Positive
    transformer: TransformerIn | None = None
    vision: VisionIn | None = None
    precision: Precision
    global_batch: Count
    checkpointing: Literal["none", "selective", "full"]
    software: Literal["eager", "compiled", "fused"] = "eager"
    samples: Positive | None = None
    epochs: Annotated[float, Field(gt=0)] | None = None
    tokens: Positive | None = None
    evidence_models: list[Text] = Field(default=[])
    aliases: list[Text] = Field(default=[])

    @model_validator(mode="after")
    def _one_shape_and_source(self) -> WorkloadIn:
        if (self.transformer is None) == (self.vision is None):
            raise fault("both transformer and vision" if self.vision else "no shape", "either transformer or vision")
        if len(self.source) != 1:
            raise fault(f"{len(self.source)} sources of the record", "one; further ones at the figures they are for")
        return self


SECTIONS: Mapping[str, Mapping[str, type[Strict]]] = {
    "gpus.yaml": {
        "gpus": GpuIn,
        "partial_gpus": PartialGpuIn,
        "ambiguous": AmbiguousIn,
        "hosts": HostIn,
        "systems": SystemIn,
        "parts": PartIn,
    },
    "prices.yaml": {
        "providers": ProviderIn,
        "offers": OfferIn,
        "interruption_bands": InterruptionBandIn,
        "hardware": HardwarePriceIn,
        "fx": FxRateIn,
    },
    "sites.yaml": {
        "grids": GridIn,
        "sites": SiteIn,
        "region_tariffs": RegionTariffsIn,
        "facilities": FacilityIn,
        "embodied": EmbodiedIn,
    },
    "assumptions.yaml": {"assumptions": AssumptionIn, "residuals": ResidualIn, "observations": AssumptionIn},
    "workloads.yaml": {"workloads": WorkloadIn},
}
"""The lists of each data file and what their entries are."""

OPTIONAL_SECTIONS = frozenset(
    (
        "partial_gpus",
        "ambiguous",
        "systems",
        "parts",
        "interruption_bands",
        "region_tariffs",
        "facilities",
        "embodied",
        "observations",
    )
)
"""Lists that a file may leave out where it has no such entries: nothing a plan needs stands in them."""
