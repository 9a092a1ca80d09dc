"""How long one attempt of a job takes at a place, while candidates are looked for, and whether it ever ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from planner.cost.spot import SpotRun, run_hazard_per_s, spot_run
from planner.performance.duration import MOST_LOST, Attempt, attempt_parts, transfer_s
from planner.scenario.jobs import JobInput
from planner.strategy.parameters import ParameterTable
from planner.strategy.problem import Issue, Job
from planner.strategy.resolve.places import Place
from planner.units import S_PER_H

_LIKELY: Final = 0.02  # of an interruption, from which a run had better save its work


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedAttempt:
    """An attempt of a job at a place on a number of GPUs, of so much work at the predicted speed."""

    job: Job
    entry: JobInput
    place: Place
    gpus: int
    work_s: float
    table: ParameterTable

    @property
    def turnaround_h(self) -> float:
        """Wait for rented instances, start-up, the attempt and its data, with what interruptions of spot add. [h]"""
        upload_s, download_s = self._moves_s()
        moving_s = download_s + (0.0 if self._waits_for_upload else upload_s)
        return self.session_h + (self.place.start_wait_s + moving_s) / S_PER_H

    @property
    def session_h(self) -> float:
        """Start-up and the attempt; on spot instances with what interruptions are expected to add. [h]"""
        if self.place.spot is not None:
            return float(self._on_spot().total_s) / S_PER_H
        return float(self._alone().total_h) + self._startup_s / S_PER_H

    @property
    def _waits_for_upload(self) -> bool:
        return self.job.transfer is not None and self.job.transfer.billed

    @property
    def _startup_s(self) -> float:
        return self.place.startup_s + (self._moves_s()[0] if self._waits_for_upload else 0.0)

    def _moves_s(self) -> tuple[float, float]:
        """Upload and download of one run; nothing moves on owned machines. [s]"""
        if self.job.transfer is None or self.place.offer is None:
            return 0.0, 0.0
        rate, entry = self.table.value(self.job.transfer.mbit_per_s_at), self.entry
        return float(transfer_s(entry.upload_gb_per_run, rate)), float(transfer_s(entry.egress_gb_per_run, rate))

    def never_ends(self) -> list[Issue]:
        """The problem of a run that interruptions throw back again and again, if it is one."""
        where = {"job": self.job.id, "resource": self.place.id}
        if self.place.spot is not None:
            course = self._on_spot()
            if course.total_s <= MOST_LOST * course.uninterrupted_s:
                return []
            params = {**where, "checkpoints": self.entry.checkpoints}
            return [Issue(code="spot_never_ends", field=f"jobs.{self.job.id}.checkpoints", params=params)]
        attempt = self._alone()
        if attempt.ends:
            return []
        params = {
            **where,
            "checkpoints": attempt.checkpoints,
            "checkpoint_s": attempt.checkpoint_h / attempt.checkpoints * S_PER_H if attempt.checkpoints else 0.0,
            "interruptions": attempt.interruptions,
        }
        field = "checkpoints" if self.entry.checkpoints else "checkpoint_s"
        return [Issue(code="attempt_never_ends", field=f"jobs.{self.job.id}.{field}", params=params)]

    def unsaved(self) -> list[Issue]:
        """That a run on spot instances saves nothing before its end, where it is likely to matter."""
        if self.place.spot is None or self.entry.checkpoints:
            return []
        probability = float(self._on_spot().interrupted_probability)
        if probability < _LIKELY:
            return []
        params = {"job": self.job.id, "share": probability}
        return [Issue(code="spot_without_checkpoints", field=f"jobs.{self.job.id}.checkpoints", params=params)]

    def _on_spot(self) -> SpotRun:
        spot, entry, restarts = self.place.spot, self.entry, self.job.restarts
        assert spot is not None
        failures = 0.0 if restarts is None else self.table.value(restarts.interruptions_per_gpu_year_at)
        nodes = -(-self.gpus // self.place.gpus_per_node)
        share = self.table.value(spot.interrupted_share_at)
        return spot_run(
            self._startup_s,
            self.work_s * (1 + entry.eval_share) + entry.checkpoints * entry.checkpoint_s,
            max(entry.checkpoints, 1),
            run_hazard_per_s(share, nodes, gpus=self.gpus, failures_per_gpu_year=failures),
            self.table.value(spot.load_s_at),
            self.table.value(spot.reacquire_s_at),
        )

    def _alone(self) -> Attempt:
        entry, restarts, table = self.entry, self.job.restarts, self.table
        failures, nodes = self.place.failures, -(-self.gpus // self.place.gpus_per_node)
        restart_at = restarts.restart_s_at if restarts is not None else failures.restart_s_at if failures else None
        return attempt_parts(
            self.work_s,
            eval_share=entry.eval_share,
            checkpoints=entry.checkpoints,
            checkpoint_s=entry.checkpoint_s if restarts is None else table.value(restarts.checkpoint_s_at),
            gpus=self.gpus,
            interruptions_per_gpu_year=None
            if restarts is None
            else table.value(restarts.interruptions_per_gpu_year_at),
            failures_per_year=None if failures is None else table.value(failures.per_year_at) * nodes,
            restart_s=0.0 if restart_at is None else table.value(restart_at),
        )
