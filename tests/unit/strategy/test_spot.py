"""Spot instances in plans: money, time, what is said, and what keeps a job off them."""

from __future__ import annotations

import pytest

from planner.report.document import plan_document
from planner.report.text import plan_text
from planner.strategy.evaluate import Result
from planner.strategy.ranges import sampled_theta
from tests.planning import document, problem_of, solve, strategy

P4D = "offers.p4d-spot."


def train(result: Result):  # type: ignore[no-untyped-def]
    return next(job for job in strategy(result, "cloud").jobs if job.job == "train")


def test_a_job_says_by_which_terms_it_is_rented() -> None:
    result = solve(document("spot-node"))
    places = {job.job: job.resource for job in strategy(result, "cloud").jobs}
    assert places == {"train": "p4d-spot", "smoke": "p4d"}
    only_spot = solve(document("spot-node", {"rental.offers": ["p4d-spot"]}))
    (problem,) = strategy(only_spot, "cloud").allocation.problems
    assert (problem.code, problem.params["allowed"]) == ("term_not_allowed", ["on_demand"])


def test_what_interruptions_do_stands_with_the_job() -> None:
    spot = train(solve(document("spot-node"))).spot
    assert spot.interruptions == pytest.approx(0.002254, abs=5e-7)
    assert spot.interrupted_probability == pytest.approx(0.002251, abs=5e-7)
    assert spot.lost_h == pytest.approx(9.315 / 3600, abs=1e-6)
    assert spot.waiting_h == pytest.approx(1800 * spot.interruptions / 3600)
    assert spot.on_demand_offer == "p4d"
    assert spot.on_demand_wins_at_per_instance_h == pytest.approx(0.630492, abs=5e-7)
    on_demand = train(solve(document("on-demand-node")))
    assert on_demand.spot is None


def test_without_interruptions_spot_has_the_hours_of_on_demand() -> None:
    never = train(solve(document("spot-node", {P4D + "interrupted_share_per_month": 0})))
    plain = train(solve(document("on-demand-node")))
    assert never.attempt_h == pytest.approx(plain.attempt_h, rel=1e-9)
    assert never.cost.marginal_usd - 5.4 == pytest.approx((plain.cost.marginal_usd - 5.4) * 9.9 / 21.957642, rel=1e-9)


def test_hardware_failures_add_to_interruptions() -> None:
    plain = train(solve(document("spot-node"))).spot
    failing = train(solve(document("spot-node", {"jobs.train.restarts": True}))).spot
    a_gpu_year = 0.173 * 75_959 / 3600 / 8760
    assert failing.interruptions - plain.interruptions == pytest.approx(a_gpu_year, rel=0.01)


def test_limits_count_the_wait_for_new_instances() -> None:
    taken_away = {P4D + "interrupted_share_per_month": 0.99, "rental.reacquire_s": 86_400}
    job = train(solve(document("spot-node", {**taken_away, "rental.exclude": []})))
    assert job.attempt_h > 24  # 21.1 h and three of waiting
    late = document("spot-node", {**taken_away, "jobs.train.deadline_h": 23, "rental.offers": ["p4d-spot"]})
    del late["jobs"]["smoke"]
    codes = [problem.code for problem in strategy(solve(late), "cloud").allocation.problems]
    assert codes == ["deadline_missed"]
    either = solve(document("spot-node", {**taken_away, "jobs.train.deadline_h": 23}))
    assert train(either).resource == "p4d"


def test_a_run_that_saves_nothing_is_pointed_out_and_one_that_never_ends_is_refused() -> None:
    unsaved = {"jobs.train.checkpoints": 0, "jobs.train.checkpoint_s": 0}
    risky = solve(document("spot-node", {**unsaved, P4D + "interrupted_share_per_month": 0.9}))
    assert "spot_without_checkpoints" in [issue.code for issue in train(risky).pair.fit.warnings]
    assert "spot_without_checkpoints" not in [
        issue.code for issue in train(solve(document("spot-node", unsaved))).pair.fit.warnings
    ]
    endless = document("spot-node", {**unsaved, "jobs.train.tokens": 3e12, "jobs.train.terms": ["spot"]})
    (problem,) = strategy(solve(endless), "cloud").allocation.problems
    assert problem.code == "spot_never_ends"


