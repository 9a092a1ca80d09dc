"""One workload on one GPU model -> the object that `estimate` prints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from planner.catalog.records import Catalog, Workload
from planner.energy.power import partly_loaded_w
from planner.errors import InputError
from planner.performance.bottleneck import bottleneck
from planner.performance.duration import Attempt, attempt_parts
from planner.performance.estimate import Prediction, Setup
from planner.performance.remedies import Remedy, remedies
from planner.report.document import bottleneck_entry, issue_entry
from planner.strategy.evaluate import model_notes
from planner.strategy.problem import Issue
from planner.strategy.resolve.figures import Figures
from planner.strategy.resolve.power import usual_power
from planner.workload.transformer import idle_expert_parameters


@dataclass(frozen=True, slots=True, kw_only=True)
class Pauses:
    """What interrupts training in an attempt."""

    eval_share: float = 0.0  # time of evaluation over that of training
    checkpoints: int = 0
    checkpoint_s: float | None = None  # None: as assumed
    restarts: bool | None = None  # None: interruptions count for a run over several machines


def forecast_document(
    setup: Setup,
    prediction: Prediction,
    work: float | None,
    catalog: Catalog,
    *,
    machine_gpus: int | None = None,
    pauses: Pauses | None = None,
) -> dict[str, Any]:
    """Speed, memory, time and power of a run; times are None where no amount of work is known.

    Parameters
    ----------
    setup, prediction : Setup, Prediction
        What was asked, and what the estimator says.
    work : float or None
        Tokens or samples of the run.
    catalog : Catalog
        For the power of the machines around the GPUs.
    machine_gpus : int, optional
        GPUs of one machine where the run may leave some idle; they draw idle power. None: machines hold just the run.
    pauses : Pauses, optional
        Evaluation, checkpoints and whether interruptions count.

    Raises
    ------
    InputError
        Interruptions so frequent, for the checkpoints asked, that the run would never end.
    """
    pauses = pauses or Pauses()

    def attempt(throughput: float) -> Attempt | None:
        return None if work is None else _attempt(work / throughput, setup, pauses, catalog)

    def hours(throughput: float) -> float | None:
        found = attempt(throughput)
        return None if found is None else float(found.total_h)

    warnings = [Issue(code=warning.code, params=warning.params) for warning in prediction.warnings]
    if not prediction.fits:
        code = "too_large_for_gpus" if prediction.min_gpus is not None else "too_large_for_gpu"
        params = {
            "memory_gb": prediction.memory_gb,
            "capacity_gb": prediction.capacity_gb,
            "gpu": setup.gpu.name,
            "gpus": setup.gpus,
            "min_gpus": prediction.min_gpus,
        }
        warnings.insert(0, Issue(code=code, params=params))
    warnings += model_notes(setup.workload)
    return {
        "gpu": setup.gpu.id,
        "gpus": setup.gpus,
        "workload": setup.workload.id,
        "parameters": setup.workload.parameters.value,
        "active_parameters": _active(setup.workload),
        "throughput": prediction.throughput,
        "throughput_low": prediction.throughput_low,
        "throughput_high": prediction.throughput_high,
        "throughput_unit": prediction.throughput_unit,
        "basis": prediction.basis,
        "memory_gb": prediction.memory_gb,
        "capacity_gb": prediction.capacity_gb,
        "fits": prediction.fits,
        "min_gpus": prediction.min_gpus,
        "remedies": [
            remedy_entry(remedy) for remedy in remedies(setup, prediction, catalog, machine_gpus=machine_gpus)
        ],
        "work": work,
        "time_to_train_h": hours(prediction.throughput),
        "low_h": hours(prediction.throughput_high),
        "high_h": hours(prediction.throughput_low),
        "time_to_train": _time_entry(attempt(prediction.throughput), setup, pauses),
        "wall_power_w": _wall_w(setup, catalog, machine_gpus),
        "precision": prediction.precision,
        "seq_len": prediction.seq_len,
        "micro_batch": prediction.micro_batch,
        "global_batch": prediction.global_batch,
        "checkpointing": prediction.checkpointing,
        "method": setup.method,
        "optimizer": prediction.optimizer,
        "trained_parameters": prediction.trained_parameters,
        "breakdown_s": dict(prediction.breakdown_s),
        "bottleneck": bottleneck_entry(bottleneck(setup, prediction, catalog)),
        "warnings": [issue_entry(issue) for issue in warnings],
        "sources": list(prediction.sources),
    }


def _attempt(work_s: float, setup: Setup, pauses: Pauses, catalog: Catalog) -> Attempt:
    figures = Figures(catalog)
    interrupted = _interrupted(setup, pauses)
    usual_s = figures.assumed("checkpoint_s").value
    checkpoint_s = usual_s if pauses.checkpoint_s is None else pauses.checkpoint_s
    found = attempt_parts(
        work_s,
        eval_share=pauses.eval_share,
        checkpoints=pauses.checkpoints,
        checkpoint_s=checkpoint_s,
        gpus=setup.gpus,
        interruptions_per_gpu_year=figures.assumed("interruptions_per_gpu_year").value if interrupted else None,
        restart_s=figures.assumed("restart_s").value,
    )
    if not found.ends:
        params = {"checkpoints": found.checkpoints, "checkpoint_s": checkpoint_s, "interruptions": found.interruptions}
        raise InputError("attempt_never_ends", field="checkpoints" if pauses.checkpoints else "checkpoint_s", **params)
    return found


def _interrupted(setup: Setup, pauses: Pauses) -> bool:
    """Whether interruptions count: as asked, else for a run over several machines."""
    return setup.gpus > setup.gpus_per_node if pauses.restarts is None else pauses.restarts


def _time_entry(found: Attempt | None, setup: Setup, pauses: Pauses) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "work_h": float(found.work_h),
        "evaluation_h": float(found.evaluation_h),
        "checkpoint_h": float(found.checkpoint_h),
        "checkpoints": float(found.checkpoints),
        "restarts_counted": _interrupted(setup, pauses),
        "interruptions": float(found.interruptions),
        "lost_h": float(found.lost_h),
        "total_h": float(found.total_h),
    }


def remedy_entry(remedy: Remedy) -> dict[str, Any]:
    """Changes that make a run fit, as plain data."""
    return {
        "changes": list(remedy.changes),
        "settings": dict(remedy.settings),
        "memory_gb": remedy.memory_gb,
        "gpus": remedy.gpus,
        "step_s": remedy.step_s,
        "step_time_factor": remedy.step_time_factor,
        "gpu_time_factor": remedy.gpu_time_factor,
        "changes_result": remedy.changes_result,
        "text": remedy.text,
    }


def _active(workload: Workload) -> float:
    """Parameters without the experts that a token doesn't pass. [-]"""
    spec, total = workload.transformer, workload.parameters.value
    return total if spec is None else total - idle_expert_parameters(spec)


def _wall_w(setup: Setup, catalog: Catalog, machine_gpus: int | None) -> float:
    """Power at the wall of all machines of a run while it trains. [W]"""
    figures = Figures(catalog)
    size = machine_gpus or setup.gpus_per_node
    full, rest = divmod(setup.gpus, size)
    load, idle = usual_power(setup.gpu, size, figures)
    if not rest:
        return full * load.value
    if machine_gpus is None:  # the last machine is a smaller one
        return full * load.value + usual_power(setup.gpu, rest, figures)[0].value
    return full * load.value + float(partly_loaded_w(idle.value, load.value, rest / size))
