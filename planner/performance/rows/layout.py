"""How a measured row's run is spread and cut: parallelism, batches, recomputation, with rules for what isn't said."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from planner.measurements.parallelism import Parallelism, parse_parallelism
from planner.performance.constants import Constants
from planner.performance.rows.memory import RowMemory
from planner.performance.rows.subject import Subject
from planner.performance.step_inputs import StepPlan
from planner.workload.settings import Checkpointing, Sharding

MOST_IN_NODE = 8
MASKED_SHARE = 0.16  # of the positions of a masked language model that are predicted: 15 % and rounding up
MOST_CHUNKS = 6
UNEVEN_STAGES = 1.05  # stages of nearly equal size: embeddings and head make up for a layer or two
MOST_MICRO_BATCH = 64
_YES = frozenset({"1", "1.0", "true", "yes", "on", "async", "async_tp", "async-tp"})
PASSES_OF_A_STAGE = 4  # micro-batches for each pipeline stage: filling and draining then cost less than a fifth
UNPADDED_SEQ_LEN = 512  # of BERT's second phase, whose articles are mostly shorter


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """GPUs of a run: how they split a model, and what the replicas share."""

    tensor: int = 1
    pipeline: int = 1
    context: int = 1
    expert: int = 1
    chunks: int = 1
    sharding: Sharding = "replicated"
    shards: int = 1
    replicas: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Batches:
    """Sequences of a step and of one pass of one replica, and passes of a step."""

    total: float
    micro: float
    steps: float


def plans_of(subject: Subject, constants: Constants) -> tuple[tuple[StepPlan, float], ...]:
    """Layouts of a row's run, each with the sequences of its step; several where the layout isn't said.

    Parameters
    ----------
    subject : Subject
        What ran; its `choices` take what is filled in here.
    constants : Constants
        For the memory that decides between settings.

    Returns
    -------
    tuple of (StepPlan, float)
        At least one.
    """
    memory = RowMemory(subject, constants)
    if subject.row.parallelism:
        spreads = [_said(subject, parse_parallelism(subject.row.parallelism))]
    else:
        spreads = _open(subject, memory)
        if (subject.row.n_gpus or 1) > 1:
            subject.choices.append("parallelism by rule")
    return tuple(
        _plan(subject, spread, memory, checkpointing)
        for spread in spreads
        for checkpointing in _checkpointing(subject, spread, memory)
    )


def gpus_per_node(subject: Subject) -> int:
    """GPUs of a node: as said, else at most eight."""
    return subject.row.gpus_per_node or min(subject.row.n_gpus or 1, MOST_IN_NODE)


def _said(subject: Subject, words: Parallelism) -> Spread:
    gpus = subject.row.n_gpus or 1
    replicas = max(1, gpus // words.split)
    base = Spread(
        tensor=words.tensor,
        pipeline=words.pipeline,
        context=words.context,
        expert=words.expert,
        chunks=words.virtual,
        replicas=replicas,
    )
    if words.kind in ("fsdp", "zero2"):
        sharing = replicas * words.context  # ranks of one sequence share the state too
        group = words.shard_group or (min(sharing, gpus_per_node(subject)) if words.hybrid else sharing)
        return replace(base, sharding="sharded", shards=min(group, sharing))
    split = words.kind == "model-parallel" and subject.method == "full"
    vendors = subject.software == "vendor" and subject.method == "full" and not subject.is_encoder
    if words.kind == "zero1" or split or (vendors and replicas > 1):
        return replace(base, sharding="optimizer", shards=min(words.shard_group or replicas, replicas))
    return base


def _open(subject: Subject, memory: RowMemory) -> list[Spread]:
    """Layouts of a run that doesn't say its own.

    Where global batch, accumulation and micro-batch are given, GPUs x accumulation x micro-batch / global batch split
    the model. A vendor's code then takes the fastest of tensor and pipeline parallelism; the others shard the state.
    """
    row, gpus = subject.row, subject.row.n_gpus or 1
    if gpus == 1:
        return [Spread()]
    if subject.is_encoder:
        return [Spread(replicas=gpus)]
    if subject.software != "vendor":
        whole = memory.fits(Spread(replicas=gpus), 1, memory.most_recompute)
        if subject.method != "full" and whole:
            return [Spread(replicas=gpus)]
        return [Spread(sharding="sharded", shards=gpus, replicas=gpus)]
    split = None
    if row.global_batch_seqs and row.grad_accum:
        passes = row.grad_accum * (row.micro_batch_seqs or 1)
        split = _divisor(gpus, gpus * passes / row.global_batch_seqs)
    if subject.method != "full":
        return [_split_adapters(subject, memory, split)]
    if split is None:
        split = memory.least_split(gpus)
    found = list(_factored(subject, split))
    return found or [Spread(sharding="optimizer", shards=gpus, replicas=gpus)]


def _divisor(gpus: int, wanted: float) -> int:
    """The largest number up to the wanted one that divides the GPUs."""
    most = max(1, min(gpus, round(wanted)))
    return next(count for count in range(most, 0, -1) if gpus % count == 0)


def _split_adapters(subject: Subject, memory: RowMemory, split: int | None) -> Spread:
    """Fine-tuning: tensor parallel inside the node, then context parallel."""
    gpus, node = subject.row.n_gpus or 1, gpus_per_node(subject)
    if split is None:
        split = memory.least_adapter_split(gpus)
    tensor = math.gcd(min(split, node), subject.spec.heads)
    return Spread(tensor=tensor, context=split // tensor, replicas=max(1, gpus // split))


def _factored(subject: Subject, split: int) -> Iterator[Spread]:
    """Tensor x pipeline that make a split: powers of two inside the node, stages of nearly equal size."""
    spec, gpus = subject.spec, subject.row.n_gpus or 1
    node = gpus_per_node(subject)
    tensor = 1
    while tensor <= min(node, split):
        stages = split // tensor
        layers = math.ceil(spec.layers / stages)
        even = layers * stages <= UNEVEN_STAGES * spec.layers
        if split % tensor == 0 and spec.heads % tensor == 0 and stages <= spec.layers and even:
            chunks = 1
            if stages > 1:
                chunks = max(count for count in range(1, MOST_CHUNKS + 1) if layers % count == 0)
            replicas = max(1, gpus // split)
            yield Spread(
                tensor=tensor,
                pipeline=stages,
                chunks=chunks,
                sharding="optimizer",
                shards=replicas,
                replicas=replicas,
            )
        tensor *= 2


def _plan(subject: Subject, spread: Spread, memory: RowMemory, checkpointing: Checkpointing) -> tuple[StepPlan, float]:
    batches = _batches(subject, spread, memory, checkpointing)
    encoder = subject.is_encoder
    pretraining = (subject.row.task or "pretrain").casefold() == "pretrain"
    name = (subject.row.model or "").casefold()
    plan = StepPlan(
        seq_len=subject.seq_len,
        micro_batch=batches.micro,
        micro_steps=batches.steps,
        checkpointing=checkpointing,
        sharding=spread.sharding,
        fused_attention=subject.fused_attention,
        fused_elementwise=subject.fused_elementwise,
        software=subject.software,
        method=subject.method,
        shards=spread.shards,
        tensor=spread.tensor,
        pipeline=spread.pipeline,
        chunks=spread.chunks,
        context=spread.context,
        expert=spread.expert,
        head_share=(MASKED_SHARE if pretraining else 0.0) if encoder else 1.0,
        generator=name.startswith("electra") and pretraining,
        overlapped_tensor=(subject.row.async_tp or "").casefold() in _YES,
        unpadded=subject.stack.drops_padding and encoder and pretraining and subject.seq_len == UNPADDED_SEQ_LEN,
    )
    return plan, batches.total


def _checkpointing(subject: Subject, spread: Spread, memory: RowMemory) -> tuple[Checkpointing, ...]:
    """As said; else none, or the least that fits: a vendor's run is taken to fit, as its layout was made for it.

    Where the micro-batch isn't said either, recomputation may pay by a larger one: then the faster of both counts.
    """
    said = (subject.row.activation_checkpointing or "").casefold()
    if said.startswith(("none", "no")):
        return ("none",)
    if said.startswith("full") or said in _YES:
        return ("full",)
    if said.startswith(("selective", "sac", "partial", "op")):
        return ("selective",)
    if subject.software == "vendor" or subject.is_encoder:
        return ("none",)
    micro = _given_micro_batch(subject, spread)
    if not memory.fits(spread, micro or 1.0, "none"):
        subject.choices.append("recomputation full")
        return ("full",)
    if micro is None:
        subject.choices.append("recomputation none or full")
        return ("none", "full")
    subject.choices.append("recomputation none")
    return ("none",)


def _given_micro_batch(subject: Subject, spread: Spread) -> float | None:
    """Micro-batch as said, or as it follows from what is said; None where it's open."""
    row = subject.row
    if row.micro_batch_seqs is not None:
        return float(row.micro_batch_seqs)
    if row.global_batch_seqs and row.grad_accum:
        return max(1.0, float(round(row.global_batch_seqs / spread.replicas / row.grad_accum)))
    return None


