"""Software that a speed was measured in: its source and its release."""

from __future__ import annotations

import re
from collections.abc import Mapping

from planner.performance.transfer.likeness import NO_RELEASE

UNKNOWN_STACK = "other"
SUITE = "lambda-benchmark"
"""One set of models run alike on many cards, which tells what of a speed is the card's."""
# What names a source, in the project's tables and where it was published.
_STACKS: Mapping[str, tuple[str, ...]] = {
    "lambda-benchmark-v0": ("lambda-benchmark-v0", "deeplearning-benchmark results(v0)"),
    "lambda-benchmark-v1": ("lambda-benchmark-v1", "deeplearning-benchmark results(v1)"),
    "lambda-benchmark-v2": ("lambda-benchmark-v2", "deeplearning-benchmark results_v2"),
    "nvidia-deeplearningexamples": ("nvidia-deeplearningexamples", "deeplearningexamples"),
    "timm-benchmark": ("timm-benchmark", "pytorch-image-models"),
}
_SEVERAL_FRAMEWORKS = "nvidia-deeplearningexamples"
_USUAL_RELEASE: Mapping[str, str] = {
    "lambda-benchmark-v0": "1.7", "lambda-benchmark-v1": "1.13", "lambda-benchmark-v2": "2.3",
}  # fmt: skip
_RELEASE = re.compile(r"(\d+)\.(\d+)")
_MINOR_RELEASES_OF_1 = 14  # PyTorch 1.13 was followed by 2.0


def stack_of(source: str, framework: str) -> str:
    """Software of a row: its source, with the release or the framework where a source has several."""
    words = source.casefold()
    found = next((id for id, names in _STACKS.items() if any(name in words for name in names)), UNKNOWN_STACK)
    if found in _USUAL_RELEASE:
        release = _RELEASE.search(framework)
        return f"{found}/{release[0] if release else _USUAL_RELEASE[found]}"
    if found != _SEVERAL_FRAMEWORKS:
        return found
    first = re.split(r"[^a-z0-9]", framework.casefold(), maxsplit=1)[0]
    return f"{found}/{first}"


def source_of_stack(stack: str) -> str:
    """A stack without the release: what must be known for its software not to be new."""
    return stack.partition("/")[0] if in_suite(stack) else stack


def in_suite(stack: str) -> bool:
    """Whether the suite that ran on all cards was measured with it."""
    return stack.startswith(SUITE)


def release_of(stack: str) -> float:
    """PyTorch's minor releases counted on (1.13 is 13, 2.1 is 15); NO_RELEASE for other software."""
    found = _RELEASE.fullmatch(stack.partition("/")[2]) if in_suite(stack) else None
    if found is None:
        return NO_RELEASE
    return float(found[2]) + (_MINOR_RELEASES_OF_1 if int(found[1]) > 1 else 0)
