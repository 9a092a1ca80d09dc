"""What takes the most time of a run beside the arithmetic it is there for, and the cheapest way to make it shorter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from planner.catalog.records import Catalog
from planner.messages import render
from planner.performance.constants import constants_of
from planner.performance.estimate import Prediction, Setup
from planner.performance.uncertainty import REGIME_SHARE
from planner.performance.what_ifs import WhatIf, WhatIfs

LEAST_GAIN = 0.03  # of speed, that is worth a change
LEAST_SHARE_OF_HALF = 0.6  # of the speed, that half the GPUs must reach to be worth naming

# Changes by part, the cheapest first: settings, then another batch or sequence, then other GPUs.
_CHANGES: Mapping[str, tuple[str, ...]] = {
    "matmul": ("lower_precision", "compiled"),
    "attention": ("flash_attention", "shorter_sequences"),
    "elementwise": ("compiled",),
    "head": (),
    "recompute": ("less_recomputation",),
    "launch": ("larger_micro_batch", "compiled"),
    "communication": ("shards_in_node", "larger_micro_batch", "larger_global_batch", "half_the_gpus"),
    "optimizer": ("larger_global_batch",),
    "waiting": ("larger_global_batch", "half_the_gpus"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Bottleneck:
    """The part of a step that decides, and a change that makes the run faster; None where none was computed."""

    part: str
    share: float  # of the step
    change: WhatIf | None
    vision: bool

    @property
    def remedy(self) -> str:
        """Stable name of the change, or of the advice where none could be computed."""
        return f"advice_{self._kind}" if self.change is None else self.change.code

    @property
    def text(self) -> str:
        """The part and its remedy in one sentence."""
        if self.change is None:
            remedy = render(f"faster_advice_{self._kind}")
        else:
            gain = self.change.factor - 1
            remedy = render(f"faster_{self.change.code}", **self.change.settings, gain=gain, share=self.change.factor)
        return render(f"bottleneck_{self.part}", share=self.share, remedy=remedy)

    @property
    def _kind(self) -> str:
        return f"{self.part}_vision" if self.vision and self.part == "elementwise" else self.part


def bottleneck(setup: Setup, prediction: Prediction, catalog: Catalog) -> Bottleneck:
    """The part of a run's step that decides over its speed, and the cheapest remedy.

    It is the largest part; where that is the matrix products, which are what a GPU is for, the largest of the others
    if it takes a quarter of the step. Of the part's remedies the first counts that makes the run noticeably faster,
    computed with all other settings as they are.

    Parameters
    ----------
    setup, prediction : Setup, Prediction
        What was asked, and what the estimator says.
    catalog : Catalog
        For the constants among its assumptions.
    """
    total = sum(prediction.breakdown_s.values())
    shares = {part: seconds / total for part, seconds in prediction.breakdown_s.items()}
    part = max(shares, key=lambda name: shares[name])
    if part == "matmul":
        other = max((name for name in shares if name != part), key=lambda name: shares[name])
        part = other if shares[other] >= REGIME_SHARE else part
    tried = WhatIfs(setup, prediction, constants_of(catalog.assumptions))
    found = next(filter(_is_worth_it, (tried.find(code) for code in _CHANGES[part])), None)
    return Bottleneck(part=part, share=shares[part], change=found, vision=setup.workload.transformer is None)


def _is_worth_it(change: WhatIf | None) -> bool:
    if change is None:
        return False
    if change.code == "half_the_gpus":
        return change.factor >= LEAST_SHARE_OF_HALF
    return change.factor >= 1 + LEAST_GAIN
