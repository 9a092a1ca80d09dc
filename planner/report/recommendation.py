"""Recommendation -> the JSON document of `recommend`, in the shape documented in `docs/cli.md`."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

from planner.advise.recommend.answer import Recommendation
from planner.advise.recommend.candidates import Part
from planner.advise.recommend.guides import Verdict
from planner.advise.recommend.options import Option
from planner.advise.recommend.reasons import Reason, covered_words, full_name, name_of, option_reasons, three_digits
from planner.advise.recommend.uses import FreeIn
from planner.catalog.records import Figure
from planner.messages import Tender, render
from planner.report.plain import plain
from planner.report.provenance import source_record

SCHEMA_VERSION = 1


def recommendation_document(advice: Recommendation) -> dict[str, Any]:
    """The answer as plain data. Unknown figures are None, never zero; money stands in USD and the budget's currency."""
    choice, rate = advice.choice, advice.usd_per_unit
    listed = _listed(advice)
    steps = choice.steps()
    guides = [_verdict_entry(verdict, advice) for verdict in advice.verdicts]
    return {
        "schema_version": SCHEMA_VERSION,
        "asked_on": advice.today.isoformat(),
        "catalog_as_of": advice.catalog.as_of,
        "budget": {
            "amount": advice.ask.budget.amount,
            "currency": advice.ask.budget.currency,
            "usd": advice.budget_usd,
            "held_against": "total_usd",
        },
        "currency": {
            "code": advice.ask.budget.currency,
            "usd_per_unit": rate.value,
            "low": rate.low,
            "high": rate.high,
            "as_of": rate.as_of,
            "estimate": rate.estimate,
            "sources": list(rate.sources),
        },
        "work": _work_entry(advice),
        "status": choice.status,
        "answer": reason_entry(advice.answer, _tender(advice)),
        "pick": _id(choice.pick),
        "step_up": _step_entry(steps.up, advice),
        "step_down": _step_entry(steps.down, advice),
        "build": _steps_entry(advice, "build"),
        "rental": _steps_entry(advice, "rental"),
        "best_value": _id(choice.value),
        "cheaper_alternatives": [_id(option) for option in choice.cheaper],
        "least": {
            "build": _least_entry(choice.least_build, advice),
            "rental": _least_entry(choice.least_rental, advice),
            "hour": _least_entry(choice.cheapest_h, advice, hourly=True),
        },
        "free": [_free_entry(entry, advice) for entry in advice.uses.free],
        "guide_pick": guides[0] if guides else None,
        "guide_picks": guides,
        "builds": [option.id for option in advice.builds],
        "rentals": [option.id for option in advice.rentals],
        "options": {option.id: option_entry(option, advice) for option in listed},
        "notes": [reason_entry(Reason(code=code), _tender(advice)) for code in _notes(advice)],
        "sources": _sources(advice, listed),
    }


def reason_entry(reason: Reason, tender: Tender) -> dict[str, Any]:
    """A reason with its English sentence, in which money stands in the currency asked."""
    message = render(reason.code, tender, **reason.params)
    return {"code": reason.code, "params": plain(reason.params), "message": message}


def option_entry(option: Option, advice: Recommendation) -> dict[str, Any]:
    """A build or rental with its price, what it can do, and why it stands where it does."""
    rate, memory_gb = advice.usd_per_unit.value, option.gpu.memory_gb.value
    reasons = (_can(option, advice), *option_reasons(option, advice.work))
    entry: dict[str, Any] = {
        "id": option.id,
        "kind": option.kind,
        "name": name_of(option),
        "gpu": option.gpu.id,
        "gpus": option.gpus,
        "count": option.count,
        "needed": option.needed,
        "memory_gb_per_gpu": memory_gb,
        "memory_gb": option.gpus * memory_gb,
        "affordable": option.affordable,
        "fits": option.fits,
        "on_time": option.on_time,
        "covers": option.covers,
        "covered_months": option.covered_months,
        "covered": covered_words(option, advice.work),
        "price_usd": option.price_usd,
        "price": option.price_usd / rate,
        "running_usd_per_month": option.running_usd_per_month,
        "purchase_usd": option.price_usd if option.kind == "build" else 0.0,
        "running_usd": option.paid_usd - option.price_usd if option.kind == "build" else option.total_usd,
        "resale_usd": option.resale_usd,
        "total_usd": option.total_usd,
        "total": option.total_usd / rate,
        "within_budget": option.over_budget_usd == 0 and option.affordable,
        "over_budget_usd": option.over_budget_usd,
        "early_over_budget_usd": option.early_over_usd,
        "present_value_usd": option.present_value_usd,
        "total_estimated_share": option.total_estimated_share,
        "speed": option.speed if option.fits else None,
        "speed_low": option.speed_low if option.fits else None,
        "speed_high": option.speed_high if option.fits else None,
        "speed_unit": _unit(advice),
        "basis": option.basis,
        "usd_per_speed": option.usd_per_speed if option.fits else None,
        "run_h": option.run_h,
        "run_low_h": option.run_low_h,
        "run_high_h": option.run_high_h,
        "run_gpus": option.run_gpus,
        "busy_share": option.busy_share,
        "can": {
            mode: {
                "workload": None if largest.workload is None else largest.workload.id,
                "parameters": largest.parameters,
            }
            for mode, largest in advice.can(option).items()
        },
        "reasons": [reason_entry(reason, _tender(advice)) for reason in reasons],
        "scenario": advice.scenario(option),
    }
    return entry | (_build_entry(option, advice) if option.kind == "build" else _rental_entry(option, advice))


