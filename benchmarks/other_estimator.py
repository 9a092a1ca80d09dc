"""llm-analysis 0.2.2 beside this estimator: an environment of its own, and the same configurations for it.

It pins a version of transformers that nothing else should be held to, so it is never imported here.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from planner.performance.device import known
from planner.performance.fit_steps import FitRows

REQUIREMENT = "llm-analysis==0.2.2"
FLOPS_EFFICIENCY = 0.5
"""What its documentation gives for training with Megatron-LM; its own default is 1."""
ENVIRONMENT = Path(__file__).resolve().parent / ".venv-llm-analysis"
WORKER = Path(__file__).resolve().parent / "llm_analysis_worker.py"
PATIENCE_S = 600


class Unavailable(RuntimeError):
    """It can't be run here; the text says why."""


def python_of_environment() -> Path:
    """Interpreter that has llm-analysis; installed on the first call.

    Raises
    ------
    Unavailable
        It can't be installed.
    """
    found = ENVIRONMENT / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    if not (ENVIRONMENT / "installed").exists():
        print(f"installing {REQUIREMENT} into {ENVIRONMENT.name}, once", file=sys.stderr)
        _run([sys.executable, "-m", "venv", "--clear", str(ENVIRONMENT)])
        _run([str(found), "-m", "pip", "install", "--quiet", REQUIREMENT])
        (ENVIRONMENT / "installed").touch()
    return found


def predictions(data: FitRows, python: Path) -> dict[str, Any]:
    """Tokens/s of each row (None where refused), microseconds of one evaluation, and reasons of refusals by number.

    Raises
    ------
    Unavailable
        The interpreter lacks llm-analysis.
    """
    rows = [configuration(data, at) for at in range(len(data))]
    found: dict[str, Any] = json.loads(_run([str(python), str(WORKER)], json.dumps(rows)))
    return found


def configuration(data: FitRows, at: int) -> dict[str, Any]:
    """One row as llm-analysis takes it.

    The peak is that of the run's precision, as it has no 32-bit arithmetic; context parallelism, which it lacks, counts
    as tensor parallelism; of experts it is told the number, and how many a token passes.
    """
    x, subject = data.inputs, data.runs[at].subject
    spec, gpu = subject.spec, subject.gpu
    width = spec.d_ff if spec.expert_d_ff is None else spec.expert_d_ff
    eight = subject.precision == "fp8"
    peak = gpu.dense_tflop_per_s[subject.precision].value
    split = int(x.tensor[at] * x.context[at])
    inside = max(float(x.nvlink_bytes_per_s[at]), float(x.bus_bytes_per_s[at]), 1e9)
    return {
        "model": {
            "name": "row",
            "num_layers": spec.layers,
            "n_head": spec.heads,
            "hidden_dim": spec.d_model,
            "vocab_size": spec.vocab,
            "max_seq_len": subject.seq_len,
            "num_key_value_heads": spec.kv_heads,
            "ffn_embed_dim": width,
            "expansion_ratio": width / spec.d_model,
            "moe_num_experts": max(1, spec.experts),
            "moe_top_k": max(1, spec.experts_per_token),
        },
        "gpu": {
            "name": gpu.id,
            "mem_per_GPU_in_GB": known(gpu.memory_gb),
            "hbm_bandwidth_in_GB_per_sec": known(gpu.memory_bandwidth_gb_per_s),
            "intra_node_bandwidth_in_GB_per_sec": inside / 1e9,
            "intra_node_min_message_latency": 8e-6,
            "peak_fp16_TFLOPS": peak / 2 if eight else peak,
            "peak_i8_TFLOPS": peak if eight else 2 * peak,
            "inter_node_bandwidth_in_GB_per_sec": max(float(x.fabric_bytes_per_s[at]) / 1e9, 1.0),
        },
        "bits": 8 if eight else 16,
        "flops_efficiency": FLOPS_EFFICIENCY,
        "tp": split,
        "pp": int(x.pipeline[at]),
        "dp": int(x.replicas[at]),
        "micro_batch": float(x.micro_batch[at]),
        "micro_steps": float(x.micro_steps[at]),
        "seq_len": subject.seq_len,
        "recomputation": "FULL" if x.full_recompute[at] else "SELECTIVE" if x.selective_recompute[at] else "NONE",
        "zero": "STAGE_3" if x.sharded[at] else "STAGE_1" if x.optimizer_sharded[at] else "NONE",
        "flash": bool(x.fused_attention[at]),
        "gated": spec.gated_mlp,
    }


def _run(command: list[str], text: str | None = None) -> str:
    try:
        done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=PATIENCE_S, check=True)
    except subprocess.CalledProcessError as error:
        last = (error.stderr or "").strip().splitlines()[-1:] or ["no message"]
        raise Unavailable(last[0]) from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(str(error)) from error
    return done.stdout
