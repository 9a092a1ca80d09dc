"""The Accuracy page's charts and words: points, band, ticks, signs."""

import math
from dataclasses import replace

import pytest

from planner.report.candidates import Candidate
from planner.report.errors_by_group import errors_of
from tests.planning import shipped_catalog
from tests.unit.validate.tables import scored
from ui import accuracy_charts, accuracy_data
from ui.accuracy_plan import candidate_row
from ui.accuracy_tables import worst_finding
from ui.accuracy_words import percent, signed, whole
from ui.formatting import NBSP
from ui.palette import DARK, LIGHT

ROWS = [
    scored(100.0, 90.0, low=72.0, high=108.0, gpu="a"),
    scored(1000.0, 2000.0, low=1600.0, high=2400.0, gpu="b"),
    scored(50.0, 50.0, gpu="b"),
    scored(50.0, None, gpu="b", skipped="unknown"),
    scored(50.0, 60.0, gpu="a", flagged=True),
]
POINTS = accuracy_charts.points_of(ROWS, lambda row: row.gpu, lambda row: f"source of {row.id}")


def plain(text):
    return text.replace(NBSP, " ")


def chart(**options):
    usual = accuracy_charts.band(ROWS)
    return accuracy_charts.agreement_chart(POINTS, usual, unit="tokens/s", **{"chosen": None, "dark": False, **options})


def test_only_rows_that_count_are_points():
    assert list(POINTS.columns) == list(accuracy_charts.COLUMNS)
    assert list(POINTS["p"]) == [90.0, 2000.0, 50.0]
    assert [plain(words) for words in POINTS["e"]] == ["−10 %", "+100 %", "0 %"]
    assert math.isnan(POINTS["l"][2])


def test_the_band_is_that_of_the_usual_row():
    assert accuracy_charts.band(ROWS) == pytest.approx((0.8, 1.2))
    assert accuracy_charts.band(ROWS[2:]) is None
    area = chart()["layer"][0]["data"]["values"]
    assert [(end["py"] / end["m"], end["t"] / end["m"]) for end in area] == [pytest.approx((1 / 1.2, 1 / 0.8))] * 2
    errors = chart(as_errors=True)["layer"][0]["data"]["values"]
    assert [(end["py"], end["t"]) for end in errors] == [pytest.approx((1 / 1.2, 1 / 0.8))] * 2


def test_a_row_at_the_end_of_its_interval_lies_at_the_edge_of_the_band():
    low, high = accuracy_charts.band(ROWS)
    lowest, highest = (scored(end, 100.0, low=low * 100, high=high * 100) for end in (low * 100, high * 100))
    lower, upper = (next(iter(chart(as_errors=True)["layer"][0]["data"]["values"]))[key] for key in ("py", "t"))
    assert lowest.predicted / lowest.measured == pytest.approx(upper)
    assert highest.predicted / highest.measured == pytest.approx(lower)


def test_the_chosen_gpu_alone_is_in_ink():
    spec = chart(chosen="b")
    assert list(spec["datasets"]["in_ink"]["g"]) == ["b", "b"]
    assert len(spec["datasets"]["runs"]) == 3
    assert chart()["datasets"]["in_ink"].empty
    assert len(chart(all_in_ink=True)["datasets"]["in_ink"]) == 3


def test_another_choice_changes_no_more_than_the_points_in_ink():
    def without_points(spec):
        return {key: value for key, value in spec.items() if key != "datasets"}

    assert without_points(chart(chosen="a")) == without_points(chart(chosen="b")) == without_points(chart())


@pytest.mark.parametrize(("dark", "colours"), [(False, LIGHT), (True, DARK)])
def test_marks_take_the_colours_of_the_theme(dark, colours):
    layers = chart(dark=dark)["layer"]
    assert layers[2]["mark"]["color"] == colours.secondary
    assert all(layer["mark"]["color"] == colours.text for layer in layers[3]["layer"])


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (800.0, 4e7, [1e3, 1e4, 1e5, 1e6, 1e7]),
        (2.0, 2e7, [10.0, 1e3, 1e5, 1e7]),
        (3.0, 110.0, [3.0, 10.0, 30.0, 100.0]),
        (40.0, 150.0, [50.0, 70.0, 100.0, 150.0]),
    ],
)
def test_ticks_are_round_and_few(low, high, expected):
    assert accuracy_charts.log_ticks(low, high) == pytest.approx(expected)


