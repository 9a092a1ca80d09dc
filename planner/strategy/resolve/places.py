"""Resources as a job sees them: types of machines and offers in one list."""

from __future__ import annotations

from dataclasses import dataclass

from planner.catalog.records import Gpu
from planner.strategy.parameters import ParameterTable
from planner.strategy.problem import Machine, RentedOffer, Spot
from planner.strategy.resolve.offers import PooledOffer

_MOST_NODES = 512
_MULTI_NODE_GPUS = 8  # nodes of this size have a network made for training; smaller ones only where one is stated


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A resource as a job sees it."""

    id: str
    rate_names: tuple[str, ...]  # under which a job may give an own speed, the nearest first
    gpu: Gpu
    gpus_per_node: int
    max_nodes: int
    machine: int | None
    offer: int | None
    region: str
    startup_s: float
    network_gbit_per_s: float | None
    term: str | None  # None for machines
    spot: Spot | None


def places(
    machines: list[tuple[Machine, Gpu]], offers: list[tuple[RentedOffer, PooledOffer]], table: ParameterTable
) -> list[Place]:
    """All resources of a problem in one list, machines first."""
    values = [parameter.value for parameter in table.freeze()]
    found = [
        Place(
            id=machine.id, rate_names=(gpu.id,) if machine.upgraded else (machine.id, gpu.id), gpu=gpu,
            gpus_per_node=machine.gpus, max_nodes=1, machine=index, offer=None, region="", startup_s=0.0,
            network_gbit_per_s=None, term=None, spot=None,
        )
        for index, (machine, gpu) in enumerate(machines)
    ]  # fmt: skip
    for index, (offer, item) in enumerate(offers):
        network = item.offer.network_gbit_per_s
        several = network is not None or offer.gpu_count >= _MULTI_NODE_GPUS
        found.append(
            Place(
                id=offer.id,
                rate_names=(offer.id, item.gpu.id),
                gpu=item.gpu,
                gpus_per_node=offer.gpu_count,
                max_nodes=_MOST_NODES if several else 1,
                machine=None,
                offer=index,
                region=offer.region,
                startup_s=values[offer.startup_s_at],
                network_gbit_per_s=None if network is None else network.value,
                term=offer.term,
                spot=offer.spot,
            )
        )
    return found
