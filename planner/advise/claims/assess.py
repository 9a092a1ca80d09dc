"""Every claim through its rule: verdict, sentence, figures and sources."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping

from planner.advise.claims import compare, hybrid, memory, money, performance, software, specs
from planner.advise.claims.data import ClaimData, load_claim_data
from planner.advise.claims.facts import Facts, Inquiry, MissingFigureError
from planner.advise.claims.records import Assessment, Claim, Finding
from planner.catalog.records import Catalog
from planner.performance.evidence import Evidence

Rule = Callable[[Claim, Inquiry], Finding]

RULES: Mapping[str, Rule] = {
    "bandwidth_bound": performance.bandwidth_bound,
    "bytes_per_parameter": memory.bytes_per_parameter,
    "driver_floor": software.driver_floor,
    "least_memory": memory.least_memory,
    "library_supports": software.library_supports,
    "link_exists": compare.link_exists,
    "link_rate": compare.link_rate,
    "mix_productivity": hybrid.productivity,
    "mix_saving": hybrid.saving,
    "needs_measurement": performance.needs_measurement,
    "price_of_use": money.price_of_use,
    "price_per_rate": money.price_per_rate,
    "printed_figure": compare.printed_figure,
    "proportional": performance.proportional,
    "quotients": compare.quotients,
    "rate_per_watt": specs.rate_per_watt,
    "rates_say_who_trains_faster": specs.rates_say_who_trains_faster,
    "rental_price": money.rental_price,
    "smaller_card_will_do": performance.smaller_card_will_do,
    "system_memory": specs.system_memory,
}


def assess_claims(
    catalog: Catalog, evidence: Evidence, *, today: dt.date, data: ClaimData | None = None
) -> tuple[Assessment, ...]:
    """Put every claim to the test.

    Parameters
    ----------
    catalog : Catalog
        Facts and assumptions.
    evidence : Evidence
        Measurements.
    today : date
        Day of the run: decides which prices are current.
    data : ClaimData, optional
        The claims and what only they need; those shipped if omitted.

    Returns
    -------
    tuple of Assessment
        In the order of the data file. A claim whose figures aren't known is undecidable, and says which one is missing.
    """
    facts = Facts(catalog=catalog, evidence=evidence, data=load_claim_data() if data is None else data, today=today)
    return tuple(assess(claim, facts) for claim in facts.data.claims)


def assess(claim: Claim, facts: Facts) -> Assessment:
    """One claim's verdict with the figures and sources it rests on."""
    inquiry = Inquiry(facts=facts)
    try:
        finding = RULES[claim.rule](claim, inquiry)
    except MissingFigureError as error:
        finding = Finding(verdict="undecidable", code="claim_figure_unknown", params={"figure": error.id})
    cited = dict.fromkeys(source for figure in inquiry.read.values() for source in figure.sources)
    cited.update(dict.fromkeys((*finding.sources, *claim.sources)))
    return Assessment(claim=claim, finding=finding, figures=tuple(inquiry.read), sources=tuple(cited))
