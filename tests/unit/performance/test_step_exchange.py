"""What GPUs exchange, by hand: 150 GB/s over NVLink, and half of the 400 Gbit/s of a node."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from planner.performance.step_exchange import (
    exposed_s,
    gather_s,
    gradient_s,
    pass_exchange_s,
    rates_of,
    trained_parameters,
)
from tests.unit.performance.hardware import workstation_card
from tests.unit.performance.runs import BARE, PARAMETERS, columns
from tests.unit.workload.test_transformer import MIXTRAL

NVLINK, NODE = 150e9, 25e9
BUS = BARE.pcie_gb_per_s_professional * 1e9
ACTIVATIONS = 2 * 8 * 1024 * 768  # bytes of one tensor of a pass


def seconds(of, *, constants=BARE, **settings):
    x = columns(constants=constants, **settings)
    return float(of(x, rates_of(x, constants), constants)[0])


def test_rates_of_the_links() -> None:
    board, cards = columns(gpus=16), columns(gpus=4, card=workstation_card())
    rates = rates_of(board, BARE)
    assert (rates.inside[0], rates.node[0], rates.own_network[0]) == (NVLINK, NODE, NODE / 8)
    assert rates_of(cards, BARE).inside[0] == pytest.approx(BUS)


def test_shards_are_gathered_twice_and_gradients_scattered_once() -> None:
    assert seconds(gather_s, gpus=8, sharding="sharded") == pytest.approx(7 / 8 * 6 * PARAMETERS / NVLINK)
    wide = seconds(gather_s, gpus=64, sharding="sharded")
    assert wide == pytest.approx(63 / 64 * 6 * PARAMETERS / NODE)  # a node takes part once, with all its ports
    node = seconds(gather_s, gpus=64, sharding="sharded", shards=8)
    assert node == pytest.approx(7 / 8 * 6 * PARAMETERS / NVLINK)
    split = seconds(gather_s, gpus=64, sharding="sharded", tensor=2, pipeline=2)
    # the two tensor ranks of a node share its ports
    assert split == pytest.approx(15 / 16 * 6 * PARAMETERS / 4 / (NODE / 2))
    for sharding in ("replicated", "optimizer"):
        assert seconds(gather_s, gpus=8, sharding=sharding) == 0.0


def test_frozen_weights_are_gathered_and_have_no_gradients() -> None:
    full, lora, qlora = (seconds(gather_s, gpus=8, sharding="sharded", method=m) for m in ("full", "lora", "qlora"))
    assert lora == pytest.approx(full * 4 / 6)
    assert qlora == pytest.approx(full * 2 * 0.6 / 6)  # 4 bits and their scales


def test_gathering_over_nodes_waits_for_each_doubling() -> None:
    slow = replace(BARE, gather_latency_us=100.0)
    for gpus, hops in ((8, 0), (16, 1), (64, 3)):
        settings = {"gpus": gpus, "sharding": "sharded"}
        found = seconds(gather_s, constants=slow, **settings) - seconds(gather_s, **settings)
        assert found == pytest.approx(hops * 12 * 3 * 1e-4, abs=1e-12)


def test_replicas_add_up_their_gradients() -> None:
    assert seconds(gradient_s, gpus=1) == 0.0
    assert seconds(gradient_s, gpus=8) == pytest.approx(7 / 8 * 4 * PARAMETERS / 150e9)
    fp32 = seconds(gradient_s, gpus=8, precision="fp32")
    assert fp32 == pytest.approx(2 * seconds(gradient_s, gpus=8))
    crossing = seconds(gradient_s, gpus=64) - seconds(gradient_s, gpus=8)
    assert crossing == pytest.approx(2 * 7 / 8 * 2 * PARAMETERS / NODE)


def test_a_vendors_optimizer_scatters_in_32_bit_and_gathers_in_16() -> None:
    settings = {"gpus": 8, "sharding": "optimizer"}
    assert seconds(gradient_s, **settings) == pytest.approx(7 / 8 * 4 * PARAMETERS / NVLINK)
    assert seconds(gradient_s, software="vendor", **settings) == pytest.approx(7 / 8 * 6 * PARAMETERS / NVLINK)


def test_a_vendors_all_reduce_is_faster_through_a_switch_alone() -> None:
    faster = replace(BARE, all_reduce_gain_vendor=2.0)
    for card, gain in ((None, 2.0), (workstation_card(), 1.0)):
        usual, tuned = (
            seconds(gradient_s, constants=faster, gpus=8, card=card, software=s) for s in ("eager", "vendor")
        )
        assert usual / tuned == pytest.approx(gain)


def test_groups_of_shards_add_up_over_the_network() -> None:
    assert seconds(gradient_s, gpus=64, sharding="sharded") == 0.0
    hybrid = seconds(gradient_s, gpus=64, sharding="sharded", shards=8)
    assert hybrid == pytest.approx(2 * 7 / 8 * 2 * PARAMETERS / NODE)


def test_what_is_split_has_less_to_add_up() -> None:
    # one GPU in each of eight nodes holds the same eighth
    split = seconds(gradient_s, gpus=64, tensor=8, sharding="optimizer")
    assert split == pytest.approx(2 * 7 / 8 * 4 / 2 * PARAMETERS / 8 * 8 / NODE)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, 124e6),
        ({"method": "lora", "trainable_parameters": 1e6}, 1e6),
        ({"method": "qlora", "trainable_parameters": 1e6}, 1e6),
        ({"spec": MIXTRAL, "parameters": 46.7e9}, 46.7e9),
        ({"spec": MIXTRAL, "parameters": 46.7e9, "expert": 8, "gpus": 8}, 46.7e9 - 7 / 8 * 32 * 3 * 4096 * 8 * 14336),
    ],
)
def test_weights_whose_gradients_are_exchanged(settings, expected) -> None:
    assert trained_parameters(columns(**settings))[0] == pytest.approx(expected)


def test_tensor_parallelism_adds_up_both_blocks_there_and_back() -> None:
    constants = replace(BARE, tensor_exposed=0.5, tensor_exposed_eager=1.0)
    ring = 2 * 7 / 8 * ACTIVATIONS / NVLINK
    settings = {"gpus": 8, "tensor": 8, "constants": constants}
    assert seconds(pass_exchange_s, **settings) == pytest.approx(12 * 4 * ring)
    assert seconds(pass_exchange_s, checkpointing="full", **settings) == pytest.approx(12 * 6 * ring)
    for beside_the_matmuls in ({"software": "vendor"}, {"overlapped_tensor": True}):
        assert seconds(pass_exchange_s, **beside_the_matmuls, **settings) == pytest.approx(12 * 4 * ring / 2)
    slow = replace(constants, node_latency_us=10.0)
    waiting = seconds(pass_exchange_s, **{**settings, "constants": slow}) - 12 * 4 * ring
    assert waiting == pytest.approx(12 * 4 * 14 * 1e-5)


def test_context_parallelism_hands_keys_and_values_around() -> None:
    constants = replace(BARE, context_exposed=0.5)
    handed = 2 * ACTIVATIONS / 4  # keys and values of a quarter of the tokens
    near = seconds(pass_exchange_s, gpus=4, context=4, constants=constants)
    assert near == pytest.approx(0.5 * 12 * 3 * 3 * handed / NVLINK)
    far = seconds(pass_exchange_s, gpus=16, context=16, constants=constants)
    assert far == pytest.approx(0.5 * 12 * 3 * 15 * handed / 4 / (NODE / 8))


def test_experts_get_their_tokens_and_return_them() -> None:
    constants = replace(BARE, expert_exposed=0.5)
    routed = 4 * 2 * 8 * 1024 * 4096 * 2  # there and back, twice; two experts a token
    settings = {"spec": MIXTRAL, "constants": constants}
    near = seconds(pass_exchange_s, gpus=8, expert=8, **settings)
    assert near == pytest.approx(0.5 * 32 * routed * 7 / 8 / NVLINK)
    far = seconds(pass_exchange_s, gpus=16, expert=16, **settings)
    assert far == pytest.approx(0.5 * 32 * routed * 15 / 16 / (NODE / 8))


def test_stages_hand_on_their_output_for_each_chunk() -> None:
    constants = replace(BARE, pipeline_exposed=0.5)
    settings = {"gpus": 16, "pipeline": 2, "sharding": "optimizer", "constants": constants}
    one = seconds(pass_exchange_s, **settings)
    assert one == pytest.approx(0.5 * 2 * ACTIVATIONS / (NODE / 8))
    assert seconds(pass_exchange_s, chunks=3, **settings) == pytest.approx(3 * one)


def test_one_gpu_exchanges_nothing() -> None:
    for of in (gather_s, gradient_s, pass_exchange_s):
        assert seconds(of) == 0.0
        assert seconds(of, sharding="sharded") == 0.0


def test_nvlink_hides_the_shorter_but_for_a_share() -> None:
    constants = replace(BARE, overlap_exposed=0.25)
    compute, transfer = np.array([10.0]), np.array([4.0])
    board, cards = columns(gpus=8), columns(gpus=4, card=workstation_card())
    assert exposed_s(board, compute, transfer, constants)[0] == pytest.approx(1.0)
    assert exposed_s(board, transfer, compute, constants)[0] == pytest.approx(7.0)
    assert exposed_s(cards, compute, transfer, constants)[0] == 4.0
