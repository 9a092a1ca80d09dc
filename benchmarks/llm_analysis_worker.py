"""Runs llm-analysis on configurations from standard input. Stands alone: it runs in llm-analysis' own environment.

In: a JSON list of configurations, as `other_estimator` writes them. Out: speeds (null where llm-analysis refuses), the
time of one, and reasons of refusals.
"""

from __future__ import annotations

import json
import logging
import statistics
import sys
import time
from typing import Any

from llm_analysis.analysis import ActivationRecomputation, DSZeRO, LLMAnalysis
from llm_analysis.config import DtypeConfig, GPUConfig, ModelConfig, ParallelismConfig
from llm_analysis.logger import logger


def tokens_per_s(row: dict[str, Any]) -> float:
    """Speed of one run. [tokens/s]"""
    bits = row["bits"]
    analysis = LLMAnalysis(
        ModelConfig(**row["model"]),
        GPUConfig(**row["gpu"]),
        DtypeConfig(name="", weight_bits=bits, activation_bits=bits, embedding_bits=16),
        ParallelismConfig(tp_size=row["tp"], pp_size=row["pp"], dp_size=row["dp"]),
        flops_efficiency=row["flops_efficiency"],
    )
    sequences = row["micro_batch"] * row["micro_steps"] * row["dp"]
    found = analysis.training(
        batch_size_per_gpu=row["micro_batch"],
        gradient_accumulation_steps=row["micro_steps"],
        global_batch_size=sequences,
        seq_len=row["seq_len"],
        activation_recomputation=ActivationRecomputation[row["recomputation"]],
        ds_zero=DSZeRO[row["zero"]],
        flash_attn=row["flash"],
        mlp_gated_linear_units=row["gated"],
    )
    return sequences * row["seq_len"] / found["latency_per_iter"]


def main() -> None:
    """Read configurations, write speeds and the median time of one."""
    logger.setLevel(logging.CRITICAL)
    speeds: list[float | None] = []
    reasons: dict[str, int] = {}
    taken = []
    for row in json.load(sys.stdin):
        start = time.process_time()
        try:
            speeds.append(tokens_per_s(row))
            taken.append(time.process_time() - start)
        except (AssertionError, ZeroDivisionError, ValueError) as error:
            speeds.append(None)
            reason = str(error) or type(error).__name__
            reasons[reason] = reasons.get(reason, 0) + 1
    json.dump({"tokens_per_s": speeds, "us": 1e6 * statistics.median(taken), "refused": reasons}, sys.stdout)


if __name__ == "__main__":
    main()
