"""Short tables are one piece of Markdown, with numbers and amounts to the right."""

from ui import short_tables
from ui.formatting import Currency, money, percent, price, unknown


def test_numbers_and_amounts_stand_to_the_right_but_for_the_names_of_rows():
    rows = [
        {"Year": "1", "Cash": "\\$16.4\u00a0k", "Way": "Mix", "Use": "", "Mixed": "3"},
        {"Year": "2", "Cash": "**−\u2060\\$9.0\u00a0k**", "Way": "4 b", "Use": percent(0.5), "Mixed": unknown()},
    ]
    heads, rules, *lines = short_tables.markdown(rows).splitlines()
    assert heads == "| Year | Cash | Way | Use | Mixed |"
    assert rules == "| --- | ---: | --- | ---: | --- |"
    assert len(lines) == 2
    assert lines[1].startswith("| 2 | **−")


def test_amounts_of_every_currency_are_amounts():
    for code in ("USD", "EUR", "JPY", "CHF"):
        currency = Currency(code=code, usd_per_unit=0.5)
        for usd in (-12_345.0, 0.07, 44.5, 2.5e9):
            for text in (money(usd, currency, fine=True), price(usd, currency)):
                assert "---:" in short_tables.markdown([{"a": "x", "b": text}]), text


def test_what_a_cell_holds_cannot_end_it():
    assert short_tables.markdown([{"a": "one | two\nthree"}]).splitlines()[2] == r"| one \| two three |"
