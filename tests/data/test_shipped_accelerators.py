"""The shipped accelerators: rates against cores and clock, links, partial records, complete machines."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from planner.catalog import Catalog
from planner.catalog.query import find_gpu
from planner.catalog.records import Fact, Figure, Gpu, Precision
from planner.errors import InputError

PLANNER = Path(__file__).parents[2] / "planner"

# fp16 FLOP per clock and SM with fp32 accumulation; GeForce and two data-centre cards run it at half rate.
TENSOR_FLOP_PER_CLOCK_SM = {"Volta": (1024,), "Turing": (512, 1024), "Ampere": (512, 1024, 2048), "Ada": (512, 1024)}
STATED_AT_ANOTHER_CLOCK = {"Hopper", "Hopper+Grace", "Blackwell", "Blackwell+Grace", "Blackwell Ultra"}


def _per_clock_and_sm(gpu: Gpu, precision: Precision) -> float | None:
    spec, rate = gpu.spec, gpu.dense_tflop_per_s.get(precision)
    if spec.sm_count is None or spec.boost_mhz is None or rate is None:
        return None
    return rate.value * 1e6 / (spec.sm_count.value * spec.boost_mhz.value)


def test_tensor_rates_follow_from_cores_and_clock(shipped: Catalog) -> None:
    compared = 0
    for gpu in shipped.gpus.values():
        if gpu.vendor != "NVIDIA" or gpu.architecture in STATED_AT_ANOTHER_CLOCK:
            continue
        family = TENSOR_FLOP_PER_CLOCK_SM.get(gpu.architecture.split()[0], (512, 1024))
        sixteen = _per_clock_and_sm(gpu, "fp16")
        if sixteen is None:
            continue
        compared += 1
        nearest = min(family, key=lambda n: abs(n - sixteen))
        assert sixteen == pytest.approx(nearest, rel=0.015), f"{gpu.id}: {sixteen:.0f} FLOP per clock and SM"
        assert gpu.segment != "consumer" or nearest == 512 or gpu.architecture in ("Turing",), gpu.id
        if "tf32" in gpu.dense_tflop_per_s:
            assert gpu.dense_tflop_per_s["tf32"].value == pytest.approx(
                gpu.dense_tflop_per_s["fp16"].value / 2, rel=0.02
            ), gpu.id
        if "fp8" in gpu.dense_tflop_per_s:
            ratio = gpu.dense_tflop_per_s["fp8"].value / gpu.dense_tflop_per_s["fp16"].value
            assert ratio == pytest.approx(2, rel=0.02), gpu.id
    assert compared >= 30


def test_hopper_and_blackwell_are_stated_below_their_boost_clock(shipped: Catalog) -> None:
    ids = ("h100-sxm5-80gb", "h100-pcie-80gb", "h200-sxm-141gb", "b200-sxm-180gb")
    for id in ids:
        rate = _per_clock_and_sm(shipped.gpus[id], "fp16")
        full = 8192 if id.startswith("b") else 4096
        assert rate is not None
        assert 0.9 * full < rate < 0.98 * full, id


def test_fp32_rates_follow_from_cores_and_clock(shipped: Catalog) -> None:
    compared = 0
    for gpu in shipped.gpus.values():
        spec = gpu.spec
        if gpu.vendor != "NVIDIA" or spec.cuda_cores is None or spec.boost_mhz is None:
            continue
        compared += 1
        peak = spec.cuda_cores.value * 2 * spec.boost_mhz.value / 1e6
        assert gpu.dense_tflop_per_s["fp32"].value == pytest.approx(peak, rel=0.03), gpu.id
        if spec.sm_count is not None:
            assert spec.cuda_cores.value / spec.sm_count.value in (64, 128), gpu.id
    assert compared >= 40


def test_one_way_rate_of_a_link_is_taken_in_one_place_only() -> None:
    """Links are stored with both directions summed; only `link_of` halves them."""
    places = []
    for path in sorted(PLANNER.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div | ast.Mult):
                text = ast.unparse(node)
                halves = any(isinstance(n, ast.Constant) and n.value in (2, 0.5) for n in ast.walk(node))
                if halves and ("nvlink" in text or "both_directions" in text):
                    places.append((path.relative_to(PLANNER).as_posix(), text))
    assert [path for path, _ in places] == ["performance/scaling.py"] * len(places)
    assert {text.split(" * ")[0] for _, text in places} == {"both_directions / 2"}


def test_links_sum_both_directions(shipped: Catalog) -> None:
    expected = {
        "v100-sxm2-32gb": 300, "a100-sxm4-80gb": 600, "h100-sxm5-80gb": 900, "h800-sxm5-80gb": 400,
        "a800-sxm4-80gb": 400, "b200-sxm-180gb": 1800, "mi300x-192gb": 896,
    }  # fmt: skip
    for id, rate in expected.items():
        link = shipped.gpus[id].nvlink_gb_per_s
        assert link is not None
        assert link.value == rate, id
    for gpu in shipped.gpus.values():
        bridge = gpu.spec.nvlink_bridge_gb_per_s
        assert gpu.nvlink_gb_per_s is None or bridge is None, gpu.id
        assert (bridge is None) or gpu.form_factor.startswith("PCIe"), f"{gpu.id}: a bridge joins PCIe cards"
    bridged = shipped.gpus["rtx-3090"].spec.nvlink_bridge_gb_per_s
    assert bridged is not None
    assert bridged.value == 112.5


RANGES = {
    "sm_count": (10, 350),
    "cuda_cores": (1000, 25_000),
    "tensor_cores": (30, 1500),
    "boost_mhz": (1000, 3000),
    "l2_mb": (2, 260),
    "fp64_tflop_per_s": (0.1, 170),
    "fp4_dense_tflop_per_s": (500, 16_000),
    "int8_dense_top_per_s": (30, 6000),
    "mig_instances": (0, 7),
    "launch_price_usd": (200, 15_000),
}


def test_spec_sheets_are_plausible(shipped: Catalog) -> None:
    seen = dict.fromkeys(RANGES, 0)
    for gpu in (*shipped.gpus.values(), *shipped.partial_gpus.values()):
        for name, (low, high) in RANGES.items():
            figure: Figure | None = getattr(gpu.spec, name)
            if figure is not None:
                seen[name] += 1
                assert low <= figure.value <= high, f"{gpu.id} {name} {figure.value}"
        if gpu.spec.mig_instances is not None:
            assert ("mig" in gpu.spec.features) == (gpu.spec.mig_instances.value > 0), gpu.id
        for precision in ("bf16", "tf32", "fp8"):
            assert (precision in gpu.spec.features) or precision not in gpu.dense_tflop_per_s or gpu.id in NO_LIST, (
                gpu.id
            )
    assert min(seen.values()) >= 9, seen


# Accelerators whose features nobody lists: measured ones without a sheet, and those whose peak stands in for another.
NO_LIST = {
    "gb300-279gb",
    "h100-sxm-96gb",
    "rtx-3080-ti",
    "rtx-4070-super",
    "rx-7900-xt",
    "gaudi3-128gb",
    "rtx-a4500",
    "rtx-a5500",
}


def test_every_text_fact_has_a_source(shipped: Catalog) -> None:
    for gpu in (*shipped.gpus.values(), *shipped.partial_gpus.values()):
        for name in ("chip", "memory_type", "compute_capability", "min_cuda", "min_driver_linux", "nvlink_generation"):
            fact: Fact | None = getattr(gpu.spec, name)
            if fact is not None:
                assert fact.sources, f"{gpu.id} {name}"
                assert all(source in shipped.sources for source in fact.sources), f"{gpu.id} {name}"


def test_figures_from_memory_are_estimates(shipped: Catalog) -> None:
    recalled = {
        (gpu.id, name)
        for gpu in shipped.gpus.values()
        for name in ("launch_price_usd", "min_cuda", "compute_capability", "mig_instances", "nvlink_bridge_gb_per_s")
        if (entry := getattr(gpu.spec, name)) is not None and "recalled-vendor-figure" in entry.sources
    }
    assert {("titan-rtx", "launch_price_usd"), ("a30", "nvlink_bridge_gb_per_s"), ("a40", "min_cuda")} <= recalled
    for id, name in recalled:
        assert getattr(shipped.gpus[id].spec, name).estimate, f"{id} {name}"


def test_the_catalog_is_whole(shipped: Catalog) -> None:
    assert len(shipped.gpus) >= 57
    assert {
        "k80", "quadro-rtx-8000", "rtx-a4500", "rtx-a5500", "rtx-3080-ti", "rtx-4090d", "gtx-1080-ti", "gtx-titan-x",
        "b100-192gb", "gaudi2-96gb", "tpu-v5p", "apple-m3-max",
    } <= set(shipped.partial_gpus)  # fmt: skip
    assert not set(shipped.gpus) & set(shipped.partial_gpus)
    assert {"dgx-a100-320gb", "dgx-a100-640gb", "dgx-h100", "dgx-h200", "dgx-b200"} <= set(shipped.systems)


@pytest.mark.parametrize(
    ("text", "missing"), [("K80", "tdp_w"), ("gaudi2", "fp32_tflop_per_s"), ("MI250X", "two devices")]
)
def test_partial_gpus_are_refused_with_what_is_missing(shipped: Catalog, text: str, missing: str) -> None:
    with pytest.raises(InputError, match=missing) as error:
        find_gpu(shipped, text, field="machines.a.gpu")
    assert error.value.code == "gpu_incomplete"


@pytest.mark.parametrize(
    ("text", "id"),
    [
        ("RTX3090", "rtx-3090"),
        ("RTX-A5000", "rtx-a5000"),
        ("H200-SXM5-141GB", "h200-sxm-141gb"),
        ("b300-sxm-288gb", "b300-sxm-270gb"),
        ("RTX PRO 6000 Blackwell", "rtx-pro-6000-blackwell"),
        ("NVIDIA Titan RTX", "titan-rtx"),
        ("GeForce RTX 4080", "rtx-4080"),
    ],
)
def test_spellings(shipped: Catalog, text: str, id: str) -> None:
    assert find_gpu(shipped, text).id == id


def test_systems_hold_their_gpus(shipped: Catalog) -> None:
    for system in shipped.systems.values():
        assert system.gpu in {*shipped.gpus, *shipped.partial_gpus}, system.id
        assert system.gpu_count in (1, 8, 16), system.id
        gpu = shipped.gpus.get(system.gpu)
        if system.max_w is not None and gpu is not None:
            assert 1.2 < system.max_w.value / (system.gpu_count * gpu.tdp_w.value) < 2.1, system.id
        if system.nvlink_gb_per_s is not None and gpu is not None:
            assert gpu.nvlink_gb_per_s is not None
            assert system.nvlink_gb_per_s.value == system.gpu_count * gpu.nvlink_gb_per_s.value, system.id
    assert "DGX A100 640GB" in shipped.systems["dgx-a100-640gb"].aliases
    priced = {price.item for price in shipped.hardware.values()}
    assert set(shipped.systems) - priced == {"dgx-h200"}  # no price published
    assert set(shipped.parts) <= priced
