"""Claims about the memory that training needs."""

from __future__ import annotations

from planner.advise.claims.facts import Inquiry, MissingFigureError
from planner.advise.claims.records import COMPUTED_DIGITS, Claim, Finding, Value, Verdict, significant
from planner.catalog.source_ids import ASSUMPTIONS
from planner.performance.estimate import Prediction, Setup, estimate
from planner.units import BYTES_PER_GB
from planner.workload.settings import Checkpointing

_SOURCES = (f"{ASSUMPTIONS}estimator_memory_overhead_share", f"{ASSUMPTIONS}estimator_memory_reserve_gb")
FAR_ABOVE = 2.0  # a lower bound that is less than half of the need tells nobody what to buy


def _peak(
    inquiry: Inquiry, workload: str, gpu: str, *, micro_batch: int, checkpointing: Checkpointing, gpus: int = 1
) -> Prediction:
    catalog = inquiry.facts.catalog
    inquiry.value(f"workloads.{workload}.parameters")
    inquiry.value(f"gpus.{gpu}.memory_gb")
    if gpu not in catalog.gpus:
        raise MissingFigureError(f"gpus.{gpu}.memory_gb")
    setup = Setup(
        workload=catalog.workloads[workload],
        gpu=catalog.gpus[gpu],
        gpus=gpus,
        gpus_per_node=gpus,
        micro_batch=micro_batch,
        checkpointing=checkpointing,
    )
    # Without measurements: a measured peak is capped by the card it ran on, and here the need is asked for.
    return estimate(setup, catalog, inquiry.facts.evidence.without_gpu(gpu))


def least_memory(claim: Claim, inquiry: Inquiry) -> Finding:
    """The printed least memory against the least and a usual need of one GPU in full training.

    The least: one sequence at a time, everything recomputed. The usual: `params.micro_batch` sequences and nothing
    recomputed. Below the least the claim holds as a bound; between the two it is true for some settings only.
    """
    workload, gpu = str(claim.params["workload"]), str(claim.params["gpu"])
    state = inquiry.value("assumptions.estimator_state_bytes_per_parameter")
    least = _peak(inquiry, workload, gpu, micro_batch=1, checkpointing="full")
    usual = _peak(inquiry, workload, gpu, micro_batch=int(claim.params["micro_batch"]), checkpointing="none")
    assert claim.printed is not None
    values = (
        Value(label="least", value=least.memory_gb),
        Value(label="usual", value=usual.memory_gb),
    )
    params = {
        "name": inquiry.name(f"workloads.{workload}.parameters"),
        "least_gb": significant(least.memory_gb),
        "usual_gb": significant(usual.memory_gb),
        "state_gb": significant(state * inquiry.value(f"workloads.{workload}.parameters") / BYTES_PER_GB),
        "micro_batch": int(claim.params["micro_batch"]),
        "printed": claim.printed,
        "gpu": inquiry.name(f"gpus.{gpu}.memory_gb"),
        "min_gpus": least.min_gpus,
    }
    verdict: Verdict = "does_not_hold"
    code = "claim_memory_less"
    if least.memory_gb > FAR_ABOVE * claim.printed:
        verdict, code = "conditional", "claim_memory_far_more"
    elif least.memory_gb >= claim.printed - claim.margin:
        verdict, code = "holds", "claim_memory_least"
    elif usual.memory_gb >= claim.printed - claim.margin:
        verdict, code = "conditional", "claim_memory_some_settings"
    return Finding(
        verdict=verdict,
        code=code,
        params=params,
        our_low=least.memory_gb,
        our_high=max(least.memory_gb, usual.memory_gb),
        values=values,
        sources=_SOURCES,
        digits=COMPUTED_DIGITS,
    )


def bytes_per_parameter(claim: Claim, inquiry: Inquiry) -> Finding:
    """The printed memory of a printed number of parameters, as bytes a parameter, against what training keeps.

    `params.parts` names what is kept for a parameter and its bytes, for a reader; the sum is an assumption.
    """
    assert claim.printed is not None
    parameters = float(claim.params["parameters"])
    figure = inquiry.figure("assumptions.estimator_state_bytes_per_parameter")
    low, high = figure.low or figure.value, figure.high or figure.value
    per_gb = parameters / BYTES_PER_GB
    params = {
        "printed": claim.printed,
        "printed_bytes": claim.printed / per_gb,
        "bytes": figure.value,
        "low_bytes": low,
        "high_bytes": high,
        "gb": figure.value * per_gb,
        "weights_gb": float(claim.params["weight_bytes"]) * per_gb,
    }
    verdict: Verdict = "does_not_hold"
    if claim.agrees(figure.value * per_gb):
        verdict = "holds"
    elif low * per_gb <= claim.printed <= high * per_gb:
        verdict = "conditional"
    code = "claim_bytes_differ" if verdict == "does_not_hold" else "claim_bytes_agree"
    return Finding(
        verdict=verdict,
        code=code,
        params=params,
        our_value=figure.value * per_gb,
        our_low=low * per_gb,
        our_high=high * per_gb,
    )
