"""Charts from plain rows: what is drawn where, in which colour, and what the words beside it say."""

import altair as alt
import pytest

from tests.unit.ui.contrast import contrast
from ui import charts
from ui.formatting import USD, Currency
from ui.palette import DARK, LIGHT, palette

BARS = [
    charts.CostBar(
        way="hybrid",
        label="Mix",
        parts_usd={"owned": 15_000.0, "on_demand": 38_000.0, "people": 24_000.0},
        total_usd=77_000.0,
        low_usd=70_000.0,
        high_usd=90_000.0,
    ),
    charts.CostBar(
        way="local",
        label="Own all",
        parts_usd={"owned": -5_000.0, "people": 41_000.0},
        total_usd=36_000.0,
        low_usd=None,
        high_usd=None,
    ),
]
LINES = [
    charts.SpendLine(way="hybrid", label="Mix", points=[(0.0, 19_000.0), (36.0, 98_000.0)]),
    charts.SpendLine(way="local", label="Own all", points=[(0.0, 62_000.0), (36.0, 99_000.0)]),
]


def layers(spec):
    """All unit layers of a chart with their rows, groups of layers opened up."""
    for layer in spec["layer"]:
        for unit in layer.get("layer", [layer]):
            yield {"data": layer.get("data"), **unit}


def cost_spec(bars=BARS, **options):
    settings = {"horizon_months": 36, "currency": USD, "dark": False} | options
    return charts.cost_chart(bars, **settings)


def parts(spec):
    return next(iter(layers(spec)))["data"]["values"]


def test_specifications_follow_the_grammar():
    ring = charts.Ring(month=10.0, spent_usd=40_000.0, text="Month 10: renting\nbecomes dearer")
    for dark in (False, True):
        alt.LayerChart.from_dict(cost_spec(dark=dark, faded=dark), validate=True)
        alt.LayerChart.from_dict(charts.spend_chart(LINES, [ring], currency=USD, dark=dark), validate=True)


def test_stacks_start_at_zero_and_add_up():
    drawn = parts(cost_spec())
    mix = [row for row in drawn if row["way"] == "Mix"]
    assert mix[0]["x0"] == 0
    assert [row["x0"] for row in mix[1:]] == [row["x1"] for row in mix[:-1]]
    assert mix[-1]["x1"] == pytest.approx(77.0)


def test_a_negative_part_hangs_below_zero():
    drawn = parts(cost_spec())
    own = [row for row in drawn if row["way"] == "Own all"]
    assert (own[0]["x0"], own[0]["x1"]) == (-5.0, 0.0)
    assert (own[1]["x0"], own[1]["x1"]) == (0.0, 41.0)
    assert next(layers(cost_spec()))["encoding"]["x"]["scale"]["domain"][0] == -5.0


def test_colour_follows_the_role_in_both_themes():
    for dark, colours in ((False, LIGHT), (True, DARK)):
        colour = next(layers(cost_spec(dark=dark)))["encoding"]["color"]
        assert colour["legend"]["values"] == ["Machines, less resale", "Rental, on demand", "People"]
        drawn = dict(zip(colour["scale"]["domain"], colour["scale"]["range"], strict=True))
        roles = ("owned", "on_demand", "people")
        assert [drawn[name] for name in colour["legend"]["values"]] == [colours.fill[role] for role in roles]


def test_no_whisker_without_a_range():
    without = [bar | {"low_usd": None, "high_usd": None} for bar in BARS]
    assert len(list(layers(cost_spec(without)))) < len(list(layers(cost_spec())))


def test_a_text_that_does_not_fit_takes_no_room():
    texts = [layer["encoding"]["text"] for layer in layers(cost_spec()) if "text" in layer["encoding"]]
    assert texts
    assert {text["value"] for text in texts} == {""}


