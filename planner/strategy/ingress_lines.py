"""Cost lines of data that is sent to providers."""

from __future__ import annotations

import numpy as np

from planner.cost.course import Array, dense
from planner.cost.lines import CostLine
from planner.strategy.parameters import Theta
from planner.strategy.problem import Job, Pair
from planner.strategy.rows import Rows
from planner.strategy.sessions import spot_course


def ingress_lines(rows: Rows) -> list[CostLine]:
    """Incoming data at every provider in use: once in the first month with runs there, then with the runs."""
    lines = []
    for number, provider in enumerate(rows.problem.providers):
        pairs = [(i, pair) for i, pair, offer in rows.rented_pairs if offer.provider == number]
        if provider.ingress_price_at is None or not pairs:
            continue
        sent_gb = np.zeros((len(rows.theta), rows.last_month + 1))
        drivers: list[int] = []
        if rows.problem.upload_gb_at is not None:
            used = np.zeros((len(rows.theta), 1))
            for i, _ in pairs:
                used = np.maximum(used, rows.demand(i, rows.runs[:, i]) > 0)
            first = used * (np.cumsum(used, axis=1) == 1)
            sent_gb[:, 1 : first.shape[1] + 1] += first * rows.p(rows.problem.upload_gb_at)[:, None]
            drivers.append(rows.problem.upload_gb_at)
        for i, pair in pairs:
            job = rows.problem.jobs[pair.job]
            if job.upload_gb_per_run_at is not None:
                gb = rows.p(job.upload_gb_per_run_at) * uploads_per_run(job, pair, rows.theta)
                sent_gb += dense(rows.monthly(rows.demand(i, rows.runs[:, i] * gb)))
                drivers += (job.upload_gb_per_run_at, job.runs_per_month_at)
        if not sent_gb.any():
            continue
        lines.append(
            CostLine(
                id=f"ingress.{provider.id}",
                group="opex",
                resource=provider.id,
                job="",
                unit="GB",
                unit_price=rows.p(provider.ingress_price_at),
                course=sent_gb,
                taxed="tax_rented",
                price_at=(provider.ingress_price_at,),
                driver_at=tuple(drivers),
            )
        )
    return lines


def uploads_per_run(job: Job, pair: Pair, theta: Theta) -> Array:
    """How often the data of one run is sent: once to the provider's disk, or to the instances at every start. [-]"""
    if pair.transfer is None or not pair.transfer.billed:
        return np.ones(len(theta))
    starts = 1.0 if pair.spot is None else 1.0 + spot_course(pair, theta).interruptions
    return np.asarray(theta[:, job.attempts_per_run_at] * starts)
