import math
from dataclasses import replace

import pytest

from planner.performance.scaling import (
    all_reduce_s,
    data_parallel_step_s,
    exposed_s,
    jitter_factor,
    link_of,
    node_count,
    switch_domain,
)
from tests.unit.performance.hardware import figure, geforce, gpu, shipped_constants, workstation_card

CONSTANTS = shipped_constants(
    nvlink_share_ddp=0.25,
    network_share=0.5,
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
    assert one_node.all_reduce_bytes_per_s == 150e9
    assert two_nodes.all_reduce_bytes_per_s == 400e9 / 8 * 0.5
    assert two_nodes.node_all_reduce_bytes_per_s == 150e9


def test_without_a_stated_network_workstations_have_that_of_an_office():
    assert link(geforce(), 2, per_node=1).all_reduce_bytes_per_s == 10e9 / 8 * 0.5
    assert link(gpu(), 16).all_reduce_bytes_per_s == 800e9 / 8 * 0.5


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


@pytest.mark.parametrize(("generation", "rate"), [(3, 8 / 1.5), (4, 8), (5, 12)])
def test_a_newer_bus_carries_more(generation, rate):
    card = geforce(pcie_gen=figure(generation))
    assert link(card, 2).all_reduce_bytes_per_s == pytest.approx(rate * 1e9)


def test_boards_of_a_generation_have_its_network():
    fabric = replace(CONSTANTS, node_network_gbit_per_s_ampere=1600, node_network_gbit_per_s_hopper=3200)
    ampere, hopper = (link_of(gpu(architecture=a), 16, 8, None, fabric) for a in ("Ampere", "Hopper"))
    assert (ampere.fabric_bytes_per_s, hopper.fabric_bytes_per_s) == (200e9, 400e9)
    cards = link_of(workstation_card(segment="datacenter"), 16, 8, None, fabric)
    assert cards.fabric_bytes_per_s == 800e9 / 8


def test_rates_as_rated_are_there_for_the_step() -> None:
    board, card = link(gpu(), 8), link(workstation_card(), 4)
    assert (board.nvlink_bytes_per_s, board.bus_bytes_per_s) == (300e9, math.inf)
    assert (card.nvlink_bytes_per_s, card.bus_bytes_per_s) == (0.0, 14e9)


def test_one_switch_joins_a_rack_of_superchips() -> None:
    superchip = gpu(form_factor="superchip", architecture="Blackwell+Grace")
    assert (switch_domain(superchip, 4), switch_domain(superchip, 128), switch_domain(gpu(), 4)) == (72, 128, 4)
    rack = link(superchip, 64, per_node=4)
    assert (rack.nodes, rack.gpus_per_node, rack.all_reduce_bytes_per_s) == (1, 72, 150e9)
    # what is said is of a node of four; of a rack there are eighteen
    assert link(superchip, 144, per_node=4, network=400).fabric_bytes_per_s == 18 * 400e9 / 8
    # a GPU's part of the default is an eighth of a board's
    fabric = replace(CONSTANTS, node_network_gbit_per_s_hopper=3200)
    assert link_of(superchip, 144, 4, None, fabric).fabric_bytes_per_s == 72 * 400e9 / 8
