"""Numbers to text, as the pages print them."""

import datetime as dt

import pytest

from ui import formatting as f

EUR = f.Currency(code="EUR", usd_per_unit=1.25)
CHF = f.Currency(code="CHF", usd_per_unit=1.0)


@pytest.mark.parametrize(
    ("usd", "fine", "text"),
    [
        (0, False, "$0"),
        (0.514, False, "$0.51"),
        (21.957642, False, "$22"),
        (950, False, "$950"),
        (999.6, False, "$1.0 k"),
        (8_640, False, "$8.6 k"),
        (95_240, False, "$95 k"),
        (148_310, False, "$148 k"),
        (18_590, True, "$18.6 k"),
        (6_900, True, "$6.9 k"),
        (148_310, True, "$148 k"),
        (789, True, "$789"),
        (999_600, False, "$1.0 M"),
        (1_234_000, False, "$1.2 M"),
        (2_410_000_000, False, "$2.4 B"),
        (-1_370, False, "−$1.4 k"),
        (None, False, "unknown"),
        (float("nan"), False, "unknown"),
    ],
)
def test_money(usd, fine, text):
    assert f.money(usd, fine=fine).replace(f.NBSP, " ") == text
    assert " " not in f.money(usd, fine=fine)


def test_money_in_another_currency():
    assert f.money(125_000, EUR) == f"€100{f.NBSP}k"
    assert f.money(125_000, CHF) == f"CHF{f.NBSP}125{f.NBSP}k"


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (83_000, 109_000, "$83–109 k"),
        (900, 1_250, "$0.90–1.2 k"),
        (4_800, 5_600, "$4.8–5.6 k"),
        (910_000, 1_100_000, "$0.91–1.1 M"),
        (None, 3, "unknown"),
    ],
)
def test_money_range(low, high, text):
    assert f.money_range(low, high).replace(f.NBSP, " ") == text


@pytest.mark.parametrize(
    ("usd", "text"),
    [
        (0.146, "$0.15"),
        (0.034, "$0.034"),
        (21.957642, "$21.96"),
        (17_500, "$17,500"),
        (850.0, "$850"),
        (113.93, "$113.93"),
        (22.0, "$22.00"),
    ],
)
def test_price(usd, text):
    assert f.price(usd) == text


@pytest.mark.parametrize(
    ("hours", "text"),
    [
        (40 / 3600, "40 s"),
        (59.7 / 3600, "1.0 min"),
        (0.683, "41 min"),
        (0.999, "1.0 h"),
        (1.2295, "1.2 h"),
        (24.2, "24 h"),
        (48.0, "48 h"),
        (81.6, "3.4 days"),
        (168, "7 days"),
        (3650, "5 months"),
        (None, "unknown"),
    ],
)
def test_duration(hours, text):
    assert f.duration(hours).replace(f.NBSP, " ") == text


def test_a_limit_shares_the_unit_of_its_range():
    assert f.duration_within(21.1, 29.4, 48).replace(f.NBSP, " ") == "21–29, limit 48 h"
    assert f.duration_within(75.0, 98.0, 168).replace(f.NBSP, " ") == "3.1–4.1, limit 7 days"
    assert f.duration_within(21.1, 29.4, 168).replace(f.NBSP, " ") == "21–29 h, limit 7 days"


def test_duration_range_has_one_unit():
    assert f.duration_range(21.1, 29.4).replace(f.NBSP, " ") == "21–29 h"
    assert f.duration_range(0.6, 1.3).replace(f.NBSP, " ") == "0.60–1.3 h"


@pytest.mark.parametrize(
    ("kwh", "text"), [(0.9, "0.90 kWh"), (350, "350 kWh"), (48_210, "48 MWh"), (1_210_000, "1.2 GWh"), (0, "0 kWh")]
)
def test_energy(kwh, text):
    assert f.energy(kwh).replace(f.NBSP, " ") == text


