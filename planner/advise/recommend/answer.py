"""The entry point: a question in, the ranked answer out."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from planner.advise.recommend.ask import Ask, check_ask
from planner.advise.recommend.candidates import builds, rentals
from planner.advise.recommend.capacity import Largest, Mode, largest_models
from planner.advise.recommend.choose import Choice, choose, ranked_builds, ranked_rentals
from planner.advise.recommend.guides import Verdict, guide_for, guide_offers, verdicts
from planner.advise.recommend.options import Option, machine_document, options
from planner.advise.recommend.reasons import Reason, answer_reason, name_of
from planner.advise.recommend.uses import UsesFile, load_uses
from planner.advise.recommend.work import Work, scenario_document, work_of
from planner.catalog.records import Catalog, Figure, Offer
from planner.identity_cache import IdentityCache
from planner.performance.evidence import Evidence

MOST_LISTED = 10
_CAPACITIES: IdentityCache[dict[tuple[str, int], Mapping[Mode, Largest]]] = IdentityCache(most=4)
"""What GPUs hold, by catalog and uses, then by GPU and number: no budget changes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommendation:
    """The answer to a question: options in recommended order, the choice among them, and what guides say."""

    ask: Ask
    work: Work
    uses: UsesFile
    catalog: Catalog
    evidence: Evidence
    today: dt.date
    usd_per_unit: Figure  # of the budget's currency
    budget_usd: float
    choice: Choice
    answer: Reason
    builds: tuple[Option, ...]  # those that do some of the work in time within the budget
    rentals: tuple[Option, ...]
    verdicts: tuple[Verdict, ...]

    def can(self, option: Option) -> Mapping[Mode, Largest]:
        """The largest language models that one machine of an option holds, by mode."""
        known = _CAPACITIES.get((self.catalog, self.uses), dict)
        key = (option.gpu.id, option.gpus)
        if key not in known:
            known[key] = largest_models(option.gpu, option.gpus, self.catalog, self.uses)
        return known[key]

    def scenario(self, option: Option) -> dict[str, Any]:
        """A scenario that plans an option beside the best of the other kind, for the same work.

        A build that the budget buys too few of stays out of a rental's plan: a plan knows no budget, and would advise
        owning an overloaded machine where renting is recommended.
        """
        best = self.choice.build.best
        build = option if option.kind == "build" else best if best is not None and best.covers else None
        rental = option if option.kind == "rental" else self.choice.rental.best or self._any_rental()
        machines = {}
        if build is not None and build.build is not None:
            count = build.count if build.affordable else build.needed
            machines = {build.id: machine_document(build.build, self.work, count)}
        return scenario_document(
            self.work,
            name=name_of(option),
            currency=self.ask.budget.currency,
            machines=machines,
            offers=[rental.id] if rental is not None else [],
        )

    def _any_rental(self) -> Option | None:
        return next((option for option in self.rentals if option.on_time), None)


def recommend(ask: Ask, catalog: Catalog, evidence: Evidence, *, today: dt.date) -> Recommendation:
    """What to buy or rent for a budget.

    Parameters
    ----------
    ask : Ask
        Budget, use and, where known, model, data, time and place.
    catalog : Catalog
        Facts and assumptions.
    evidence : Evidence
        Measurements the estimator may see.
    today : date
        Day of the question: decides which prices are current.

    Returns
    -------
    Recommendation
        Also where the budget is too small: then with the least that would do.

    Raises
    ------
    InputError, UnknownIdError
        What can't be asked; the option is named.
    """
    rate = check_ask(ask, catalog)
    uses = load_uses()
    budget_usd = ask.budget.amount * rate.value
    work = work_of(ask, uses, catalog, budget_usd)
    offers = _unique((*rentals(catalog, today), *guide_offers(uses, catalog, today)))
    found = options(work, uses, builds(catalog, uses), offers, budget_usd, catalog, evidence, today)
    choice = choose(found)
    guide = guide_for(uses, ask.use, budget_usd / catalog.fx["CNY"].usd_per_unit.value)
    return Recommendation(
        ask=ask,
        work=work,
        uses=uses,
        catalog=catalog,
        evidence=evidence,
        today=today,
        usd_per_unit=rate,
        budget_usd=budget_usd,
        choice=choice,
        answer=answer_reason(choice, work, budget_usd),
        builds=tuple([o for o in ranked_builds(found) if o.part][:MOST_LISTED]),
        rentals=tuple([o for o in ranked_rentals(found) if o.part][:MOST_LISTED]),
        verdicts=() if guide is None else verdicts(guide, found, choice, budget_usd),
    )


def _unique(offers: tuple[Offer, ...]) -> tuple[Offer, ...]:
    return tuple({offer.id: offer for offer in offers}.values())
