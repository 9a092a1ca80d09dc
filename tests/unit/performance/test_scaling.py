from dataclasses import replace

import pytest

from planner.performance.scaling import (
    all_reduce_s,
    data_parallel_step_s,
    exposed_s,
    jitter_factor,
    link_of,
    node_count,
    sharded_s,
)
from tests.unit.performance.hardware import geforce, gpu, shipped_constants, workstation_card

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
