"""Resources as a job sees them: types of machines and offers in one list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from planner.catalog.records import Gpu
from planner.performance.start_wait import mean_start_wait_s
from planner.strategy.machines import Failures, Machine
from planner.strategy.offers import Quota, RentedOffer, RentedProvider, Spot
from planner.strategy.parameters import ParameterTable
from planner.strategy.resolve.offers import PooledOffer
from planner.strategy.resolve.quotas import tightest

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
    provider: str  # "" for machines
    startup_s: float
    start_wait_s: float  # expected, before a session starts
    network_gbit_per_s: float | None
    term: str | None  # None for machines
    spot: Spot | None
    quota: Quota | None  # the smallest that limits it
    block_h: float | None  # that a block of capacity lasts
    failures: Failures | None = None


def places(
    machines: Sequence[tuple[Machine, Gpu]],
    offers: Sequence[tuple[RentedOffer, PooledOffer]],
    providers: Sequence[RentedProvider],
    quotas: Sequence[Quota],
    table: ParameterTable,
) -> list[Place]:
    """All resources of a problem in one list, machines first."""
    values = [parameter.value for parameter in table.freeze()]
    found = [
        Place(
            id=machine.id, rate_names=(gpu.id,) if machine.upgraded else (machine.id, gpu.id), gpu=gpu,
            gpus_per_node=machine.gpus, max_nodes=1, machine=index, offer=None, region="", provider="", startup_s=0.0,
            start_wait_s=0.0, network_gbit_per_s=None, term=None, spot=None, quota=None, block_h=None,
            failures=machine.failures,
        )
        for index, (machine, gpu) in enumerate(machines)
    ]  # fmt: skip
    for index, (offer, item) in enumerate(offers):
        network = item.offer.network_gbit_per_s
        quota = tightest(quotas, index)
        block = offer.commitment if offer.term == "capacity_block" else None
        there = offer.availability
        found.append(
            Place(
                id=offer.id,
                rate_names=(offer.id, item.gpu.id),
                gpu=item.gpu,
                gpus_per_node=offer.gpu_count,
                max_nodes=_max_nodes(offer, network is not None, quota),
                machine=None,
                offer=index,
                region=offer.region,
                provider=providers[offer.provider].id,
                startup_s=values[offer.startup_s_at],
                start_wait_s=0.0
                if there is None
                else float(mean_start_wait_s(values[there.available_share_at], values[there.retry_s_at])),
                network_gbit_per_s=None if network is None else network.value,
                term=offer.term,
                spot=offer.spot,
                quota=quota,
                block_h=None if block is None else block.term_h,
            )
        )
    return found


def _max_nodes(offer: RentedOffer, has_network: bool, quota: Quota | None) -> int:
    """Instances that one run may have: several with a network, as many as a quota or a block of capacity has."""
    most = _MOST_NODES if has_network or offer.gpu_count >= _MULTI_NODE_GPUS else 1
    if quota is not None:
        most = min(most, max(1, quota.gpus // offer.gpu_count))
    if offer.term == "capacity_block" and offer.commitment is not None:
        most = min(most, offer.commitment.nodes)
    return most
