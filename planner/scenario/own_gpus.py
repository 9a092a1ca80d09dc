"""GPUs of a scenario's own become GPUs of its catalog, before anything is looked up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from planner.catalog.records import Catalog, Figure, Gpu, PartialGpu
from planner.errors import InputError
from planner.scenario.machines import GpuInput

_SOURCES = ("scenario",)


def with_own_gpus(catalog: Catalog, own: Mapping[str, GpuInput]) -> Catalog:
    """The catalog with the GPUs of a scenario beside its own.

    Raises
    ------
    InputError
        An id that already means a GPU of the catalog (`gpu_identity`), or a name that another GPU has (`name_taken`).
    """
    if not own:
        return catalog
    for id in own:
        _check_free(catalog, id)
    _check_names(catalog, own)
    gpus = {id: _gpu(id, entry) for id, entry in own.items()}
    return replace(catalog, gpus={**catalog.gpus, **gpus})


def _check_free(catalog: Catalog, id: str) -> None:
    """An id of one's own may be what a usual spelling of a card comes to: it stands for the own one then."""
    known: list[Gpu | PartialGpu] = [*catalog.partial_gpus.values(), *catalog.gpus.values()]
    taken = {name.casefold() for gpu in known for name in (gpu.id, *gpu.aliases)}
    if id.casefold() in taken | {label.label.casefold() for label in catalog.ambiguous.values()}:
        raise InputError("gpu_identity", field=f"gpus.{id}", value=id)


def _check_names(catalog: Catalog, own: Mapping[str, GpuInput]) -> None:
    """Tables and charts show names: two GPUs of one name couldn't be told apart there."""
    owners = {_folded(label.label): " or ".join(label.could_be) for label in catalog.ambiguous.values()}
    known: list[Gpu | PartialGpu] = [*catalog.partial_gpus.values(), *catalog.gpus.values()]
    for gpu in known:
        owners |= {_folded(name): gpu.id for name in (gpu.id, gpu.name, *gpu.aliases)}
    for id in own:
        if owners.setdefault(_folded(id), id) != id:
            raise InputError("name_taken", field=f"gpus.{id}", value=id, taken=f"the GPU {owners[_folded(id)]}")
    for id, entry in own.items():
        name = entry.name or id
        if owners.setdefault(_folded(name), id) != id:
            raise InputError(
                "name_taken", field=f"gpus.{id}.name", value=name, taken=f"the GPU {owners[_folded(name)]}"
            )


def _folded(name: str) -> str:
    return " ".join(name.split()).casefold()


def _gpu(id: str, entry: GpuInput) -> Gpu:
    return Gpu(
        id=id,
        name=entry.name or id,
        vendor="own",
        architecture="own",
        segment=entry.segment,
        form_factor="",
        launch_date=None,
        aliases=(),
        memory_gb=_given(entry.memory_gb),
        memory_bandwidth_gb_per_s=_given(entry.memory_bandwidth_gb_per_s),
        tdp_w=_given(entry.tdp_w),
        idle_w=None if entry.idle_w is None else _given(entry.idle_w),
        dense_tflop_per_s={name: _given(rate) for name, rate in entry.dense_tflop_per_s.items()},
        matmul_fraction={},
        nvlink_gb_per_s=None if entry.nvlink_gb_per_s is None else _given(entry.nvlink_gb_per_s),
        pcie_gen=None,
        pcie_lanes=None,
        peer_to_peer=entry.peer_to_peer,
    )


def _given(value: float) -> Figure:
    return Figure(value=value, sources=_SOURCES)