def test_carbon_and_memory():
    assert f.carbon(350).replace(f.NBSP, " ") == "350 kg CO₂e"
    assert f.carbon(17_800).replace(f.NBSP, " ") == "18 t CO₂e"
    assert f.carbon(1_276_800).replace(f.NBSP, " ") == "1,280 t CO₂e"
    assert f.memory(24).replace(f.NBSP, " ") == "24 GB"


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.7134, "71 %"),
        (-0.22, "−22 %"),
        (0.0042, "0.42 %"),
        (0.0, "0 %"),
        (1.5, "150 %"),
        (0.014, "1 %"),
        (0.996, "over 99 %"),
        (-0.9999, "over −99 %"),
        (1.0, "100 %"),
        (None, "unknown"),
    ],
)
def test_percent(share, text):
    assert f.percent(share).replace(f.NBSP, " ") == text


def test_rate_keeps_its_decimals():
    assert f.rate(0.05) == f"5{f.NBSP}%"
    assert f.rate(0.025) == f"2.5{f.NBSP}%"


def test_plain_and_exact():
    assert f.plain(102_340) == "102,340"
    assert f.plain(6.2501) == "6.25"
    assert f.plain(-3) == "−3"
    assert f.trimmed(0.07) == "0.07"
    assert f.trimmed(1575.6) == "1,575.6"
    assert f.trimmed(-1045.0) == "−1,045"
    assert f.trimmed(8220.785432) == "8,220.79"
    assert f.exact(-1370) == "−1,370.00"
    assert f.exact(-0.001) == "0.00"
    assert f.exact(None) == "unknown"


def test_words_and_dates():
    assert f.number_word(4) == "four"
    assert f.number_word(13) == "13"
    assert f.date("2026-11-30").replace(f.NBSP, " ") == "30 Nov 2026"
    assert f.date("2026-05").replace(f.NBSP, " ") == "May 2026"
    assert f.date("2026") == "2026"
    assert f.date(None) == "unknown"


def test_age_badge_from_18_months_on():
    today = dt.date(2026, 11, 30)
    assert f.age("2025-06-01", today) == ""
    assert f.age("2025-05-30", today) == "18 months old"
    assert f.age("2025-03", today) == "20 months old"
    assert f.age("2025", today) == "22 months old"
    assert f.age(None, today) == "no date"


def test_text_is_safe_in_markdown():
    assert f.escaped("a $5 *b* [c]") == r"a \$5 \*b\* \[c\]"
    assert f.dollars("**$5**") == r"**\$5**"


@pytest.mark.parametrize(
    ("usd", "text"),
    [(3943, "$3,940"), (956.52, "$957"), (50.04, "$50"), (12.345, "$12.3"), (0.25, "$0.25"), (1_234_567, "$1,230,000")],
)
def test_an_estimated_price_has_three_digits(usd, text):
    assert f.price(usd, estimate=True) == text


@pytest.mark.parametrize(
    ("share", "text"), [(0.0, f"0{f.NBSP}%"), (0.004, f"under 1{f.NBSP}%"), (0.01, f"1{f.NBSP}%"), (None, "unknown")]
)
def test_a_small_share_is_not_called_nothing(share, text):
    assert f.share(share) == text


@pytest.mark.parametrize(
    ("code", "usd_per_unit", "text"), [("CNY", 0.13918, "7.185 CNY per USD"), ("EUR", 1.15, "1.15 USD per EUR")]
)
def test_a_rate_is_quoted_above_one(code, usd_per_unit, text):
    assert f.exchange_rate(f.Currency(code=code, usd_per_unit=usd_per_unit)) == text


def test_lists_have_commas_and_one_and():
    assert f.listed(["a"]) == "a"
    assert f.listed(["a", "b"]) == "a and b"
    assert f.listed(["a", "b", "c", "b"]) == "a, b and c"
    assert f.listed([]) == ""
