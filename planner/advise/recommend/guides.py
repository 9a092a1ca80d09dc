"""What guides advise for a budget and use, put to today's prices."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from planner.advise.recommend.ask import Ask, parse_budget
from planner.advise.recommend.choose import Choice
from planner.advise.recommend.options import Option
from planner.advise.recommend.reasons import Reason, name_of, three_digits
from planner.advise.recommend.uses import GuideIn, PickIn, Use, UsesFile
from planner.catalog.records import Catalog, Offer

NEAR = 1.05  # speeds that differ by less are called the same


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A guide's pick today. `price_usd` is the purchase, or an hour of a rental; None where it is unknown."""

    guide: GuideIn
    pick: PickIn
    option: Option | None
    price_usd: float | None
    affordable: bool | None
    still_best: bool
    better: Option | None
    why: Reason


def guide_asks(uses: UsesFile) -> Mapping[str, Ask]:
    """The question of each guide's case, by the guide's id: ready examples."""
    return {
        entry.id: Ask(
            budget=parse_budget(entry.ask.budget),
            use=entry.ask.use,
            parameters=float(entry.ask.parameters),
            samples=float(entry.ask.samples),
        )
        for entry in uses.guides
    }


def guide_for(uses: UsesFile, use: Use, budget_cny: float) -> GuideIn | None:
    """The guide that speaks of a use and budget: the one from the highest budget that is reached."""
    fitting = [entry for entry in uses.guides if use in entry.uses and entry.from_budget_cny <= budget_cny * (1 + 1e-9)]
    return max(fitting, key=lambda entry: entry.from_budget_cny, default=None)


def guide_offers(uses: UsesFile, catalog: Catalog, today: dt.date) -> tuple[Offer, ...]:
    """The cheapest on-demand offer of each rental that a guide names, current before stale ones."""
    found = []
    for pick in (pick for entry in uses.guides for pick in entry.picks if pick.rented):
        offers = [offer for offer in catalog.offers.values() if _is_offer(pick, offer, today)]
        best = min(offers, key=lambda o: (o.status(today) != "current", o.price_usd_per_h.value, o.id), default=None)
        if best is not None:
            found.append(best)
    return tuple(found)


def verdicts(guide: GuideIn, options: Sequence[Option], choice: Choice, budget_usd: float) -> tuple[Verdict, ...]:
    """Each pick of a guide against the best of its kind."""
    return tuple(_verdict(guide, pick, options, choice, budget_usd) for pick in guide.picks)


def _verdict(guide: GuideIn, pick: PickIn, options: Sequence[Option], choice: Choice, budget_usd: float) -> Verdict:
    option = _option_of(pick, options)
    if option is None:
        reason = Reason(code="recommend_guide_unknown", params={"name": pick.name})
        return Verdict(
            guide=guide, pick=pick, option=None, price_usd=None, affordable=None, still_best=False, better=None,
            why=reason,
        )  # fmt: skip
    best = choice.rental.best if pick.rented else choice.build.best
    same = best is not None and (best.gpu.id, best.gpus) == (option.gpu.id, option.gpus)
    better = None if same else best or choice.pick
    price = option.unit_price_usd
    return Verdict(
        guide=guide,
        pick=pick,
        option=option,
        price_usd=price,
        affordable=price <= budget_usd,
        still_best=same and option.affordable,
        better=better,
        why=_why(pick, option, better, choice, budget_usd, same=same),
    )


def _why(
    pick: PickIn, option: Option, better: Option | None, choice: Choice, budget_usd: float, *, same: bool
) -> Reason:
    ratio = None if better is None or not option.fits else better.full_speed / option.full_speed
    params: dict[str, object] = {
        "name": pick.name,
        "price": option.unit_price_usd,
        "better": None if better is None else name_of(better),
        "better_price": None if better is None else better.price_usd,
        "ratio": three_digits(ratio),
        "faster": three_digits(ratio) if ratio is not None and ratio > NEAR else None,
        "longer": three_digits(1 / ratio) if ratio is not None and ratio < 1 / NEAR else None,
        "budget": budget_usd,
    }
    suffix = "_h" if pick.rented else ""
    if same:
        best = choice.pick is not None and choice.pick.id == option.id
        params["rival"] = None if choice.pick is None else name_of(choice.pick)
        return Reason(code=f"recommend_guide_best{'' if best else '_of_kind'}{suffix}", params=params)
    if not option.fits:
        return Reason(code="recommend_guide_does_not_fit", params=params)
    if option.unit_price_usd > budget_usd:
        params["most"] = None if better is None or better.covers else params["better"]
        params["better"] = None if params["most"] is not None else params["better"]
        return Reason(code=f"recommend_guide_unaffordable{suffix}", params=params)
    if not option.current:
        params["as_of"] = None if option.offer is None else option.offer.price_usd_per_h.as_of
        return Reason(code="recommend_guide_stale", params=params)
    if not option.covers:
        return Reason(
            code=f"recommend_guide_short{suffix}", params={**params, "covered": three_digits(option.covered_months)}
        )
    return Reason(code=f"recommend_guide_beaten{suffix}", params={**params, "total": option.total_usd,
                  "better_total": None if better is None else better.total_usd})  # fmt: skip


def _option_of(pick: PickIn, options: Iterable[Option]) -> Option | None:
    """The option that a pick means, new and cheapest where several are it."""
    found = [option for option in options if _is_pick(pick, option)]
    return min(found, key=lambda o: (not o.current, o.unit_price_usd, o.id), default=None)


def _is_pick(pick: PickIn, option: Option) -> bool:
    build, offer = option.build, option.offer
    if build is not None:
        if pick.rented or build.condition != "new":
            return False
        return build.system == pick.system if pick.system else (build.gpu.id, build.gpus) == (pick.gpu, pick.gpus)
    assert offer is not None
    return pick.rented and _names(pick, offer)


def _names(pick: PickIn, offer: Offer) -> bool:
    return (
        pick.instance_type in (None, offer.instance_type)
        and pick.provider in (None, offer.provider)
        and pick.gpu in (None, offer.gpu)
    )


def _is_offer(pick: PickIn, offer: Offer, today: dt.date) -> bool:
    priced = offer.gpu is not None and offer.term == "on_demand" and offer.status(today) != "retired"
    return priced and offer.gpu_count == int(offer.gpu_count) and _names(pick, offer)
