"""Assessed claims -> plain data and text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from planner.advise.claims import VERDICTS, Assessment, Facts
from planner.catalog.records import Fact
from planner.messages import render
from planner.report.provenance import source_record


def claims_document(assessments: Sequence[Assessment], facts: Facts) -> dict[str, Any]:
    """The claims as plain data, in the shape documented in `docs/cli.md`."""
    figures = dict.fromkeys(id for entry in assessments for id in entry.figures)
    sources = {source for entry in assessments for source in entry.sources}
    return {
        "schema_version": 1,
        "catalog_as_of": facts.catalog.as_of,
        "assessed_on": facts.today.isoformat(),
        "counts": {verdict: sum(entry.verdict == verdict for entry in assessments) for verdict in VERDICTS},
        "claims": [claim_row(entry) for entry in assessments],
        "figures": {id: _figure(id, facts) for id in sorted(figures)},
        "sources": {id: _source(id, facts) for id in sorted(sources)},
    }


def claim_row(entry: Assessment) -> dict[str, Any]:
    """One claim: verdict, sentence, printed and own figure, ids of the figures and sources it rests on."""
    claim, finding = entry.claim, entry.finding
    return {
        "id": claim.id,
        "topic": claim.topic,
        "claim": claim.claim,
        "verdict": entry.verdict,
        "explanation": render(finding.code, **finding.params),
        "explanation_code": finding.code,
        "params": {name: _plain(value) for name, value in finding.params.items()},
        "definition": claim.definition,
        "unit": claim.unit or None,
        "printed_value": claim.printed,
        "our_value": _plain(finding.our_value),
        "our_low": _plain(finding.our_low),
        "our_high": _plain(finding.our_high),
        "digits": finding.digits,
        "values": [{"label": value.label, "value": _plain(value.value)} for value in finding.values],
        "figures": list(entry.figures),
        "sources": list(entry.sources),
    }


def claims_text(document: dict[str, Any]) -> str:
    """The claims as text: the counts, then verdict, sentence and explanation of each."""
    counts = document["counts"]
    lines = [
        f"{len(document['claims'])} printed claims against the catalog of {document['catalog_as_of']}: "
        + ", ".join(f"{counts[verdict]} {render(f'verdict_{verdict}').lower()}" for verdict in VERDICTS)
    ]
    for row in document["claims"]:
        verdict = render(f"verdict_{row['verdict']}")
        lines += ["", f"[{verdict}] {row['claim']}", f"  {row['explanation']}"]
    return "\n".join(lines) + "\n"


def _figure(id: str, facts: Facts) -> dict[str, Any]:
    figure = facts.figure(id)
    assert figure is not None  # it was read
    value = figure.value if isinstance(figure, Fact) else _plain(figure.value)
    return {"value": value, "as_of": figure.as_of, "estimate": figure.estimate, "sources": list(figure.sources)}


def _source(id: str, facts: Facts) -> dict[str, Any]:
    own = facts.data.sources.get(id)
    if own is None:
        return source_record(id, facts.catalog, facts.evidence)
    retrieved = None if own.retrieved is None else own.retrieved.isoformat()
    return {"title": own.title, "url": own.url, "retrieved": retrieved, "kind": own.kind}


def _plain(value: object) -> Any:
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return value
