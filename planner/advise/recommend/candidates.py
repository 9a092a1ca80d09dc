"""What can be bought complete and what can be rented today: every part of a build with its price."""

from __future__ import annotations

import dataclasses
import datetime as dt
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from planner.advise.recommend.uses import UsesFile
from planner.catalog.query import find_offers
from planner.catalog.records import Catalog, Figure, Gpu, HardwarePrice, Host, Offer, first_day
from planner.strategy.resolve.figures import Figures, oldest
from planner.strategy.resolve.hardware_prices import hardware_price
from planner.strategy.resolve.power import machine_power

COUNTS = (1, 2, 4, 8)
LOAD_SHARE_OF_SUPPLY = 0.8  # a supply that runs at more wears and trips on peaks
BRIDGES_PER_PAIR = 3  # of data-centre cards

Condition = Literal["new", "used"]
_CONDITIONS: tuple[Condition, ...] = ("new", "used")
USED_AGE_MONTHS = 48  # a used card is planned as four years old, and kept for up to four more
USED_LIFE_MONTHS = 96


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One position of a build's price."""

    item: str
    name: str
    count: int
    price_usd: Figure  # of one
    condition: Condition

    @property
    def amount_usd(self) -> float:
        """Price of all of them. [USD]"""
        return self.count * self.price_usd.value


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """A machine that can be bought, complete: cards in a host, or a system sold as one."""

    id: str
    name: str
    gpu: Gpu
    gpus: int
    condition: Condition
    system: str | None
    parts: tuple[Part, ...]
    machine: dict[str, Any]  # as an entry of a scenario's machines
    airflow: bool  # passively cooled cards in a case that isn't made for them

    @property
    def price_usd(self) -> float:
        """Purchase price of one. [USD]"""
        return sum(part.amount_usd for part in self.parts)

    @property
    def estimated_usd(self) -> float:
        """Part of the price that rests on estimates. [USD]"""
        return sum(part.amount_usd for part in self.parts if part.price_usd.estimate)

    @property
    def as_of(self) -> str | None:
        """Date of its oldest price."""
        return oldest([part.price_usd.as_of for part in self.parts])

    def price_age_months(self, today: dt.date) -> float:
        """Age of its oldest price; infinite where a price has no date. [months]"""
        days = [first_day(part.price_usd.as_of) for part in self.parts]
        if any(day is None for day in days):
            return math.inf
        oldest_day = min(day for day in days if day is not None)
        return (today.year - oldest_day.year) * 12.0 + today.month - oldest_day.month


@dataclass(frozen=True, slots=True, eq=False)
class _Parts:
    """What builds are made of: the very same catalog and uses make the same ones."""

    catalog: Catalog
    uses: UsesFile

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Parts) and self.catalog is other.catalog and self.uses is other.uses

    def __hash__(self) -> int:
        return hash((id(self.catalog), id(self.uses)))


def builds(catalog: Catalog, uses: UsesFile) -> tuple[Build, ...]:
    """Every card with a price in the cheapest priced host that holds, powers and cools it, and every priced system."""
    return _builds(_Parts(catalog=catalog, uses=uses))


@lru_cache(maxsize=4)
def _builds(of: _Parts) -> tuple[Build, ...]:
    catalog, uses = of.catalog, of.uses
    figures = Figures(catalog)
    hosts = [host for host in catalog.hosts.values() if hardware_price(catalog, host.id, "new") is not None]
    found = list(_systems(catalog, figures))
    for gpu in catalog.gpus.values():
        if "PCIe" not in gpu.form_factor:
            continue
        for condition in _CONDITIONS:
            price = hardware_price(catalog, gpu.id, condition)
            if price is None or price.kind == "launch":  # a launch price isn't a price of today
                continue
            for count in COUNTS:
                host = _host_for(gpu, count, hosts, uses, figures)
                if host is not None:
                    found.append(_assembled(gpu, count, host, price, catalog, figures))
    return tuple(sorted(found, key=lambda build: build.id))


def rentals(catalog: Catalog, today: dt.date) -> tuple[Offer, ...]:
    """The cheapest current on-demand offer of every GPU and number of them, by kind of market."""
    best: dict[tuple[str, float, str], Offer] = {}
    for offer in find_offers(catalog, today=today, markets=("cloud", "marketplace")):
        if offer.gpu is None or offer.gpu_count < 1 or offer.gpu_count != int(offer.gpu_count):
            continue
        key = (offer.gpu, offer.gpu_count, offer.market)
        known = best.get(key)
        if known is None or (offer.price_usd_per_h.value, offer.id) < (known.price_usd_per_h.value, known.id):
            best[key] = offer
    return tuple(sorted(best.values(), key=lambda offer: offer.id))


