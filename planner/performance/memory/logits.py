"""Memory of the scores over the vocabulary around the loss."""

from __future__ import annotations

from math import ceil

from planner.performance.constants import Constants
from planner.performance.memory.setup import MemorySetup

CHUNK_TOKENS = 128  # of a sequence whose logits are computed at once by a chunked loss


def logit_bytes_per_token(setup: MemorySetup, constants: Constants) -> float:
    """Logits of one token with what the loss keeps of them; none for an encoder. [bytes/token]"""
    if setup.spec.encoder:
        return 0.0
    a_logit = {
        "plain": constants.logit_bytes_plain,
        "fused": constants.logit_bytes_fused,
        "chunked": constants.logit_bytes_chunked,
    }[setup.loss]
    return a_logit * setup.spec.vocab


def cached_logit_bytes_per_token(setup: MemorySetup, constants: Constants) -> float:
    """What the allocator holds beyond them: a plain loss frees the 16-bit logits too early to use the block again."""
    if setup.spec.encoder or setup.loss != "plain":
        return 0.0
    return constants.logit_bytes_cached * setup.spec.vocab


def head_calls(setup: MemorySetup) -> int:
    """Times that the projection onto the vocabulary runs in one pass."""
    return ceil(setup.tokens / CHUNK_TOKENS) if setup.loss == "chunked" else 1
