"""Memory against numbers in print; four constants were fitted to the 21 published peaks."""

import csv
from dataclasses import replace

import numpy as np
import pytest

from planner.catalog.load import load_catalog
from planner.performance.calibrate_memory import GROUPINGS, held_out_errors, log_error
from planner.performance.constants import constants_of
from planner.performance.device import usable_bytes
from planner.performance.evidence import MEASUREMENTS_FOLDER, load_evidence
from planner.performance.memory import peak_memory
from planner.performance.memory_rows import load_memory_rows, memory_setup_of_row

CATALOG = load_catalog()
CONSTANTS = constants_of(CATALOG.assumptions)
ROWS = load_memory_rows()


@pytest.mark.parametrize("row", ROWS, ids=[row.id for row in ROWS])
def test_each_published_peak(row) -> None:
    # pytorch/torchtitan, benchmarks of 2024; Lightning-AI/litgpt, tutorials/resource-tables.md
    assert abs(np.expm1(log_error(row, CONSTANTS))) < 0.04


@pytest.mark.parametrize(
    ("grouping", "median", "p90"), [("row", 0.03, 0.05), ("group", 0.04, 0.07), ("source", 0.04, 0.07)]
)
def test_published_peaks_that_the_fit_never_saw(grouping, median, p90) -> None:
    errors = np.abs(np.expm1(list(held_out_errors(ROWS, CATALOG.assumptions, GROUPINGS[grouping]).values())))
    assert len(errors) == len(ROWS) == 21
    assert np.median(errors) < median
    assert np.quantile(errors, 0.9) < p90


def test_every_configuration_of_llm_foundry_fits_as_it_ran() -> None:
    lines = (MEASUREMENTS_FOLDER / "llm_throughput.csv").read_text(encoding="utf-8").splitlines()
    checked = 0
    for row in csv.DictReader(line for line in lines if not line.startswith("#")):
        if row["source"] != "llm-foundry-benchmark":
            continue
        setup = memory_setup_of_row({**row, "loss_kind": "fused"})
        assert setup.sharding in ("sharded", "gradients") and setup.shards == int(row["n_gpus"]), row["id"]
        needed = peak_memory(replace(setup, software="fused"), CONSTANTS).reserved_bytes
        assert needed < usable_bytes(CATALOG.gpus[row["gpu"]], CONSTANTS), row["id"]
        checked += 1
    assert checked == sum(m.source == "llm-foundry-benchmark" for m in load_evidence().measurements) > 120
