"""Forms of the Catalog page: the fields of an own quote, machine and GPU, and the scenario entry they make."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from planner.catalog.records import Catalog
from ui.catalog_own import Part
from ui.i18n import t

Entry = dict[str, Any]
Options = Callable[[Catalog], dict[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """A field named like the key of the entry it fills; `also` are further keys whose problems belong here."""

    name: str
    kind: Literal["text", "number", "money", "choice", "switch"] = "number"
    help: str = ""
    example: str = ""
    optional: bool = True
    folded: bool = False
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """The fields of one kind of entry; `entry` makes what the scenario holds from name and values."""

    part: Part
    inputs: Sequence[Input]
    entry: Callable[[str, Entry], Entry]
    options: Mapping[str, Options] = field(default_factory=dict)


def _gpus(catalog: Catalog) -> dict[str, str]:
    return {id: gpu.name for id, gpu in sorted(catalog.gpus.items(), key=lambda item: item[1].name.casefold())}


def _hosts(catalog: Catalog) -> dict[str, str]:
    return {id: host.name for id, host in catalog.hosts.items()}


def _providers(catalog: Catalog) -> dict[str, str]:
    return {id: entry.name for id, entry in sorted(catalog.providers.items(), key=lambda item: item[1].name.casefold())}


def _segments(catalog: Catalog) -> dict[str, str]:
    return {id: t(f"own.segment.{id}") for id in ("consumer", "workstation", "datacenter")}


def _quote(name: str, values: Entry) -> Entry:
    return {"instance_type": name, **values}


def _machine(name: str, values: Entry) -> Entry:
    return values


def _gpu(name: str, values: Entry) -> Entry:
    """One rate in 16 bit stands for both kinds of 16-bit numbers."""
    half = values.pop("bf16_dense_tflop_per_s", None)
    rates = {} if half is None else {"fp16_dense_tflop_per_s": half, "bf16_dense_tflop_per_s": half}
    return {"name": name, **values, **rates}


_NAME = Input(name="name", kind="text", help="name", example="Campus cluster")

FORMS: Mapping[str, Form] = {
    "offers": Form(
        part="offers",
        inputs=(
            _NAME,
            Input(name="gpu", kind="choice"),
            Input(name="gpu_count", help="gpu_count", example="8"),
            Input(name="provider", kind="choice", help="provider"),
            Input(name="price_usd_per_h", kind="money", help="price", example="14.40"),
            Input(name="price_usd_per_gpu_h", kind="money", help="one_price", example="1.80"),
            Input(name="region", kind="text", folded=True),
            Input(name="startup_s", help="startup", folded=True),
            Input(name="billing_unit_s", help="billing", folded=True),
            Input(name="minimum_s", folded=True),
            Input(name="network_gbit_per_s", help="network", folded=True),
            Input(name="includes_tax", kind="switch", folded=True),
        ),
        entry=_quote,
        options={"gpu": _gpus, "provider": _providers},
    ),
    "machines": Form(
        part="machines",
        inputs=(
            Input(name="name", kind="text", help="name", example="Lab server"),
            Input(name="gpu", kind="choice"),
            Input(name="gpus", help="gpus", example="4"),
            Input(name="gpu_price_usd", kind="money", help="catalog_price", example="1900"),
            Input(name="host", kind="choice", help="host"),
            Input(name="host_price_usd", kind="money", help="host_price", example="6500"),
            Input(name="load_w", help="load", example="2100"),
            Input(name="idle_w", help="idle", example="250"),
            Input(name="count", help="count", folded=True),
            Input(name="useful_life_months", folded=True),
        ),
        entry=_machine,
        options={"gpu": _gpus, "host": _hosts},
    ),
    "gpus": Form(
        part="gpus",
        inputs=(
            Input(name="name", kind="text", help="gpu_name", example="Card we were promised"),
            Input(name="segment", kind="choice", help="segment"),
            Input(name="memory_gb", example="48"),
            Input(name="memory_bandwidth_gb_per_s", example="1800"),
            Input(name="bf16_dense_tflop_per_s", help="dense", example="250", also=("fp16_dense_tflop_per_s",)),
            Input(name="fp32_dense_tflop_per_s", example="110"),
            Input(name="tdp_w", example="400"),
            Input(name="idle_w", folded=True),
            Input(name="tf32_dense_tflop_per_s", help="dense", folded=True),
            Input(name="fp8_dense_tflop_per_s", help="dense", folded=True),
            Input(name="nvlink_gb_per_s", help="nvlink", folded=True),
            Input(name="peer_to_peer", kind="switch", folded=True),
        ),
        entry=_gpu,
        options={"segment": _segments},
    ),
}
