"""Break-even on the Plan page: sentences for each outcome, and where the figure puts lines, ring and rule."""

from typing import Any

import altair as alt
import pytest

from planner.report.break_even import break_even_entries
from planner.report.document import plan_document
from tests.planning import catalog, small_plan, solve
from ui import break_even_chart, plan_break_even
from ui.break_even_chart import Meeting, UseLine, cost_at, use_alt, use_chart
from ui.formatting import NBSP, USD, Currency
from ui.palette import palette
from ui.view import View

OWN = UseLine(way="local", label="Own all", points=[(0.0, 1000.0), (50.0, 1100.0), (100.0, 1200.0)])
RENT = UseLine(way="cloud", label="Rent all", points=[(0.0, 0.0), (50.0, 2000.0), (100.0, 4000.0)])
SAME = Meeting(percent=26.0, cost_usd=1052.0, text="Same cost at 26 %,\n50 runs a month")


def plain(text: str) -> str:
    return text.replace(NBSP, " ")


def shown(changed: dict[str, Any] | None = None) -> tuple[View, dict[str, Any]]:
    """Own all against rent all."""
    plan = small_plan(changed)
    result = solve(plan)
    view = View(plan_document(result), plan, catalog(), USD)
    return view, break_even_entries(result)[0]


def said(changed: dict[str, Any] | None = None, *, discounted: bool = True) -> list[str]:
    view, entry = shown(changed)
    return [plain(line) for line in plan_break_even.sentences(view, entry, discounted=discounted)]


def test_use_price_and_month_in_sentences() -> None:
    use, price, month = said()
    assert use == (
        "**Use**: Own all and Rent all cost the same when the owned machines are busy **6 %** of their hours:"
        " 41.1 runs a month, 494 hours of work in 12 months. Planned are 14 %. Above, Own all costs less."
    )
    assert price == "**Rental price**: both cost the same at **$0.85** an hour instead of $2.00, rented, on demand."
    assert month == "**Month**: Own all has made up for its higher purchase in month **8**, resale not counted."


def test_interest_is_a_switch() -> None:
    changed = {"discount_rate": 0.5}
    assert "month **8**" in said(changed, discounted=False)[2]
    assert "month **10**" in said(changed)[2]
    assert said(changed, discounted=False)[0] != said(changed)[0]


@pytest.mark.parametrize(
    ("changed", "number", "words"),
    [
        ({"machines.own.gpu_price_usd": 1e6}, 0, "Rent all costs less however busy the machines of Own all are: even"),
        ({"machines.own.gpu_price_usd": 1e6}, 1, "Rent all costs less, even at a hundred times"),
        ({"machines.own.gpu_price_usd": 1e6}, 2, "within 12 months Own all does not make up"),
        ({"staff.fte_cloud": 1, "staff.cost_usd_per_fte_year": 5000}, 0, "Own all costs less however little"),
        ({"staff.fte_cloud": 1, "staff.cost_usd_per_fte_year": 5000}, 1, "Own all costs less, even if instances"),
    ],
)  # fmt: skip
def test_never_is_said(changed: dict[str, Any], number: int, words: str) -> None:
    assert words in said(changed)[number]


def test_machines_that_are_full_before_the_others_are() -> None:
    view, entry = shown({"machines.own.gpu_price_usd": 1e6})
    half = {**entry, "curve": [point for point in entry["curve"] if point["utilisation"] < 0.51]}
    (use, *_) = plan_break_even.sentences(view, half, discounted=True)
    assert "before machines of one of the two ways are full, at 50 % of their hours" in plain(use)


@pytest.mark.parametrize("reason", ["same_cost", "no_machines", "no_work"])
def test_no_use_to_ask_for(reason: str) -> None:
    view, entry = shown()
    nothing = {"discounted": True, "scale": None, "reason": reason, "runs": [], "further_scales": []}
    (use, *_) = plan_break_even.sentences(view, {**entry, "use": [nothing, nothing], "curve": []}, discounted=True)
    assert use.startswith("**Use**: ")


def test_several_offers_and_crossings() -> None:
    view, entry = shown()
    use, price = (dict(entry[part][1]) for part in ("use", "rental_price"))
    use["further_scales"] = [3.0]
    price["offers"] = [*price["offers"], {"id": "other", "price_usd_per_h": 8.0 * price["factor"]}]
    found = plan_break_even.sentences(
        view, {**entry, "use": [use, use], "rental_price": [price, price]}, discounted=True
    )
    assert plain(found[0]).endswith("So they do at 41 %; see the lines.")
    assert "at **0.43 ×** the rental prices" in plain(found[1])
    assert "$8 other" not in plain(found[1])
    assert "instead of $8" in plain(found[1])


