"""Ranks options, picks one, and finds the steps up and down, cheaper ways, and the least money that would do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from planner.advise.recommend.options import Option

Status = Literal["ok", "partly", "too_small"]
FASTER = 1.15  # a step up is at least this much faster
DEARER = 1.1  # a cheaper hour that makes the work dearer than this isn't a step down
CHEAPER = 0.95  # a step down costs at most this share
MOST_ALTERNATIVES = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """The best of a kind, the next one that is clearly faster, and the fastest that clearly costs less."""

    best: Option | None  # does all the work where something does, else most of it
    up: Option | None
    down: Option | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What is recommended, and what stands beside it."""

    status: Status
    pick: Option | None
    build: Steps
    rental: Steps
    value: Option | None  # the lowest price for its speed among builds that do all the work
    cheaper: tuple[Option, ...]
    least_build: Option | None  # the cheapest that does all the work, whatever the budget
    least_rental: Option | None
    cheapest_h: Option | None  # the cheapest hour that can do some of it

    def steps(self) -> Steps:
        """The steps beside the pick."""
        return self.rental if self.pick is not None and self.pick.kind == "rental" else self.build

    def other(self) -> Option | None:
        """The best of the other kind than the pick's."""
        if self.pick is None:
            return None
        return self.rental.best if self.pick.kind == "build" else self.build.best


def choose(options: Sequence[Option]) -> Choice:
    """Choose among options.

    Of each kind the best does all the work in time for the lowest present value over the months asked, with its
    purchase and its total within the budget: new before used builds, well-dated before old prices. Of the two, the
    lower is picked. Where nothing does all the work, the option that does most of it is.
    """
    builds, rentals = ranked_builds(options), ranked_rentals(options)
    best = {"build": _best(builds), "rental": _best(rentals)}
    found = [option for option in best.values() if option is not None]
    whole = [option for option in found if option.covers]
    pick = min(whole or found, key=lambda o: (-o.covered_months, o.present_value_usd, o.id), default=None)
    able = [option for option in (*builds, *rentals) if option.on_time]
    priced = [o for o in builds if o.covers and not o.used and not o.price_is_old]
    return Choice(
        status="too_small" if pick is None else "ok" if whole else "partly",
        pick=pick,
        build=_steps(best["build"], builds),
        rental=_steps(best["rental"], rentals),
        value=min(priced, key=lambda o: (o.usd_per_speed, o.id), default=None),
        cheaper=_cheaper(pick, able),
        least_build=min((o for o in able if o.kind == "build"), key=lambda o: (o.full_total_usd, o.id), default=None),
        least_rental=min((o for o in able if o.kind == "rental"), key=lambda o: (o.total_usd, o.id), default=None),
        cheapest_h=min((o for o in rentals if o.fits), key=lambda o: (o.unit_price_usd, o.id), default=None),
    )


def _best(ranked: Sequence[Option]) -> Option | None:
    """The first that does all the work, else the one that does most of it."""
    part = [o for o in ranked if o.part and _planned(o)]
    whole = [o for o in part if o.covers]
    return whole[0] if whole else max(part, key=lambda o: (o.covered_months, -o.present_value_usd, o.id), default=None)


def _steps(best: Option | None, ranked: Sequence[Option]) -> Steps:
    if best is None:
        return Steps(best=None, up=None, down=None)
    peers = [o for o in ranked if o.fits and _planned(o) and not o.used and not o.price_is_old and o.id != best.id]
    faster = [
        o
        for o in peers
        if o.on_time and o.full_speed >= FASTER * best.full_speed and o.step_price_usd > best.step_price_usd
    ]
    less = [
        o
        for o in peers
        if o.part
        and o.step_price_usd <= CHEAPER * best.step_price_usd
        and (o.kind == "build" or o.total_usd <= DEARER * best.total_usd)
    ]
    return Steps(
        best=best,
        up=min(faster, key=lambda o: (o.step_price_usd, o.id), default=None),
        down=max(less, key=lambda o: (o.full_speed, -o.step_price_usd, o.id), default=None),
    )


def ranked_builds(options: Iterable[Option]) -> list[Option]:
    """Builds, the recommended order first."""
    builds = [option for option in options if option.kind == "build"]
    return sorted(
        builds,
        key=lambda o: (
            not o.covers,
            not o.affordable,
            not o.on_time,
            o.used,
            o.price_is_old,
            o.present_value_usd,
            o.id,
        ),
    )


def ranked_rentals(options: Iterable[Option]) -> list[Option]:
    """Rentals of today, the recommended order first."""
    rentals = [option for option in options if option.kind == "rental" and option.current]
    return sorted(rentals, key=lambda o: (not o.covers, not o.on_time, not _planned(o), o.present_value_usd, o.id))


def _planned(option: Option) -> bool:
    """Whether a plan would choose it by default: what is bought, and what is rented in the cloud."""
    return option.offer is None or option.offer.market == "cloud"


def _cheaper(pick: Option | None, able: Sequence[Option]) -> tuple[Option, ...]:
    """Ways that do all the work for a smaller total or a smaller purchase."""
    if pick is None:
        return ()
    cheaper = [
        o
        for o in able
        if o.covers
        and o.id != pick.id
        and (
            o.present_value_usd < pick.present_value_usd
            or (o.kind == pick.kind == "build" and o.price_usd < pick.price_usd)
        )
    ]
    return tuple(sorted(cheaper, key=lambda o: (o.present_value_usd, o.id))[:MOST_ALTERNATIVES])
