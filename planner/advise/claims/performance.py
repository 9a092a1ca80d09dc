"""Claims about training speed: proportional to something, bounded by something, enough on a smaller card."""

from __future__ import annotations

from planner.advise.claims.facts import Inquiry, MissingFigureError
from planner.advise.claims.records import COMPUTED_DIGITS, Claim, Finding, Value, Verdict, shown, significant
from planner.catalog.records import Gpu
from planner.errors import InputError
from planner.performance.estimate import Prediction, Setup, estimate

PROPORTIONAL_WITHIN = 1.1  # largest over smallest speed per core that still counts as proportional
LOOSELY_WITHIN = 1.5  # and as proportional within one family of cards


def proportional(claim: Claim, inquiry: Inquiry) -> Finding:
    """Measured speeds of one model, software and batch rule over a figure of the cards: the same for all, or not.

    `params.speeds` maps ids of GPUs to ids of measurements, `params.figure` names the figure.
    """
    values = []
    name = str(claim.params["figure"])
    missing = ""
    for gpu, measurement in claim.params["speeds"].items():
        amount, speed = inquiry.find(f"gpus.{gpu}.{name}"), inquiry.find(f"measurements.{measurement}")
        if amount and speed:
            values.append(Value(label=inquiry.name(f"gpus.{gpu}.{name}"), value=1000 * speed / amount))
        else:
            missing = missing or f"gpus.{gpu}.{name}"
    if len(values) < 3:
        raise MissingFigureError(missing)
    least, most = min(values, key=lambda v: v.value), max(values, key=lambda v: v.value)
    spread = most.value / least.value
    verdict: Verdict = "does_not_hold"
    if spread <= LOOSELY_WITHIN:
        verdict = "holds" if spread <= PROPORTIONAL_WITHIN else "conditional"
    params = {
        "spread": significant(spread),
        "most": most.label,
        "least": least.label,
        "most_value": significant(most.value),
        "least_value": significant(least.value),
        "cards": len(values),
        "model": str(claim.params["model"]),
    }
    code = "claim_proportional" if verdict != "does_not_hold" else "claim_not_proportional"
    return Finding(
        verdict=verdict, code=code, params=params, our_value=spread, values=tuple(values), digits=COMPUTED_DIGITS
    )


def bandwidth_bound(claim: Claim, inquiry: Inquiry) -> Finding:
    """A cut of waiting time by higher bandwidth: at most what a wholly bandwidth-bound step would gain.

    Beyond that bound the claim is refuted. Within it, only a measured share of the step that waits for memory
    (`params.measured`) could decide: without it, the claim can't be decided.
    """
    before, after = (inquiry.value(id) for id in claim.figures)
    assert claim.printed is not None
    bound = 100 * (1 - before / after)
    params = {
        "bound": shown(bound, "%"),
        "printed": claim.printed,
        "before": inquiry.name(claim.figures[0]),
        "after": inquiry.name(claim.figures[1]),
    }
    if bound < claim.printed - claim.margin:
        return Finding(verdict="does_not_hold", code="claim_beyond_bound", params=params, our_high=bound, our_low=0.0)
    share = inquiry.find(f"observations.{claim.params['measured']}")
    if share is None:
        params["needed_share"] = claim.printed / bound
        return Finding(verdict="undecidable", code="claim_bound_only", params=params, our_low=0.0, our_high=bound)
    cut = bound * share
    verdict: Verdict = "holds" if claim.agrees(cut) else "does_not_hold"
    params["cut"] = shown(cut, "%")
    return Finding(verdict=verdict, code="claim_bound_measured", params=params, our_value=cut)


def needs_measurement(claim: Claim, inquiry: Inquiry) -> Finding:
    """A claim that only a measurement decides: `figures` over each other, where the data have them."""
    missing = [id for id in claim.figures if inquiry.find(id) is None]
    if missing:
        nearest = [inquiry.find(str(id)) for id in claim.params.get("nearest", [])]
        known = [value for value in nearest if value is not None]
        params = {
            "what": str(claim.params["what"]),
            "nearest_low": min(known, default=None),
            "nearest_high": max(known, default=None),
        }
        return Finding(verdict="undecidable", code="claim_not_measured", params=params)
    over, under = (inquiry.value(id) for id in claim.figures)
    ratio = over / under
    verdict: Verdict = "holds" if claim.agrees(ratio) else "does_not_hold"
    params = {"ratio": significant(ratio), "printed": claim.printed, "what": str(claim.params["what"])}
    return Finding(verdict=verdict, code="claim_measured_ratio", params=params, our_value=ratio, digits=COMPUTED_DIGITS)


def predicted(inquiry: Inquiry, workload: str, gpu: str, gpus: int = 1) -> Prediction | None:
    """Prediction of a workload on GPUs, or None where the catalog lacks one of them or the card can't run it."""
    catalog = inquiry.facts.catalog
    card, work = catalog.gpus.get(gpu), catalog.workloads.get(workload)
    if not isinstance(card, Gpu) or work is None:
        return None
    for figure in ("memory_gb", "memory_bandwidth_gb_per_s"):
        inquiry.find(f"gpus.{gpu}.{figure}")
    inquiry.find(f"workloads.{workload}.parameters")
    setup = Setup(workload=work, gpu=card, gpus=gpus, gpus_per_node=gpus)
    try:
        return estimate(setup, catalog, inquiry.facts.evidence)
    except InputError:
        return None


def smaller_card_will_do(claim: Claim, inquiry: Inquiry) -> Finding:
    """Whether a smaller card does all the work of a larger one that is busy for the printed share of the time.

    It does for a workload that fits in its memory and runs at that share of the larger card's speed or more.
    """
    assert claim.printed is not None
    needed = claim.printed / 100
    large, small = str(claim.params["large"]), str(claim.params["small"])
    enough: list[str] = []
    too_slow: list[str] = []
    too_large: list[str] = []
    values = []
    cited: dict[str, None] = {}
    for id in claim.params["workloads"]:
        on_large, on_small = predicted(inquiry, str(id), large), predicted(inquiry, str(id), small)
        if on_large is None or on_small is None or not on_large.fits:
            continue
        cited.update(dict.fromkeys((*on_large.sources, *on_small.sources)))
        name = inquiry.name(f"workloads.{id}.parameters")
        if not on_small.fits:
            too_large.append(name)
            continue
        share = on_small.throughput / on_large.throughput
        values.append(Value(label=name, value=100 * share))
        (enough if share >= needed else too_slow).append(name)
    if not enough and not too_slow and not too_large:
        raise MissingFigureError(f"gpus.{small}.memory_gb")
    verdict: Verdict = "conditional"
    if not too_slow and not too_large:
        verdict = "holds"
    elif not enough:
        verdict = "does_not_hold"
    params = {
        "printed": claim.printed,
        "small": inquiry.name(f"gpus.{small}.memory_gb"),
        "large": inquiry.name(f"gpus.{large}.memory_gb"),
        "enough": "; ".join(enough) or "none of these",
        "too_slow": "; ".join(too_slow),
        "too_large": "; ".join(too_large),
    }
    shares = [value.value for value in values]
    return Finding(
        verdict=verdict,
        code="claim_smaller_card",
        params=params,
        our_low=min(shares, default=None),
        our_high=max(shares, default=None),
        values=tuple(values),
        sources=tuple(cited),
    )