def _batches(subject: Subject, spread: Spread, memory: RowMemory, checkpointing: Checkpointing) -> Batches:
    row = subject.row
    replicas = spread.replicas
    total, micro, accumulation = row.global_batch_seqs, row.micro_batch_seqs, row.grad_accum
    local = total / replicas if total else None
    given = _given_micro_batch(subject, spread)
    if given is None:
        most = local or MOST_MICRO_BATCH
        if spread.pipeline > 1 and local is not None:
            most = max(1.0, local / (PASSES_OF_A_STAGE * spread.pipeline))
        micro_batch = float(memory.largest_micro_batch(spread, checkpointing, most))
    else:
        micro_batch = given
    if micro is None:
        subject.choices.append(f"micro-batch {micro_batch:g}")
    if total is None:
        steps = float(accumulation or (PASSES_OF_A_STAGE * spread.pipeline if spread.pipeline > 1 else 1))
        return Batches(total=micro_batch * replicas * steps, micro=micro_batch, steps=steps)
    assert local is not None
    pipelined = spread.pipeline > 1 and micro is not None and micro > 1 and (accumulation or 1) == 1
    if pipelined and micro_batch == local:
        # With a pipeline, no accumulation and a micro-batch of several: the whole local batch is meant.
        subject.choices.append("micro-batch 1 of the local batch")
        return Batches(total=float(total), micro=1.0, steps=local)
    if micro_batch > local:
        micro_batch = local
    return Batches(total=float(total), micro=micro_batch, steps=max(1.0, local / micro_batch))
