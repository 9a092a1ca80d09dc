"""Random plans over the frozen catalog, every speed given, so that the properties rest on no prediction."""

from __future__ import annotations

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from planner.strategy.kernel import Evaluation
from tests.planning import by_id

quick = settings(max_examples=8, deadline=None, derandomize=True, database=None)

MACHINES = ("small", "large")
OFFERS = ("one", "node")


def between(low: float, high: float) -> st.SearchStrategy[float]:
    """Numbers with few digits, so that a failing plan can be read."""
    return st.integers(0, 1000).map(lambda step: round(low + (high - low) * step / 1000, 6))


@st.composite
def jobs(draw: st.DrawFn) -> dict[str, Any]:
    return {
        "workload": "bert-large-squad",
        "samples": draw(between(1000, 100_000)),
        "epochs": draw(st.integers(1, 3)),
        "gpus": draw(st.sampled_from([1, 2])),
        "throughput": {place: draw(between(20, 200)) for place in (*MACHINES, *OFFERS)},
        "runs_per_month": draw(between(0.3, 200)),
        "attempts_per_run": draw(between(1, 2)),
        "class": draw(st.sampled_from(["development", "key"])),
        "checkpoints": draw(st.integers(0, 4)),
        "checkpoint_s": draw(between(0, 120)),
        "egress_gb_per_run": draw(st.sampled_from([0, 0, 3, 40])),
    }


@st.composite
def machines(draw: st.DrawFn, included: bool) -> dict[str, Any]:
    used = draw(st.booleans())
    machine: dict[str, Any] = {
        "gpu": "rtx-4090",
        "gpus": 2,
        "condition": "used" if used else "new",
        "gpu_price_usd": draw(between(500, 4000)),
        "host_price_usd": draw(between(0, 3000)),
        "prices_include_tax": included and draw(st.booleans()),
        "installation_usd": draw(between(0, 300)),
        "load_w": draw(between(400, 1200)),
        "idle_w": draw(between(0, 300)),
        "useful_life_months": draw(st.integers(15, 60)),
        "maintenance_share_per_year": draw(between(0, 0.1)),
        "fte_per_machine": draw(between(0, 0.1)),
        "residual_gpu": {12: draw(between(0.3, 1)), 24: draw(between(0.1, 1)), 120: draw(between(0, 0.5))},
        "residual_host": {12: draw(between(0.3, 1)), 120: draw(between(0, 0.5))},
    }
    if used:
        machine["age_months"] = draw(st.integers(1, 14))
    return machine


@st.composite
def offers(draw: st.DrawFn, gpu_count: int, included: bool) -> dict[str, Any]:
    return {
        "provider": draw(st.sampled_from(["first", "second"])),
        "gpu": "a100-sxm4-80gb",
        "gpu_count": gpu_count,
        "price_usd_per_h": draw(between(0.3, 30)),
        "includes_tax": included and draw(st.booleans()),
        "billing_unit_s": draw(st.sampled_from([1, 60, 3600])),
        "minimum_s": draw(st.sampled_from([0, 60, 600])),
        "startup_s": draw(between(0, 900)),
        "load_w": draw(between(500, 5000)),
        "idle_w": draw(between(50, 400)),
        "pue": draw(between(1, 1.5)),
        "grid_kg_co2e_per_kwh": draw(between(0, 0.8)),
    }


