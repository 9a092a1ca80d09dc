"""What the name of a vision model says of it: the kind of its blocks, and its family."""

from __future__ import annotations

import re
from collections.abc import Mapping

from planner.catalog.records import VisionSpec

PATCH_MODELS = (
    *("beit", "cait", "coat_", "convit", "convnext", "crossvit", "davit", "deit", "eva", "flexivit", "gmixer", "gmlp"),
    *("hiera", "jx_nest", "mixer", "mvit", "nest", "pit_", "pvt_", "swin", "tnt", "twins", "vit_", "volo", "xcit"),
)
"""Models of layer norms and two-layer MLPs on patches, whatever mixes these, by the start of their names."""
_PLAIN_MODELS = re.compile(
    r"alexnet|darknet\d+|fbnetc|gernet|lenet\d*|mnasnet|mobilenetv2|regnetx|repvgg|res(net|next)(\d+[bcdst]?)?|spnasnet"
    r"|vgg\d*|xception\d*"
)
"""Models of convolutions, batch norm, ReLU and sums alone (attention to channels, concatenations, other
nonlinearities and norms are no part of them), by the first word of their names."""
_TRAINERS = ("dm", "gluon", "ig", "legacy", "ssl", "swsl", "tf", "tv", "wide")
_VARIANTS = ("cs", "csp", "eca", "ese", "nf")
"""Words before a name: who trained it, or how its blocks differ."""
_FAMILIES: Mapping[str, str] = {
    "beit": "vit",
    "deit": "vit",
    "efficientnetv": "efficientnet",
    "mobilenetv": "mobilenet",
    "mobilevitv": "mobilevit",
    "regnetx": "regnet",
    "regnety": "regnet",
    "swinv": "swin",
}


def _words(name: str, before: tuple[str, ...]) -> list[str]:
    words = [word for word in re.split(r"[^a-z0-9]+", name.casefold()) if word]
    while len(words) > 1 and words[0] in before:
        words = words[1:]
    return words or [""]


def is_patches(name: str) -> bool:
    """Whether a model is made of layer norms and two-layer MLPs on patches."""
    return name.casefold().startswith(PATCH_MODELS)


def is_plain(name: str) -> bool:
    """Whether a model is made of convolutions, batch norm, ReLU and sums alone."""
    words = _words(name, _TRAINERS)
    return bool(_PLAIN_MODELS.fullmatch(words[0])) and "gn" not in words


def named_spec(name: str, gmacs: float, activations_m: float, input_size: str = "") -> VisionSpec:
    """Size of a model's forward pass with what its name says of its kind."""
    return VisionSpec(
        gmacs=gmacs,
        activations_m=activations_m,
        input=input_size,
        patches=is_patches(name),
        plain=is_plain(name),
    )


def family(name: str) -> str:
    """Models that differ in depth, width, input or recipe alone: what the first word says before any digit."""
    first = re.sub(r"^(csp|cs3)", "", _words(name, (*_TRAINERS, *_VARIANTS))[0])
    stem = "res2net" if first.startswith("res2net") else re.split(r"\d", first, maxsplit=1)[0]
    return _FAMILIES.get(stem, stem)
