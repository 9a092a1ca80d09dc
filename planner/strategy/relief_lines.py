"""Lines that take something off what is rented: hours that are free, credits that pay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from planner.cost.allowances import share, within_total
from planner.cost.course import Array
from planner.cost.lines import CostLine
from planner.messages import render
from planner.strategy.offers import Credit, RentedOffer
from planner.strategy.parameters import Theta
from planner.strategy.problem import Issue, PlanProblem
from planner.strategy.rows import Rows
from planner.units import HALF_CENT_USD

EXTRAS = ("storage", "egress", "ingress")  # kinds of lines that aren't of instances; their resource is a provider
_BY_THE_HOUR = ("rental", "overflow")


def relief_lines(rows: Rows, billed: Sequence[CostLine]) -> list[CostLine]:
    """A negative line for every line that free hours or a credit reduce, at the same times and taxed alike."""
    free = [line for offer in rows.problem.offers if offer.free_hours for line in _free_hours(rows, offer, billed)]
    return [*free, *_credits(rows, billed, free)]


def _free_hours(rows: Rows, offer: RentedOffer, billed: Sequence[CostLine]) -> list[CostLine]:
    """Node-hours of a month that aren't billed, shared among the lines by their hours; what isn't used lapses."""
    lines = [line for line in billed if line.kind in _BY_THE_HOUR and line.price_at[0] == offer.price_at]
    used_h = np.sum([line.quantity for line in lines], axis=0)
    free_h = used_h
    if not lines:
        return []
    if offer.free_h_per_month_at is not None:
        free_h = np.minimum(free_h, rows.p(offer.free_h_per_month_at)[:, None])
    if offer.free_h_total_at is not None:
        free_h = within_total(free_h, rows.p(offer.free_h_total_at))
    if not free_h.any():
        return []
    part = share(free_h, used_h)
    return [
        CostLine(
            id=f"free_hours.{line.id}",
            group="opex",
            resource=line.resource,
            job=line.job,
            unit="node-hour free",
            unit_price=-line.unit_price,
            course=line.quantity * part,
            price_factor=line.price_factor,
            reduces=line.id,
            taxed=line.taxed,
            price_at=line.price_at,
            driver_at=(*offer.free_hours, *line.driver_at),
            minor_at=line.minor_at,
        )
        for line in lines
    ]


def _credits(rows: Rows, billed: Sequence[CostLine], free: Sequence[CostLine]) -> list[CostLine]:
    """What each credit pays of each line: those that lapse first are used up first, shared by what is still to pay."""
    if not rows.problem.credits:
        return []
    open_usd = {line.id: line.amount for line in billed}
    for line in free:
        open_usd[line.reduces] = np.maximum(open_usd[line.reduces] + line.amount, 0.0)  # last binary digits
    lines = []
    for credit in rows.problem.credits:
        covered = [line for line in billed if _covers(rows.problem, credit, line)]
        if not covered:
            continue
        payable = [open_usd[line.id] * _valid(rows, credit, line) for line in covered]
        together = np.sum(payable, axis=0)
        part = share(within_total(together, rows.p(credit.amount_at)), together)
        for line, payable_usd in zip(covered, payable, strict=True):
            paid_usd = payable_usd * part
            if not paid_usd.any():
                continue
            open_usd[line.id] = np.maximum(open_usd[line.id] - paid_usd, 0.0)
            lines.append(
                CostLine(
                    id=f"credit.{credit.id}.{line.id}",
                    group="opex",
                    resource=line.resource,
                    job=line.job,
                    unit="USD of credit",
                    unit_price=np.full(len(paid_usd), -1.0),
                    course=paid_usd,
                    reduces=line.id,
                    taxed=line.taxed,
                    price_at=(credit.amount_at,),
                    minor_at=(*line.price_at, *line.driver_at),
                )
            )
    return lines


def _covers(problem: PlanProblem, credit: Credit, line: CostLine) -> bool:
    if line.kind in EXTRAS:
        provider = next(index for index, found in enumerate(problem.providers) if found.id == line.resource)
        return not credit.rental_only and credit.valid_at(provider)
    return any(offer.price_at == line.price_at[0] and credit.valid_at(offer.provider) for offer in problem.offers)


def _valid(rows: Rows, credit: Credit, line: CostLine) -> Array:
    """1 at the times of a line within the months of a credit; a term paid upfront is paid in its first month."""
    times = np.arange(rows.last_month + 1)
    terms = (offer.commitment for offer in rows.problem.offers if offer.id == line.resource)
    at_start = line.kind == "commitment" and any(term is not None and term.upfront for term in terms)
    months = times + 1 if at_start else np.maximum(times, 1)
    return ((months >= credit.from_month) & (months <= credit.last_month)).astype(float)


def unused_credits(problem: PlanProblem, theta: Theta, lines: Sequence[CostLine], way: str) -> list[Issue]:
    """What lapses of each credit in a plan of one row that rents, or outlasts it."""
    if not any(line.group == "opex" and line.kind in (*_BY_THE_HOUR, "commitment") for line in lines):
        return []
    issues = []
    for credit in problem.credits:
        paid = [line for line in lines if line.id.startswith(f"credit.{credit.id}.")]
        left_usd = float(theta[0, credit.amount_at]) - sum(float(line.quantity[0].sum()) for line in paid)
        if left_usd < HALF_CENT_USD:
            continue
        code = "credit_lapses" if credit.last_month <= problem.horizon_months else "credit_left"
        params: Mapping[str, object] = {"credit": credit.id, "left_usd": left_usd, "month": credit.last_month}
        where = render(f"strategy_{way}")
        issues.append(Issue(code=code, field=f"rental.credits.{credit.id}", where=where, params=params))
    return issues


def with_relieved_early(problem: PlanProblem, pairs: Sequence[int]) -> list[int]:
    """Candidates, cheapest rental first: what free hours or a credit make cheaper comes right after the cheapest."""
    offers = {index: problem.offers[problem.pairs[index].offer or 0] for index in pairs}
    relieved = [index for index in pairs if offers[index].free_hours]
    for credit in problem.credits:
        relieved += [index for index in pairs if credit.valid_at(offers[index].provider)][:1]
    return list(dict.fromkeys([*pairs[:1], *relieved, *pairs]))
