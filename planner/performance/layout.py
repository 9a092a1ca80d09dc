"""How a run is spread over its GPUs: replicas, shards, tensor and pipeline parallelism."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from planner.catalog.records import Gpu, TransformerSpec
from planner.performance.scaling import is_switched, node_count
from planner.workload.settings import Sharding

MOST_TENSOR = 8  # beyond, its all-reduces would leave the node
MOST_STAGES = 64
MOST_LAYERS_OVER_SHARE = 1.05  # stages of nearly equal size: embeddings and head make up for a layer or two
MOST_CHUNKS = 4  # of a pipeline stage, run interleaved to shorten the bubble


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Each replica of the model lies on `tensor` x `pipeline` GPUs; `shards` more divide its state or optimizer."""

    sharding: Sharding
    gpus: int
    shards: int = 1
    tensor: int = 1
    pipeline: int = 1
    chunks: int = 1

    @property
    def ranks(self) -> int:
        """Groups of GPUs that each work on samples of their own."""
        return self.gpus // (self.tensor * self.pipeline)

    @property
    def is_plain(self) -> bool:
        """Whether the published runs in the evidence are spread like this: replicas, or shards over all GPUs."""
        return self.sharding == "replicated" or (self.sharding == "sharded" and self.shards == self.gpus)


def plain_layouts(gpus: int, *, transformer: bool) -> tuple[Layout, ...]:
    """Replicas, and for a transformer on several GPUs shards over all of them."""
    replicated = Layout(sharding="replicated", gpus=gpus)
    if not transformer or gpus == 1:
        return (replicated,)
    return replicated, Layout(sharding="sharded", gpus=gpus, shards=gpus)


def hybrid_layouts(gpus: int, gpus_per_node: int) -> Iterator[Layout]:
    """Shards within a node or a group of nodes, replicated over the groups, the smallest group first."""
    group = gpus_per_node
    while group < gpus:
        if gpus % group == 0:
            yield Layout(sharding="sharded", gpus=gpus, shards=group)
        group *= 2


def split_layouts(spec: TransformerSpec, gpu: Gpu, gpus: int, gpus_per_node: int, tensor: int) -> Iterator[Layout]:
    """Tensor parallel within the node and pipelines across nodes, the shortest first, the optimizer sharded.

    Only for decoders on several nodes of GPUs with a switch between all of a node: elsewhere nobody trains like this.
    """
    if spec.encoder or node_count(gpus, gpus_per_node) == 1 or not is_switched(gpu):
        return
    if gpus_per_node % tensor or spec.heads % tensor or spec.kv_heads % tensor:
        return
    stages = 1
    while stages <= MOST_STAGES:
        layers = -(-spec.layers // stages)
        if layers * stages <= MOST_LAYERS_OVER_SHARE * spec.layers and gpus % (tensor * stages) == 0:
            chunks = 1 if stages == 1 else max(n for n in range(1, MOST_CHUNKS + 1) if layers % n == 0)
            yield Layout(
                sharding="optimizer",
                gpus=gpus,
                shards=gpus // (tensor * stages),
                tensor=tensor,
                pipeline=stages,
                chunks=chunks,
            )
        stages *= 2
