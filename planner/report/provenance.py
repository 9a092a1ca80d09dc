"""The figures a result used, with source and date."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from planner.catalog.records import Catalog
from planner.catalog.source_ids import ASSUMPTIONS, MEASUREMENTS
from planner.cost.lines import CostLine
from planner.performance.evidence import Evidence
from planner.strategy.evaluate import Result
from planner.strategy.parameters import Parameter


def line_parameters(line: CostLine, parameters: Sequence[Parameter]) -> tuple[Parameter, ...]:
    """Parameters a line cites: its price's first, then what decides the quantity, then the minor ones.

    A tax line cites its rate; what it taxes is cited by the taxed lines.
    """
    if line.kind.startswith("tax_"):
        return tuple(parameters[column] for column in line.price_at)
    columns = dict.fromkeys((*line.price_at, *line.driver_at, *line.minor_at))
    return tuple(parameters[column] for column in columns)


def line_sources(line: CostLine, parameters: Sequence[Parameter]) -> tuple[str, ...]:
    """Ids of the sources of a line, never empty."""
    return tuple(
        dict.fromkeys(source for parameter in line_parameters(line, parameters) for source in parameter.sources)
    )


def dated_sources(line: CostLine, parameters: Sequence[Parameter]) -> tuple[str, ...]:
    """Sources of a line as text with the date of the figure, e.g. "aws-page (2026-11-09)".

    A figure made from several sources has one date, the oldest of its parts: they stand together before it.
    """
    texts: dict[str, None] = {}
    for parameter in line_parameters(line, parameters):
        together = " + ".join(parameter.sources)
        dated = parameter.as_of is not None and parameter.sources != ("scenario",)
        texts[f"{together} ({parameter.as_of})" if dated else together] = None
    return tuple(texts)


def is_estimate(line: CostLine, parameters: Sequence[Parameter]) -> bool:
    """Whether a line's price or what decides its quantity is an estimate."""
    return any(parameters[column].estimate for column in (*line.price_at, *line.driver_at))


def estimated_share(lines: Iterable[CostLine], parameters: Sequence[Parameter]) -> float:
    """Absolute amounts of lines that rest on estimates over all absolute amounts, undiscounted. [-]"""
    total = estimated = 0.0
    for line in lines:
        amount = abs(float(line.amount[0].sum()))
        total += amount
        estimated += amount if is_estimate(line, parameters) else 0.0
    return estimated / total if total > 0 else 0.0


def used_parameters(result: Result) -> tuple[Parameter, ...]:
    """Parameters that some line of some strategy rests on, and those of the jobs, in table order."""
    parameters = result.problem.parameters
    columns: set[int] = {result.problem.discount_rate_at}
    for strategy in result.strategies:
        if strategy.evaluation is not None:
            for line in strategy.evaluation.lines:
                columns.update((*line.price_at, *line.driver_at, *line.minor_at))
        columns.update(job.pair.throughput_at for job in strategy.jobs)
        columns.update(job.pair.spot.available_share_at for job in strategy.jobs if job.pair.spot is not None)
    return tuple(parameters[column] for column in sorted(columns))


def source_record(id: str, catalog: Catalog, evidence: Evidence) -> dict[str, Any]:
    """What a source id stands for: title, link, day it was read, kind."""
    if id == "scenario":
        return {"title": "Given in the scenario", "url": None, "retrieved": None, "kind": "scenario"}
    if id.startswith(ASSUMPTIONS):
        entry = catalog.assumptions[id.removeprefix(ASSUMPTIONS)]
        behind = [catalog.sources[source].title for source in entry.figure.sources]
        title = f"Assumption: {entry.meaning} ({'; '.join(behind)})"
        return {"title": title, "url": None, "retrieved": entry.figure.as_of, "kind": "assumption"}
    if id.startswith(MEASUREMENTS):
        row = evidence.find(id.removeprefix(MEASUREMENTS))
        source = evidence.sources.get(row.source) if row is not None else None
        title = id if row is None else f"Measurement {row.id} of {row.date}: {source.title if source else row.source}"
        return {"title": title, "url": source.url if source else None, "retrieved": None, "kind": "measurement"}
    source = catalog.sources.get(id)
    if source is None:
        return {"title": id, "url": None, "retrieved": None, "kind": "unknown"}
    retrieved = None if source.retrieved is None else source.retrieved.isoformat()
    return {"title": source.title, "url": source.url, "retrieved": retrieved, "kind": source.kind}
