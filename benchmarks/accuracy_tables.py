"""What the comparison found as Markdown tables, and beside the limits."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from planner.performance.held_out import CARD, FOUNDRY_GPUS, FOUNDRY_GROUPS, FOUNDRY_SIZES, SOURCES
from planner.report.held_out import load_held_out

SHIPPED = {split.name: split for split in load_held_out()}
MEMORY = "each row left out"
BEHIND_BEST = 2.0  # points that the median of an unseen source may lie above the best baseline's
BULK_US = 20.0


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One figure beside its limit."""

    what: str
    found: float
    limit: float
    unit: str = "%"

    @property
    def met(self) -> bool:
        """Whether the limit is kept."""
        return self.found <= self.limit


def verdicts(document: Mapping[str, Any], estimator: str) -> list[Verdict]:
    """Every figure on these rows beside its limit."""
    found: list[Verdict] = []
    splits = document["splits"]
    for label in (FOUNDRY_GROUPS, FOUNDRY_SIZES, FOUNDRY_GPUS, CARD):
        found += _both(label, splits[label]["all"][estimator], *_limit(label))
    for label in (FOUNDRY_GROUPS, FOUNDRY_SIZES, FOUNDRY_GPUS):
        scores = splits[label]["all"]
        half = {"half of 40 % MFU": scores["40 % MFU"].median_ape / 2}
        if "llm-analysis" in scores:
            half["half of llm-analysis"] = scores["llm-analysis"].median_ape / 2
        half["one MFU per GPU"] = scores["MFU per GPU"].median_ape
        mine = scores[estimator].median_ape
        found += [Verdict(what=f"{label}, median, {name}", found=mine, limit=limit) for name, limit in half.items()]
    found += beside_best(CARD, splits[CARD]["all"], estimator)
    for name, scores in splits[SOURCES]["groups"].items():
        found += beside_best(f"{name} left out", scores, estimator)
    for name, both in document["after_three_rows"].items():
        after, cold = both["after"], both["cold"]
        found += _both(f"{name} after three rows, as cold", after, cold.median_ape, cold.p90_ape)
    found += _both("memory, each row left out", document["memory"][MEMORY], *_limit(MEMORY))
    fits = document["fits"]
    missing = fits["n"] - fits["fit"]
    found.append(Verdict(what=f"{fits['source']}: ran, predicted not to fit", found=missing, limit=0, unit="rows"))
    bulk = document["microseconds"]["this estimator, step alone"]
    found.append(Verdict(what="one evaluation of an array", found=bulk, limit=BULK_US, unit="µs"))
    return found


def _limit(label: str) -> tuple[float, float]:
    """Median and 90th percentile at most, as data/accuracy.yaml has them. [%]"""
    limit = SHIPPED[label].limit
    assert limit is not None, label
    return limit.median_ape, limit.p90_ape


def _both(label: str, score: Any, median: float, p90: float) -> list[Verdict]:
    return [
        Verdict(what=f"{label}, median", found=score.median_ape, limit=median),
        Verdict(what=f"{label}, p90", found=score.p90_ape, limit=p90),
    ]


def beside_best(label: str, scores: Mapping[str, Any], estimator: str) -> list[Verdict]:
    """The best median and the best 90th percentile of all others, which may be two of them."""
    others = [score for name, score in scores.items() if name != estimator and score]
    median = min(score.median_ape for score in others) + BEHIND_BEST
    return _both(f"{label}, beside the best other", scores[estimator], median, min(score.p90_ape for score in others))


def plain(value: Any) -> Any:
    """The same for JSON: numbers, texts, lists and mappings."""
    if isinstance(value, Verdict):
        return {**dataclasses.asdict(value), "met": value.met}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    if isinstance(value, Mapping):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    return value


def text(document: Mapping[str, Any]) -> str:
    """All tables."""
    splits = document["splits"]
    methods = list(next(iter(splits.values()))["all"])
    parts = [f"{document['rows']} rows. Median / 90th percentile of the absolute error in percent."]
    together = [(label, found["all"]) for label, found in splits.items()]
    parts.append(_scores("left out", methods, together))
    for label, found in splits.items():
        if len(found["groups"]) > 1:
            parts.append(f"{label} left out:\n\n" + _scores("group", methods, list(found["groups"].items())))
    means = {name: _percent(mean) for name, mean in document["mean_of_source_medians"].items()}
    parts.append("Mean of the medians of the sources: " + ", ".join(f"{name} {mean}" for name, mean in means.items()))
    three = [
        (name, {"nothing known": both["cold"], "after three rows": both["after"]})
        for name, both in document["after_three_rows"].items()
    ]
    parts.append("Each source left out, then three rows of it given; the others scored:\n\n")
    parts[-1] += _scores("source", ["nothing known", "after three rows"], three)
    memory = [(label, {"peak memory": score}) for label, score in document["memory"].items()]
    parts.append(_scores("memory", ["peak memory"], memory))
    fits = document["fits"]
    parts.append(f"{fits['source']}: {fits['fit']} of {fits['n']} runs predicted to fit in memory.")
    taken = [
        [name, f"{value:.2g}" if value < 10 else f"{value:.0f}"] for name, value in document["microseconds"].items()
    ]
    parts.append(_table(["method", "µs an evaluation"], taken))
    reached = [
        [found.what, f"{found.found:.1f} {found.unit}", f"{found.limit:.1f}", "yes" if found.met else "NO"]
        for found in document["targets"]
    ]
    parts.append(_table(["figure", "found", "at most", "met"], reached))
    missed = sum(not found.met for found in document["targets"])
    parts.append(f"{len(reached) - missed} of {len(reached)} met.")
    return "\n\n".join(parts)


def _scores(head: str, methods: Sequence[str], rows: Sequence[tuple[str, Mapping[str, Any]]]) -> str:
    cells = []
    for label, scores in rows:
        n = max((score.n for score in scores.values() if score), default=0)
        cells.append([label, str(n), *(_cell(scores.get(method), n) for method in methods)])
    return _table([head, "n", *methods], cells)


def _cell(score: Any, n: int) -> str:
    if score is None:
        return ""
    fewer = "" if score.n == n else f" ({score.n})"
    return f"{_percent(score.median_ape)} / {_percent(score.p90_ape)}{fewer}"


def _percent(value: float) -> str:
    return f"{value:.1f}" if value < 99.95 else f"{value:.0f}"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(line[at]) for line in [heads, *rows]) for at in range(len(heads))]

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)) + " |"

    return "\n".join([line(heads), "|" + "|".join("-" * (width + 2) for width in widths) + "|", *map(line, rows)])
