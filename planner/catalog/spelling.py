"""Names as people write them: vendor, hyphens and memory of a GPU; owner and release of a model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

_MEMORY = re.compile(r"(?<![a-z0-9.])(\d{1,3})[\s_-]*g(?:i?b)?(?![a-z0-9.])")
_GPU_WORD = re.compile(r"[a-z0-9.]+")
_SAYS_NOTHING = frozenset({
    "accelerator", "amd", "apple", "card", "core", "edition", "geforce", "generation", "google", "gpu", "habana",
    "instinct", "intel", "nvidia", "oam", "radeon", "tensor", "tesla",
})  # fmt: skip
"""Words of a GPU's name that tell none from another."""
_MEMORY_TYPE = re.compile(r"\b(?:hbm|gddr)\d\w*")
_NUMBERED_SXM = re.compile(r"sxm\d")

_MODEL_WORD = re.compile(r"v\d+(?:\.\d+)*(?![a-z])|\d+(?:\.\d+)*(?:[bkmt](?![a-z]))?|[a-z]+")
_REMARK = re.compile(r"\s*\(.*\)\s*$|[\s_-]+(?:bnb[\s_-]+)?[48][\s_-]?bit$")
_RELEASE = re.compile(r"hf|chat|instruct|base|it|uncased|cased|v\d+(?:\.\d+)*|\d+k|\d{4}")
"""Last words of a model's name that change nothing of its shape."""


class Named(NamedTuple):
    """A record with its other names; of a GPU also its memory. [GB]"""

    id: str
    names: tuple[str, ...]
    memory_gb: float | None = None


class Spelling(NamedTuple):
    """A GPU's name without what is written in many ways, and the memory that it names. [GB]"""

    words: str
    memory_gb: int | None


Words: TypeAlias = tuple[str, ...]


def spelled(text: str) -> Spelling:
    """A GPU's name without case, vendor, blanks and hyphens; its memory apart.

    Examples
    --------
    >>> spelled("NVIDIA A100-SXM4-80GB")
    Spelling(words='a100sxm4', memory_gb=80)
    >>> spelled("A100 SXM4 80 GB") == spelled("a100_80g_sxm4")
    True
    """
    folded = text.casefold()
    memory = _MEMORY.search(folded)
    if memory:
        folded = f"{folded[: memory.start()]} {folded[memory.end() :]}"
    words = "".join(word for word in _GPU_WORD.findall(folded) if word not in _SAYS_NOTHING)
    return Spelling(words.removeprefix("rtx") or words, int(memory[1]) if memory else None)


def gpus_spelled(text: str, gpus: tuple[Named, ...], shared: tuple[Named, ...] = ()) -> tuple[str, ...]:
    """Ids of the GPUs that a text can mean: none, one, or several, among which nothing is chosen.

    A memory in the text has to be that of the card, or of one of its names. Where a name comes with several memories
    and the text says none, all of them can be meant.

    Parameters
    ----------
    text : str
        What was typed, or what a library calls the card.
    gpus : tuple of Named
        The GPUs that are known.
    shared : tuple of Named
        Spellings that several share, as the id, with the ids that they can mean.

    Examples
    --------
    >>> cards = (Named("rtx-4090", (), 24), Named("v100-sxm2-16gb", (), 16), Named("v100-sxm2-32gb", (), 32))
    >>> gpus_spelled("NVIDIA GeForce RTX 4090", cards), gpus_spelled("RTX4090-24GB", cards)
    (('rtx-4090',), ('rtx-4090',))
    >>> gpus_spelled("RTX 4090 48GB", cards)
    ()
    >>> gpus_spelled("Tesla V100-SXM2", cards)
    ('v100-sxm2-16gb', 'v100-sxm2-32gb')
    """
    known, ambiguous = _gpu_spellings(gpus), _shared_spellings(shared)
    for wanted in dict.fromkeys((spelled(text), spelled(_MEMORY_TYPE.sub("", text.casefold())))):
        if wanted in ambiguous:
            return ambiguous[wanted]
        if wanted in known:
            return known[wanted]
        if wanted.memory_gb is None:
            meant = {id for spelling, ids in known.items() if spelling.words == wanted.words for id in ids}
            if len(meant) > 1:  # one alone may exist with other memories that aren't known
                return tuple(sorted(meant))
    return ()


@lru_cache(maxsize=8)
def _gpu_spellings(gpus: tuple[Named, ...]) -> Mapping[Spelling, tuple[str, ...]]:
    found: dict[Spelling, set[str]] = {}
    for gpu in gpus:
        for name in (gpu.id, *gpu.names):
            for spelling in _variants(spelled(name), gpu.memory_gb):
                if spelling.words:
                    found.setdefault(spelling, set()).add(gpu.id)
    return MappingProxyType({spelling: tuple(sorted(ids)) for spelling, ids in found.items()})


def _variants(spelling: Spelling, memory_gb: float | None) -> Iterator[Spelling]:
    """A name, also with the card's memory where it has none, also without the number of SXM."""
    for words in {spelling.words, _NUMBERED_SXM.sub("sxm", spelling.words)}:
        yield Spelling(words, spelling.memory_gb)
        if spelling.memory_gb is None and memory_gb is not None:
            yield Spelling(words, round(memory_gb))


@lru_cache(maxsize=8)
def _shared_spellings(shared: tuple[Named, ...]) -> Mapping[Spelling, tuple[str, ...]]:
    return MappingProxyType({spelled(label.id): label.names for label in shared})


def models_spelled(text: str, models: tuple[Named, ...]) -> tuple[str, ...]:
    """Ids of the models that a text can mean: without its owner, a remark in brackets, and its release.

    Examples
    --------
    >>> models = (Named("llama-2-7b", ()), Named("mistral-7b", ()), Named("llama-33b", ()))
    >>> models_spelled("meta-llama/Llama-2-7b-chat-hf", models)
    ('llama-2-7b',)
    >>> models_spelled("Mistral 7B v0.1", models)
    ('mistral-7b',)
    >>> models_spelled("Llama-3-3B", models)
    ()
    """
    known = _model_spellings(models)
    words = _model_words(text)
    while words and words not in known and _RELEASE.fullmatch(words[-1]):
        words = words[:-1]
    return known.get(words, ())


@lru_cache(maxsize=8)
def _model_spellings(models: tuple[Named, ...]) -> Mapping[Words, tuple[str, ...]]:
    found: dict[Words, set[str]] = {}
    for model in models:
        for name in (model.id, *model.names):
            found.setdefault(_model_words(name), set()).add(model.id)
    return MappingProxyType({words: tuple(sorted(ids)) for words, ids in found.items() if words})


def _model_words(text: str) -> Words:
    plain = _REMARK.sub("", text.casefold().strip()).rsplit("/", 1)[-1]
    return tuple(word for word in _MODEL_WORD.findall(plain) if word != "meta")
