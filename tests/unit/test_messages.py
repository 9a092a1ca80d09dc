"""Sentences filled with parameters: lists, numbers, what happens when something is missing."""

from __future__ import annotations

import datetime as dt
import math
from pathlib import Path

import numpy as np
import pytest

from planner import messages
from planner.errors import InputError, UnknownIdError
from planner.messages import Tender, as_text, codes, fill, fill_template, render
from planner.strict_yaml import parse


def test_the_file_is_clean_and_every_code_has_a_sentence() -> None:
    parsed = parse(messages.MESSAGES_PATH.read_bytes(), file="messages.yaml")
    assert parsed.problems == ()
    assert all(isinstance(text, str) and text.strip() for text in parsed.data.values())
    assert codes() == set(parsed.data)
    assert list(parsed.data) == sorted(parsed.data)


def test_unknown_id_reads_as_a_sentence() -> None:
    error = UnknownIdError("GPU", "h10", ["h100-pcie", "h100-sxm5-80gb", "h200"], field="jobs.key.gpu")
    expected = "jobs.key.gpu: no GPU called 'h10'; did you mean h100-pcie, h100-sxm5-80gb or h200?"
    assert str(error) == expected
    assert str(UnknownIdError("GPU", "h10", ["h200"])) == "no GPU called 'h10'; did you mean h200?"
    assert str(UnknownIdError("GPU", "h10", [])) == "no GPU called 'h10'"


def test_missing_code_or_parameter_raises_in_fill_and_degrades_in_render() -> None:
    with pytest.raises(KeyError, match="no sentence for the code 'no_such_code'"):
        fill("no_such_code", {})
    with pytest.raises(ValueError, match="needs the parameter 'value'"):
        fill("unknown_id", {"field": "", "kind": "GPU", "near": ["h200"]})
    assert render("no_such_code", field="", value=3, near=["a", "b"]) == "no_such_code (value: 3, near: a or b)"
    assert render("no_such_code") == "no_such_code"
    assert render("no_such_code", table=np.array([1.0, 2.0])).startswith("no_such_code (table: ")
    assert str(InputError("no_such_code", field="x", value=0)) == "no_such_code (field: x, value: 0)"


def test_a_missing_messages_file_still_gives_a_message(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(messages, "MESSAGES_PATH", tmp_path / "messages.yaml")
    messages._sentences.cache_clear()
    try:
        assert render("unknown_id", kind="GPU") == "unknown_id (kind: GPU)"
    finally:
        monkeypatch.undo()
        messages._sentences.cache_clear()


@pytest.mark.parametrize(
    ("template", "params", "expected"),
    [
        ("{field}: too small", {"field": ""}, "too small"),
        ("{field}: too small", {"field": "a.b"}, "a.b: too small"),
        ("{a}[[ and {b}]].", {"a": 1, "b": ""}, "1."),
        ("{a}[[ and {b}]].", {"a": 1, "b": "x"}, "1 and x."),
        ("{a}[[ and {b}]].", {"a": 1}, "1."),
        ("{a}[[, at {b} of {c}]]", {"a": 1, "b": 0, "c": None}, "1"),
        ("{a}[[, at {b}]]", {"a": 1, "b": 0}, "1, at 0"),
        ("{a:%} % of {b:usd}", {"a": 0.256, "b": 1234567.8}, "26 % of 1,234,568 USD"),
        ("{a:usd}[[, {b:%} %]]", {"a": "unknown", "b": None}, "unknown"),
        ("{a}", {"a": "{b} [[{c}]]"}, "{b} [[{c}]]"),
        ("{a} of {b:=} or {c:=}", {"a": 1234.56, "b": 1234.56, "c": "x"}, "1,235 of 1234.56 or x"),
    ],
)
def test_templates(template: str, params: dict[str, object], expected: str) -> None:
    assert fill_template(template, params) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (["a"], "a"),
        (["a", "b"], "a or b"),
        (("a", "b", "c"), "a, b or c"),
        ({"b", "a"}, "a or b"),
        ([], "none"),
        ([1.5, 1120], "1.5 or 1,120"),
        ({"a": 1, "b": 0.1 + 0.2}, "a: 1, b: 0.3"),
        (640, "640"),
        (1120.0, "1,120"),
        (8556.25, "8,556"),
        (21.957642, "21.96"),
        (0.1 + 0.2, "0.3"),
        (0.00001234567, "0.00001235"),
        (-1370.5, "-1,370"),
        (1.4e12, "1,400,000,000,000"),
        (2.7e24, "2.7e+24"),
        (1e-9, "1e-09"),
        (0.0, "0"),
        (float("nan"), "nan"),
        (float("-inf"), "-inf"),
        (np.float64(2.5), "2.5"),
        (np.int64(12345), "12,345"),
        (True, "true"),
        (None, "none"),
        (dt.date(2026, 11, 9), "2026-11-09"),
        ("two\nlines\x1b", "two lines\x1b"),
    ],
)
def test_values_as_text(value: object, expected: str) -> None:
    assert as_text(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (12345678, "12345678"),
        (12345678.0, "12345678"),
        (1234.5678, "1234.5678"),
        (1.0000001, "1.0000001"),
        (1e21, "1e+21"),
        (0.1 + 0.2, "0.3"),
        (np.float64(2.5), "2.5"),
        (np.int64(12345), "12345"),
        (math.inf, "inf"),
        (True, "true"),
        ("1_000", "1_000"),
    ],
)
def test_what_a_user_gave_keeps_its_digits(value: object, expected: str) -> None:
    assert fill_template("found {value}, one of {known}", {"value": value, "known": 12345.678}) == (
        f"found {expected}, one of 12,346"
    )


def test_a_number_in_an_error_is_found_again() -> None:
    error = InputError("past_useful_life", field="machines.own.age_months", value=12345, useful_life_months=60)
    assert "found 12345 months" in str(error)


def test_long_text_is_cut() -> None:
    assert len(as_text("x" * 10_000)) == 200


@pytest.mark.parametrize(
    ("template", "usd", "text"),
    [
        ("{a:usd}", 1539.9, "1,340 EUR"),
        ("{a:usd}", 11.5, "10 EUR"),
        ("{a:usd}", 0.1234, "0.107 EUR"),
        ("{a:usd_price}", 14.283, "12.42 EUR"),
        ("{a:usd_price}", 0.115, "0.1 EUR"),
        ("{a:usd_given}", 14195.6, "12,344 EUR"),
        ("{a:usd_given}", 0.575, "0.5 EUR"),
        ("{a:usd}", 0.0, "0 EUR"),
        ("{a}", 14196.0, "14,196"),
    ],
)
def test_a_tender_says_money_in_its_currency(template: str, usd: float, text: str) -> None:
    assert fill_template(template, {"a": usd}, tender=Tender(code="EUR", usd_per_unit=1.15)) == text
