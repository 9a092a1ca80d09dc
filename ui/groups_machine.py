"""Machines as inputs of the Plan page: number, prices and use, and by subject what else may be said of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from planner.catalog.records import Catalog
from planner.scenario.failures import TYPICAL
from ui.group_parts import Subject, assumed, price_of
from ui.groups_finance import finance
from ui.i18n import t
from ui.inputs import Choice, Field, Input

AT_START = ("keep", "sell", "upgrade", "cheapest")
Used = Mapping[str, float]
Machine = Mapping[str, Any]


def counted(id: str, machine: Machine, catalog: Catalog, used: Used) -> list[Input]:
    """How many, and what a card costs."""
    here = f"machines.{id}"
    return [
        Field(
            path=f"{here}.count",
            label=t("hardware.count", machine=id),
            help=t("hardware.count_help" if machine.get("purchases") is None else "hardware.count_help_staged"),
            default=_number_of(machine),
        ),
        Field(
            path=f"{here}.gpu_price_usd",
            label=t("hardware.gpu_price", machine=id),
            kind="money",
            help=t("hardware.price_help"),
            default=_used(used, f"{here}.gpu_price_usd")
            or price_of(catalog, str(machine.get("gpu", "")), machine.get("condition", "new")),
        ),
    ]


def _number_of(machine: Machine) -> str:
    """What an empty number of machines stands for."""
    purchases = machine.get("purchases")
    if purchases is None:
        return t("hardware.count_auto")
    owned = machine.get("owned")
    numbers = [*purchases.values()] if isinstance(purchases, Mapping) else [None]
    numbers += [owned.get("count")] if isinstance(owned, Mapping) else []
    if not all(isinstance(number, int) for number in numbers):
        return t("hardware.count_staged")
    return t("hardware.count_of_stages", count=sum(numbers))


def used_as(id: str, machine: Machine, catalog: Catalog, used: Used) -> list[Input]:
    """The host's price, and how long and how much a machine is used."""
    here = f"machines.{id}"
    return [
        Field(
            path=f"{here}.host_price_usd",
            label=t("hardware.host_price", machine=id),
            kind="money",
            help=t("hardware.price_help"),
            default=_used(used, f"{here}.host_price_usd")
            or price_of(catalog, str(machine.get("host", "")), machine.get("condition", "new")),
        ),
        Field(
            path=f"{here}.useful_life_months",
            label=t("hardware.life", machine=id),
            help=t("hardware.life_help"),
            default=_used(used, f"{here}.useful_life_months") or t("field.by_default"),
        ),
        Field(
            path=f"{here}.powered_h_per_month",
            label=t("hardware.powered", machine=id),
            help=t("hardware.powered_help"),
            default=assumed(catalog, "powered_h_per_month"),
        ),
        Field(
            path=f"{here}.target_utilisation",
            label=t("hardware.target", machine=id),
            kind="percent",
            help=t("hardware.target_help"),
            default=assumed(catalog, "target_utilisation", percent=True),
        ),
    ]


def subjects(machines: Mapping[str, Machine], catalog: Catalog, used: Used) -> Iterator[Subject]:
    """Purchases in stages, machines that are there, failures, loans and leases; none without machines."""
    if not machines:
        return
    there = {id: machine for id, machine in machines.items() if isinstance(machine.get("owned"), Mapping)}
    yield Subject(id="stages", make=lambda: [cell for id in machines for cell in _stages(id)])
    if there:
        yield Subject(
            id="owned",
            make=lambda: [cell for id, machine in there.items() for cell in _owned(id, machine, catalog, used)],
        )
    yield Subject(id="failures", make=lambda: [cell for id in machines for cell in _failures(id, catalog)])
    yield Subject(
        id="finance", make=lambda: [cell for id, machine in machines.items() for cell in finance(id, machine)]
    )


def _stages(id: str) -> list[Input | None]:
    here = f"machines.{id}"
    return [
        Field(
            path=f"{here}.purchases",
            label=t("hardware.purchases", machine=id),
            kind="by_month",
            help=t("hardware.purchases_help"),
            default=t("hardware.no_purchases"),
            expected=t("hardware.purchases_expected"),
        ),
        Field(
            path=f"{here}.delivery_months",
            label=t("hardware.delivery", machine=id),
            help=t("hardware.delivery_help"),
            default=t("field.default", value=0),
        ),
    ]


def _owned(id: str, machine: Machine, catalog: Catalog, used: Used) -> list[Input | None]:
    here = f"machines.{id}.owned"
    upgrade = machine["owned"].get("upgrade")
    cells: list[Input | None] = [
        Choice(
            path=f"{here}.at_start",
            label=t("hardware.at_start", machine=id),
            options=AT_START,
            words=lambda choice: t(f"at_start.{choice}") if choice in AT_START else str(choice),
            default=AT_START[0],
            help=t("hardware.at_start_help"),
        ),
        Choice(
            path=f"{here}.upgrade.gpu",
            label=t("hardware.upgrade", machine=id),
            options=[None, *sorted(catalog.gpus)],
            words=lambda gpu: catalog.gpus[gpu].name if gpu in catalog.gpus else str(gpu or t("hardware.no_upgrade")),
            help=t("hardware.upgrade_help"),
            expected=t("hardware.upgrade_expected"),
            also=(f"{here}.upgrade",),
        ),
    ]
    if not isinstance(upgrade, Mapping):
        return cells
    price = f"{here}.upgrade.gpu_price_usd"
    cells += [
        Field(
            path=price,
            label=t("hardware.upgrade_price", machine=id),
            kind="money",
            help=t("hardware.price_help"),
            default=_used(used, price)
            or price_of(catalog, str(upgrade.get("gpu", "")), machine.get("condition", "new")),
        ),
        None,
    ]
    if machine.get("host") is None:  # without one the draw of new cards can't be worked out
        cells += [
            Field(path=f"{here}.upgrade.load_w", label=t("hardware.upgrade_load", machine=id)),
            Field(path=f"{here}.upgrade.idle_w", label=t("hardware.upgrade_idle", machine=id)),
        ]
    return cells


def _failures(id: str, catalog: Catalog) -> list[Input | None]:
    here = f"machines.{id}"
    typical = "machine_failures_per_gpu_year"
    rate = f"{catalog.assume(typical).value:g}" if typical in catalog.assumptions else "?"
    return [
        Field(
            path=f"{here}.failures_per_year",
            label=t("hardware.failures", machine=id),
            kind="word",
            help=t("hardware.failures_help", typical=TYPICAL, rate=rate),
            default=t("hardware.no_failures"),
            expected_missing=t("hardware.failures_expected", typical=TYPICAL),
        ),
        Field(
            path=f"{here}.repair_h",
            label=t("hardware.repair", machine=id),
            help=t("hardware.repair_help"),
            default=assumed(catalog, "repair_h"),
        ),
    ]


def _used(used: Used, path: str) -> str:
    return f"{used[path]:.10g}" if path in used else ""