def _build_entry(option: Option, advice: Recommendation) -> dict[str, Any]:
    build, rate = option.build, advice.usd_per_unit.value
    assert build is not None
    lows, highs = zip(*(_ends(part.price_usd) for part in build.parts), strict=True)
    counts = [option.count * part.count for part in build.parts]
    return {
        "condition": build.condition,
        "system": build.system,
        "parts": [_part_entry(part, option.count, rate) for part in build.parts],
        "price_low_usd": sum(count * low for count, low in zip(counts, lows, strict=True)),
        "price_high_usd": sum(count * high for count, high in zip(counts, highs, strict=True)),
        "estimated_usd": option.count * build.estimated_usd,
        "estimated_share": build.estimated_usd / build.price_usd,
        "as_of": build.as_of,
        "left_usd": advice.budget_usd - option.price_usd,
    }


def _part_entry(part: Part, machines: int, rate: float) -> dict[str, Any]:
    figure = part.price_usd
    return {
        "item": part.item,
        "name": part.name,
        "count": machines * part.count,
        "condition": part.condition,
        "unit_price_usd": figure.value,
        "low_usd": figure.low,
        "high_usd": figure.high,
        "amount_usd": machines * part.amount_usd,
        "amount": machines * part.amount_usd / rate,
        "as_of": figure.as_of,
        "estimate": figure.estimate,
        "sources": list(figure.sources),
    }


def _rental_entry(option: Option, advice: Recommendation) -> dict[str, Any]:
    offer = option.offer
    assert offer is not None
    price = offer.price_usd_per_h
    hours = advice.budget_usd / price.value
    return {
        "offer": offer.id,
        "provider": offer.provider,
        "provider_name": option.provider,
        "instance_type": offer.instance_type,
        "region": offer.region,
        "market": offer.market,
        "price_usd_per_h": price.value,
        "price_usd_per_gpu_h": offer.price_usd_per_gpu_h,
        "price_per_h": price.value / advice.usd_per_unit.value,
        "estimated_share": 1.0 if price.estimate else 0.0,
        "as_of": price.as_of,
        "budget_h": hours,
        "budget_gpu_h": hours * option.gpus,
        "rented_h_per_month": option.rented_h_per_month,
        "billed_h_per_attempt": option.billed_h,
        "billing_unit_s": offer.billing_unit_s.value,
        "idle_tail_s": advice.work.use.idle_tail_s,
        "sources": list(price.sources),
    }


def _can(option: Option, advice: Recommendation) -> Reason:
    can = advice.can(option)
    params: dict[str, object] = {"memory_gb": option.gpus * option.gpu.memory_gb.value}
    for mode, largest in can.items():
        params[mode] = None if largest.parameters is None else largest.parameters / 1e9
    trains, runs = params["full"] is not None, params["inference"] is not None
    return Reason(
        code="recommend_can" if trains else "recommend_can_run" if runs else "recommend_can_little", params=params
    )


def _work_entry(advice: Recommendation) -> dict[str, Any]:
    work = advice.work
    params = {
        "model": work.workload.name,
        "parameters": three_digits(work.workload.parameters.value / 1e6),
        "asked": work.parameters / 1e6,
        "runs": work.runs_per_month,
        "attempts": work.runs_per_month * work.attempts_per_run if work.attempts_per_run != 1 else None,
        "samples": work.samples,
        "peak": work.peak_per_s,
        "unit": work.workload.unit,
        "months": work.months,
        "note": work.use.note,
    }
    message = Reason(code="recommend_work_serving" if work.serving else "recommend_work", params=params)
    return {
        "use": work.use.id,
        "size": work.size,
        "parameters": work.parameters,
        "samples": None if work.serving else work.samples,
        "workload": work.workload.id,
        "workload_parameters": work.workload.parameters.value,
        "amount_per_run": work.amount,
        "unit": work.workload.unit,
        "runs_per_month": work.runs_per_month,
        "attempts_per_run": work.attempts_per_run,
        "deadline_h": work.deadline_h,
        "peak_per_s": work.peak_per_s,
        "months": work.months,
        "site": work.site,
        "assumed": list(work.assumed),
        "estimate": True,
        "message": render(message.code, _tender(advice), **message.params),
        "sources": list(work.use.source),
    }


