"""How a job is trained, as inputs of the Plan page: method, optimizer, adapters, evaluation, interruptions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner.catalog.records import Workload
from planner.performance.memory.states import RECIPES
from planner.performance.step_inputs import ADAPTER_RANK
from planner.workload.settings import ADAPTER_TARGETS, METHODS, OPTIMIZERS, Optimizer
from ui.formatting import plain
from ui.i18n import t
from ui.inputs import Choice, Field, Input, Switch

ADAPTER_KEYS = ("adapter_rank", "adapter_targets")
"""Keys of a job that only adapters have."""


def recipe_inputs(id: str, job: Mapping[str, Any], workload: Workload | None) -> list[Input]:
    """Inputs of a job's recipe; those of adapters where it has some, or where they stand there by mistake."""
    here, names = f"jobs.{id}", {"job": id}
    shown: list[Input] = []
    if workload is not None and workload.transformer is not None:
        shown += [
            Choice(
                path=f"{here}.method",
                label=t("work.method", **names),
                options=METHODS,
                words=method_words,
                default=METHODS[0],
                help=t("work.method_help"),
            ),
            Choice(
                path=f"{here}.optimizer",
                label=t("work.optimizer", **names),
                options=[None, *OPTIMIZERS],
                words=lambda id: optimizer_words(id) if id else t("work.usual_optimizer"),
                help=t("work.optimizer_help"),
            ),
        ]
    if job.get("method", METHODS[0]) != METHODS[0] or any(key in job for key in ADAPTER_KEYS):
        shown += [
            Field(
                path=f"{here}.adapter_rank",
                label=t("work.adapter_rank", **names),
                help=t("work.adapter_rank_help"),
                default=t("field.default", value=ADAPTER_RANK),
            ),
            Choice(
                path=f"{here}.adapter_targets",
                label=t("work.adapter_targets", **names),
                options=[None, *ADAPTER_TARGETS],
                words=lambda id: t(f"adapter_targets.{id}") if id else t("work.usual_targets"),
                help=t("work.adapter_targets_help"),
            ),
        ]
    return [
        *shown,
        Field(
            path=f"{here}.eval_share",
            label=t("work.eval_share", **names),
            kind="percent",
            help=t("work.eval_share_help"),
            default=t("field.default", value=0),
        ),
        Switch(path=f"{here}.restarts", label=t("work.restarts", **names), default=False, help=t("work.restarts_help")),
    ]


def method_words(id: str) -> str:
    """What a method trains; an unknown one as it stands."""
    return t(f"method.{id}") if id in METHODS else id


def optimizer_words(id: Optimizer) -> str:
    """An optimizer with the bytes that it keeps for a parameter; an unknown one as it stands."""
    return t(f"optimizer.{id}", bytes=plain(RECIPES[id].total_bytes)) if id in RECIPES else id
