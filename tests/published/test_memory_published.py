"""Memory against numbers in print; four constants were fitted to the 21 published peaks."""

import csv
from dataclasses import replace

import numpy as np
import pytest

from planner.catalog.load import load_catalog
from planner.catalog.query import find_accelerator
from planner.performance.calibrate_memory import GROUPINGS, held_out_errors, log_error
from planner.performance.constants import constants_of
from planner.performance.device import usable_bytes
from planner.performance.evidence import MEASUREMENTS_FOLDER, load_evidence
from planner.performance.memory import InferenceSetup, MemorySetup, inference_memory, peak_memory
from planner.performance.memory_rows import load_memory_rows, memory_setup_of_row
from planner.performance.percent_errors import median_and_p90
from planner.report.held_out import Errors, load_held_out

CATALOG = load_catalog()
CONSTANTS = constants_of(CATALOG.assumptions)
ROWS = load_memory_rows()
GPT3 = CATALOG.workloads["gpt3-175b"].transformer


@pytest.mark.parametrize("row", ROWS, ids=[row.id for row in ROWS])
def test_each_published_peak(row) -> None:
    # pytorch/torchtitan, benchmarks of 2024; Lightning-AI/litgpt, tutorials/resource-tables.md
    assert abs(np.expm1(log_error(row, CONSTANTS))) < 0.04


@pytest.mark.parametrize("grouping", GROUPINGS)
def test_published_peaks_that_the_fit_never_saw(grouping) -> None:
    errors = held_out_errors(ROWS, CATALOG.assumptions, GROUPINGS[grouping])
    median, p90 = median_and_p90(list(errors.values()))
    shipped = next(split for split in load_held_out() if split.id == f"memory-{grouping}s")
    assert shipped.errors == Errors(median_ape=round(median, 1), p90_ape=round(p90, 1))
    assert shipped.rows == len(errors) == len(ROWS) == 21
    assert shipped.met is not False


def ran(source: str) -> list[dict[str, str]]:
    lines = (MEASUREMENTS_FOLDER / "llm_throughput.csv").read_text(encoding="utf-8").splitlines()
    table = csv.DictReader(line for line in lines if not line.startswith("#"))
    rows = [row for row in table if row["source"] == source]
    assert len(rows) == sum(m.source == source for m in load_evidence().measurements)
    return rows


def test_every_configuration_of_llm_foundry_fits_as_it_ran() -> None:
    rows = ran("llm-foundry-benchmark")
    assert len(rows) > 120
    for row in rows:
        setup = replace(memory_setup_of_row(row), software="fused")
        assert setup.sharding in ("sharded", "gradients") and setup.shards == int(row["n_gpus"]), row["id"]
        assert peak_memory(setup, CONSTANTS).reserved_bytes < usable_bytes(CATALOG.gpus[row["gpu"]], CONSTANTS), row[
            "id"
        ]


def test_every_batch_of_languini_fits_as_it_ran() -> None:
    # plain attention, fp32 weights with 16-bit copies
    for row in ran("languini-benchmark"):
        setup = replace(memory_setup_of_row(row), optimizer="adamw-18", fused_attention=False)
        gpu = find_accelerator(CATALOG, row["gpu"])
        assert peak_memory(setup, CONSTANTS).reserved_bytes < usable_bytes(gpu, CONSTANTS), row["id"]


@pytest.mark.parametrize(
    ("sharding", "published_gb"), [("replicated", 120), ("optimizer", 31.4), ("gradients", 16.6), ("sharded", 1.9)]
)
def test_state_of_seven_and_a_half_billion_parameters_on_64_gpus(sharding, published_gb) -> None:
    # arXiv:1910.02054, figure 1
    setup = MemorySetup(spec=GPT3, parameters=7.5e9, seq_len=1, sharding=sharding, shards=64)
    found = peak_memory(setup, CONSTANTS)
    state = found.weights_bytes + found.gradients_bytes + found.optimizer_bytes
    assert state / 1e9 == pytest.approx(published_gb, rel=0.02)


def test_lora_of_gpt3_needs_350_gb_and_training_in_full_1_2_tb_or_more() -> None:
    # arXiv:2106.09685, section 4.2: from 1.2 TB to 350 GB, rank 4 on queries and values
    setup = MemorySetup(
        spec=GPT3, parameters=175e9, seq_len=2048, method="lora", adapter_rank=4, checkpointing="full",
        software="fused",
    )  # fmt: skip
    assert peak_memory(setup, CONSTANTS).allocated_bytes / 1e9 == pytest.approx(350, rel=0.05)
    plain = peak_memory(replace(setup, method="full", optimizer="adamw-pure-16bit"), CONSTANTS)
    assert plain.allocated_bytes > 1.2e12


def test_qlora_of_65_billion_parameters_fits_into_48_gb() -> None:
    # arXiv:2305.14314, abstract and appendix B: one GPU of 48 GB, double-quantised, adapters of rank 64 on all layers,
    # sequences of 512, recomputed; full fine-tuning in 16 bit needs more than 780 GB
    llama = CATALOG.workloads["llama-65b"]
    setup = MemorySetup(
        spec=llama.transformer,
        parameters=llama.parameters.value,
        seq_len=512,
        method="qlora",
        double_quantised=True,
        adapter_rank=64,
        adapter_targets="all",
        optimizer="adamw-12",
        checkpointing="full",
    )
    assert 40e9 < peak_memory(setup, CONSTANTS).reserved_bytes < usable_bytes(CATALOG.gpus["rtx-a6000"], CONSTANTS)
    full = peak_memory(
        MemorySetup(spec=setup.spec, parameters=setup.parameters, seq_len=1, optimizer="adamw-12"), CONSTANTS
    )
    assert full.reserved_bytes > 780e9


def test_cache_of_opt_13b() -> None:
    # arXiv:2309.06180, section 3: 800 KB a token for OPT 13B, 2 vectors x 5,120 x 40 layers x 2 bytes
    opt = replace(GPT3, layers=40, d_model=5120, heads=40, kv_heads=40, d_ff=20480)
    served = InferenceSetup(spec=opt, parameters=13e9, context=2048)
    assert inference_memory(served, CONSTANTS).cache_bytes / 2048 == 800 * 1024
