"""Claims about prices: what an instance costs, what is free, what speed costs."""

from __future__ import annotations

from collections.abc import Iterator

from planner.advise.claims.compare import by_variants, listed, quantity
from planner.advise.claims.facts import Inquiry, MissingFigureError
from planner.advise.claims.records import Claim, Finding, Value, Verdict, significant
from planner.catalog.records import Figure, HardwarePrice, Offer


def rental_price(claim: Claim, inquiry: Inquiry) -> Finding:
    """Prices of an instance type, those of `params.region` deciding; earlier prices explain a claim that was true."""
    offers = [
        offer
        for offer in inquiry.facts.catalog.offers.values()
        if offer.instance_type == claim.params["instance_type"]
        and offer.provider == claim.params["provider"]
        and offer.term == "on_demand"
    ]
    today, region = inquiry.facts.today, str(claim.params["region"])
    current = [offer for offer in offers if offer.status(today) == "current"]
    main = [offer for offer in current if offer.region == region]
    if not main:
        raise MissingFigureError(f"offers.{claim.params['provider']}-{claim.params['instance_type']}")
    here = _values(inquiry, main)
    elsewhere = _values(inquiry, [offer for offer in current if offer.region != region])
    retired = [offer for offer in offers if offer.status(today) == "retired" and offer.region == region]
    was = [value for value in _values(inquiry, retired) if claim.agrees(value.value)]
    ended = max((offer.retired_on for offer in retired if offer.retired_on), default=None)
    params = {
        "instance_type": str(claim.params["instance_type"]),
        "region": region,
        "price": here[0].value,
        "as_of": main[0].price_usd_per_h.as_of,
        "printed": claim.printed,
        "per_gpu": main[0].price_usd_per_gpu_h,
        "gpus": main[0].gpu_count,
        "was": was[0].value if was else None,
        "until": ended.isoformat() if was and ended else None,
        "elsewhere": listed(
            [f"{value.label} ({quantity(value.value, 'USD')})" for value in elsewhere if claim.agrees(value.value)]
        ),
    }
    verdict: Verdict = "does_not_hold"
    code = "claim_price_changed"
    if all(claim.agrees(value.value) for value in here):
        verdict, code = "holds", "claim_price_holds"
    elif params["elsewhere"]:
        verdict, code = "conditional", "claim_price_elsewhere"
    return Finding(verdict=verdict, code=code, params=params, our_value=here[0].value, values=(*here, *elsewhere))


def _values(inquiry: Inquiry, offers: list[Offer]) -> list[Value]:
    found = []
    for offer in sorted(offers, key=lambda offer: offer.id):
        price = inquiry.find(f"offers.{offer.id}.price_usd_per_h")
        if price is not None:
            found.append(Value(label=offer.region, value=price))
    return found


def price_of_use(claim: Claim, inquiry: Inquiry) -> Finding:
    """Units an hour times price of a unit, of something that is said to be free."""
    price, units = inquiry.value(claim.figures[0]), inquiry.value(claim.figures[1])
    per_h = price * units
    params = {"price": significant(per_h), "units": units, "unit_price": price, "printed": claim.printed}
    verdict: Verdict = "holds" if claim.agrees(per_h) else "does_not_hold"
    code = "claim_free" if verdict == "holds" else "claim_not_free"
    return Finding(verdict=verdict, code=code, params=params, our_value=per_h)


def price_per_rate(claim: Claim, inquiry: Inquiry) -> Finding:
    """Saving in money for a unit of speed, over every definition of speed and every pair of prices.

    `params.definitions` lists `{label, cheap, dear}` with the figures that count as speed, by GPU; `params.cheap` and
    `params.dear` are ids of GPUs. Prices are all purchase prices of the catalog, with the ends of their ranges.
    """
    values: list[Value] = []
    low_high: list[float] = []
    by_definition: dict[str, list[float]] = {}
    cheap_id = str(claim.params["cheap"])
    for definition in claim.params["definitions"]:
        for dear_id, speed_id in definition["dear"].items():
            cheap, dear = inquiry.find(str(definition["cheap"])), inquiry.find(str(speed_id))
            if not cheap or not dear:
                continue
            for dear_price in _purchases(inquiry, str(dear_id)):
                for cheap_price in _purchases(inquiry, cheap_id, "new"):
                    name = inquiry.name(f"gpus.{dear_id}.tdp_w")
                    label = f"{definition['label']}: {_priced(cheap_price)} against {_priced(dear_price)}, {name}"
                    middle = _saving(cheap_price.price_usd.value / cheap, dear_price.price_usd.value / dear)
                    values.append(Value(label=label, value=middle))
                    by_definition.setdefault(str(definition["label"]), []).append(middle)
                    low_high += [
                        _saving(_end(cheap_price.price_usd, "high") / cheap, _end(dear_price.price_usd, "low") / dear),
                        _saving(_end(cheap_price.price_usd, "low") / cheap, _end(dear_price.price_usd, "high") / dear),
                    ]
    if not values:
        raise MissingFigureError(f"hardware.{cheap_id}-new.price_usd")
    finding = by_variants(claim, values)
    low, high = min(low_high), max(low_high)
    assert claim.printed is not None
    verdict = finding.verdict
    if verdict == "does_not_hold" and low <= claim.printed <= high:
        verdict = "conditional"
    params = {
        "printed": claim.printed,
        "low": round(low / 100, 2) + 0.0,  # never "-0 %"
        "high": high / 100,
        "by_definition": listed(
            [f"{min(found):.0f} to {max(found):.0f} % ({label})" for label, found in by_definition.items()]
        ),
    }
    code = "claim_price_per_rate" if verdict != "does_not_hold" else "claim_price_per_rate_never"
    return Finding(verdict=verdict, code=code, params=params, our_low=low, our_high=high, values=tuple(values))


def _purchases(inquiry: Inquiry, gpu: str, condition: str | None = None) -> Iterator[HardwarePrice]:
    """Purchase prices of a card without those of its launch, which nobody pays any more."""
    for price in sorted(inquiry.facts.catalog.hardware.values(), key=lambda price: price.id):
        if price.item == gpu and price.kind != "launch" and condition in (None, price.condition):
            inquiry.find(f"hardware.{price.id}.price_usd")
            yield price


def _priced(price: HardwarePrice) -> str:
    return f"{price.price_usd.value:,.0f} USD {price.condition}"


def _end(figure: Figure, which: str) -> float:
    end = figure.low if which == "low" else figure.high
    return figure.value if end is None else end


def _saving(cheap: float, dear: float) -> float:
    return 100 * (1 - cheap / dear)
