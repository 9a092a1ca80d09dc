"""An estimate -> text for a terminal."""

from __future__ import annotations

from typing import Any

from planner.report.text_table import cell_text, whole_text


def forecast_text(document: dict[str, Any]) -> str:
    """An estimate as text, one figure a line."""
    unit = document["throughput_unit"].replace("_per_s", "/s")
    lines = [
        f"{document['gpus']} x {document['gpu']}, {document['workload']} ({document['basis']})",
        f"parameters  {_parameters(document)}",
        f"throughput  {cell_text(document['throughput'])} {unit}"
        f" (likely {cell_text(document['throughput_low'])} to {cell_text(document['throughput_high'])})",
        f"memory      {cell_text(document['memory_gb'])} of {cell_text(document['capacity_gb'])} GB a GPU",
        *_time_lines(document),
        f"wall power  {cell_text(document['wall_power_w'])} W",
        f"settings    {_settings(document)}",
        f"bottleneck  {document['bottleneck']['text']}",
    ]
    lines += [f"Note: {warning['message']}" for warning in document["warnings"]]
    lines += [f"Would fit: {remedy['text']}" for remedy in document["remedies"]]
    return "\n".join(lines) + "\n"


def _time_lines(document: dict[str, Any]) -> list[str]:
    if document["time_to_train_h"] is None:
        work = "--tokens" if document["throughput_unit"] == "tokens_per_s" else "--samples and --epochs"
        return [f"time        not known without an amount of work ({work})"]
    likely = f"(likely {cell_text(document['low_h'])} to {cell_text(document['high_h'])})"
    return [f"time        {cell_text(document['time_to_train_h'])} h {likely}", *_lost_line(document["time_to_train"])]


def _lost_line(time: dict[str, Any] | None) -> list[str]:
    """What an attempt spends on other than training, where it does."""
    if time is None or time["total_h"] == time["work_h"]:
        return []
    parts = {
        "evaluation": time["evaluation_h"],
        f"{whole_text(time['checkpoints'])} checkpoints": time["checkpoint_h"],
        f"{cell_text(time['interruptions'])} expected interruptions": time["lost_h"],
    }
    spent = ", ".join(f"{name} {cell_text(hours)} h" for name, hours in parts.items() if hours)
    return [f"  of which  {spent}"]


def _settings(document: dict[str, Any]) -> str:
    """What the run was estimated with, asked for or chosen."""
    parts = [
        document["precision"],
        *([] if document["method"] == "full" else [document["method"]]),
        *([] if document["seq_len"] is None else [f"sequences of {whole_text(document['seq_len'])}"]),
        f"micro-batch {whole_text(document['micro_batch'])}",
        f"global batch {whole_text(document['global_batch'])}",
        f"recomputation {document['checkpointing']}",
        *([] if document["optimizer"] is None else [f"optimizer {document['optimizer']}"]),
    ]
    return ", ".join(parts)


def _parameters(document: dict[str, Any]) -> str:
    total, active = document["parameters"], document["active_parameters"]
    return whole_text(total) if active == total else f"{whole_text(total)}, of which {whole_text(active)} for a token"