def _host_for(gpu: Gpu, count: int, hosts: list[Host], uses: UsesFile, figures: Figures) -> Host | None:
    """The cheapest host with room, memory, power in hand and, for data-centre cards, more than one slot."""

    def price(host: Host) -> float:
        found = hardware_price(figures.catalog, host.id, "new")
        assert found is not None
        return found.price_usd.value

    memory_gb = uses.hosts.memory_over_gpu_memory * count * gpu.memory_gb.value

    fitting = [
        host
        for host in hosts
        if host.gpu_slots >= count
        and uses.hosts.memory_gb.get(host.id, 0.0) >= memory_gb
        and (gpu.segment != "datacenter" or host.gpu_slots > 1)
        and host.psu_w is not None
        and host.load_w is not None
        and machine_power(gpu, count, host, figures)[0].value <= LOAD_SHARE_OF_SUPPLY * host.psu_w
    ]
    return min(fitting, key=lambda host: (price(host), host.id), default=None)


def _assembled(gpu: Gpu, count: int, host: Host, card: HardwarePrice, catalog: Catalog, figures: Figures) -> Build:
    shell = hardware_price(catalog, host.id, "new")
    assert shell is not None
    parts = [
        Part(item=gpu.id, name=gpu.name, count=count, price_usd=card.price_usd, condition=card.condition),
        Part(item=host.id, name=host.name, count=1, price_usd=shell.price_usd, condition="new"),
    ]
    machine: dict[str, Any] = {"gpu": gpu.id, "gpus": count, "host": host.id, **_age(card.condition)}
    bridges = _bridges(gpu, count, catalog)
    if bridges is not None:
        parts.append(bridges)
        machine["host_price_usd"] = shell.price_usd.value + bridges.amount_usd
    _add_installation(parts, machine, gpu, figures)
    used = "-used" if card.condition == "used" else ""
    id = f"{count}x-{gpu.id}{used}-{host.id}".replace(".", "-")
    name = f"{count}x {gpu.name}{' (used)' if used else ''} in {host.name}"
    return Build(
        id=id, name=name, gpu=gpu, gpus=count, condition=card.condition, system=None, parts=tuple(parts),
        machine=machine, airflow=gpu.segment == "datacenter" and host.gpu_slots < 8,
    )  # fmt: skip


def _bridges(gpu: Gpu, count: int, catalog: Catalog) -> Part | None:
    """NVLink bridges between pairs of data-centre cards, at the only price of a bridge that the catalog has.

    Other cards do without: speeds are estimated over PCIe for all of them.
    """
    if count < 2 or gpu.segment != "datacenter" or gpu.spec.nvlink_bridge_gb_per_s is None:
        return None
    for part in catalog.parts.values():
        price = hardware_price(catalog, part.id, "new") if part.kind == "nvlink_bridge" else None
        if price is not None:
            figure = dataclasses.replace(price.price_usd, estimate=True)
            return Part(
                item=part.id,
                name=f"NVLink bridge of the {gpu.name}, at the price of: {part.name}",
                count=count // 2 * BRIDGES_PER_PAIR,
                price_usd=figure,
                condition="new",
            )
    return None


def _add_installation(parts: list[Part], machine: dict[str, Any], gpu: Gpu, figures: Figures) -> None:
    """Servers are installed for money; a PC is put up by who uses it."""
    if gpu.segment != "datacenter":
        machine["installation_usd"] = 0
        return
    cost = figures.assumed("installation_usd_server")
    parts.append(Part(item="installation", name="Installation", count=1, price_usd=cost, condition="new"))


def _systems(catalog: Catalog, figures: Figures) -> Iterator[Build]:
    for system in catalog.systems.values():
        gpu = catalog.gpus.get(system.gpu)
        host = system.host or ("server-8-sxm" if system.gpu_count <= 8 else None)
        if system.kind == "baseboard" or gpu is None or host not in catalog.hosts:
            continue
        for condition in _CONDITIONS:
            price = hardware_price(catalog, system.id, condition)
            if price is None:
                continue
            parts = [Part(item=system.id, name=system.name, count=1, price_usd=price.price_usd, condition=condition)]
            total, card = price.price_usd.value, hardware_price(catalog, gpu.id, condition)
            share = total / system.gpu_count if card is None else min(card.price_usd.value, total / system.gpu_count)
            machine: dict[str, Any] = {
                "gpu": gpu.id,
                "gpus": system.gpu_count,
                "host": host,
                "gpu_price_usd": share,  # cards and the rest of a machine lose value differently
                "host_price_usd": total - share * system.gpu_count,
                **_age(condition),
            }
            _add_installation(parts, machine, gpu, figures)
            yield Build(
                id=system.id.replace(".", "-"), name=system.name, gpu=gpu, gpus=system.gpu_count, condition=condition,
                system=system.id, parts=tuple(parts), machine=machine, airflow=False,
            )  # fmt: skip
            break


def _age(condition: Condition) -> dict[str, Any]:
    if condition == "new":
        return {"condition": condition}
    return {"condition": condition, "age_months": USED_AGE_MONTHS, "useful_life_months": USED_LIFE_MONTHS}
