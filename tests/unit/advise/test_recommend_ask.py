"""Budgets and sizes as users write them, and what is refused with clear words."""

from __future__ import annotations

import datetime as dt

import pytest

from planner.advise.recommend.ask import Ask, check_ask, parse_budget, parse_months, parse_size
from planner.advise.recommend.uses import load_uses
from planner.advise.recommend.work import stand_in, work_of
from planner.catalog.load import load_catalog
from planner.errors import InputError, UnknownIdError
from planner.scenario.money import Money

TODAY = dt.date(2026, 11, 30)
CATALOG = load_catalog(today=TODAY)


@pytest.mark.parametrize(
    ("text", "amount", "currency"),
    [("8000 CNY", 8000.0, "CNY"), ("1.5e3EUR", 1500.0, "EUR"), (" 99.5 USD ", 99.5, "USD"), ("8000 cny", 8000.0, "CNY")]
)  # fmt: skip
def test_budgets(text: str, amount: float, currency: str) -> None:
    assert parse_budget(text) == Money(amount=amount, currency=currency)


@pytest.mark.parametrize("text", ["8000", "1,000 USD", "", "CNY 8000", "nan USD", "0 CNY", "-5 CNY", "1e400 USD"])
def test_other_budgets_are_refused_with_what_was_found(text: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_budget(text)
    assert str(caught.value).startswith(f"--budget: found '{text}', expected ")


@pytest.mark.parametrize(
    ("text", "value"),
    [("100k", 1e5), ("100K", 1e5), ("100M", 1e8), ("1.3B", 1.3e9), ("2 M", 2e6), ("1e6", 1e6), ("12345", 12345.0)],
)
def test_sizes(text: str, value: float) -> None:
    assert parse_size(text, field="--parameters") == pytest.approx(value, rel=1e-12)


def test_months() -> None:
    assert (parse_months(" 84 ", field="--months"), parse_months("1", field="--months")) == (84, 1)
    for text in ("0", "85", "-1", "2.5", "", "१२", "9" * 5000):
        with pytest.raises(InputError) as caught:
            parse_months(text, field="--months")
        assert str(caught.value).endswith("', expected a whole number from 1 to 84")


@pytest.mark.parametrize("text", ["", "lots", "1,000", "-5", "100MB", "1.3.1B", "nan", "inf", "k"])
def test_other_sizes_are_refused_by_option(text: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_size(text, field="--samples")
    assert str(caught.value) == f"--samples: found '{text}', expected a number such as 100k, 100M or 1.3B"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"budget": Money(amount=1.0, currency="XAU")}, "--budget: found 'XAU', expected a known currency"),
        ({"budget": Money(amount=1e20, currency="CNY")}, "--budget: found '1e+20 CNY'"),
        ({"budget": Money(amount=0.009, currency="USD")}, "--budget: found '0.009 USD', expected an amount worth 0.01"),
        ({"budget": Money(amount=1.0, currency="JPY")}, "--budget: found '1 JPY', expected an amount worth 0.01"),
        ({"parameters": 9e11}, "--parameters: found '900B', expected from 10k to 671B"),
        ({"parameters": float("inf")}, "--parameters: found 'inf', expected from 10k to 671B"),
        ({"parameters": 5.0}, "--parameters: found '5'"),
        ({"samples": 0.0}, "--samples: found '0'"),
        ({"months": 85}, "--months: found '85', expected a whole number from 1 to 84"),
        ({"use": "games"}, "--use: found games, expected one of teaching, research, training, serving"),
    ],
)
def test_what_cannot_be_asked(changes: dict[str, object], words: str) -> None:
    given: dict[str, object] = {"budget": Money(amount=8000, currency="CNY"), "use": "teaching", **changes}
    with pytest.raises(InputError) as caught:
        check_ask(Ask(**given), CATALOG)  # type: ignore[arg-type]
    assert str(caught.value).startswith(words)


@pytest.mark.parametrize(
    ("site", "words"),
    [
        ("nowhere", "all are listed by: python -m planner catalog list sites"),
        ("x", "all are listed by: python -m planner catalog list sites"),
        ("germny", "did you mean germany?"),
        ("kingdom", "did you mean united-kingdom?"),
    ],
)
def test_a_site_is_suggested_only_where_it_is_alike(site: str, words: str) -> None:
    ask = Ask(budget=Money(amount=8000, currency="CNY"), use="teaching", site=site)
    with pytest.raises(UnknownIdError) as caught:
        check_ask(ask, CATALOG)
    assert str(caught.value) == f"--site: no site called '{site}'; {words}"


def test_an_unknown_site_is_named() -> None:
    ask = Ask(budget=Money(amount=8000, currency="CNY"), use="teaching", site="mars")
    with pytest.raises(UnknownIdError, match="--site"):
        check_ask(ask, CATALOG)


@pytest.mark.parametrize(
    ("parameters", "workload"),
    [(1e4, "resnet18-imagenet"), (100e6, "bert-base-squad"), (110e6, "bert-base-squad"), (300e6, "bert-large-squad"),
     (1e9, "tinyllama-1.1b"), (7e9, "llama-2-7b"), (400e9, "llama-3.1-405b")],
)  # fmt: skip
def test_the_stand_in_is_the_smallest_that_is_large_enough(parameters: float, workload: str) -> None:
    assert stand_in(CATALOG, parameters).id == workload


@pytest.mark.parametrize(
    ("budget_cny", "size", "parameters"),
    [(100, "small", 100e6), (14_999, "small", 100e6), (15_000, "medium", 300e6), (50_000, "large", 2.5e9)],
)
def test_without_a_model_the_budget_says_how_large_it_is(budget_cny: float, size: str, parameters: float) -> None:
    ask = Ask(budget=Money(amount=budget_cny, currency="CNY"), use="training")
    rate = CATALOG.fx["CNY"].usd_per_unit.value
    work = work_of(ask, load_uses(), CATALOG, budget_cny * rate)
    assert (work.size, work.parameters) == (size, parameters)
    assert set(work.assumed) == {"parameters", "samples", "months"}
    assert work.site == "china"


def test_what_is_asked_is_planned() -> None:
    ask = Ask(
        budget=Money(amount=900, currency="EUR"),
        use="research",
        parameters=1e9,
        samples=5e4,
        months=7,
        site="us-average",
    )
    work = work_of(ask, load_uses(), CATALOG, 1000.0)
    assert (work.months, work.site, work.assumed) == (7, "us-average", ())
    assert work.amount == 5e4 * 2048  # one pass over sequences of the stand-in, tinyllama-1.1b
