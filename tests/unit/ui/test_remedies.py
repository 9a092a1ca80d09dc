"""Ways out of impossible plans: what each problem asks for, and that what is offered works."""

import datetime as dt
from functools import cache

import pytest

from planner.catalog.load import load_catalog
from planner.errors import PlannerError
from planner.performance.evidence import load_evidence
from planner.report.document import plan_document
from planner.scenario.load import check_document
from planner.scenario.paths import get_value, with_overrides
from planner.strategy.evaluate import evaluate
from ui.remedies import fixes, remedies, rounded_up
from ui.state import typed_value

TODAY = dt.date(2026, 11, 30)


@cache
def catalog():
    return load_catalog()


def replan(document):
    try:
        return plan_document(evaluate(check_document(document), catalog(), load_evidence(), today=TODAY))
    except PlannerError:
        return None


def scenario(**jobs):
    return {
        "schema_version": 1,
        "horizon_months": 12,
        "site": {"id": "us-average"},
        "jobs": jobs or {"daily": {"workload": "bert-large-squad", "runs_per_month": 100}},
        "machines": {"pc": {"gpu": "rtx-4090", "host": "workstation-1"}},
    }


def problem(code, *, field="", **params):
    return {"code": code, "field": field, "params": params}


@pytest.mark.parametrize(
    ("problem", "changes", "expected"),
    [
        (problem("deadline_missed", job="daily", resource="pc", needs_h=6.979), {}, [{"jobs.daily.deadline_h": 7.0}]),
        (
            problem("deadline_missed", job="daily", resource="aws-x", needs_h=142.1),
            {"rental.gpus": ["t4"]},
            [{"jobs.daily.deadline_h": 150.0}, {"rental.gpus": None}],
        ),
        (
            problem("not_applicable", field="jobs.daily.adapter_rank", job="daily", resource="pc"),
            {"jobs.daily.adapter_rank": 16},
            [{"jobs.daily.adapter_rank": None}],
        ),
        (
            problem("not_applicable", field="jobs.daily.method", job="daily", resource="pc"),
            {"jobs.daily.method": "lora"},
            [{"jobs.daily.method": "full"}],
        ),
        (problem("not_applicable", field="jobs.daily.seq_len", job="daily", resource="pc"), {}, []),
        (problem("over_capacity", machine="pc"), {}, [{"machines.pc.count": None}]),
        (
            problem("over_capacity", machine="pc"),
            {"machines": {"pc": {"purchases": {0: 1}}}},
            [{"machines.pc.count": None, "machines.pc.purchases": None}],
        ),
        (
            problem("does_not_fit", job="daily", resource="pc", min_gpus=3),
            {"jobs.daily.gpus": 1},
            [{"jobs.daily.gpus": None}, {"machines.pc.gpus": 4}],
        ),
        (
            problem("does_not_fit", job="daily", resource="aws-x", min_gpus=24),
            {"jobs.daily.max_gpus": 8, "rental.providers": ["aws"]},
            [{"jobs.daily.max_gpus": 32}, {"rental.providers": None}],
        ),
        (problem("fits_nowhere", job="daily", resource="pc"), {"rental.gpus": ["t4"]}, []),
        (problem("fits_nowhere", job="daily", resource="x"), {"rental.gpus": ["t4"]}, [{"rental.gpus": None}]),
        (
            problem("no_offers", job="daily"),
            {"rental.gpus": ["t4"], "rental.regions": ["nowhere"]},
            [{"rental.gpus": None, "rental.regions": None}],
        ),
        (problem("no_offers", job="daily"), {}, [{"rental.markets": ["cloud", "marketplace"]}]),
        (
            problem("no_offers", job="daily"),
            {"rental.markets": ["cloud", "marketplace"]},
            [{"rental.statuses": ["current", "stale"]}],
        ),
        (
            problem("no_offers", job="daily"),
            {"rental.markets": ["marketplace"], "rental.statuses": ["stale"]},
            [],
        ),
        (problem("too_many_gpus", job="daily", resource="pc"), {"jobs.daily.gpus": 9}, [{"jobs.daily.gpus": None}]),
        (problem("too_many_gpus", job="daily", resource="pc"), {}, []),
        (problem("precision_not_supported", job="daily"), {}, [{"jobs.daily.precision": None}]),
        (problem("in_house_only", job="daily"), {}, [{"jobs.daily.in_house": None}]),
        (problem("region_not_allowed", job="daily"), {}, [{"jobs.daily.regions": None}]),
        (problem("pinned_elsewhere", job="daily"), {}, [{"jobs.daily.only_on": None}]),
        (problem("pinned_off", job="daily"), {}, [{"jobs.daily.not_on": None}]),
        (problem("over_quota", field="rental.quota_gpus.aws", needed=16), {}, [{"rental.quota_gpus.aws": 16}]),
        (problem("quota_zero", field="rental.quota_gpus.aws", needed=8), {}, [{"rental.quota_gpus.aws": 8}]),
        (
            problem("over_limit_total", field="limits.total_usd", value_usd=32_405.6, most_usd=20_000.0),
            {},
            [{"limits.total_usd": 33_000.0}],
        ),
        (
            problem("limit_to_relax_kg_co2e", field="limits.kg_co2e", needed=1_133.0, most=900.0),
            {},
            [{"limits.kg_co2e": 1_200.0}],
        ),
        (problem("limit_to_relax_usd", field="cash_ceiling_usd_per_quarter", needed_usd=9.0, most_usd=5.0), {}, []),
        (problem("no_machines", job="daily"), {}, []),
        (problem("something_new"), {}, []),
    ],
)
def test_what_a_problem_asks_for(problem, changes, expected):
    assert fixes(problem, with_overrides(scenario(), changes)) == expected