def _steps_entry(advice: Recommendation, kind: str) -> dict[str, Any]:
    steps = advice.choice.build if kind == "build" else advice.choice.rental
    return {
        "best": _id(steps.best),
        "step_up": _step_entry(steps.up, advice),
        "step_down": _step_entry(steps.down, advice),
    }


def _step_entry(option: Option | None, advice: Recommendation) -> dict[str, Any] | None:
    if option is None:
        return None
    price, rate = option.full_price_usd, advice.usd_per_unit.value
    return {
        "id": option.id,
        "name": full_name(option),
        "price_usd": price,
        "price": price / rate,
        "total_usd": option.full_total_usd,
        "total": option.full_total_usd / rate,
        "over_budget_usd": max(0.0, price - advice.budget_usd, option.full_total_usd - advice.budget_usd),
    }


def _least_entry(option: Option | None, advice: Recommendation, *, hourly: bool = False) -> dict[str, Any] | None:
    if option is None:
        return None
    price = option.unit_price_usd if hourly else option.full_price_usd
    total, rate = price if hourly else option.full_total_usd, advice.usd_per_unit.value
    return {
        "id": option.id,
        "name": name_of(option) if hourly else full_name(option),
        "price_usd": price,
        "price": price / rate,
        "total_usd": total,
        "total": total / rate,
        "missing_usd": max(0.0, price - advice.budget_usd, total - advice.budget_usd),
    }


def _free_entry(entry: FreeIn, advice: Recommendation) -> dict[str, Any]:
    hours = entry.gpu_h_per_month
    return {
        "id": entry.id,
        "name": entry.name,
        "gpu": entry.gpu,
        "gpu_h_per_month": None if hours is None else hours.value,
        "note": entry.note,
        "as_of": entry.as_of,
        "estimate": any(advice.uses.sources[id].kind == "estimate" for id in entry.source),
        "sources": list(entry.source),
    }


def _verdict_entry(verdict: Verdict, advice: Recommendation) -> dict[str, Any]:
    price = verdict.price_usd
    option = verdict.option
    figures = [] if option is None else _figures(option)
    return {
        "id": verdict.pick.id,
        "guide": verdict.guide.id,
        "name": verdict.pick.name,
        "kind": "rental" if verdict.pick.rented else "build",
        "option": _id(option),
        "affordable": verdict.affordable,
        "price_usd": price,
        "price": None if price is None else price / advice.usd_per_unit.value,
        "per": "hour" if verdict.pick.rented else "purchase",
        "as_of": min((figure.as_of for figure in figures if figure.as_of is not None), default=None),
        "estimate": any(figure.estimate for figure in figures),
        "still_best": verdict.still_best,
        "better": _id(verdict.better),
        "why": render(verdict.why.code, _tender(advice), **verdict.why.params),
        "why_code": verdict.why.code,
        "why_params": plain(verdict.why.params),
    }


def _figures(option: Option) -> list[Figure]:
    if option.build is not None:
        return [part.price_usd for part in option.build.parts]
    return [] if option.offer is None else [option.offer.price_usd_per_h]


def _listed(advice: Recommendation) -> list[Option]:
    """Every option that the document names, each once."""
    choice = advice.choice
    named: Iterable[Option | None] = (
        choice.pick, choice.build.best, choice.build.up, choice.build.down, choice.rental.best, choice.rental.up,
        choice.rental.down, choice.value, *choice.cheaper, choice.least_build, choice.least_rental, choice.cheapest_h,
        *advice.builds, *advice.rentals, *(verdict.option for verdict in advice.verdicts),
        *(verdict.better for verdict in advice.verdicts),
    )  # fmt: skip
    return list({option.id: option for option in named if option is not None}.values())


def _notes(advice: Recommendation) -> tuple[str, ...]:
    notes = ["recommend_note_staff", "recommend_note_prices"]
    if advice.usd_per_unit.estimate:
        notes.append("recommend_note_rate")
    if advice.work.serving:
        notes.append("recommend_note_serving")
    return tuple(notes)


def _sources(advice: Recommendation, listed: list[Option]) -> dict[str, Any]:
    own = advice.uses.records()
    cited = {*advice.usd_per_unit.sources, *own}
    cited |= {source for option in listed for figure in _figures(option) for source in figure.sources}
    catalog = dataclasses.replace(advice.catalog, sources={**advice.catalog.sources, **own})
    return {id: source_record(id, catalog, advice.evidence) for id in sorted(cited)}


def _unit(advice: Recommendation) -> str:
    return "tokens_per_s" if advice.work.workload.unit == "tokens" else "samples_per_s"


def _ends(figure: Figure) -> tuple[float, float]:
    low = figure.value if figure.low is None else figure.low
    high = figure.value if figure.high is None else figure.high
    return low, high


def _tender(advice: Recommendation) -> Tender:
    return Tender(code=advice.ask.budget.currency, usd_per_unit=advice.usd_per_unit.value)


def _id(option: Option | None) -> str | None:
    return None if option is None else option.id
