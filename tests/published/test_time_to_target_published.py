"""Times of MLPerf's rounds against predictions that hadn't seen them: whole systems and whole rounds left out."""

from __future__ import annotations

import pytest

from planner.report.held_out import load_held_out
from tests.unit.performance.targets import baseline, errors, left_out, runs_of

SYSTEM, ROUND = "unseen system", "newest round"


@pytest.mark.parametrize("task", ["resnet", "llama2_70b_lora", "bert"])
@pytest.mark.parametrize(("split", "group"), [(SYSTEM, "system"), (ROUND, "round")])
def test_runs_left_out_stay_within_the_limits(task: str, split: str, group: str) -> None:
    found, id = errors(task, split), f"mlperf-{task.replace('_', '-')}-{group}"
    limit = next(shipped.limit for shipped in load_held_out() if shipped.id == id)
    assert limit is not None
    assert found[0] < limit.median_ape and found[1] < limit.p90_ape


@pytest.mark.parametrize(
    ("task", "split"),
    [("resnet", SYSTEM), ("llama2_70b_lora", SYSTEM), ("bert", SYSTEM), ("resnet", ROUND), ("llama2_70b_lora", ROUND)],
)
def test_no_baseline_is_clearly_better(task: str, split: str) -> None:
    """The median at most 2 points above the best of the baselines', the 90th percentile never above."""
    found, others = errors(task, split), baseline(task, split)
    assert len(others) == 3
    assert found[0] < min(median for median, _ in others) + 2
    assert found[1] < min(p90 for _, p90 in others)


def test_bert_of_the_newest_round_keeps_to_the_median_of_the_baselines() -> None:
    """Three of its thirteen runs are of systems off the beaten track; scaling the next system hits them by luck."""
    assert errors("bert", ROUND)[0] < min(median for median, _ in baseline("bert", ROUND)) + 2


def test_left_out_means_the_whole_group() -> None:
    rounds = left_out("bert", ROUND)
    assert {miss.run.year for miss in rounds} == {max(run.year for run in runs_of()["bert"])}
    assert len(left_out("bert", SYSTEM)) == len(runs_of()["bert"]) == 55
    assert {miss.novelty for miss in left_out("bert", "unseen GPU")} == {"new-gpu"}
