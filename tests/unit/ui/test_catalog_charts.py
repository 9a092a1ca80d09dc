"""Charts of the Catalog page: what stands where, that labels keep apart, and what the words say."""

import altair as alt
import pytest

from tests.unit.ui.contrast import contrast
from ui import catalog_charts
from ui.catalog_charts import Dot, PricePoint
from ui.palette import palette


def dot(name, index, measure="Peak FP32", chosen=False):
    return Dot(measure=measure, name=name, index=index, exact=f"${index}", chosen=chosen)


DOTS = [
    dot("RTX 3090", 2.66),
    dot("RTX 4090", 2.56, chosen=True),
    dot("H100", 50),
    dot("A100", 100),
    dot("RTX 3090", 14, "BERT-large"),
    dot("RTX 4090", 17, "BERT-large", chosen=True),
    dot("H100", 89, "BERT-large"),
    dot("A100", 100, "BERT-large"),
]
POINTS = [
    PricePoint(day="2023-01-01", usd_per_gpu_h=4.1, text="$4.10"),
    PricePoint(day="2025-03-02", usd_per_gpu_h=4.1, text="$4.10"),
    PricePoint(day="2026-10-01", usd_per_gpu_h=2.74, text="$2.74"),
]


def labels(spec):
    return spec["layer"][2]["data"]["values"]


@pytest.mark.parametrize("dark", [False, True])
def test_charts_are_valid_and_their_texts_can_be_read(dark):
    ground = palette(dark=dark).page
    for spec in (
        catalog_charts.speed_price_chart(DOTS, reference="A100", dark=dark),
        catalog_charts.history_chart(POINTS, today="2026-11-30", dark=dark),
    ):
        alt.LayerChart.from_dict({"data": {"values": []}, **spec})
        inks = {row["ink"] for layer in spec["layer"] for row in layer["data"]["values"] if "ink" in row}
        assert inks and all(contrast(ink, ground) >= 4.5 for ink in inks)


def test_the_chosen_gpu_stands_out_with_its_value():
    spec = catalog_charts.speed_price_chart(DOTS, reference="A100", dark=False)
    chosen = [row for row in labels(spec) if row["chosen"]]
    assert [row["label"] for row in chosen] == ["RTX 4090 2.6", "RTX 4090 17"]
    assert {row["weight"] for row in chosen} == {700}
    assert {row["fill"] for row in labels(spec) if not row["chosen"]} == {palette(dark=False).fill["upkeep"]}
    assert [span["end"] for span in spec["layer"][0]["data"]["values"]] == [100, 100]


def test_labels_of_one_measure_never_share_a_place():
    close = [dot(f"Card number {number}", 80 + number, chosen=number == 0) for number in range(4)]
    rows = labels(catalog_charts.speed_price_chart(close, reference="x", dark=False))
    assert len({row["dy"] for row in rows}) == 4


def test_the_axis_holds_every_dot_and_says_that_it_is_log():
    spec = catalog_charts.speed_price_chart([dot("a", 0.4), dot("b", 100)], reference="b", dark=False)
    x = spec["layer"][0]["encoding"]["x"]
    assert x["scale"]["type"] == "log" and x["scale"]["domain"][0] < 0.4 and x["scale"]["domain"][1] > 100
    assert "log" in x["axis"]["title"] and "b = 100" in x["axis"]["title"]


def test_a_price_is_held_until_the_next_and_named_where_it_changes():
    spec = catalog_charts.history_chart(POINTS, today="2026-11-30", dark=False)
    line, _, words = (layer["data"]["values"] for layer in spec["layer"])
    assert line[-1]["day"] == "2026-11-30" and line[-1]["usd_per_gpu_h"] == 2.74
    assert [(row["text"], row["align"]) for row in words] == [("$4.10", "left"), ("$2.74", "right")]


def test_the_chart_in_words():
    assert catalog_charts.speed_price_alt(DOTS[:2]) == "RTX 3090, Peak FP32: 2.66. RTX 4090, Peak FP32: 2.56."
