"""Validated entries of the data files -> frozen records, each figure with its source, date and unit of the engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from planner import units
from planner.catalog import records as r
from planner.catalog import schema as s
from planner.catalog.fields import FactIn, FigureIn, RecordIn


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """What a record says about all its figures."""

    sources: tuple[str, ...]
    as_of: str | None
    as_of_note: str

    @classmethod
    def of(cls, entry: RecordIn | s.FxRateIn) -> Origin:
        """Origin that a record states for its figures."""
        return cls(sources=entry.source, as_of=entry.as_of, as_of_note=entry.as_of_note)


@dataclass(slots=True, kw_only=True)
class Builder:
    """Makes records; figures without any source are collected in `unsourced`."""

    sources: Mapping[str, r.Source]
    fx: Mapping[str, r.FxRate] = field(default_factory=dict)
    partial_gpus: Mapping[str, r.PartialGpu] = field(default_factory=dict)
    unsourced: list[str] = field(default_factory=list)

    def figure(self, raw: FigureIn, origin: Origin, name: str, *, scale: float = 1.0) -> r.Figure:
        """A figure in the engine's unit.

        The record's date belongs to the record's source: a figure that cites a source of its own brings its own date,
        and is undated without one.
        """
        own = raw.source is not None
        sources = raw.source if raw.source is not None else origin.sources
        if not sources:
            self.unsourced.append(name)
        dated = raw.as_of is not None or own
        return r.Figure(
            value=raw.value * scale,
            low=None if raw.low is None else raw.low * scale,
            high=None if raw.high is None else raw.high * scale,
            sources=sources,
            as_of=raw.as_of if dated else origin.as_of,
            as_of_note=raw.as_of_note or ("" if dated else origin.as_of_note),
            estimate=self._is_estimate(sources) if raw.estimate is None else raw.estimate,
        )

    def optional(self, raw: FigureIn | None, origin: Origin, name: str) -> r.Figure | None:
        """A figure, or None where it is unknown."""
        return None if raw is None else self.figure(raw, origin, name)

    def _is_estimate(self, sources: Sequence[str]) -> bool:
        return any(source in self.sources and self.sources[source].kind == "estimate" for source in sources)

    def fact(self, raw: FactIn | None, origin: Origin, name: str) -> r.Fact | None:
        """A word or version, or None where it is unknown; its origin follows the rules of `figure`."""
        if raw is None:
            return None
        own = raw.source is not None
        sources = raw.source if raw.source is not None else origin.sources
        if not sources:
            self.unsourced.append(name)
        dated = raw.as_of is not None or own
        return r.Fact(
            value=raw.value,
            sources=sources,
            as_of=raw.as_of if dated else origin.as_of,
            as_of_note=raw.as_of_note or ("" if dated else origin.as_of_note),
            estimate=self._is_estimate(sources) if raw.estimate is None else raw.estimate,
        )

    def provider(self, entry: s.ProviderIn) -> r.Provider:
        origin = Origin.of(entry)
        return r.Provider(
            id=entry.id,
            name=entry.name,
            storage_usd_per_gb_month=self.optional(entry.storage_usd_per_gb_month, origin, "storage_usd_per_gb_month"),
            egress_usd_per_gb=self.optional(entry.egress_usd_per_gb, origin, "egress_usd_per_gb"),
            free_egress_gb_per_month=self.optional(entry.free_egress_gb_per_month, origin, "free_egress_gb_per_month"),
            ingress_usd_per_gb=self.optional(entry.ingress_usd_per_gb, origin, "ingress_usd_per_gb"),
            startup_s=self.optional(entry.startup_s, origin, "startup_s"),
            pue=self.optional(entry.pue, origin, "pue"),
        )

    def offer(self, entry: s.OfferIn) -> r.Offer:
        origin = Origin.of(entry)
        if entry.price_usd_per_h is not None:
            price = self.figure(entry.price_usd_per_h, origin, "price_usd_per_h")
        else:
            assert entry.price_usd_per_gpu_h is not None  # the schema holds exactly one of the two
            price = self.figure(entry.price_usd_per_gpu_h, origin, "price_usd_per_gpu_h", scale=entry.gpu_count)
        return r.Offer(
            id=entry.id,
            provider=entry.provider,
            instance_type=entry.instance_type,
            region=entry.region,
            grid=entry.grid,
            gpu=None if entry.gpu in self.partial_gpus else entry.gpu,
            partial_gpu=entry.gpu if entry.gpu in self.partial_gpus else None,
            gpu_label=entry.gpu_label or entry.gpu or "",
            gpu_count=entry.gpu_count,
            term=entry.term,
            market=entry.market,
            price_usd_per_h=price,
            printed_per_gpu=entry.price_usd_per_gpu_h is not None,
            billing_unit_s=self.figure(entry.billing_unit_s, origin, "billing_unit_s"),
            minimum_s=self.figure(entry.minimum_s, origin, "minimum_s"),
            retired_on=entry.retired_on,
            interrupted_share_per_month=self.optional(
                entry.interrupted_share_per_month, origin, "interrupted_share_per_month"
            ),
            network_gbit_per_s=self.optional(entry.network_gbit_per_s, origin, "network_gbit_per_s"),
            includes_tax=entry.includes_tax,
            note=entry.note,
        )

    def hardware_price(self, entry: s.HardwarePriceIn) -> r.HardwarePrice:
        return r.HardwarePrice(
            id=entry.id,
            item=entry.item or "",
            item_label=entry.item_label or "",
            kind=entry.kind,
            condition=entry.condition,
            price_usd=self.figure(entry.price_usd, Origin.of(entry), "price_usd"),
            includes_tax=entry.includes_tax,
            note=entry.note,
        )

    def fx_rate(self, entry: s.FxRateIn) -> r.FxRate:
        rate = self.figure(entry.usd_per_unit, Origin.of(entry), "usd_per_unit")
        return r.FxRate(code=entry.code, usd_per_unit=rate)

    def grid(self, entry: s.GridIn) -> r.Grid:
        intensity = self.figure(entry.g_co2e_per_kwh, Origin.of(entry), "g_co2e_per_kwh", scale=1 / units.G_PER_KG)
        return r.Grid(id=entry.id, name=entry.name, kg_co2e_per_kwh=intensity, kind=entry.kind, note=entry.note)

    def site(self, entry: s.SiteIn) -> r.Site:
        origin = Origin.of(entry)
        return r.Site(
            id=entry.id,
            name=entry.name,
            grid=entry.grid,
            tariffs={name: self._tariff(tariff, origin, name) for name, tariff in entry.tariffs.items()},
            default_tariff=entry.default_tariff,
            pue=self.figure(entry.pue, origin, "pue"),
        )

    def _tariff(self, entry: s.TariffIn, record: Origin, name: str) -> r.Tariff:
        others = [self._price(price, record, f"tariffs.{name}.others.{at}") for at, price in enumerate(entry.others)]
        main = self._price(entry, record, f"tariffs.{name}")
        return replace(main, others=tuple(others))

    def _price(self, entry: s.PriceIn, record: Origin, place: str) -> r.Tariff:
        own = bool(entry.source)
        origin = Origin(
            sources=entry.source or record.sources,
            as_of=entry.as_of or (None if own else record.as_of),
            as_of_note=entry.as_of_note or ("" if own else record.as_of_note),
        )
        price = self.figure(entry.price_per_kwh, origin, f"{place}.price_per_kwh")
        if entry.currency != "USD" and entry.currency in self.fx:
            price = in_usd(price, self.fx[entry.currency].usd_per_unit)
        return r.Tariff(usd_per_kwh=price, includes_tax=entry.includes_tax, note=entry.note)

    def region_tariffs(self, entry: s.RegionTariffsIn) -> r.RegionTariffs:
        origin = Origin.of(entry)
        tariffs: dict[str, r.Tariff] = {
            name: self._tariff(tariff, origin, name) for name, tariff in entry.tariffs.items()
        }
        return r.RegionTariffs(id=entry.id, name=entry.name, tariffs=tariffs)

    def facility(self, entry: s.FacilityIn) -> r.Facility:
        pue = self.figure(entry.pue, Origin.of(entry), "pue")
        return r.Facility(id=entry.id, name=entry.name, kind=entry.kind, pue=pue, note=entry.note)

    def embodied(self, entry: s.EmbodiedIn) -> r.Embodied:
        return r.Embodied(
            id=entry.id,
            name=entry.name,
            kind=entry.kind,
            gpu=entry.gpu,
            per=entry.per,
            kg_co2e=self.figure(entry.kg_co2e, Origin.of(entry), "kg_co2e"),
            note=entry.note,
        )

    def interruption_band(self, entry: s.InterruptionBandIn) -> r.InterruptionBand:
        share = self.figure(entry.interrupted_share_per_month, Origin.of(entry), "interrupted_share_per_month")
        return r.InterruptionBand(
            id=entry.id,
            gpu=entry.gpu,
            instance_type=entry.instance_type,
            interrupted_share_per_month=share,
            note=entry.note,
        )

    def assumption(self, entry: s.AssumptionIn) -> r.Assumption:
        figure = self.figure(entry, Origin.of(entry), "value")
        return r.Assumption(id=entry.id, figure=figure, unit=entry.unit, meaning=entry.meaning)

    def residual(self, entry: s.ResidualIn) -> r.ResidualCurve:
        origin = Origin.of(entry)
        ratios = {
            age: self.figure(ratio, origin, f"ratio_by_age_months.{age}")
            for age, ratio in entry.ratio_by_age_months.items()
        }
        return r.ResidualCurve(id=entry.id, applies_to=entry.applies_to, ratio_by_age_months=ratios)

    def workload(self, entry: s.WorkloadIn) -> r.Workload:
        origin = Origin.of(entry)
        return r.Workload(
            id=entry.id,
            name=entry.name,
            unit=entry.unit,
            parameters=self.figure(entry.parameters, origin, "parameters"),
            transformer=None if entry.transformer is None else entry.transformer.record(),
            vision=None if entry.vision is None else entry.vision.record(),
            precision=entry.precision,
            global_batch=entry.global_batch,
            checkpointing=entry.checkpointing,
            software=entry.software,
            samples=self.optional(entry.samples, origin, "samples"),
            epochs=entry.epochs,
            tokens=self.optional(entry.tokens, origin, "tokens"),
            evidence_models=tuple(entry.evidence_models),
            aliases=tuple(entry.aliases),
            source=entry.source[0] if entry.source else "",
            note=entry.note,
        )


def in_usd(price: r.Figure, rate: r.Figure) -> r.Figure:
    """A price in another currency as USD, with the rate's range and source.

    The date stays the price's: it says when the price held, and the rate has its own record.
    """
    ranged = price.low is not None or rate.low is not None
    return r.Figure(
        value=price.value * rate.value,
        low=_end(price.low, price.value) * _end(rate.low, rate.value) if ranged else None,
        high=_end(price.high, price.value) * _end(rate.high, rate.value) if ranged else None,
        sources=(*price.sources, *(source for source in rate.sources if source not in price.sources)),
        as_of=price.as_of,
        as_of_note=price.as_of_note,
        estimate=price.estimate or rate.estimate,
    )


def _end(end: float | None, middle: float) -> float:
    return middle if end is None else end