@pytest.mark.parametrize(("hours", "limit"), [(6.979, 7.0), (7.0, 7.0), (142.1, 150.0), (0.0333, 0.034), (99.1, 100.0)])
def test_limits_are_rounded_up(hours, limit):
    assert rounded_up(hours) == pytest.approx(limit)
    assert rounded_up(hours) >= hours


def test_a_limit_is_raised_no_further_than_the_cheapest_way_needs():
    def way(id, total_usd, limit_usd):
        over = problem("over_limit_total", field="limits.total_usd", value_usd=total_usd, most_usd=limit_usd)
        return {"id": id, "problems": [over] if total_usd > limit_usd else []}

    def report(changed):
        limit_usd = changed["limits"]["total_usd"]
        totals_usd = {"local": 38_350.0, "cloud": 40_640.0, "hybrid": 32_410.0}
        ways = [way(id, total_usd, limit_usd) for id, total_usd in totals_usd.items()]
        works = [way["id"] for way in ways if not way["problems"]]
        return {"strategies": ways, "recommended": works[-1] if works else None}

    asked = {**scenario(), "limits": {"total_usd": 20_000.0}}
    found = remedies(report(asked), asked, report)
    assert [remedy.overrides for remedy in found] == [{"limits.total_usd": 33_000.0}]


def typed_again(remedy, document):
    return with_overrides(document, {path: typed_value(*entry) for path, entry in remedy.typed().items()})


IMPOSSIBLE = {
    "too short a limit": {"jobs.daily.deadline_h": 0.01},
    "a card without room, nothing else rented": {
        "jobs.daily.workload": "llama-3-8b",
        "jobs.daily.tokens": 1e6,
        "rental.gpus": ["t4"],
    },
    "pinned to a card that a quota forbids": {
        "jobs.daily.only_on": ["a100-sxm4-80gb"],
        "rental.quota_gpus": {"a100-sxm4-80gb": 0},
    },
    "too few machines, nothing rented": {
        "jobs.daily.runs_per_month": 20_000,
        "jobs.daily.in_house": True,
        "machines.pc.count": 1,
    },
    "no offers, too short a limit": {
        "rental.providers": ["lambda"],
        "rental.gpus": ["t4"],
        "jobs.daily.deadline_h": 0.01,
    },
}


@pytest.mark.parametrize("changes", IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_every_way_out_works(changes):
    document = with_overrides(scenario(), changes)
    report = replan(document)
    assert report is not None and report["recommended"] is None
    found = remedies(report, document, replan)
    assert 1 <= len(found) <= 2
    assert len({remedy.sentence(remedy.label()) for remedy in found}) == len(found)
    for remedy in found:
        changed = typed_again(remedy, document)
        assert all(get_value(changed, path) == value for path, value in remedy.overrides.items())
        assert replan(changed)["recommended"]
        assert remedy.report["recommended"]


def test_nothing_is_offered_where_nothing_helps():
    report = {"recommended": None, "strategies": [{"problems": [problem("no_machines", job="daily")]}]}
    assert remedies(report, scenario(), lambda document: pytest.fail("planned for nothing")) == []


def test_a_change_that_is_refused_is_not_offered():
    report = {"recommended": None, "strategies": [{"problems": [problem("over_capacity", machine="pc")]}]}
    assert remedies(report, scenario(), lambda document: None) == []


def test_the_search_ends():
    tried = []

    def never(document):
        tried.append(document)
        hours = 2.0 ** len(tried)
        late = [problem("deadline_missed", job="daily", resource="pc", needs_h=hours + n) for n in range(3)]
        return {"recommended": None, "strategies": [{"problems": [one]} for one in late]}

    assert remedies(never(scenario()), scenario(), never) == []
    assert len(tried) < 15
