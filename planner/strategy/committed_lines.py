"""Cost lines of commitments: paid over whole terms or blocks of days, used or not, and what they don't cover."""

from __future__ import annotations

import numpy as np

from planner.cost.course import Array, dense
from planner.cost.lines import CostLine
from planner.strategy.offers import Commitment, RentedOffer
from planner.strategy.rows import RentedPair, Rows
from planner.strategy.sessions import session_kwh, session_node_h
from planner.units import H_PER_MONTH


def commitment_lines(rows: Rows) -> list[CostLine]:
    """Committed hours of each offer that some row uses, and the hours beyond them on demand.

    The energy of all sessions stands on the commitment's line, in the months in which they run: unused hours draw none.
    """
    lines = []
    for number, offer in enumerate(rows.problem.offers):
        pairs = [entry for entry in rows.rented_pairs if entry[1].offer == number]
        if offer.commitment is None or not (pairs or offer.commitment.running):
            continue
        lines += _lines(rows, offer, offer.commitment, pairs)
    return lines


def _lines(rows: Rows, offer: RentedOffer, commitment: Commitment, pairs: list[RentedPair]) -> list[CostLine]:
    overflow = rows.problem.offers[commitment.overflow]
    needed_h = _by_month(rows, offer, pairs, energy=False)
    kwh = _by_month(rows, offer, pairs, energy=True)
    months = range(1, rows.last_month + 1)
    cover_h = np.array([0.0, *(commitment.cover_h(month) for month in months)])
    work: list[int] = []
    for _, pair, _ in pairs:
        job = rows.problem.jobs[pair.job]
        work += (pair.throughput_at, job.runs_per_month_at, job.attempts_per_run_at)
    lines = [
        CostLine(
            id=f"commitment.{offer.id}",
            group="opex",
            resource=offer.id,
            job="",
            unit="node-hour committed",
            unit_price=rows.paid(rows.p(offer.price_at), offer.includes_tax),
            course=_committed_h(rows, commitment, pairs),
            price_factor=_signed_factor(rows, commitment),
            kwh_course=kwh,
            kg_co2e_course=kwh * rows.p(offer.grid_at)[:, None],
            taxed=None if offer.includes_tax else "tax_rented",
            price_at=(offer.price_at, *rows.problem.rental_change),
            minor_at=(*work, offer.load_w_at, offer.idle_w_at, offer.pue_at, offer.grid_at),
        )
    ]
    beyond_h = np.maximum(needed_h - cover_h, 0.0)
    if beyond_h.any():
        lines.append(
            CostLine(
                id=f"overflow.{offer.id}",
                group="opex",
                resource=offer.id,
                job="",
                unit="node-hour",
                unit_price=rows.paid(rows.p(overflow.price_at), overflow.includes_tax),
                course=beyond_h,
                price_factor=rows.rental_factor,
                taxed=None if overflow.includes_tax else "tax_rented",
                price_at=(overflow.price_at, *rows.problem.rental_change),
                driver_at=tuple(work),
            )
        )
    return lines


def _signed_factor(rows: Rows, commitment: Commitment) -> Array | None:
    """Prices over today's at which the terms began: they hold until the terms end."""
    began = np.zeros(rows.last_month + 1)
    for start in commitment.starts:
        began[max(start if commitment.upfront else start + 1, 0) :] = start  # some began before the plan
    return rows.price_factor(rows.problem.rental_change_at, began)


def _by_month(rows: Rows, offer: RentedOffer, pairs: list[RentedPair], *, energy: bool) -> Array:
    """Node-hours or energy of all sessions on the offer, by month. [h or kWh]"""
    total = np.zeros((len(rows.theta), rows.last_month + 1))
    for index, pair, _ in pairs:
        sessions = rows.runs[:, index] * rows.p(rows.problem.jobs[pair.job].attempts_per_run_at)
        each = session_kwh(pair, offer, rows.theta) if energy else session_node_h(pair, offer, rows.theta)
        total += dense(rows.monthly(rows.demand(index, sessions * each)))
    return total


def _committed_h(rows: Rows, commitment: Commitment, pairs: list[RentedPair]) -> Array:
    """Hours paid for, at the end of each month of a term or all at its start. [h]

    A term that began before the plan is paid by all; those that follow it only where something runs there.
    """
    used = np.any([rows.routing[:, index] > 0 for index, _, _ in pairs], axis=0) if pairs else np.array(False)
    nodes = {
        start: np.broadcast_to(used | (start < 0), len(rows.theta)) * float(commitment.nodes)
        for start in commitment.starts
        if start < 0 or used.any()
    }
    if commitment.upfront:
        due = {start: paid for start, paid in nodes.items() if start > 0 or (start == 0 and not commitment.first_paid)}
        return rows.at((start, paid * commitment.term_h) for start, paid in due.items())
    return rows.at(
        (start + month, paid * H_PER_MONTH)
        for start, paid in nodes.items()
        for month in range(max(1, 1 - start), commitment.term_months + 1)
    )
