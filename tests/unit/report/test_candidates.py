"""Which GPUs each job could run on, and what the speeds there rest on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from planner.performance.evidence import load_evidence
from planner.performance.own_rows import with_own_rows
from planner.report.candidates import candidates
from planner.scenario.load import check_document, read_document
from planner.scenario.paths import with_overrides
from planner.strategy.evaluate import evaluate
from tests.planning import TODAY, shipped_catalog
from tests.unit.report.test_held_out import ROOT

OWN = (
    b"id,gpu,n_gpus,model,input,batch_per_gpu,precision,throughput\n"
    b"mine,rtx-4090,1,bert-large-squad,seq384,32,fp16,99\n"
)


def solved(evidence=None, name="hybrid-lab", **changes):
    document = read_document((ROOT / "examples" / f"{name}.yaml").read_bytes())
    scenario = check_document(with_overrides(document, changes))
    return evaluate(scenario, shipped_catalog(), evidence or load_evidence(), today=TODAY)


def found(evidence=None, name="hybrid-lab", **changes):
    return candidates(solved(evidence, name, **changes))


@pytest.fixture(scope="module")
def shipped():
    return found()


def test_each_job_and_gpu_stands_once_those_in_use_first(shipped):
    keys = [(one.job, one.gpu, one.gpus, one.throughput) for one in shipped]
    assert len(keys) == len(set(keys))
    assert {one.job for one in shipped} == {"daily", "key"}
    for job in ("daily", "key"):
        used = [bool(one.ways) for one in shipped if one.job == job]
        assert used == sorted(used, reverse=True)
        assert any(used)
    assert [one.job for one in shipped] == sorted((one.job for one in shipped), key=["daily", "key"].index)


def test_a_measured_speed_names_its_rows_and_an_estimated_one_has_none(shipped):
    bases = {one.basis for one in shipped}
    assert {"measured", "estimated"} <= bases
    for one in shipped:
        assert bool(one.rows) == (one.basis == "measured"), one
        assert one.low is not None and one.high is not None and one.low < one.throughput < one.high
    card = next(one for one in shipped if (one.job, one.gpu) == ("daily", "rtx-4090"))
    assert card.rows and card.rows[0].startswith("lam-")
    assert "bert-large-squad-finetune" in card.models


def test_own_rows_and_given_speeds_are_told_apart():
    evidence, problems = with_own_rows(load_evidence(), OWN, file="runs.csv", catalog=shipped_catalog())
    assert problems == ()
    mine = next(one for one in found(evidence) if (one.job, one.gpu) == ("daily", "rtx-4090"))
    assert (mine.basis, mine.rows, mine.throughput) == ("own", ("own:runs.csv:mine",), 99.0)
    given = {"jobs.daily.throughput": {"rtx-4090": 50}}
    said = next(one for one in found(**given) if (one.job, one.gpu) == ("daily", "rtx-4090"))
    assert (said.basis, said.rows, said.throughput) == ("given", (), 50.0)


def test_a_prediction_that_own_rows_moved_is_still_one():
    result = solved()
    pair = next(pair for pair in result.problem.pairs if pair.fit.basis == "estimated" and pair.feasible)
    parameters = list(result.problem.parameters)
    rate = parameters[pair.throughput_at]
    parameters[pair.throughput_at] = replace(rate, sources=("measurements:own:runs.csv:a", *rate.sources))
    moved = replace(result, problem=replace(result.problem, parameters=tuple(parameters)))
    (one,) = [one for one in candidates(moved) if one.moved_by_own]
    assert (one.basis, one.rows) == ("estimated", ("own:runs.csv:a",))


def test_what_cant_run_is_no_candidate():
    pretraining = found(name="pretrain-7b")
    assert ("h100-sxm5-80gb", 8) in {(one.gpu, one.gpus) for one in pretraining}
    assert ("h100-sxm5-80gb", 1) not in {(one.gpu, one.gpus) for one in pretraining}  # offers of one hold no 7 B