def test_numbers_in_bars_keep_two_digits_in_millions():
    bar = charts.CostBar(
        way="local", label="Own all", parts_usd={"owned": 384_000.0, "people": 2_000_000.0}, total_usd=2_384_000.0,
        low_usd=None, high_usd=None,
    )  # fmt: skip
    assert [row["number"] for row in parts(cost_spec([bar]))] == ["0.38", "2"]


def test_amounts_are_shown_in_the_currency():
    spec = cost_spec(currency=Currency(code="EUR", usd_per_unit=2.0))
    drawn = parts(spec)
    assert drawn[0]["x1"] == pytest.approx(7.5)
    assert "EUR" in next(layers(spec))["encoding"]["x"]["axis"]["title"]


def test_faded_charts_have_pale_fills_and_grey_words():
    assert cost_spec()["config"]["rect"]["opacity"] == 1
    faded = cost_spec(faded=True)
    assert faded["config"]["rect"]["opacity"] < 0.5
    assert {layer["mark"].get("color") for layer in layers(faded)} == {None, LIGHT.secondary}
    assert {row["ink"] for row in parts(faded)} == {LIGHT.text}


def test_line_names_do_not_cover_each_other():
    ends = charts._line_ends(LINES, LIGHT, 1e3, 110.0)
    positions = sorted(row["spent"] for row in ends)
    assert positions[1] - positions[0] >= 110.0 * 17 / charts.LINES_PLOT_PX - 1e-9


def test_a_ring_marks_the_crossing():
    ring = charts.Ring(month=10.0, spent_usd=40_000.0, text="Month 10: renting\nbecomes dearer")
    spec = charts.spend_chart(LINES, [ring], currency=USD, dark=False)
    marked = next(layer for layer in layers(spec) if layer["mark"]["type"] == "point")
    assert marked["data"]["values"][0]["month"] == 10.0
    assert marked["data"]["values"][0]["spent"] == pytest.approx(40.0)
    assert "Month 10: renting becomes dearer." in charts.spend_alt(LINES, [ring], USD)


def test_alternative_texts_hold_the_numbers():
    text = charts.cost_alt(BARS, USD).replace("\N{NO-BREAK SPACE}", " ")
    assert text == "Mix: $77 k, likely $70–90 k. Own all: $36 k."


@pytest.mark.parametrize(
    ("highest", "ticks"),
    [(178, [0, 50, 100, 150]), (95, [0, 20, 40, 60, 80]), (1.0, [0, 0.5, 1.0]), (0, [0])],
)
def test_three_to_five_round_ticks(highest, ticks):
    assert charts.nice_ticks(highest) == ticks


def test_ticks_are_never_more_than_five():
    for highest in (0.3, 1.1, 7, 13, 22, 49, 51, 99, 240, 999, 12_345):
        assert 3 <= len(charts.nice_ticks(highest)) <= 5, highest


def test_month_ticks_divide_years():
    assert charts.month_ticks(36) == [0, 6, 12, 18, 24, 30, 36]
    assert charts.month_ticks(5) == [0, 1, 2, 3, 4, 5]
    assert charts.month_ticks(84) == [0, 12, 24, 36, 48, 60, 72, 84]


@pytest.mark.parametrize("dark", [False, True])
def test_texts_in_charts_can_be_read(dark):
    colours = palette(dark=dark)
    for role, fill in colours.fill.items():
        assert contrast(colours.text_on[role], fill) >= 4.5, role
    for text in (colours.text, colours.secondary, *colours.way_text.values()):
        assert contrast(text, colours.page) >= 4.5
    for line in colours.way.values():
        assert contrast(line, colours.page) >= 3


def test_lines_keep_their_width_when_one_way_is_left():
    first = next(layers(charts.spend_chart(LINES[:1], [], currency=USD, dark=False)))
    assert first["encoding"]["strokeWidth"]["scale"]["type"] == "ordinal"  # else the width of one is made up
    assert first["encoding"]["strokeWidth"]["scale"]["range"] == [charts.STROKE[LINES[0]["way"]]]
