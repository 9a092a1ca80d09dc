"""Printed figures against ours: equal ones, quotients, links that are printed one way or both."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

from planner.advise.claims.facts import Inquiry, MissingFigureError
from planner.advise.claims.records import (
    COMPUTED_DIGITS,
    PRINTED_DIGITS,
    Claim,
    Finding,
    Value,
    Verdict,
    shown,
)
from planner.messages import as_text

_PREPOSITIONS = frozenset({"against", "at", "by", "for", "in", "on", "with"})
_TRANSFORMS: Mapping[str, Callable[[float], float]] = {
    "ratio": lambda quotient: quotient,
    "gain": lambda quotient: 100 * (quotient - 1),
    "saving": lambda quotient: 100 * (1 - quotient),
}


def printed_figure(claim: Claim, inquiry: Inquiry) -> Finding:
    """Each figure that the claim may mean, `params.scale` times its value, against the printed one."""
    scale = float(claim.params.get("scale", 1.0))
    found = [(id, inquiry.find(id)) for id in claim.figures]
    values = tuple(Value(label=inquiry.name(id), value=scale * value) for id, value in found if value is not None)
    if not values:
        raise MissingFigureError(claim.figures[0])
    return by_variants(claim, values)


def quotients(claim: Claim, inquiry: Inquiry) -> Finding:
    """Quotients of products of figures against the printed ratio, gain or saving (in per cent).

    `params.values` lists `{label, over, under}` with ids of figures or plain numbers; or `params.gpus` names cards, and
    `over` and `under` two of their figures. A quotient of which a figure isn't known is left out. With `params.range` a
    printed number between ours makes the claim hold under conditions.
    """
    values = []
    missing = ""
    transform = _TRANSFORMS[claim.params.get("as", "ratio")]
    for entry in _entries(claim.params):
        try:
            over = [_number(inquiry, item) for item in entry["over"]]
            under = [_number(inquiry, item) for item in entry.get("under", [])]
        except MissingFigureError as error:
            missing = missing or error.id
            continue
        label = str(entry.get("label", "")) or inquiry.name(str(entry["over"][0]))
        values.append(Value(label=label, value=transform(prod(over) / prod(under))))
    if not values:
        raise MissingFigureError(missing)
    return by_variants(claim, tuple(values), within=bool(claim.params.get("range", False)), digits=COMPUTED_DIGITS)


def _entries(params: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    if "gpus" not in params:
        entries: Sequence[Mapping[str, Any]] = params["values"]
        return entries
    return [
        {"over": [f"gpus.{gpu}.{params['over']}"], "under": [f"gpus.{gpu}.{params['under']}"]} for gpu in params["gpus"]
    ]


def _number(inquiry: Inquiry, item: object) -> float:
    return inquiry.value(item) if isinstance(item, str) else float(item)  # type: ignore[arg-type]


def link_rate(claim: Claim, inquiry: Inquiry) -> Finding:
    """A link's rate, printed as one direction or as the sum of both; ours is the sum.

    A claim says which it means in `params.reading` ("total"); one that doesn't holds only under one reading.
    """
    both = float(claim.params.get("scale", 1.0)) * inquiry.value(claim.figures[0])
    each = both / 2
    for other in claim.figures[1:]:  # the same link on other cards
        inquiry.find(other)
    name = str(claim.params.get("name", f"the {inquiry.name(claim.figures[0])}"))
    params = {"name": name, "both": both, "each": each, **_printed(claim)}
    verdict: Verdict = "does_not_hold"
    code = "claim_link_wrong"
    if claim.params.get("reading") == "total":
        verdict, code = ("holds", "claim_link_total") if claim.agrees(both) else (verdict, code)
    elif claim.agrees(both):
        verdict, code = "conditional", "claim_link_if_total"
    elif claim.agrees(each):
        verdict, code = "conditional", "claim_link_if_each"
    values = (Value(label="both directions", value=both), Value(label="each direction", value=each))
    our = each if code == "claim_link_if_each" else both
    return Finding(verdict=verdict, code=code, params=params, our_value=our, values=values)


def link_exists(claim: Claim, inquiry: Inquiry) -> Finding:
    """NVLink of a card, or of two bridged ones: a known card without a figure has none."""
    gpu = inquiry.facts.gpu(str(claim.params["gpu"]))
    if gpu is None:
        raise MissingFigureError(f"gpus.{claim.params['gpu']}.memory_gb")
    known = [inquiry.find(f"gpus.{gpu.id}.{name}") for name in ("nvlink_gb_per_s", "nvlink_bridge_gb_per_s")]
    rates = tuple(Value(label=gpu.name, value=rate) for rate in known if rate)
    if rates:
        return by_variants(claim, rates)
    lanes = inquiry.find(f"gpus.{gpu.id}.pcie_gen")
    inquiry.find(f"gpus.{gpu.id}.memory_gb")  # that the card is known is what the verdict rests on
    params = {"name": gpu.name, "pcie_gen": lanes, **_printed(claim)}
    return Finding(verdict="does_not_hold", code="claim_no_nvlink", params=params, our_value=0.0)


def by_variants(
    claim: Claim,
    values: Sequence[Value],
    *,
    within: bool = False,
    at_least: bool = False,
    digits: int = PRINTED_DIGITS,
) -> Finding:
    """Verdict over all variants: all agree, some do, none does.

    With `within`, a printed figure between the lowest and the highest of ours holds under some condition, although
    no single variant has it; with `at_least`, a better figure than the printed one agrees too.
    """
    agreeing = [value for value in values if claim.agrees(value.value, at_least=at_least)]
    differing = [value for value in values if value not in agreeing]
    low, high = min(value.value for value in values), max(value.value for value in values)
    verdict: Verdict = "does_not_hold"
    code = "claim_figure_wrong"
    if not differing:
        verdict, code = "holds", "claim_figure_holds"
    elif agreeing:
        verdict, code = "conditional", "claim_figure_conditional"
    elif within and claim.printed is not None and low <= claim.printed <= high:
        verdict, code = "conditional", "claim_figure_within"
    params: dict[str, Any] = {
        "agreeing": named(agreeing, claim.unit, digits),
        "differing": named(differing, claim.unit, digits),
        "low": low,
        "high": high,
        **_printed(claim),
    }
    ours = agreeing or differing
    return Finding(
        verdict=verdict,
        code=code,
        params=params,
        our_value=ours[0].value if len(ours) == 1 or agreeing else None,
        our_low=low if high > low else None,
        our_high=high if high > low else None,
        values=tuple(values),
        digits=digits,
    )


def _printed(claim: Claim) -> dict[str, Any]:
    return {
        "printed": claim.printed,
        "unit": claim.unit,
        "quantity": "" if claim.printed is None else quantity(claim.printed, claim.unit),
    }


def named(values: Sequence[Value], unit: str, digits: int = PRINTED_DIGITS) -> str:
    """Numbers with what they belong to, equal numbers once.

    A label that begins with a preposition stands as it is, any other is the name of a thing: "78 % in TF32 and 56 % for
    the A10".
    """
    by_number: dict[str, list[str]] = {}
    for value in values:
        found = by_number.setdefault(quantity(shown(value.value, unit, digits), unit), [])
        if value.label not in found:
            found.append(value.label)
    return listed([f"{number} {_of(labels)}" for number, labels in by_number.items()])


def _of(labels: Sequence[str]) -> str:
    if all(label.partition(" ")[0] in _PREPOSITIONS for label in labels):
        return listed(labels)
    return f"for {listed([f'the {label}' for label in labels])}"


def listed(parts: Sequence[str]) -> str:
    """Parts of a sentence in a row: "a, b and c"."""
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)


def quantity(value: float, unit: str) -> str:
    """A number with its unit, as it stands in a sentence."""
    number = as_text(value)
    if unit == "(PCIe generation)":
        return f"PCIe Gen{number}"
    if unit == "times" and value == 1:
        return "the same"
    return f"{number} {unit}".strip()
