"""What the benchmark of whole evaluations prints and draws; no times."""

from __future__ import annotations

import pytest

from benchmarks.speed_evaluations import plot, slope


def test_the_exponent_of_linear_and_of_square_growth() -> None:
    assert slope([(10, 1.0), (20, 2.5), (40, 4.0)]) == pytest.approx(1)
    assert slope([(10, 1.0), (20, 4.0)]) == pytest.approx(2)


def test_every_way_of_growing_is_drawn() -> None:
    drawn = plot({"samples": [(10, 1.0), (100, 8.0)], "months": [(6, 1.0), (84, 2.0)]})
    assert drawn.startswith("<svg ")
    assert drawn.count("<polyline") == 3
    assert "samples, 10 to 100: exponent 0.90" in drawn
