"""How far transfer is off on cards, software and hosts left out, each figure beside the limit it is held to.

    python benchmarks/transfer_accuracy.py

Takes some seconds; the exit status is 1 where a limit is missed. docs/accuracy.md says what the splits are. Limits
are set before a fit and do not follow it; those of errors stand in data/accuracy.yaml.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from planner.catalog.load import load_catalog  # noqa: E402
from planner.catalog.records import Catalog  # noqa: E402
from planner.measurements.prediction import RowPrediction  # noqa: E402
from planner.measurements.rows import SampleRow, is_flagged  # noqa: E402
from planner.measurements.table import read_table  # noqa: E402
from planner.performance.constants import constants_of  # noqa: E402
from planner.performance.transfer import held_out  # noqa: E402
from planner.performance.transfer.fitted import fit_everything  # noqa: E402
from planner.performance.transfer.predict import predict_sample_rows  # noqa: E402
from planner.report.held_out import load_held_out  # noqa: E402
from planner.validate.score import source_key  # noqa: E402

TABLE = ROOT / "data" / "measurements" / "dl_throughput.csv"
SHIPPED: Mapping[str, str] = MappingProxyType(
    {
        held_out.CARDS_OF_SUITE: "transfer-cards-known",
        held_out.CARDS_OF_ALL: "transfer-cards-known-all",
        held_out.CARDS_ALL_MODELS: "transfer-cards-all",
        held_out.GENERATIONS: "transfer-generations",
        held_out.SOURCES_KNOWN: "transfer-sources-known",
        held_out.SOURCES: "transfer-sources-all",
        held_out.NEW: "transfer-all",
        held_out.NVLINK: "scaling-nvlink",
        held_out.PCIE: "scaling-pcie",
        held_out.GEFORCE: "scaling-geforce",
    }
)
"""Id in data/accuracy.yaml of each split that stands there, some with a limit."""
AIM: Mapping[str, tuple[float, float]] = MappingProxyType(
    {
        held_out.CARDS_OF_SUITE: (5.0, 13.0),
        held_out.CARDS_OF_ALL: (5.0, 13.0),
        held_out.NVLINK: (3.0, 9.0),
        held_out.PCIE: (4.0, 12.0),
        held_out.GEFORCE: (4.0, 25.0),
    }
)
BEHIND_AT_MOST = 2.0  # points of the median behind the best baseline; nothing at the 90th percentile
COVERAGE, WORST_SOURCE = (0.75, 0.88), 0.55
NEW = (held_out.CARDS_ALL_MODELS, held_out.SOURCES_KNOWN, held_out.SOURCES, held_out.NEW, held_out.NEW_KNOWN)
WIDEST_KNOWN, WIDEST_NEW = 9.0, 18.0  # median half-widths in percent


class Limits:
    """Checks of figures against limits, printed as they are made."""

    def __init__(self) -> None:
        self.missed: list[str] = []

    def check(self, what: str, value: float, low: float, high: float, aim: float | None = None) -> None:
        """Hold one figure to its range."""
        holds = low <= value <= high
        reached = "" if aim is None else f", aim {aim:g} {'reached' if value <= aim else 'not reached'}"
        span = f"{low:g} to {high:g}" if low > 0 else f"at most {high:g}"
        print(f"  {'ok    ' if holds else 'MISSED'} {what} {value:.3g} ({span}{reached})")
        if not holds:
            self.missed.append(what)


def check_splits(catalog: Catalog, limits: Limits) -> None:
    """Cards and hosts left out, beside baselines."""
    constants = constants_of(catalog.assumptions)
    most = {split.id: split.limit for split in load_held_out()}
    for score in held_out.scores(fit_everything(catalog, constants), catalog, constants):
        others = ", ".join(f"{name} {median:.1f} / {p90:.0f}" for name, (median, p90) in score.baselines.items())
        print(f"{score.split} ({score.n} rows): {score.median:.1f} / {score.p90:.1f} %; {others or 'no baseline'}")
        limit = most.get(SHIPPED.get(score.split, ""))
        if limit is not None:
            median_aim, p90_aim = AIM[score.split]
            limits.check(f"{score.split}: median", score.median, 0.0, limit.median_ape, median_aim)
            limits.check(f"{score.split}: p90", score.p90, 0.0, limit.p90_ape, p90_aim)
        if score.baselines:
            medians, p90s = zip(*score.baselines.values(), strict=True)
            limits.check(f"{score.split}: median beside baselines", score.median, 0.0, min(medians) + BEHIND_AT_MOST)
            limits.check(f"{score.split}: p90 beside baselines", score.p90, 0.0, min(p90s))
        print(f"         coverage {score.coverage_80:.2f}{score.worst}, half-width {score.median_half_width:.1f} %")
        if score.split in NEW:
            limits.check(f"{score.split}: coverage", score.coverage_80, *COVERAGE)
            limits.check(f"{score.split}: median half-width", score.median_half_width, 0.0, WIDEST_NEW)
        if score.split in (held_out.SOURCES_KNOWN, held_out.SOURCES):
            limits.check(f"{score.split}: worst source", min(score.by_group.values()), WORST_SOURCE, 1.0)


def check_table(catalog: Catalog, limits: Limits) -> None:
    """The whole table that the fit saw: what intervals cover there, by source and novelty."""
    table = read_table(TABLE.read_bytes(), file=TABLE.name)
    rows = [row for row in table.rows if isinstance(row, SampleRow) and not is_flagged(row)]
    found = [
        (row, predicted)
        for row, predicted in zip(
            rows, predict_sample_rows([row.without_measured() for row in rows], catalog), strict=True
        )
        if predicted.predicted is not None
    ]
    print(f"the whole table ({len(found)} rows)")
    limits.check("whole table: coverage", coverage(found), *COVERAGE)
    sources = sorted({source_key(row.source) for row, _ in found})
    worst = min(coverage([pair for pair in found if source_key(pair[0].source) == source]) for source in sources)
    limits.check("whole table: coverage of the worst source", worst, WORST_SOURCE, 1.0)
    for novelty in sorted({predicted.novelty for _, predicted in found}):
        of_novelty = [pair for pair in found if pair[1].novelty == novelty]
        print(f"         {novelty}: {len(of_novelty)} rows, coverage {coverage(of_novelty):.2f}, "
              f"median half-width {half_width(of_novelty):.1f} %")  # fmt: skip
    known = [pair for pair in found if pair[1].novelty == "known"]
    limits.check("whole table: median half-width on a known stack", half_width(known), 0.0, WIDEST_KNOWN)


def coverage(found: list[tuple[SampleRow, RowPrediction]]) -> float:
    """Share of measured values within their interval."""
    return sum(predicted.low <= row.measured <= predicted.high for row, predicted in found) / len(found)  # type: ignore[operator]


def half_width(found: list[tuple[SampleRow, RowPrediction]]) -> float:
    """Median of half the interval over the prediction. [%]"""
    widths = sorted(50 * (predicted.high - predicted.low) / predicted.predicted for _, predicted in found)  # type: ignore[operator]
    return widths[len(widths) // 2]


def main() -> int:
    """Check all; 1 where a limit is missed."""
    catalog, limits = load_catalog(), Limits()
    check_splits(catalog, limits)
    check_table(catalog, limits)
    print(f"\n{len(limits.missed)} limits missed" + "".join(f"\n  {what}" for what in limits.missed))
    return 1 if limits.missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
