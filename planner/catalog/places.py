"""Energy and carbon of places and things: grids, tariffs, PUE of facilities, carbon of making hardware."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from planner.catalog.figures import Figure

GridKind = Literal["country", "us_state", "cloud_region"]
FacilityKind = Literal["provider", "cloud_region", "survey", "own"]
EmbodiedKind = Literal["gpu", "gpu_with_server_share", "server", "baseboard", "component"]
EmbodiedBasis = Literal["piece", "kg", "cm2"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """Carbon intensity of a region's electricity. [kg CO2e/kWh]"""

    id: str
    name: str
    kg_co2e_per_kwh: Figure
    kind: GridKind = "country"
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tariff:
    """Electricity price of one customer class. [USD/kWh]

    `others` are further published prices of the same class: older, of a city, or of another kind of source.
    """

    usd_per_kwh: Figure
    includes_tax: bool
    note: str = ""
    others: tuple[Tariff, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """A place where owned machines can stand."""

    id: str
    name: str
    grid: str
    tariffs: Mapping[str, Tariff]  # by class: residential, commercial, industrial
    default_tariff: str
    pue: Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class RegionTariffs:
    """Average prices over many countries: for comparison, not a place to stand in."""

    id: str
    name: str
    tariffs: Mapping[str, Tariff]


@dataclass(frozen=True, slots=True, kw_only=True)
class Facility:
    """Power of a kind of facility, or of a provider's, over the power of the machines in it."""

    id: str
    name: str
    kind: FacilityKind
    pue: Figure
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Embodied:
    """Carbon of making a thing. [kg CO2e per piece, or per kg or cm2 of it]

    `gpu` is the id of the card it belongs to; to spread it over use, divide by the hours of a life
    (`embodied_life_h` of the assumptions).
    """

    id: str
    name: str
    kind: EmbodiedKind
    gpu: str | None
    per: EmbodiedBasis
    kg_co2e: Figure
    note: str = ""