def test_unknown_interruptions_are_assumed_and_shown_as_such() -> None:
    plan = document("spot-node")
    del plan["offers"]["p4d-spot"]["interrupted_share_per_month"]
    del plan["rental"]["reacquire_s"]
    problem = problem_of(plan)
    share = problem.parameters[problem.column(P4D + "interrupted_share_per_month")]
    assert share.sources == ("assumptions:spot_interrupted_share_per_month",)
    assert share.estimate
    shown = {figure["id"] for figure in plan_document(solve(plan))["figures"]}
    assert {P4D + "interrupted_share_per_month", "rental.reacquire_s"} <= shown


def test_on_demand_wins_sooner_where_only_spot_is_taxed() -> None:
    taxed = {"tax.rate": 0.2}
    both = train(solve(document("spot-node", taxed))).spot
    assert both.on_demand_wins_at_per_instance_h == pytest.approx(0.630492, abs=5e-7)
    inside = {**taxed, "offers.p4d.includes_tax": True}
    one = train(solve(document("spot-node", inside))).spot
    untaxed = train(solve(document("spot-node", {"offers.p4d.price_usd_per_h": 21.957642 / 1.2}))).spot
    assert one.on_demand_wins_at_per_instance_h == pytest.approx(untaxed.on_demand_wins_at_per_instance_h, rel=1e-9)
    assert one.on_demand_wins_at_per_instance_h < both.on_demand_wins_at_per_instance_h


def test_spread_stands_beside_the_means_and_the_month_adds_up() -> None:
    risky = {P4D + "interrupted_share_per_month": 0.99, "rental.offers": ["p4d-spot"], "jobs.smoke.terms": ["spot"]}
    job = train(solve(document("spot-node", risky)))
    spot = job.spot
    assert spot.uninterrupted_probability + spot.interrupted_probability == pytest.approx(1.0)
    assert spot.cost_mean_usd == pytest.approx(job.cost.marginal_usd - 5.4)  # one attempt a run, 60 GB of egress
    assert spot.cost_p10_usd == spot.cost_p50_usd < spot.cost_mean_usd < spot.cost_p90_usd
    assert spot.time_mean_h == pytest.approx(job.attempt_h + 39.4 / 3600)
    assert spot.time_p50_h < spot.time_mean_h < spot.time_p90_h
    assert spot.month_attempts == 8
    assert spot.month_mean_usd == pytest.approx(8 * spot.cost_mean_usd)
    assert spot.month_p10_usd < spot.month_mean_usd < spot.month_p90_usd < 8 * spot.cost_p90_usd


def test_a_limit_tells_the_chance_of_no_instances() -> None:
    spot = train(solve(document("spot-node", {"jobs.train.deadline_h": 23}))).spot
    assert spot.available_share == 0.7
    assert spot.capacity_wait_h == pytest.approx(0.5 * 0.3 / 0.7)
    assert spot.no_capacity_probability == pytest.approx(0.3**4)  # 1.9 h to spare: at once and three times again
    assert spot.late_probability == pytest.approx(0.3**4, abs=0.005)
    free = train(solve(document("spot-node"))).spot
    assert (free.no_capacity_probability, free.late_probability) == (None, None)


def test_chances_of_instances_are_assumed_shown_and_move_no_money() -> None:
    result = solve(document("spot-node"))
    shown = {figure["id"]: figure for figure in plan_document(result)["figures"]}
    figure = shown[P4D + "available_share"]
    assert figure["sources"] == ["assumptions:spot_available_share"]
    assert figure["estimate"]
    drawn = sampled_theta(result.problem)
    assert len(set(drawn[:, result.problem.column(P4D + "available_share")].tolist())) == 1
    assert (train(result).start_wait, train(result).spot.available_share) == (None, 0.7)


def test_the_text_of_a_plan_says_what_spot_may_cost() -> None:
    text = plan_text(plan_document(solve(document("spot-node", {"jobs.train.deadline_h": 23}))))
    assert "8 of 10 attempts cost 208.89 (mean 208.92) and take 21.1 h" in text
    assert "within the limit none is granted in 0.81 % of the cases" in text


def test_a_chance_that_counts_is_taken_for_spot_too() -> None:
    counted = {"jobs.train.deadline_h": 23, P4D + "available_share": 0.5, P4D + "retry_s": 3600}
    result = solve(document("spot-node", counted))
    job = train(result)
    assert (job.spot.available_share, job.spot.capacity_wait_h) == (0.5, pytest.approx(1.0))
    assert job.spot.no_capacity_probability == pytest.approx(0.5**2) == pytest.approx(job.start_wait.late_share)
    figures = {figure["id"]: figure for figure in plan_document(result)["figures"]}
    assert (figures[P4D + "available_share"]["value"], figures[P4D + "available_share"]["estimate"]) == (0.5, False)
    assert "a request for instances is granted" not in plan_text(plan_document(result))
