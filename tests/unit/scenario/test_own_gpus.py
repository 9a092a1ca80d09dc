"""GPUs of a scenario's own: checked, found like those of the catalog, never in their place."""

from dataclasses import replace

import pytest

from planner.errors import InputError, ScenarioError
from planner.scenario.load import check_document
from planner.scenario.machines import GpuInput
from planner.scenario.own_gpus import with_own_gpus
from planner.strategy.evaluate import evaluate
from tests.planning import TODAY, catalog, document, evidence, shipped_catalog

CARD = {"memory_gb": 48, "memory_bandwidth_gb_per_s": 1800, "tdp_w": 400, "bf16_dense_tflop_per_s": 250}


def own(**changes):
    return GpuInput.model_validate({**CARD, **changes})


def test_without_own_gpus_the_catalog_is_the_same():
    assert with_own_gpus(catalog(), {}) is catalog()


def test_an_own_gpu_stands_beside_those_of_the_catalog():
    merged = with_own_gpus(catalog(), {"next-card": own(name="Next card", nvlink_gb_per_s=100)})
    gpu = merged.gpus["next-card"]
    assert set(merged.gpus) == {*catalog().gpus, "next-card"}
    assert (gpu.name, gpu.memory_gb.value, gpu.dense_tflop_per_s["bf16"].value) == ("Next card", 48, 250)
    assert set(gpu.dense_tflop_per_s) == {"bf16"}
    assert gpu.memory_gb.sources == ("scenario",)
    assert gpu.nvlink_gb_per_s is not None and gpu.nvlink_gb_per_s.value == 100
    assert "next-card" not in catalog().gpus


@pytest.mark.parametrize("id", ["rtx-4090", "RTX-4090", "k80", "A100-80GB"])
def test_a_name_that_the_catalog_has_is_refused(id):
    with pytest.raises(InputError) as caught:
        with_own_gpus(shipped_catalog(), {id: own()})
    assert (caught.value.code, caught.value.field) == ("gpu_identity", f"gpus.{id}")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"bf16_dense_tflop_per_s": None}, "a dense rate of at least one precision"),
        ({"idle_w": 500}, "a number of at most 'tdp_w' (400)"),
        ({"memory_gb": 0}, "a number above 0"),
        ({"segment": "gaming"}, "'consumer', 'workstation' or 'datacenter'"),
    ],
)
def test_faulty_figures_are_named(changes, expected):
    with pytest.raises(ScenarioError) as caught:
        check_document({**document("workstation-or-rental"), "gpus": {"next-card": {**CARD, **changes}}})
    assert any(expected in problem.expected for problem in caught.value.problems)


def test_a_plan_can_buy_and_rent_it():
    plan = document("workstation-or-rental")
    machine = next(iter(plan["machines"].values()))
    machine |= {"gpu": "next-card", "gpu_price_usd": 2000}
    plan["offers"] = {"quote": {"gpu": "next-card", "gpu_count": 1, "price_usd_per_h": 0.5}}
    plan["rental"] = {"offers": ["quote"]}
    plan["gpus"] = {"next-card": {**CARD, "fp16_dense_tflop_per_s": 250, "fp32_dense_tflop_per_s": 100}}
    for job in plan["jobs"].values():
        job.pop("throughput", None)
    result = evaluate(check_document(plan), shipped_catalog(), evidence(), today=TODAY)
    assert {machine.gpu for machine in result.problem.machines} == {"next-card"}
    assert "next-card" in {offer.gpu for offer in result.problem.offers}


@pytest.mark.parametrize(
    ("changes", "field", "found", "expected"),
    [
        (
            {"bf16_dense_tflop_per_s": 1e9},
            "bf16_dense_tflop_per_s",
            "1000000000.0",
            "a number from 0.001 to 100,000 TFLOP/s",
        ),
        ({"memory_gb": 1000000000}, "memory_gb", "1000000000", "a number from 0.1 to 10,000 GB"),
        ({"memory_gb": 1e-9}, "memory_gb", "1e-09", "a number from 0.1 to 10,000 GB"),
        ({"memory_bandwidth_gb_per_s": 1e9}, "memory_bandwidth_gb_per_s", "1000000000.0", "0.1 to 100,000 GB/s"),
        ({"nvlink_gb_per_s": 1e9}, "nvlink_gb_per_s", "1000000000.0", "0.1 to 100,000 GB/s"),
        ({"tdp_w": 1e9}, "tdp_w", "1000000000.0", "a number from 0.1 to 20,000 W"),
        ({"idle_w": 500}, "idle_w", "500", "a number of at most 'tdp_w' (400)"),
        ({"idle_w": -1}, "idle_w", "-1", "a number from 0 to 20,000 W"),
        ({"peer_to_peer": 1}, "peer_to_peer", "1", "true or false"),
        ({"tdp_w": True}, "tdp_w", "true", "a number"),
        ({"name": "two\nlines"}, "name", "'two lines'", "text in one line"),
        ({"bf16_dense_tflop_per_s": None}, "", "no dense rate", "a dense rate of at least one precision"),
    ],
)
def test_what_no_card_has_is_refused_at_its_field(changes, field, found, expected):
    with pytest.raises(ScenarioError) as caught:
        check_document({**document("workstation-or-rental"), "gpus": {"card": {**CARD, **changes}}})
    (problem,) = caught.value.problems
    assert problem.field == ".".join(part for part in ("gpus.card", field) if part)
    assert problem.found == found
    assert expected in problem.expected


def test_cards_on_sale_are_well_within_the_limits():
    for gpu in shipped_catalog().gpus.values():
        rates = {f"{name}_dense_tflop_per_s": 5 * rate.value for name, rate in gpu.dense_tflop_per_s.items()}
        link = None if gpu.nvlink_gb_per_s is None else 5 * gpu.nvlink_gb_per_s.value
        GpuInput(
            memory_gb=5 * gpu.memory_gb.value,
            memory_bandwidth_gb_per_s=5 * gpu.memory_bandwidth_gb_per_s.value,
            tdp_w=5 * gpu.tdp_w.value,
            nvlink_gb_per_s=link,
            **rates,
        )


@pytest.mark.parametrize(
    ("name", "taken"),
    [
        ("rtx-4090", "the GPU rtx-4090"),
        ("rtx  4090 ", "the GPU rtx-4090"),
        ("A100-80GB", "the GPU a100-pcie-80gb or a100-sxm4-80gb"),
        ("other", "the GPU other"),
        ("The Other Card", "the GPU other"),
    ],
)
def test_a_name_that_another_gpu_has_is_refused(name, taken):
    with pytest.raises(InputError) as caught:
        with_own_gpus(shipped_catalog(), {"other": own(name="the other card"), "mine": own(name=name)})
    assert (caught.value.code, caught.value.field) == ("name_taken", "gpus.mine.name")
    assert f"found '{' '.join(name.split())}', the name of {taken}" in str(caught.value)


def test_ids_that_differ_by_case_alone_are_refused():
    with pytest.raises(InputError) as caught:
        with_own_gpus(catalog(), {"mine": own(), "Mine": own()})
    assert caught.value.field == "gpus.Mine"


def test_a_name_may_repeat_the_id():
    assert with_own_gpus(catalog(), {"mine": own(name="Mine")}).gpus["mine"].name == "Mine"


def test_the_printed_name_of_a_card_is_taken_even_where_it_is_no_alias():
    card = replace(catalog().gpus["rtx-4090"], aliases=(), name="Big Card")
    with pytest.raises(InputError):
        with_own_gpus(replace(catalog(), gpus={card.id: card}), {"mine": own(name="big card")})
