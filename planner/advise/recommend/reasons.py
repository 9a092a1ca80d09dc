"""Why an option is where it is in the list: codes with their parameters, whose sentences stand in messages.yaml."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from planner.advise.recommend.choose import Choice
from planner.advise.recommend.options import Option
from planner.advise.recommend.work import Work
from planner.units import H_PER_MONTH, S_PER_H, S_PER_MIN

_MILLION = 1e6
_SLACK = 1e-9
NEAR_TIE_SHARE = 0.05  # totals rest on estimates: below this difference they are called about the same


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """A code with parameters."""

    code: str
    params: Mapping[str, object] = field(default_factory=dict)


def three_digits(value: float | None) -> float | None:
    """An estimate as it is shown: with three significant digits."""
    return None if value is None else float(f"{value:.3g}")


def name_of(option: Option) -> str:
    """What an option is called: a build's name, or GPUs with their provider."""
    if option.build is not None:
        prefix = f"{option.count} machines, each " if option.count > 1 else ""
        return prefix + option.build.name
    return f"{option.gpus}x {option.gpu.name} from {option.provider}"


def full_name(option: Option) -> str:
    """What as many machines as the work needs are called."""
    if option.build is not None and option.needed > 1:
        return f"{option.needed} machines, each {option.build.name}"
    return name_of(option)


def option_reasons(option: Option, work: Work) -> tuple[Reason, ...]:
    """What speaks for and against an option, the work first."""
    reasons = [_work_reason(option, work)]
    if option.build is not None and option.fits and not work.serving and option.busy_share is not None:
        reasons.append(Reason(code="recommend_load", params={"busy": option.busy_share}))
    if option.fits:
        reasons.append(_price_reason(option, work))
        reasons.append(_budget_reason(option, work))
    if option.billed_h is not None and not work.serving and option.fits:
        reasons.append(_billed_reason(option, work))
    reasons += _cautions(option, work)
    return tuple(reasons)


def _price_reason(option: Option, work: Work) -> Reason:
    """Price over achieved speed: of a purchase for each unit a second, of rent for a million units."""
    unit = work.workload.unit
    price, code = option.usd_per_speed, "recommend_price_speed"
    if option.build is None:
        price, code = option.usd_per_speed / S_PER_H * _MILLION, "recommend_price_million"
    params = {"price": three_digits(price), "unit": unit, "speed": three_digits(option.speed), "basis": option.basis}
    return Reason(code=code, params=params)


def _budget_reason(option: Option, work: Work) -> Reason:
    """What the budget is held against: the total, of purchase, running costs and resale, or of rent."""
    over = option.over_budget_usd > 0
    params = {
        "months": work.months,
        "total": option.total_usd,
        "over": option.over_budget_usd or None,
        "covered": covered_words(option, work) if over else None,
    }
    if option.build is None:
        return Reason(code="recommend_total_rent", params=params)
    params |= {
        "purchase": option.price_usd,
        "running": option.paid_usd - option.price_usd,
        "resale": option.resale_usd,
        "paid": option.paid_usd,
        "early_over": option.early_over_usd if not over and option.early_over_usd > 0 else None,
    }
    return Reason(code="recommend_total_build", params=params)


def _billed_reason(option: Option, work: Work) -> Reason:
    """Why more hours are paid for than runs take."""
    assert option.rented_h_per_month is not None
    assert option.offer is not None
    unit_min = option.offer.billing_unit_s.value / S_PER_MIN
    params = {
        "billed": three_digits(option.rented_h_per_month),
        "attempts": work.runs_per_month * work.attempts_per_run,
        "each": three_digits(option.billed_h),
        "run": three_digits(option.run_h),
        "nodes": option.count if option.count > 1 else None,
        "idle": three_digits(work.use.idle_tail_s / S_PER_H) or None,
        "unit": three_digits(unit_min) if unit_min > 1 else None,
    }
    return Reason(code="recommend_billed", params=params)


