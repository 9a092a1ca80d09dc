from dataclasses import replace

import pytest

from planner.performance.layout import hybrid_layouts, plain_layouts, split_layouts
from tests.unit.performance.hardware import geforce, gpu
from tests.unit.workload.test_transformer import LLAMA_7B


def test_plain_layouts_are_replicas_and_shards_over_all():
    assert [(x.sharding, x.shards) for x in plain_layouts(8, transformer=True)] == [("replicated", 1), ("sharded", 8)]
    assert [x.sharding for x in plain_layouts(1, transformer=True)] == ["replicated"]
    assert [x.sharding for x in plain_layouts(8, transformer=False)] == ["replicated"]
    assert all(x.is_plain and x.ranks == x.gpus for x in plain_layouts(8, transformer=True))


def test_hybrid_groups_are_nodes_and_their_doubles_that_divide_the_run():
    assert [x.shards for x in hybrid_layouts(64, 8)] == [8, 16, 32]
    assert [x.shards for x in hybrid_layouts(24, 8)] == [8]
    assert not any(x.is_plain for x in hybrid_layouts(64, 8))


def test_a_split_model_lies_on_whole_stages():
    found = list(split_layouts(LLAMA_7B, gpu(), 64, 8, 4))
    assert [x.pipeline for x in found] == [1, 2, 4, 8, 16]
    assert [x.ranks for x in found] == [16, 8, 4, 2, 1]
    assert all(x.tensor * x.pipeline * x.shards == 64 for x in found)
    assert found[1].chunks == 4 and found[0].chunks == 1


def test_stages_may_differ_by_little():
    uneven = [x.pipeline for x in split_layouts(replace(LLAMA_7B, layers=126), gpu(), 64, 8, 1)]
    assert uneven == [1, 2, 4, 8, 16, 32, 64]  # as 128 layers, embeddings and head being two
    assert [x.pipeline for x in split_layouts(replace(LLAMA_7B, layers=30), gpu(), 64, 8, 1)] == [1, 2]


@pytest.mark.parametrize(
    ("gpus", "card", "tensor"), [(8, gpu(), 2), (64, geforce(), 2), (64, gpu(), 3), (64, gpu(), 16)]
)
def test_where_nobody_splits_there_is_no_split(gpus, card, tensor):
    assert list(split_layouts(LLAMA_7B, card, gpus, 8, tensor)) == []
