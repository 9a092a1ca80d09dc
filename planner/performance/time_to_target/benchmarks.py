"""The benchmarks whose target is known, and the rounds in which their results were published."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """A benchmark of MLPerf Training. `introduced` is the year of its first results, with the part that had passed."""

    id: str
    introduced: float  # [year]
    names: tuple[str, ...] = ()  # others that it goes by
    eight_bit: bool = False  # whether entries train in 8 bit where the card can
    samples_of_epoch: float | None = None  # where rounds count one in the other's place


_OLDEST = 2018.9
_ALL = (
    Benchmark(id="bert", introduced=2020.6, names=("bert-large",), eight_bit=True),
    Benchmark(id="dlrm", introduced=2020.6),
    Benchmark(id="dlrm_dcnv2", introduced=2023.45, names=("dlrm-dcnv2",)),
    Benchmark(id="gnn", introduced=2024.45, names=("rgat",)),
    Benchmark(id="gpt3", introduced=2023.45, names=("gpt-3",), eight_bit=True),
    Benchmark(id="llama2_70b_lora", introduced=2024.45, names=("llama2-70b-lora",), eight_bit=True),
    Benchmark(id="maskrcnn", introduced=_OLDEST, names=("mask r-cnn", "mask-rcnn")),
    Benchmark(id="resnet", introduced=_OLDEST, names=("resnet50", "resnet-50")),
    Benchmark(id="rnnt", introduced=2021.45, names=("rnn-t",)),
    Benchmark(id="ssd", introduced=2022.45, names=("retinanet", "single_stage_detector")),
    Benchmark(id="stable_diffusion", introduced=2023.87, names=("stable-diffusion",)),
    Benchmark(id="unet3d", introduced=2021.45, names=("3d-unet", "unet-3d"), samples_of_epoch=168),  # images of KiTS19
)
BENCHMARKS: Mapping[str, Benchmark] = MappingProxyType({benchmark.id: benchmark for benchmark in _ALL})
_BY_NAME = {name: benchmark for benchmark in _ALL for name in (benchmark.id, *benchmark.names)}

_ROUND = re.compile(r"v?(\d{1,2})\.(\d)")
_FIRST_HALF, _SECOND_HALF = 0.45, 0.87  # of a year: results appear in June and November
_YEAR_BEFORE_V1 = 2020
_EARLY = {(0, 5): _OLDEST, (0, 6): 2019.5, (0, 7): 2020.55}


def find_benchmark(text: str) -> Benchmark | None:
    """The benchmark of a name; None where it isn't one whose target is known."""
    return _BY_NAME.get(text.strip().casefold())


def year_of_round(text: str) -> float | None:
    """When a round's results were published; None where it isn't a round. [year]

    Round v1.0 appeared in June 2021, v1.1 in November, and so on each year.
    """
    found = _ROUND.fullmatch(text.strip().casefold())
    if found is None:
        return None
    major, minor = int(found[1]), int(found[2])
    if major == 0:
        return _EARLY.get((major, minor))
    return _YEAR_BEFORE_V1 + major + (_FIRST_HALF if minor == 0 else _SECOND_HALF)