def covered_words(option: Option, work: Work) -> str:
    """How much of the work the budget pays for: months, or below one of them attempts, or hours of a service."""
    months = option.covered_months
    if months >= 1 or months <= 0:
        return f"{three_digits(months):g} of {work.months} months"
    if work.serving:
        return f"{three_digits(months * H_PER_MONTH):g} of {work.months * H_PER_MONTH:,.0f} hours"
    attempts_per_month = work.runs_per_month * work.attempts_per_run
    return f"{math.floor(months * attempts_per_month + _SLACK):,} of {attempts_per_month * work.months:,.0f} attempts"


def _work_reason(option: Option, work: Work) -> Reason:
    if not option.fits:
        params = {"model": work.workload.name, "gpu": option.gpu.name, "gpus": option.gpus}
        return Reason(code="recommend_does_not_fit", params=params)
    if work.serving:
        whole = work.peak_per_s is not None and option.speed >= work.peak_per_s * (1 - _SLACK)
        params = {"peak": three_digits(option.speed), "asked": work.peak_per_s, "unit": work.workload.unit}
        return Reason(code="recommend_serves" if whole else "recommend_serves_part", params=params)
    hours, low, high = (three_digits(value) for value in (option.run_h, option.run_low_h, option.run_high_h))
    run = {"hours": hours, "low": low, "high": high, "limit": work.deadline_h}
    if not option.on_time:
        return Reason(code="recommend_too_slow", params=run)
    if option.build is not None and option.needed > option.count:
        return Reason(code="recommend_too_few", params={**run, "needed": option.needed, "count": option.count})
    return Reason(code="recommend_run", params=run)


def _cautions(option: Option, work: Work) -> list[Reason]:
    reasons = []
    if option.used:
        reasons.append(Reason(code="recommend_used"))
    if option.price_is_old and option.build is not None:
        reasons.append(Reason(code="recommend_old_price", params={"as_of": option.build.as_of or "an unknown day"}))
    if option.build is not None and option.build.airflow:
        reasons.append(Reason(code="recommend_airflow", params={"gpu": option.gpu.name}))
    if work.serving and option.build is not None and option.gpu.segment == "consumer":
        reasons.append(Reason(code="recommend_geforce_licence"))
    if option.offer is not None and option.offer.market == "marketplace":
        reasons.append(Reason(code="recommend_marketplace"))
    instances = option.gpu.spec.mig_instances
    if option.build is not None and instances is not None and instances.value > 1 and not work.serving:
        params = {"gpu": option.gpu.name, "instances": instances.value}
        reasons.append(Reason(code="recommend_mig", params=params))
    if not option.affordable:
        reasons.append(Reason(code="recommend_over_budget", params={"price": option.full_price_usd}))
    return reasons


def answer_reason(choice: Choice, work: Work, budget_usd: float) -> Reason:
    """The answer in one sentence."""
    pick = choice.pick
    if pick is None:
        least, hour = choice.least_build, choice.cheapest_h
        params: dict[str, object] = {
            "budget": budget_usd,
            "build": None if least is None else full_name(least),
            "price": None if least is None else least.full_price_usd,
            "rental": None if hour is None else name_of(hour),
            "per_hour": None if hour is None else hour.unit_price_usd,
        }
        return Reason(code="recommend_too_small", params=params)
    other = choice.other()
    params = {
        "name": name_of(pick),
        "price": pick.price_usd,
        "months": work.months,
        "total": pick.total_usd,
        "other": None if other is None else name_of(other),
        "other_total": None if other is None else other.total_usd,
    }
    if choice.status == "partly":
        return Reason(
            code="recommend_partly",
            params={**params, "covered": three_digits(pick.covered_months), "part": covered_words(pick, work)},
        )
    code = "recommend_buy" if pick.kind == "build" else "recommend_rent"
    if other is not None and other.covers and other.present_value_usd < (1 + NEAR_TIE_SHARE) * pick.present_value_usd:
        code += "_tie"
    elif other is not None and other.covers and other.total_usd < pick.total_usd:
        code += "_later"  # less in all, but paid at once: that can only be a purchase
        params["at_once"] = other.price_usd
    elif other is not None and not other.covers:
        params |= {"other": None, "other_total": None}
    return Reason(code=code, params=params)