@st.composite
def over_time(draw: st.DrawFn, plan: dict[str, Any]) -> None:
    """Puts money that changes with the months into a plan: credits, free hours, trends of prices, data to send."""
    months = st.integers(1, plan["horizon_months"])
    plan["hardware_price_change_per_year"] = draw(between(-0.15, 0.15))
    for job in plan["jobs"].values():
        job["upload_gb_per_run"] = draw(st.sampled_from([0, 20]))
    for offer in plan["offers"].values():
        offer |= draw(st.sampled_from([{}, {"free_node_hours_per_month": 20}, {"free_node_hours_total": 300}]))
    plan["rental"] |= {
        "price_change_per_year": draw(between(-0.15, 0.15)),
        "upload_gb": draw(st.sampled_from([0, 1000])),
        "ingress_usd_per_gb": draw(between(0, 0.1)),
        "transfer_mbit_per_s": 1000,
        "upload_while_billed": draw(st.booleans()),
        "credits": {
            name: {
                "amount_usd": draw(between(0, 20_000)),
                "from_month": min(month := draw(months), last := draw(months)),
                "expires_month": max(month, last),
                "covers": draw(st.sampled_from(["all", "rental"])),
            }
            | draw(st.sampled_from([{}, {"providers": ["first"]}]))
            for name in ("gift", "grant")
        },
    }
    plan["offers"]["one"]["provider"] = "first"


@st.composite
def plans(draw: st.DrawFn, *, owned: bool = True, changing: bool = False) -> dict[str, Any]:
    """A plan with one or two jobs, two machine types and two offers.

    Machines follow the work. Tax inside a price and recoverable tax don't come together: then a higher rate means that
    more comes back. `changing` ones may have credits, free hours, trends of prices and data to send.
    """
    recoverable = draw(st.booleans())
    included = not recoverable
    plan: dict[str, Any] = {
        "schema_version": 1,
        "horizon_months": draw(st.integers(1, 42)),
        "discount_rate": draw(between(0, 0.2)),
        "tax": {"rate": draw(between(0, 0.3)), "recoverable": recoverable},
        "site": {
            "electricity_usd_per_kwh": draw(between(0.01, 0.5)),
            "electricity_includes_tax": included and draw(st.booleans()),
            "pue": draw(between(1, 2)),
            "grid_kg_co2e_per_kwh": draw(between(0, 0.8)),
            "space_usd_per_month": draw(between(0, 200)),
        },
        "staff": {"cost_usd_per_fte_year": draw(between(0, 120_000)), "fte_cloud": draw(between(0, 0.1))},
        "jobs": {name: draw(jobs()) for name in draw(st.sampled_from([("a",), ("a", "b")]))},
        "machines": {name: draw(machines(included)) for name in MACHINES},
        "rental": {
            "offers": list(OFFERS),
            "idle_tail_s": draw(between(0, 300)),
            "storage_gb": draw(between(0, 2000)),
            "storage_usd_per_gb_month": draw(between(0, 0.2)),
            "egress_usd_per_gb": draw(between(0, 0.2)),
            "free_egress_gb_per_month": draw(st.sampled_from([0, 100])),
        },
        "offers": {"one": draw(offers(2, included)), "node": draw(offers(8, included))},
    }
    if draw(st.booleans()):
        plan["site"]["colocation"] = {
            "contracted_kw": draw(between(0.5, 20)),
            "price_usd_per_kw_month": draw(between(50, 400)),
            "power": draw(st.sampled_from(["pass_through", "included"])),
            "includes_tax": included and draw(st.booleans()),
        }
    if changing and draw(st.booleans()):
        draw(over_time(plan))
    if owned and draw(st.booleans()):
        plan["owned_value_counts"] = draw(st.booleans())
        plan["machines"]["small"]["owned"] = {
            "count": draw(st.integers(1, 3)),
            "age_months": draw(st.integers(1, 14)),
            "resale_gpu_usd": draw(between(0, 2000)),
            "resale_host_usd": draw(between(0, 1000)),
        }
    return plan


TOTALS = ("tco_usd", "present_value_usd", "capex_usd", "residual_usd", "opex_usd", "kwh", "kg_co2e")


def totals(found: Evaluation, row: int = 0) -> dict[str, float]:
    """Sums of one row."""
    return {name: float(getattr(found, name)[row]) for name in TOTALS}


def line_amounts(found: Evaluation, row: int = 0) -> dict[str, list[float]]:
    """Money over time of one row by line; lines that cost nothing in the row are left out."""
    return {id: line.amount[row].tolist() for id, line in by_id(found).items() if line.amount[row].any()}
