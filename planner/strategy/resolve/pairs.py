"""Candidate pairs: every job on every machine type and offer, with the GPUs of a run, its speed and its fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from planner.catalog.query import find_workload
from planner.catalog.records import Catalog, Figure, Workload
from planner.errors import InputError, PlannerError
from planner.identity_cache import IdentityCache
from planner.performance.estimate import Prediction, Setup, estimate
from planner.performance.evidence import Evidence
from planner.performance.remedies import remedies
from planner.scenario.jobs import JobInput
from planner.scenario.schema import Scenario
from planner.strategy.parameters import ParameterTable, given
from planner.strategy.problem import Fit, Issue, Job, Pair, Restarts
from planner.strategy.resolve.attempts import PlannedAttempt
from planner.strategy.resolve.figures import Figures, oldest
from planner.strategy.resolve.places import Place
from planner.strategy.resolve.resources import ResourceNames
from planner.strategy.resolve.rules import block_too_short, not_allowed, within_quota
from planner.strategy.resolve.transfers import amount_column, resolve_transfer
from planner.workload.training import amount_of_work

_TOO_LARGE = ("does_not_fit", "fits_nowhere")
_Known = dict[tuple[object, ...], Prediction | PlannerError]
_ESTIMATES: IdentityCache[_Known] = IdentityCache(most=4)
"""Estimates of a catalog and its evidence, shared by their plans: most changes of a scenario change no speed."""
_MOST_ESTIMATES = 20_000


def work_of(id: str, entry: JobInput, workload: Workload) -> float:
    """Tokens or samples of one attempt of a job; raises as `amount_of_work`, with the job's path."""
    try:
        return amount_of_work(workload, tokens=entry.tokens, samples=entry.samples, epochs=entry.epochs)
    except InputError as error:
        raise InputError(error.code, field=f"jobs.{id}.{error.field}", **error.params) from None


def resolve_job(
    id: str, entry: JobInput, figures: Figures, table: ParameterTable, scenario: Scenario
) -> tuple[Job, Workload]:
    """A job's demand as columns, and its workload."""
    where = f"jobs.{id}"
    workload = find_workload(figures.catalog, entry.workload, field=f"{where}.workload")
    attempts = figures.given_or(entry.attempts_per_run, lambda: figures.assumed("attempts_per_run"))
    job = Job(
        id=id,
        workload=workload.id,
        job_class=entry.job_class,
        local_share=entry.local_share,
        in_house=entry.in_house,
        overflow=entry.overflow and not entry.in_house,
        deadline_h=entry.deadline_h,
        priority=entry.priority,
        submitted_together=entry.submitted_together,
        arrivals=entry.arrivals,
        profile=demand_profile(where, entry, scenario.horizon_months),
        runs_per_month_at=table.add(f"{where}.runs_per_month", given(entry.runs_per_month), "1/month"),
        attempts_per_run_at=table.add(f"{where}.attempts_per_run", attempts, "-", floor=1.0),
        egress_gb_per_run_at=amount_column(f"{where}.egress_gb_per_run", entry.egress_gb_per_run, table),
        upload_gb_per_run_at=amount_column(f"{where}.upload_gb_per_run", entry.upload_gb_per_run, table),
        transfer=resolve_transfer(id, entry, scenario, table),
        local_share_at=None
        if entry.local_share is None
        else table.add(f"{where}.local_share", given(entry.local_share), "-"),
        restarts=_restarts(where, entry, figures, table) if entry.restarts else None,
        group=entry.group,
    )
    return job, workload


def demand_profile(where: str, entry: JobInput, horizon_months: int) -> tuple[float, ...] | None:
    """Demand of each month over `runs_per_month`; None where it is the same in all.

    Raises
    ------
    InputError
        A month after the horizon, or no run in any month.
    """
    late = [month for month in entry.runs_by_month if month > horizon_months]
    if late:
        raise InputError("month_after_horizon", field=f"{where}.runs_by_month", value=min(late), months=horizon_months)
    if not (entry.growth_per_month or entry.seasonality or entry.runs_by_month):
        return None
    season = entry.seasonality or [1.0]
    factors = [
        entry.runs_by_month[month] / entry.runs_per_month
        if month in entry.runs_by_month
        else (1.0 + entry.growth_per_month) ** (month - 1) * season[(month - 1) % len(season)]
        for month in range(1, horizon_months + 1)
    ]
    if not any(factors):
        raise InputError("no_runs", field=f"{where}.runs_by_month")
    return None if all(factor == 1.0 for factor in factors) else tuple(factors)