@pytest.mark.parametrize("high", [1.001, 1.01, 1.1, 2.0, 9.0, 1e3, 1e12])
def test_there_are_always_ticks_within_the_axis(high):
    ticks = accuracy_charts.log_ticks(1.0, high)
    assert 1 <= len(ticks) <= 5
    assert all(1.0 <= tick <= high * 1.0001 for tick in ticks)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (4.23, "+4.2 %"), (-12.4, "−12 %"), (0.01, "0 %"), (-0.04, "0 %"), (250.0, "+250 %"), (205190.0, "2,053 times"),
        (899.0, "+899 %"), (None, "unknown"),
    ],
)  # fmt: skip
def test_errors_have_a_sign_and_huge_ones_a_factor(error, words):
    assert plain(signed(error)) == words


def test_sizes_of_errors_in_words():
    assert [plain(percent(value)) for value in (0.0, 4.25, 9.96, 31.4, 1234.0)] == [
        "0.0 %", "4.2 %", "10 %", "31 %", "1,234 %",
    ]  # fmt: skip
    assert [plain(whole(value)) for value in (0.4, 6.9, 31.0)] == ["0.4 %", "7 %", "31 %"]
    assert percent(None) == whole(None) == "unknown"


def test_the_worst_run_is_said_by_direction_and_size():
    assert plain(worst_finding(ROWS)) == "The worst is predicted 100 % too high; 1 of 3 are off by more than half"
    low = [scored(100.0, 20.0)]
    assert plain(worst_finding(low)).startswith("The worst is predicted 80 % too low; 1 of 1")
    huge = [scored(10.0, 500.0)]
    assert plain(worst_finding(huge)).startswith("The worst is predicted 50 times too high")


def test_the_chart_is_said_in_words():
    words = plain(accuracy_charts.agreement_alt("Speed", errors_of(ROWS), POINTS, "tokens/s"))
    assert words.startswith("Speed, predicted against measured: 3 runs from 50 to 1,000 tokens/s, half within 10 %")
    assert "50 % within their likely range" in words  # of two with a range


def candidate(**changes):
    one = Candidate(
        job="daily", workload="bert-large-squad", models=frozenset(("bert-large-squad",)), gpu="rtx-4090", gpus=1,
        basis="estimated", throughput=80.0, low=70.0, high=None, unit="samples_per_s", rows=(),
        moved_by_own=False, ways=(),
    )  # fmt: skip
    return replace(one, **changes)


@pytest.mark.slow
def test_a_candidate_says_what_its_speed_rests_on():
    shipped, names = accuracy_data.shipped(), accuracy_data.GpuNames(shipped_catalog())

    def row(**changes):
        return {head: plain(cell) for head, cell in candidate_row(shipped, names, candidate(**changes)).items()}

    cells = row()
    assert (cells["Runs on"], cells["Speed"], cells["Likely"]) == ("1 × GeForce RTX 4090", "80 samples/s", "unknown")
    assert (cells["Speed is"], cells["Rows behind it"], cells["In"]) == ("estimated", "none, formulas", "no way")
    assert cells["Predictions like it"].startswith("same GPU and family, ")
    assert row(moved_by_own=True)["Speed is"] == "estimated, moved by your runs"
    many = row(basis="transferred", rows=tuple(f"r{number}" for number in range(9)), ways=("cloud", "hybrid"))
    assert many["Rows behind it"] == "r0, r1, r2, r3, r4, r5 and 3 more"
    assert many["In"] == "Mix, Rent all"
    measured = row(basis="measured", rows=("lam-1",))
    assert measured["Predictions like it"] == "none, it is not predicted"
    assert row(basis="given")["Rows behind it"] == "the scenario"
