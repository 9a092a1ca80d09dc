"""How a run is spread over GPUs, read from the words that tables of measurements use for it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

Kind = Literal["single", "ddp", "fsdp", "zero1", "zero2", "model-parallel"]

EXPECTED = "a form such as single, ddp, fsdp, fsdp8, zero2, tp8-pp4-dp2 or tp4-pp8-cp2-vp4-ep8-dp16"


class ParallelismError(ValueError):
    """The text says nothing that is understood."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parallelism:
    """Degrees of each kind of parallelism, and what is sharded over the copies of the model.

    `data` is None where the text leaves it to the number of GPUs. `kind` names what the copies share: nothing (`ddp`),
    the optimizer (`zero1`), gradients too (`zero2`), everything (`fsdp`, also ZeRO-3); `model-parallel` is a split by
    degrees without word on that. `shard_group` is the number of GPUs that hold one copy of what is sharded; None: all
    of them, or, where `hybrid`, those of a node.
    """

    tensor: int = 1
    pipeline: int = 1
    context: int = 1
    expert: int = 1
    virtual: int = 1
    data: int | None = None
    kind: Kind | None = None
    shard_group: int | None = None
    hybrid: bool = False
    sequence: bool = False

    @property
    def split(self) -> int:
        """GPUs over which one sequence is spread: they are no replicas of each other. [-]"""
        return self.tensor * self.pipeline * self.context


_DEGREES = {
    "tp": "tensor",
    "tensor": "tensor",
    "pp": "pipeline",
    "pipeline": "pipeline",
    "cp": "context",
    "context": "context",
    "ep": "expert",
    "expert": "expert",
    "vp": "virtual",
    "vpp": "virtual",
    "interleave": "virtual",
    "interleaved": "virtual",
    "virtual": "virtual",
    "dp": "data",
    "data": "data",
}
_NUMBER = r"\d{1,7}"
_REMARK = re.compile(rf"\((?!\s*(?:{_NUMBER}|all)\s*\))[^()]*\)")
"""Words in brackets, such as (see notes); a number or "all" there is a group."""
_UNDECIDED = re.compile(r"\s+or\s+single\b")  # one GPU needs no sharding: the number of GPUs decides
_TOKEN = re.compile(
    rf"""
    (?P<degree>{"|".join(sorted(_DEGREES, key=len, reverse=True))})
        (?:[ _-]?parallel(?:ism)?)? [ ]?[=:]?[ ]? (?P<size>{_NUMBER})
    | (?P<zero>zero)[ _-]?(?P<stage>[0-3]) (?:\(\s*(?P<group>{_NUMBER}|all)\s*\))?
    | (?P<fsdp>fsdp|hsdp|fully[ _-]sharded) (?P<shards>{_NUMBER})? (?:\(\s*(?P<sharded>{_NUMBER}|all)\s*\))?
    | (?P<grads>shard[ _-]grad[ _-]op)
    | (?P<hybrid>hybrid(?:[ _-]shard)?(?:[ _-]zero2)?)
    | (?P<sequence>(?:sequence|seq)[ _-]parallel(?:ism)?|sp)
    | (?P<ddp>ddp|dp|data[ _-]parallel(?:ism)?)
    | (?P<single>single(?:[ _-](?:gpu|device))?|none)
    | (?P<said>full(?:[ _-]shard)?|deepspeed|ds|megatron(?:-lm)?|pytorch|torch|distributed[ _-]optimizer)
    """,
    re.VERBOSE,
)
_SEPARATORS = re.compile(r"[\s\-_,;:+/&*×·]*(?:x(?=[\s\-_,;+]))?[\s\-_,;:+/&*×·]*")


@lru_cache(maxsize=4096)
def parse_parallelism(text: str) -> Parallelism:
    """Read the parallelism of a run.

    Parameters
    ----------
    text : str
        Such as `single`, `ddp`, `fsdp-full`, `fsdp8-cp2`, `tp1-zero1(8)-dp1024`, `tp8-pp8-dp1-interleave3`.

    Returns
    -------
    Parallelism
        With 1 for degrees that aren't named. `fsdp2` is the second version of FSDP, not a group of two.

    Raises
    ------
    ParallelismError
        A word isn't known, or a degree is given twice or as 0.
    """
    rest = _UNDECIDED.sub("", _REMARK.sub("", text.strip().casefold())).strip()
    if not rest:
        raise ParallelismError(text)
    read = _Reading(text)
    at = 0
    while at < len(rest):
        match = _TOKEN.match(rest, at)
        if match is None or match.end() == at:
            raise ParallelismError(text)
        following = rest[match.end() : match.end() + 1]
        if following.isalnum():  # part of a longer word
            raise ParallelismError(text)
        read.take(match)
        separator = _SEPARATORS.match(rest, match.end())
        at = separator.end() if separator is not None else match.end()
    return read.result()


class _Reading:
    """What has been read of one text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._degrees: dict[str, int] = {}
        self._kinds: list[Kind] = []
        self._group: int | None = None
        self._hybrid = self._sequence = False

    def take(self, match: re.Match[str]) -> None:
        """Note one word."""
        if match["degree"]:
            self._degree(_DEGREES[match["degree"]], int(match["size"]))
        elif match["zero"]:
            kinds: tuple[Kind, ...] = ("ddp", "zero1", "zero2", "fsdp")
            self._kinds.append(kinds[int(match["stage"])])
            self._note_group(match["group"])
        elif match["fsdp"]:
            self._kinds.append("fsdp")
            self._hybrid |= match["fsdp"] == "hsdp"
            version = match["fsdp"] == "fsdp" and match["shards"] in ("1", "2")  # of the software, not a group
            self._note_group(match["sharded"] or (None if version else match["shards"]))
        elif match["grads"]:
            self._kinds.append("zero2")
        elif match["hybrid"]:
            self._hybrid = True
            self._kinds.append("fsdp")
        elif match["sequence"]:
            self._sequence = True
        elif match["ddp"]:
            self._kinds.append("ddp")
        elif match["single"]:
            self._kinds.append("single")

    def result(self) -> Parallelism:
        """All of it together; the most that is shared counts, as in fsdp-shard_grad_op."""
        kinds = set(self._kinds)
        if "single" in kinds and (len(kinds) > 1 or any(size > 1 for size in self._degrees.values())):
            raise ParallelismError(self._text)
        kind: Kind | None = None
        if self._degrees:
            kind = "model-parallel" if self._degrees.keys() - {"data"} else "ddp"
        for candidate in ("zero1", "zero2", "fsdp", "ddp", "single"):
            if candidate in kinds:
                kind = candidate
                break
        if kind == "ddp" and self._degrees.keys() - {"data"}:
            kind = "model-parallel"
        if kind is None and not self._sequence:
            raise ParallelismError(self._text)
        return Parallelism(
            tensor=self._degrees.get("tensor", 1),
            pipeline=self._degrees.get("pipeline", 1),
            context=self._degrees.get("context", 1),
            expert=self._degrees.get("expert", 1),
            virtual=self._degrees.get("virtual", 1),
            data=self._degrees.get("data"),
            kind=kind,
            shard_group=self._group,
            hybrid=self._hybrid,
            sequence=self._sequence,
        )

    def _degree(self, name: str, size: int) -> None:
        if size < 1 or self._degrees.get(name, size) != size:
            raise ParallelismError(self._text)
        self._degrees[name] = size

    def _note_group(self, group: str | None) -> None:
        if group is None or group == "all":
            return
        if int(group) < 1:
            raise ParallelismError(self._text)
        self._group = int(group)