def _restarts(where: str, entry: JobInput, figures: Figures, table: ParameterTable) -> Restarts:
    """Columns for the interruptions of a job; where it gives neither number nor pause of checkpoints, as assumed."""
    asked = entry.checkpoint_s if entry.checkpoints or entry.checkpoint_s else None
    pause = figures.given_or(asked, lambda: figures.assumed("checkpoint_s"))
    rate = figures.assumed("interruptions_per_gpu_year")
    return Restarts(
        interruptions_per_gpu_year_at=table.add("interruptions_per_gpu_year", rate, "1/year"),
        restart_s_at=table.add("restart_s", figures.assumed("restart_s"), "s"),
        checkpoint_s_at=table.add(f"{where}.checkpoint_s", pause, "s"),
    )


@dataclass(slots=True, kw_only=True)
class PairFinder:
    """Finds for one job and place the number of GPUs and the speed; predictions are shared between equal places."""

    scenario: Scenario
    catalog: Catalog
    evidence: Evidence
    table: ParameterTable
    names: ResourceNames
    _known: _Known = field(init=False)

    def __post_init__(self) -> None:
        self._known = _ESTIMATES.get((self.catalog, self.evidence), dict)
        if len(self._known) > _MOST_ESTIMATES:
            self._known.clear()

    def find_all(self, index: int, job: Job, workload: Workload, places: Sequence[Place]) -> list[Pair]:
        """The pairs of a job; where it fits into nothing owned, or nothing rented, with what would make it fit."""
        pairs = [self.find(index, job, workload, place) for place in places]
        for rented in (False, True):
            side = [at for at, place in enumerate(places) if (place.offer is not None) == rented]
            if any(pairs[at].feasible for at in side):
                continue
            too_large = [at for at in side if any(issue.code in _TOO_LARGE for issue in pairs[at].problems)]
            if too_large:
                nearest = min(too_large, key=lambda at: _shortage(pairs[at].problems))
                pairs[nearest] = self._with_remedy(pairs[nearest], job, workload, places[nearest])
        return pairs

    def _with_remedy(self, pair: Pair, job: Job, workload: Workload, place: Place) -> Pair:
        """The pair, its reason completed by the cheapest change that makes the job fit."""
        entry = self.scenario.jobs[job.id]
        predicted = self._predict(entry, workload, place, pair.gpus)
        if not isinstance(predicted, Prediction):
            return pair
        found = remedies(
            self._setup(entry, workload, place, pair.gpus),
            predicted,
            self.catalog,
            machine_gpus=place.gpus_per_node,
            most_gpus=place.gpus_per_node * place.max_nodes,
        )
        if not found:
            return pair
        problems = [
            replace(issue, params={**issue.params, "remedy": found[0].text}) if issue.code in _TOO_LARGE else issue
            for issue in pair.problems
        ]
        return replace(pair, problems=tuple(problems))

    def find(self, index: int, job: Job, workload: Workload, place: Place) -> Pair:
        """The pair of a job and a place, feasible or with the reasons why not."""
        entry = self.scenario.jobs[job.id]
        work = work_of(job.id, entry, workload)
        problems = not_allowed(job.id, entry, place, self.names)
        own = self._own_throughput(entry, place)
        gpus, nodes, fit, throughput = (
            self._as_given(job, entry, workload, place, own, problems)
            if own is not None
            else self._as_predicted(job, entry, workload, place, work, problems)
        )
        if not problems:
            attempt = self._attempt(job, entry, place, gpus, work / throughput.value)
            problems += attempt.never_ends() or block_too_short(job.id, place, attempt.session_h)
            fit = replace(fit, warnings=(*fit.warnings, *attempt.unsaved()))
        return Pair(
            job=index,
            resource=place.id,
            machine=place.machine,
            offer=place.offer,
            gpus=gpus,
            nodes=nodes,
            work=work,
            throughput_at=self.table.add(f"jobs.{job.id}.throughput.{place.id}", throughput, fit.throughput_unit),
            eval_share=entry.eval_share,
            checkpoints=entry.checkpoints,
            checkpoint_s=entry.checkpoint_s,
            restarts=job.restarts,
            failures=place.failures,
            spot=place.spot,
            transfer=None if place.offer is None else job.transfer,
            fit=fit,
            problems=tuple(within_quota(job.id, place, fit, problems)),
        )

    def _own_throughput(self, entry: JobInput, place: Place) -> float | None:
        """The user's own rate for this resource, or for its GPU."""
        return next((entry.throughput[name] for name in place.rate_names if name in entry.throughput), None)

    def _as_given(
        self, job: Job, entry: JobInput, workload: Workload, place: Place, value: float, problems: list[Issue]
    ) -> tuple[int, int, Fit, Figure]:
        gpus = entry.gpus or place.gpus_per_node
        nodes = -(-gpus // place.gpus_per_node)
        if nodes > place.max_nodes:
            limit = place.max_nodes * place.gpus_per_node
            params = {"job": job.id, "resource": place.id, "value": gpus, "limit": limit}
            problems.append(Issue(code="too_many_gpus", field=f"jobs.{job.id}.gpus", params=params))
        predicted = self._predict(entry, workload, place, gpus)
        unit = "tokens_per_s" if workload.unit == "tokens" else "samples_per_s"
        fit = Fit(
            throughput=value,
            throughput_unit=unit,
            basis="measured",
            memory_gb=predicted.memory_gb if isinstance(predicted, Prediction) else None,
            fits=True,
            settings={},
            warnings=(),
        )
        return gpus, nodes, fit, given(value)

    def _as_predicted(
        self, job: Job, entry: JobInput, workload: Workload, place: Place, work: float, problems: list[Issue]
    ) -> tuple[int, int, Fit, Figure]:
        """The fewest GPUs that hold the model and meet the limit; without one that does, the fastest that hold it."""
        best: tuple[int, Prediction] | None = None
        last: tuple[int, Prediction] | None = None
        for gpus in self._gpu_counts(job, entry, workload, place, problems):
            predicted = self._predict(entry, workload, place, gpus)
            if isinstance(predicted, PlannerError):
                field_name = (
                    predicted.field if predicted.field.startswith("jobs.") else f"jobs.{job.id}.{predicted.field}"
                )
                problems.append(
                    Issue(
                        code=predicted.code,
                        field=field_name.rstrip("."),
                        params={**predicted.params, "job": job.id, "resource": place.id},
                    )
                )
                break
            last = (gpus, predicted)
            if not predicted.fits:
                continue
            if best is None or predicted.throughput > best[1].throughput:
                best = last
            attempt = self._attempt(job, entry, place, gpus, work / predicted.throughput)
            if entry.deadline_h is None or attempt.turnaround_h <= entry.deadline_h:
                best = last
                break
        found = best or last
        unit = "tokens_per_s" if workload.unit == "tokens" else "samples_per_s"
        if found is None:
            nothing = Fit(
                throughput=1.0,
                throughput_unit=unit,
                basis="estimated",
                memory_gb=None,
                fits=False,
                settings={},
                warnings=(),
            )
            return 1, 1, nothing, given(1.0)
        gpus, predicted = found
        if best is None:
            problems.append(self._does_not_fit(job, place, gpus, predicted))
        fit = Fit(
            throughput=predicted.throughput,
            throughput_unit=predicted.throughput_unit,
            basis=predicted.basis,
            memory_gb=predicted.memory_gb,
            fits=predicted.fits,
            settings={
                "precision": predicted.precision, "seq_len": predicted.seq_len, "micro_batch": predicted.micro_batch,
                "global_batch": predicted.global_batch, "checkpointing": predicted.checkpointing,
                "method": entry.method, "optimizer": predicted.optimizer,
            },
            warnings=tuple(Issue(code=w.code, field=f"jobs.{job.id}", params=w.params) for w in predicted.warnings),
            setup=self._setup(entry, workload, place, gpus), prediction=predicted,
        )  # fmt: skip
        figure = Figure(
            value=predicted.throughput, low=predicted.throughput_low, high=predicted.throughput_high,
            sources=predicted.sources, as_of=self._dated(predicted), estimate=predicted.estimate,
        )  # fmt: skip
        return gpus, -(-gpus // place.gpus_per_node), fit, figure

    def _attempt(self, job: Job, entry: JobInput, place: Place, gpus: int, work_s: float) -> PlannedAttempt:
        return PlannedAttempt(job=job, entry=entry, place=place, gpus=gpus, work_s=work_s, table=self.table)

    def _dated(self, predicted: Prediction) -> str | None:
        """Date of a predicted speed: of the oldest measurement or constant it rests on."""
        dates: list[str | None] = []
        for source in predicted.sources:
            kind, _, name = source.partition(":")
            if kind == "measurements" and (row := self.evidence.find(name)) is not None:
                dates.append(row.date or None)
            elif kind == "assumptions":
                dates.append(self.catalog.assume(name).as_of)
        return oldest(dates)

    def _gpu_counts(
        self, job: Job, entry: JobInput, workload: Workload, place: Place, problems: list[Issue]
    ) -> list[int]:
        limit = place.gpus_per_node * place.max_nodes
        batch = entry.global_batch or workload.global_batch
        if entry.gpus is not None:
            if entry.gpus > limit:
                params = {"job": job.id, "resource": place.id, "value": entry.gpus, "limit": limit}
                problems.append(Issue(code="too_many_gpus", field=f"jobs.{job.id}.gpus", params=params))
                return []
            return [entry.gpus]
        if place.machine is not None:
            counts = _powers_of_two(place.gpus_per_node)
        else:  # whole nodes are paid, so all their GPUs are used
            counts = [
                place.gpus_per_node * nodes
                for nodes in _powers_of_two(max(1, min(entry.max_gpus, limit) // place.gpus_per_node))
            ]
        usable = [count for count in counts if count <= batch]
        return usable or [max(_powers_of_two(min(batch, counts[0])))]

    def _predict(self, entry: JobInput, workload: Workload, place: Place, gpus: int) -> Prediction | PlannerError:
        per_node = min(gpus, place.gpus_per_node)
        key = (
            workload.id, place.gpu.id, gpus, per_node, place.network_gbit_per_s if gpus > per_node else None,
            entry.precision, entry.seq_len, entry.micro_batch, entry.global_batch, entry.checkpointing,
            entry.method, entry.optimizer, entry.adapter_rank, entry.adapter_targets,
        )  # fmt: skip
        if key not in self._known:
            setup = self._setup(entry, workload, place, gpus)
            try:
                self._known[key] = estimate(setup, self.catalog, self.evidence)
            except InputError as error:
                self._known[key] = error.with_traceback(None)  # which would keep all it saw
        return self._known[key]

    def _setup(self, entry: JobInput, workload: Workload, place: Place, gpus: int) -> Setup:
        return Setup(
            workload=workload,
            gpu=place.gpu,
            gpus=gpus,
            gpus_per_node=min(gpus, place.gpus_per_node),
            precision=entry.precision,
            seq_len=entry.seq_len,
            micro_batch=entry.micro_batch,
            global_batch=entry.global_batch,
            checkpointing=entry.checkpointing,
            network_gbit_per_s=place.network_gbit_per_s,
            method=entry.method,
            optimizer=entry.optimizer,
            adapter_rank=entry.adapter_rank,
            adapter_targets=entry.adapter_targets,
        )

    def _does_not_fit(self, job: Job, place: Place, gpus: int, predicted: Prediction) -> Issue:
        params = {
            "job": job.id,
            "resource": place.id,
            "gpu": place.gpu.name,
            "gpus": gpus,
            "memory_gb": predicted.memory_gb,
            "capacity_gb": predicted.capacity_gb,
            "min_gpus": predicted.min_gpus,
            "remedy": None,
        }
        code = "does_not_fit" if predicted.min_gpus is not None else "fits_nowhere"
        return Issue(code=code, field=f"jobs.{job.id}", params=params)


def _shortage(problems: Sequence[Issue]) -> tuple[int, float]:
    """How far a candidate is from fitting: more GPUs help first, then memory needed over memory there."""
    issue = next(issue for issue in problems if issue.code in _TOO_LARGE)
    memory, capacity = issue.params["memory_gb"], issue.params["capacity_gb"]
    assert isinstance(memory, float) and isinstance(capacity, float)
    return _TOO_LARGE.index(issue.code), memory / capacity


def _powers_of_two(limit: int) -> list[int]:
    """1, 2, 4, ... up to the limit, and the limit itself."""
    counts = []
    value = 1
    while value < limit:
        counts.append(value)
        value *= 2
    return [*counts, limit]
