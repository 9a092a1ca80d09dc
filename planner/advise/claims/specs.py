"""Claims about what a data sheet says, where comparing one number isn't enough."""

from __future__ import annotations

from planner.advise.claims.compare import by_variants, named
from planner.advise.claims.facts import Inquiry, MissingFigureError
from planner.advise.claims.records import COMPUTED_DIGITS, Claim, Finding, Value, significant
from planner.catalog.hardware import PRECISIONS
from planner.messages import as_text


def rates_say_who_trains_faster(claim: Claim, inquiry: Inquiry) -> Finding:
    """Two printed rates, and whether the card with the higher one trains faster.

    `params.printed` are the two numbers, `figures` the two rates, `params.speeds` measured speeds of one model,
    `params.tensor` the rates that training runs at.
    """
    rates = [inquiry.value(id) for id in claim.figures]
    printed = [float(value) for value in claim.params["printed"]]
    speeds = [inquiry.value(str(id)) for id in claim.params["speeds"]]
    tensor = [inquiry.value(str(id)) for id in claim.params["tensor"]]
    names = [inquiry.name(id) for id in claim.figures]
    as_printed = all(abs(rate - number) <= 0.005 * number + 1e-9 for rate, number in zip(rates, printed, strict=True))
    params = {
        "first": names[0],
        "second": names[1],
        "first_rate": rates[0],
        "second_rate": rates[1],
        "first_tensor": tensor[0],
        "second_tensor": tensor[1],
        "speed_share": significant(speeds[0] / speeds[1]),
        "model": str(claim.params["model"]),
    }
    values = tuple(Value(label=name, value=rate) for name, rate in zip(names, rates, strict=True))
    if not as_printed:
        params |= {
            "agreeing": "",
            "differing": named(values, claim.unit),
            "quantity": " / ".join(map(as_text, printed)),
        }
        return Finding(verdict="does_not_hold", code="claim_figure_wrong", params=params, values=values)
    if (rates[0] > rates[1]) == (speeds[0] > speeds[1]):
        return Finding(verdict="holds", code="claim_rates_and_speed_agree", params=params, values=values)
    return Finding(verdict="conditional", code="claim_rates_mislead", params=params, values=values)


def rate_per_watt(claim: Claim, inquiry: Inquiry) -> Finding:
    """Every rate of the named cards over their rated power, the printed figure among them or not.

    `params.observed` may name a published figure of another unit that the printed number really is.
    """
    values = []
    for gpu in claim.params["gpus"]:
        watts = inquiry.find(f"gpus.{gpu}.tdp_w")
        for name in (*(f"{precision}_dense" for precision in PRECISIONS), "fp64"):
            rate = inquiry.find(f"gpus.{gpu}.{name}_tflop_per_s") if watts else None
            if watts and rate:
                label = f"{inquiry.name(f'gpus.{gpu}.tdp_w')} in {name.partition('_')[0]}"
                values.append(Value(label=label, value=rate / watts))
    if not values:
        raise MissingFigureError(f"gpus.{claim.params['gpus'][0]}.tdp_w")
    finding = by_variants(claim, values)
    if finding.verdict != "does_not_hold":
        return finding
    observed = claim.params.get("observed")
    params = {
        "low": significant(min(value.value for value in values)),
        "high": significant(max(value.value for value in values)),
        "highest": max(values, key=lambda value: value.value).label,
        "printed": claim.printed,
        "unit": claim.unit,
        "observed": None if observed is None else inquiry.find(f"observations.{observed}"),
    }
    code = "claim_per_watt_wrong" if observed is None else "claim_per_watt_other_unit"
    return Finding(
        verdict="does_not_hold",
        code=code,
        params=params,
        our_low=finding.our_low,
        our_high=finding.our_high,
        values=finding.values,
        digits=COMPUTED_DIGITS,
    )


def system_memory(claim: Claim, inquiry: Inquiry) -> Finding:
    """Memory of all GPUs of the named systems."""
    values = []
    for id in claim.params["systems"]:
        system = inquiry.facts.catalog.systems.get(str(id))
        memory = None if system is None else inquiry.find(f"gpus.{system.gpu}.memory_gb")
        if system is not None and memory is not None:
            values.append(Value(label=system.name, value=system.gpu_count * memory))
    if not values:
        raise MissingFigureError(f"systems.{claim.params['systems'][0]}")
    return by_variants(claim, values)
