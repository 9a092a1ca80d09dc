"""Cost lines of rented machines: sessions, storage, egress, people."""

from __future__ import annotations

import numpy as np

from planner.cost.course import scaled
from planner.cost.lines import CostLine
from planner.cost.rental import billed_egress_gb
from planner.strategy.offers import RentedOffer
from planner.strategy.rows import Rows
from planner.strategy.sessions import session_kwh, session_node_h
from planner.units import MONTHS_PER_YEAR


def rental_lines(rows: Rows) -> list[CostLine]:
    """Billed sessions of each job on each offer, with the energy of the nodes it occupies."""
    lines = []
    for index, pair, offer in rows.rented_pairs:
        if offer.commitment is not None:
            continue
        job = rows.problem.jobs[pair.job]
        sessions = rows.runs[:, index] * rows.p(job.attempts_per_run_at)
        kwh = rows.monthly(rows.demand(index, sessions * session_kwh(pair, offer, rows.theta)))
        lines.append(
            CostLine(
                id=f"rental.{job.id}.{offer.id}",
                group="opex",
                resource=offer.id,
                job=job.id,
                unit="node-hour",
                unit_price=rows.paid(rows.p(offer.price_at), offer.includes_tax),
                course=rows.monthly(rows.demand(index, sessions * session_node_h(pair, offer, rows.theta))),
                price_factor=rows.rental_factor,
                kwh_course=kwh,
                kg_co2e_course=scaled(kwh, rows.p(offer.grid_at)),
                taxed=None if offer.includes_tax else "tax_rented",
                price_at=(offer.price_at, *rows.problem.rental_change),
                driver_at=(pair.throughput_at, job.runs_per_month_at, job.attempts_per_run_at),
                minor_at=(
                    offer.startup_s_at, offer.idle_tail_s_at, offer.billing_unit_s_at, offer.minimum_s_at,
                    offer.load_w_at, offer.idle_w_at, offer.pue_at, offer.grid_at, *_spot_columns(offer),
                    *_wait_columns(offer),
                ),
            )
        )  # fmt: skip
    return lines


def _spot_columns(offer: RentedOffer) -> tuple[int, ...]:
    spot = offer.spot
    return () if spot is None else (spot.interrupted_share_at, spot.load_s_at, spot.reacquire_s_at)


def _wait_columns(offer: RentedOffer) -> tuple[int, ...]:
    there = offer.availability
    return () if there is None else (there.available_share_at, there.retry_s_at)


def provider_lines(rows: Rows) -> list[CostLine]:
    """Storage and egress at every provider in use."""
    lines = []
    for number, provider in enumerate(rows.problem.providers):
        pairs = [(i, pair) for i, pair, offer in rows.rented_pairs if offer.provider == number]
        if not pairs:
            continue
        storage_gb = rows.in_use(i for i, _ in pairs) * rows.p(rows.problem.storage_gb_at)[:, None]
        if storage_gb.any() and rows.p(provider.storage_price_at).any():
            lines.append(
                CostLine(
                    id=f"storage.{provider.id}",
                    group="opex",
                    resource=provider.id,
                    job="",
                    unit="GB-month",
                    unit_price=rows.p(provider.storage_price_at),
                    course=rows.monthly(storage_gb),
                    taxed="tax_rented",
                    price_at=(provider.storage_price_at,),
                    driver_at=(rows.problem.storage_gb_at,),
                )
            )
        columns = [(i, rows.problem.jobs[pair.job].egress_gb_per_run_at) for i, pair in pairs]
        sent = [(i, column) for i, column in columns if column is not None]
        by_job = (rows.demand(i, rows.runs[:, i] * rows.p(column)) for i, column in sent)
        sent_gb = sum(by_job, start=np.zeros((len(rows.theta), 1)))
        billed_gb = np.asarray(billed_egress_gb(sent_gb, rows.p(provider.free_egress_gb_at)[:, None]))
        if billed_gb.any() and rows.p(provider.egress_price_at).any():
            lines.append(
                CostLine(
                    id=f"egress.{provider.id}",
                    group="opex",
                    resource=provider.id,
                    job="",
                    unit="GB beyond free",
                    unit_price=rows.p(provider.egress_price_at),
                    course=rows.monthly(billed_gb),
                    taxed="tax_rented",
                    price_at=(provider.egress_price_at,),
                    driver_at=tuple(column for _, column in sent),
                    minor_at=(provider.free_egress_gb_at,),
                )
            )
    return lines


def cloud_staff_lines(rows: Rows) -> list[CostLine]:
    """One share of people in the months in which a plan rents, whatever it rents."""
    pairs = rows.rented_pairs
    if not pairs:
        return []
    fte_years = rows.in_use(i for i, _, _ in pairs) * rows.p(rows.problem.fte_cloud_at)[:, None] / MONTHS_PER_YEAR
    if not (fte_years.any() and rows.p(rows.problem.wage_at).any()):
        return []
    return [
        CostLine(
            id="staff_cloud",
            group="opex",
            resource="cloud",
            job="",
            unit="FTE-year",
            unit_price=rows.p(rows.problem.wage_at),
            course=rows.monthly(fte_years),
            price_at=(rows.problem.wage_at,),
            driver_at=(rows.problem.fte_cloud_at,),
        )
    ]
