"""How what was found is held against the limits."""

from __future__ import annotations

import math

import numpy as np

from benchmarks.accuracy import ESTIMATOR, Score
from benchmarks.accuracy_tables import beside_best, plain


def test_a_score_is_in_percent_of_the_measured_value_and_leaves_out_what_was_refused() -> None:
    found = Score.of(np.log([1.1, 0.8, 1.0, math.nan]))
    assert found is not None
    assert (found.n, round(found.median_ape, 9), round(found.bias, 9)) == (3, 10.0, 0.0)
    assert round(found.p90_ape, 9) == 18.0  # between 10 and 20, four fifths of the way
    assert Score.of(np.array([math.nan])) is None


def test_the_best_median_and_the_best_tail_may_be_of_two_baselines() -> None:
    scores = {
        ESTIMATOR: Score(n=9, median_ape=12.0, p90_ape=31.0, bias=0.0),
        "MFU per GPU": Score(n=9, median_ape=10.0, p90_ape=50.0, bias=0.0),
        "TFLOPS ratio": Score(n=9, median_ape=20.0, p90_ape=30.0, bias=0.0),
        "llm-analysis": None,
    }
    median, tail = beside_best("rows", scores, ESTIMATOR)
    assert (median.found, median.limit, median.met) == (12.0, 12.0, True)
    assert (tail.found, tail.limit, tail.met) == (31.0, 30.0, False)
    assert plain({"targets": [tail]}) == {
        "targets": [
            {"what": "rows, beside the best other, p90", "found": 31.0, "limit": 30.0, "unit": "%", "met": False}
        ]
    }
