from dataclasses import replace

import pytest

from planner.performance.scaling import (
    all_reduce_s,
    data_parallel_step_s,
    exposed_s,
    group_sharded_s,
    jitter_factor,
    link_of,
    node_count,
    replica_all_reduce_s,
    sharded_s,
    tensor_all_reduce_s,
)
from tests.unit.performance.hardware import figure, geforce, gpu, shipped_constants, workstation_card

CONSTANTS = shipped_constants(
    nvlink_share_ddp=0.25,
    nvlink_share_fsdp=0.5,
    overlap_exposed=0.5,
    pcie_gb_per_s_professional=14,
    pcie_gb_per_s_geforce=8,
    geforce_contention=1.0,
    sync_share_per_doubling=0.02,
    node_jitter_per_doubling=0.01,
    link_latency_us=0,
    node_latency_us=0,
    pcie_generation_gain=1.5,
    node_network_gbit_per_s=800,
    node_network_gbit_per_s_ampere=800,
    office_network_gbit_per_s=10,
)


def link(card, gpus, *, per_node=8, network=None):
    return link_of(card, gpus, per_node, network, CONSTANTS)


def test_one_gpu_exchanges_nothing():
    alone = link(geforce(), 1)
    assert all_reduce_s(1e9, alone) == 0.0
    assert sharded_s(1e9, alone) == 0.0
    assert data_parallel_step_s(2.0, 1e9, alone, CONSTANTS) == 2.0


def test_nvlink_reduces_at_a_share_of_both_directions():
    # 2 x 7/8 of 1.5 GB at 0.25 x 600 GB/s
    assert all_reduce_s(1.5e9, link(gpu(), 8)) == pytest.approx(2 * 7 / 8 * 1.5 / 150)


def test_geforce_hosts_share_what_goes_through_host_memory():
    two, four, eight = (link(geforce(), n).all_reduce_bytes_per_s for n in (2, 4, 8))
    assert (two, four, eight) == (8e9, 4e9, 2e9)


def test_peer_to_peer_cards_keep_their_rate():
    assert {link(workstation_card(), n).all_reduce_bytes_per_s for n in (2, 4, 8)} == {14e9}


def test_a_bridge_between_pairs_does_not_count_as_a_switch():
    bridged = geforce(nvlink_gb_per_s=gpu().nvlink_gb_per_s)
    assert link(bridged, 4).all_reduce_bytes_per_s == 4e9


def test_the_network_of_the_node_binds_runs_on_several_nodes():
    one_node, two_nodes = link(gpu(), 8), link(gpu(), 16, network=400)
    assert one_node.nodes == 1 and two_nodes.nodes == 2
    assert one_node.sharded_bytes_per_s == 150e9
    assert two_nodes.sharded_bytes_per_s == 400e9 / 8 * 0.5


def test_without_a_stated_network_workstations_have_that_of_an_office():
    assert link(geforce(), 2, per_node=1).all_reduce_bytes_per_s == 10e9 / 8 * 0.5
    assert link(gpu(), 16).sharded_bytes_per_s == 800e9 / 8 * 0.5


def test_overlap_hides_the_shorter_but_for_a_share():
    switched, staged = link(gpu(), 8), link(geforce(), 8)
    assert exposed_s(10.0, 4.0, switched, CONSTANTS) == pytest.approx(2.0)
    assert exposed_s(4.0, 10.0, switched, CONSTANTS) == pytest.approx(8.0)
    assert exposed_s(10.0, 4.0, staged, CONSTANTS) == 4.0


def test_waiting_grows_by_doublings_inside_and_across_nodes():
    assert jitter_factor(link(gpu(), 8), CONSTANTS) == pytest.approx(1.06)
    assert jitter_factor(link(gpu(), 32), CONSTANTS) == pytest.approx(1.06 * 1.02)


def test_latency_counts_every_step_of_the_ring():
    slow = replace(link(gpu(), 8), latency_s=0.001)
    assert all_reduce_s(0.0, slow) == pytest.approx(0.014)


@pytest.mark.parametrize(("gpus", "per_node", "nodes"), [(1, 8, 1), (8, 8, 1), (9, 8, 2), (64, 8, 8)])
def test_nodes_are_counted_up(gpus, per_node, nodes):
    assert node_count(gpus, per_node) == nodes


def test_shards_of_a_node_stay_on_its_own_links():
    wide = link(gpu(), 64, network=400)
    assert group_sharded_s(8e9, 8, wide) == pytest.approx(7 / 8 * 8e9 / 150e9)
    assert group_sharded_s(8e9, 16, wide) == pytest.approx(15 / 16 * 8e9 / 25e9)
    assert group_sharded_s(8e9, 64, wide) == pytest.approx(sharded_s(8e9, wide))


def test_replicas_exchange_once_what_a_node_holds():
    wide = link(gpu(), 64, network=400)
    # eight nodes with a replica each: there and back over 25 GB/s
    assert replica_all_reduce_s(8e9, 8, wide) == pytest.approx(2 * 7 / 8 * 8e9 / 25e9)
    # four replicas over two nodes each: every node has half of the payload
    assert replica_all_reduce_s(8e9, 16, wide) == pytest.approx(2 * 3 / 4 * 4e9 / 25e9)
    # two replicas in each node add theirs first, over 150 GB/s
    inside = 2 * 1 / 2 * 8e9 / 4 / 150e9
    assert replica_all_reduce_s(8e9, 4, wide) == pytest.approx(inside + 2 * 7 / 8 * 8e9 / 25e9)
    assert replica_all_reduce_s(8e9, 64, wide) == 0.0


def test_tensor_parallelism_reduces_inside_the_node():
    assert tensor_all_reduce_s(1e9, 4, link(gpu(), 64, network=1)) == pytest.approx(2 * 3 / 4 * 1e9 / 150e9)


@pytest.mark.parametrize(("generation", "rate"), [(3, 8 / 1.5), (4, 8), (5, 12)])
def test_a_newer_bus_carries_more(generation, rate):
    card = geforce(pcie_gen=figure(generation))
    assert link(card, 2).all_reduce_bytes_per_s == pytest.approx(rate * 1e9)


def test_boards_of_a_generation_have_its_network():
    fabric = replace(CONSTANTS, node_network_gbit_per_s_ampere=1600, node_network_gbit_per_s_hopper=3200)
    ampere, hopper = (link_of(gpu(architecture=a), 16, 8, None, fabric) for a in ("Ampere", "Hopper"))
    assert (ampere.network_bytes_per_s, hopper.network_bytes_per_s) == (100e9, 200e9)
    cards = link_of(workstation_card(segment="datacenter"), 16, 8, None, fabric)
    assert cards.network_bytes_per_s == 800e9 / 8 * 0.5
