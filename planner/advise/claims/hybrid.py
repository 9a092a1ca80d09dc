"""Claims about consumer cards with rented clusters, tested as a scenario against owned servers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from planner.advise.claims.compare import by_variants
from planner.advise.claims.facts import Inquiry, MissingFigureError
from planner.advise.claims.records import Claim, Finding, Value
from planner.errors import PlannerError
from planner.scenario.load import check_document, read_document
from planner.scenario.paths import with_overrides
from planner.strategy.candidates import on_time
from planner.strategy.evaluate import Result, StrategyResult, evaluate
from planner.strategy.resolve.hardware_prices import hardware_price
from planner.strategy.sessions import local_busy_h, powered_h

EXAMPLES_FOLDER = Path(__file__).resolve().parents[3] / "examples"


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A mix against owned servers: shares of their money that are saved, and the productivity against theirs."""

    capex_saving: float
    tco_saving: float
    productivity: float
    capex_usd: float
    reference_capex_usd: float
    tco_usd: float
    reference_tco_usd: float
    sources: tuple[str, ...]


def saving(claim: Claim, inquiry: Inquiry) -> Finding:
    """Saving of purchase money, and of the total over the horizon, in every variant of the scenario.

    The printed saving is of purchase money. It holds when the total saves as much: renting moves money, it doesn't save
    it. Where only the purchase does, it holds under conditions.
    """
    compared = _compare_variants(claim, inquiry)
    values = [Value(label=f"purchase, {name}", value=100 * found.capex_saving) for name, found in compared.items()]
    totals = [Value(label=f"total, {name}", value=100 * found.tco_saving) for name, found in compared.items()]
    finding = by_variants(claim, [*values, *totals], at_least=True)
    base = next(iter(compared.values()))
    params = {
        "printed": claim.printed,
        "capex_saving": base.capex_saving,
        "tco_low": min(found.tco_saving for found in compared.values()),
        "tco_high": max(found.tco_saving for found in compared.values()),
        "capex_usd": base.capex_usd,
        "reference_capex_usd": base.reference_capex_usd,
        "tco_usd": base.tco_usd,
        "reference_tco_usd": base.reference_tco_usd,
    }
    code = {"holds": "claim_mix_saves", "conditional": "claim_mix_saves_purchase"}.get(
        finding.verdict, "claim_mix_saves_less"
    )
    return Finding(
        verdict=finding.verdict,
        code=code,
        params=params,
        our_value=100 * base.capex_saving,
        our_low=finding.our_low,
        our_high=finding.our_high,
        values=finding.values,
        sources=base.sources,
    )


def productivity(claim: Claim, inquiry: Inquiry) -> Finding:
    """Runs finished by their deadline, weighted by their value, over those of the owned servers, in every variant."""
    compared = _compare_variants(claim, inquiry)
    values = [Value(label=name, value=100 * found.productivity) for name, found in compared.items()]
    finding = by_variants(claim, values, at_least=True)
    shares = [found.productivity for found in compared.values()]
    params = {"printed": claim.printed, "low": min(shares), "high": max(shares)}
    code = {"holds": "claim_mix_keeps_up", "conditional": "claim_mix_keeps_up_sometimes"}.get(
        finding.verdict, "claim_mix_falls_behind"
    )
    return Finding(
        verdict=finding.verdict,
        code=code,
        params=params,
        our_value=values[0].value,
        our_low=finding.our_low,
        our_high=finding.our_high,
        values=finding.values,
        sources=next(iter(compared.values())).sources,
    )


def _compare_variants(claim: Claim, inquiry: Inquiry) -> dict[str, Comparison]:
    """The scenario in each variant of `params.variants` (label: paths with values), the plain one first."""
    name = str(claim.params["scenario"])
    document = read_document((EXAMPLES_FOLDER / name).read_bytes(), file=name)
    found: dict[str, Comparison] = {}
    for label, overrides in claim.params["variants"].items():
        changed = with_overrides(document, overrides or {})
        reference = {**changed, "machines": claim.params["reference"]}
        found[label] = _compare(changed, reference, claim.params["values"], inquiry)
    return found


def _compare(
    document: Mapping[str, Any], reference: Mapping[str, Any], weights: Mapping[str, float], inquiry: Inquiry
) -> Comparison:
    facts = inquiry.facts
    results: list[tuple[Result, StrategyResult]] = []
    for plan, kind in ((document, "hybrid"), (reference, "local")):
        try:
            result = evaluate(check_document(plan), facts.catalog, facts.evidence, today=facts.today)
        except PlannerError as error:
            raise MissingFigureError(str(error.params.get("item", error.field or error.code))) from None
        strategy = next(entry for entry in result.strategies if entry.kind == kind)
        if strategy.evaluation is None:
            raise MissingFigureError(f"plan.{kind}")
        results.append((result, strategy))
    sources: dict[str, None] = {}
    money = []
    for result, strategy in results:
        evaluation = strategy.evaluation
        assert evaluation is not None
        money.append((float(evaluation.capex_usd[0]), float(evaluation.tco_usd[0])))
        for line in evaluation.lines:
            for column in (*line.price_at, *line.driver_at):
                sources.update(dict.fromkeys(result.problem.parameters[column].sources))
        for machine in result.problem.machines:
            price = hardware_price(facts.catalog, machine.gpu, "new")
            if price is not None:
                inquiry.find(f"hardware.{price.id}.price_usd")
        for job in strategy.jobs:
            if job.pair.offer is not None:
                inquiry.find(f"offers.{job.resource}.price_usd_per_h")
    (capex, tco), (reference_capex, reference_tco) = money
    score, reference_score = (finished_value(result, strategy, weights) for result, strategy in results)
    return Comparison(
        capex_saving=1 - capex / reference_capex,
        tco_saving=1 - tco / reference_tco,
        productivity=score / reference_score,
        capex_usd=capex,
        reference_capex_usd=reference_capex,
        tco_usd=tco,
        reference_tco_usd=reference_tco,
        sources=tuple(source for source in sources if source != "scenario"),
    )


def finished_value(result: Result, strategy: StrategyResult, weights: Mapping[str, float]) -> float:
    """Runs that end by their deadline, each counted with its value.

    A run that takes longer than its deadline counts nothing; runs beyond the hours of their machines don't happen.

    Parameters
    ----------
    result : Result
        The plan.
    strategy : StrategyResult
        One of its ways, with an evaluation.
    weights : mapping
        Value of a run by job. [-]

    Returns
    -------
    float
        Over the horizon. [weighted runs]
    """
    problem, theta, choice = result.problem, result.theta, strategy.allocation.choice
    assert choice is not None
    busy = local_busy_h(problem, theta, choice.routing)[0]
    available = powered_h(problem, theta, choice.machine_count)[0]
    total = 0.0
    for job in strategy.jobs:
        if not on_time(problem, theta, job.pair):
            continue
        share = 1.0
        if job.pair.machine is not None and busy[job.pair.machine] > 0:
            share = min(1.0, float(available[job.pair.machine] / busy[job.pair.machine]))
        total += float(weights[job.job]) * job.runs * share
    return total