def test_the_cheaper_side_beyond_is_read_from_the_curve() -> None:
    """Where the ring is past the last point of the curve, that point says it."""
    view, entry = shown()
    turned = [{**point, "owning_present_value_usd": point["renting_present_value_usd"] + 1} for point in entry["curve"]]
    assert (
        "Above, Rent all costs less" in plan_break_even.sentences(view, {**entry, "curve": turned}, discounted=True)[0]
    )


def spec(meeting: Meeting | None = SAME, planned: float = 40.0, **options: Any) -> Any:
    return use_chart(OWN, RENT, meeting, planned, **({"currency": USD, "dark": False} | options))


def test_the_specification_follows_the_grammar() -> None:
    for dark in (False, True):
        alt.LayerChart.from_dict(spec(dark=dark, faded=dark), validate=True)
    alt.LayerChart.from_dict(spec(None), validate=True)


def rows(drawn: Any, number: int) -> list[dict[str, Any]]:
    values: list[dict[str, Any]] = drawn["layer"][number]["data"]["values"]
    return values


def test_ways_keep_their_colour_and_dash() -> None:
    for dark in (False, True):
        encoding = spec(dark=dark)["layer"][0]["encoding"]
        assert encoding["color"]["scale"]["domain"] == ["local", "cloud"]
        assert encoding["color"]["scale"]["range"] == [palette(dark=dark).way[way] for way in ("local", "cloud")]
        assert encoding["strokeDash"]["scale"]["range"] == [[6, 4], [2, 3]]


def test_the_dearer_line_leaves_the_figure_at_four_times_the_other() -> None:
    high = UseLine(way="cloud", label="Rent all", points=[(0.0, 0.0), (50.0, 20_000.0), (100.0, 40_000.0)])
    drawn = use_chart(OWN, high, SAME, 2.0, currency=USD, dark=False)
    scale = 1000.0
    last = [row for row in rows(drawn, 0) if row["way"] == "cloud"][-1]
    assert last["cost"] * scale == pytest.approx(4800)
    assert last["percent"] == pytest.approx(12)  # 400 USD a per cent
    assert break_even_chart.top_usd([OWN, high], 50.0) == pytest.approx(20_000)  # the plan itself is always in


def test_the_ring_and_its_words_stand_where_the_lines_part() -> None:
    early, late = spec(), spec({**SAME, "percent": 70.0})
    for drawn, align, baseline in ((early, "left", "top"), (late, "right", "bottom")):
        marks = [layer["mark"] for layer in drawn["layer"]]
        words = [mark for mark in marks if mark["type"] == "text"][-1]
        assert (words["align"], words["baseline"]) == (align, baseline)
        assert marks[-1]["type"] == "point"
    assert [layer["mark"]["type"] for layer in spec(None)["layer"]].count("point") == 0


def test_the_rule_stands_at_the_use_planned() -> None:
    (rule,) = [layer for layer in spec()["layer"] if layer["mark"]["type"] == "rule"]
    (row,) = rule["data"]["values"]
    assert (row["percent"], plain(row["text"])) == (40.0, "This plan: 40 %")


def test_amounts_are_in_the_currency() -> None:
    drawn = spec(currency=Currency(code="EUR", usd_per_unit=5.0))
    assert drawn["layer"][0]["encoding"]["y"]["axis"]["title"] == "Total EUR"
    assert rows(drawn, 0)[0]["cost"] == pytest.approx(200)


def test_names_do_not_cover_each_other() -> None:
    near = UseLine(way="cloud", label="Rent all", points=[(0.0, 0.0), (100.0, 1201.0)])
    names = rows(use_chart(OWN, near, None, 10.0, currency=USD, dark=False), 1)
    assert abs(names[0]["cost"] - names[1]["cost"]) >= 1201 * 1.1 * 17 / 265 - 1e-9


def test_the_figure_in_words() -> None:
    assert plain(use_alt(OWN, RENT, SAME, 40.0, USD)) == (
        "Own all: $1.0 k without work to $1.2 k at 100 %. Rent all: $0 without work to $4.0 k at 100 %."
        " Same cost at 26 %, 50 runs a month. This plan: 40 %."
    )


def test_heights_between_points() -> None:
    assert cost_at(OWN["points"], 25.0) == pytest.approx(1050)
    assert cost_at(OWN["points"], 100.0) == 1200
    assert cost_at(OWN["points"], 130.0) == 1200
