"""What a scenario may hold: every problem names the field, what was found and what is expected."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from planner.errors import Problem, ScenarioError
from planner.scenario.load import check_document
from planner.scenario.money import money_aliases
from planner.scenario.schema import Scenario
from tests.planning import small_plan


def problems(plan: Mapping[str, Any]) -> tuple[Problem, ...]:
    with pytest.raises(ScenarioError) as caught:
        check_document(plan)
    assert caught.value.code == "scenario_invalid"
    return caught.value.problems


@pytest.mark.parametrize(
    ("field", "value", "found", "expected"),
    [
        ("horizon_months", 0, "0", "a number of at least 1"),
        ("horizon_months", 85, "85", "a number of at most 84"),
        ("horizon_months", 1.5, "1.5", "a whole number"),
        ("horizon_months", True, "true", "a whole number"),
        ("horizon_months", "12", "'12'", "a whole number"),
        ("jobs.work.runs_per_month", -1, "-1", "a number above 0"),
        ("jobs.work.runs_per_month", 0, "0", "a number above 0"),
        ("jobs.work.runs_per_month", math.inf, "inf", "a finite number"),
        ("jobs.work.runs_per_month", math.nan, "nan", "a finite number"),
        ("jobs.work.runs_per_month", None, "nothing", "a value"),
        ("jobs.work.attempts_per_run", 0.5, "0.5", "a number of at least 1"),
        ("jobs.work.samples", -3, "-3", "a number above 0"),
        ("jobs.work.gpus", 1.5, "1.5", "a whole number"),
        ("jobs.work.local_share", 1.01, "1.01", "a share from 0 to 1"),
        ("jobs.work.throughput.own", 0, "0", "a number above 0"),
        ("jobs.work.precision", "fp12", "'fp12'", "'fp32', 'tf32', 'fp16', 'bf16' or 'fp8'"),
        ("jobs.work.class", "service", "'service'", "'development' or 'key' ('service' is reserved"),
        ("jobs.work.class", "dev", "'dev'", "'development' or 'key'"),
        ("tax.rate", 20, "20", "a share from 0 to 1"),
        ("site.pue", 0.9, "0.9", "a number of at least 1"),
        ("site.electricity_usd_per_kwh", "cheap", "'cheap'", 'a number in USD or text such as "8000 CNY"'),
        ("site.electricity_usd_per_kwh", "-1 EUR", "'-1 EUR'", "an amount greater than 0"),
        ("site.electricity_usd_per_kwh", "1e999 EUR", "'1e999 EUR'", "a finite number"),
        ("site.electricity_usd_per_kwh", 0, "0", "an amount greater than 0"),
        ("site.electricity_usd_per_kwh", math.inf, "inf", "a finite number"),
        ("site.electricity_usd_per_kwh", 1e31, "1e+31", "an amount of at most 1e+18"),
        ("site.electricity_usd_per_kwh", True, "true", "a number in USD"),
        ("machines.own.host_price_usd", -1, "-1", "an amount of 0 or more"),
        ("machines.own.residual_gpu.12", 1.2, "1.2", "a share from 0 to 1"),
        ("offers.rented.billing_unit_s", 0, "0", "a number above 0"),
        ("offers.rented.minimum_s", -1, "-1", "a number of at least 0"),
    ],
)
def test_value_out_of_its_range(field: str, value: object, found: str, expected: str) -> None:
    (problem,) = problems(small_plan({field: value}))
    assert (problem.field, problem.found) == (field, found)
    assert problem.expected.startswith(expected)


@pytest.mark.parametrize(
    ("overrides", "field", "found", "words"),
    [
        ({"jobs.work.tokens": 5}, "jobs.work.tokens", "5", ("'tokens'", "'samples'", "not both")),
        ({"machines.own.idle_w": 12345678}, "machines.own.idle_w", "12345678", ("a number from 0 to 1,000,000 W",)),
        ({"machines.own.idle_w": 700}, "machines.own.idle_w", "700", ("at most 'load_w' (600)",)),
        ({"offers.rented.idle_w": 700.5}, "offers.rented.idle_w", "700.5", ("at most 'load_w' (600)",)),
        ({"machines.own.condition": "used"}, "machines.own.age_months", "nothing", ("the months since",)),
        ({"machines.own.age_months": 5}, "machines.own.age_months", "5", ("'condition: used'",)),
        ({"machines.own.owned": {"count": 2, "age_months": 3}}, "machines.own.count", "1", ("at least 2",)),
        (
            {"offers.rented.price_usd_per_gpu_h": 1},
            "offers.rented.price_usd_per_gpu_h",
            "1",
            ("price_usd_per_h", "price_usd_per_gpu_h", "both"),
        ),
    ],
)
def test_fields_that_contradict_each_other(
    overrides: dict[str, Any], field: str, found: str, words: tuple[str, ...]
) -> None:
    (problem,) = problems(small_plan(overrides))
    assert (problem.field, problem.found) == (field, found)
    assert all(word in problem.expected for word in words)


def test_a_contradiction_is_named_in_the_spelling_of_the_file() -> None:
    plan = small_plan()
    plan["offers"]["rented"]["price_per_gpu_h"] = "1 EUR"
    (problem,) = problems(plan)
    assert (problem.field, problem.found) == ("offers.rented.price_per_gpu_h", "'1 EUR'")


WRONG = (True, 1, 0, 1.5, -1, 1e300, "x", "yes", "", [], [1], {}, {"a": 1}, None, [[1]], {"a": {}})


def places(model: type[BaseModel], prefix: str = "") -> Iterator[str]:
    """Paths of every field of a scenario, entries of mappings under the names of the small plan."""
    entries = {"jobs": "work", "machines": "own", "offers": "rented", "gpus": "card", "currencies": "EUR"}
    for name, info in model.model_fields.items():
        path = f"{prefix}{info.alias or name}"
        yield path
        for part in models_within(info.annotation):
            yield from places(part, f"{path}.{entries[name]}." if name in entries else f"{path}.")


def models_within(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from models_within(argument)


CARD = {"memory_gb": 48, "memory_bandwidth_gb_per_s": 1800, "tdp_w": 400, "bf16_dense_tflop_per_s": 250}


@pytest.mark.parametrize("path", sorted(set(places(Scenario))))
def test_a_value_of_a_wrong_type_is_refused_in_our_words(path: str) -> None:
    for value in WRONG:
        plan = small_plan()
        plan["gpus"] = {"card": dict(CARD)}
        here: dict[str, Any] = plan
        *around, last = path.split(".")
        for key in around:
            here = here.setdefault(key, {}) if isinstance(here.setdefault(key, {}), dict) else {}
        here[last] = value
        try:
            scenario = check_document(plan)
        except ScenarioError as error:
            for problem in error.problems:
                words = problem.expected.casefold()
                assert not any(raw in words for raw in ("input", "valid ", "should", "instance")), str(problem)
        else:
            found: Any = scenario
            for key in path.split("."):
                names = {info.alias or name: name for name, info in getattr(type(found), "model_fields", {}).items()}
                found = found.get(key) if isinstance(found, dict) else getattr(found, names[key], None)
            assert not isinstance(found, bool) or found is value  # no other value is taken for true or false
            assert not isinstance(value, bool) or found is value  # and these for nothing else


def test_no_jobs() -> None:
    assert [(p.field, p.expected) for p in problems(small_plan({"jobs": {}}))] == [("jobs", "at least 1 entries")]
    assert [(p.field, p.found) for p in problems(small_plan({"jobs": None}))] == [("jobs", "nothing")]


def test_unknown_keys_come_with_near_ones_all_at_once() -> None:
    plan = small_plan({"site.colocation.contracted_kw": 1})
    plan["sitee"] = {}
    plan["jobs"]["work"]["runs_per_mont"] = 3
    plan["site"]["colocation"]["prise_usd_per_kw_month"] = 2
    found = {problem.field: problem for problem in problems(plan)}
    assert {field: problem.expected.split(" or ")[0] for field, problem in found.items()} == {
        "sitee": "site",
        "jobs.work.runs_per_mont": "runs_per_month",
        "site.colocation.prise_usd_per_kw_month": "price_usd_per_kw_month",
    }
    assert {problem.found for problem in found.values()} == {"an unknown key"}


def test_id_of_a_job_is_a_plain_word() -> None:
    plan = small_plan()
    plan["jobs"] = {"a b": plan["jobs"]["work"], "": plan["jobs"]["work"], "ok-1_X": plan["jobs"]["work"]}
    assert {problem.field for problem in problems(plan)} == {"jobs.a b", "jobs."}


def test_money_as_text_stands_under_its_stem() -> None:
    plan = small_plan({"site.electricity_usd_per_kwh": None, "machines.own.gpu_price_usd": None})
    plan["site"]["electricity"] = "0.2 EUR"
    plan["machines"]["own"]["gpu_price"] = "8000 CNY"
    plan["offers"]["rented"]["price"] = "3 EUR"
    del plan["offers"]["rented"]["price_usd_per_h"]
    scenario = check_document(plan)
    electricity, card = scenario.site.electricity_usd_per_kwh, scenario.machines["own"].gpu_price_usd
    assert electricity is not None and (electricity.amount, electricity.currency) == (0.2, "EUR")
    assert card is not None and (card.amount, card.currency) == (8000, "CNY")
    quote = scenario.offers["rented"]
    assert quote.price_usd_per_h is not None and quote.price_usd_per_h.amount == 3
    assert quote.price_usd_per_gpu_h is None


def test_money_under_both_names_is_refused() -> None:
    plan = small_plan()
    plan["site"]["electricity"] = "0.2 EUR"
    (problem,) = problems(plan)
    assert (problem.field, problem.found) == ("site.electricity", "'0.2 EUR'")
    assert problem.expected == "'electricity_usd_per_kwh' or 'electricity', not both"


def models(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    yield model
    for info in model.model_fields.values():
        stack = [info.annotation]
        while stack:
            part = stack.pop()
            if isinstance(part, type) and issubclass(part, BaseModel):
                yield from models(part)
            stack += get_args(part)


def test_no_stem_of_money_is_a_field_of_its_own() -> None:
    """Otherwise a text under it would be ambiguous, and an override would delete the field."""
    for model in models(Scenario):
        names = {info.alias or name for name, info in model.model_fields.items()}
        stems = {alias for name in names if "_usd" in name for alias in money_aliases(name)}
        assert not stems & names, model


def test_whole_numbers_may_be_written_with_a_point() -> None:
    assert check_document(small_plan({"horizon_months": 12.0})).horizon_months == 12


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("machines.own.load_w", 1e9, "a number from 0.1 to 1,000,000 W"),
        ("offers.rented.load_w", 1e9, "a number from 0.1 to 1,000,000 W"),
        ("offers.rented.idle_w", 1e9, "a number from 0 to 1,000,000 W"),
        ("offers.rented.network_gbit_per_s", 1e9, "a number from 0.001 to 1,000,000 Gbit/s"),
        ("site.colocation.contracted_kw", 1e9, "a number from 0.001 to 1,000,000 kW"),
        ("staff.fte_per_machine", 1e9, "a number from 0 to 10,000 FTE"),
        ("staff.fte_cloud", 1e9, "a number from 0 to 10,000 FTE"),
        ("machines.own.fte_per_machine", 1e9, "a number from 0 to 10,000 FTE"),
    ],
)
def test_what_no_machine_or_site_has_is_refused(field: str, value: float, expected: str) -> None:
    (problem,) = problems(small_plan({field: value}))
    assert (problem.field, problem.expected) == (field, expected)
