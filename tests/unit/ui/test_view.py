"""What the Plan page says about a report: titles, comparisons, bars, lines and crossings."""

import copy

import pytest

from planner.catalog.load import load_catalog
from planner.report.document import plan_document
from tests.planning import document, solve
from ui import plan_best_mix, plan_rows
from ui.formatting import NBSP, USD
from ui.limit_words import limit_problem
from ui.view import View

OFFER = "aws-p4d-24xlarge-us-east-1-on-demand"
DOCUMENT = {
    "jobs": {"daily": {"class": "development"}, "key": {"class": "key"}},
    "machines": {"ws": {"gpu": "rtx-4090"}},
    "offers": {"quote": {"gpu": "a100-sxm4-40gb", "gpu_count": 8, "term": "reserved_1y", "provider": "me"}},
}


def job(id, *, rented, gpus, hours, resource=None):
    return {
        "id": id,
        "rented": rented,
        "resource": resource or (OFFER if rented else "ws"),
        "gpu": "a100-sxm4-40gb" if rented else "rtx-4090",
        "gpus": gpus,
        "runs": 10.0,
        "time_to_train_h": hours,
        "runner_up": None,
        "marginal_cost_per_run_usd": 5.0,
    }


def line(id, amount_usd, resource="ws"):
    return {"id": id, "amount_usd": amount_usd, "resource": resource}


def way(kind, tco_usd, jobs, lines, *, cards=0, start_usd=0.0, month_usd=0.0, months=12, paybacks=None):
    return {
        "id": kind,
        "kind": kind,
        "feasible": True,
        "problems": [],
        "tco_usd": tco_usd,
        "present_value_usd": tco_usd * 0.95,
        "tco_low_usd": tco_usd * 0.9,
        "tco_high_usd": tco_usd * 1.2,
        "cash_at_start_usd": start_usd,
        "paybacks": [{"against": against, "month": month} for against, month in (paybacks or {}).items()],
        "machines": [{"id": "ws", "gpu": "rtx-4090", "gpus_per_machine": 1, "count": cards, "utilisation": 0.71}]
        if cards
        else [],
        "jobs": jobs,
        "lines": lines,
        "months": [
            {
                "month": m,
                "capex_usd": start_usd if m == 1 else 0.0,
                "residual_usd": 0.0,
                "opex_usd": month_usd,
                "financing_usd": 0.0,
            }
            for m in range(1, months + 1)
        ],
    }


def report():
    daily, key = job("daily", rented=False, gpus=1, hours=2), job("key", rented=True, gpus=8, hours=24)
    hybrid = way(
        "hybrid",
        90_000.0,
        [daily, key],
        [
            line("gpu.ws", 10_000.0),
            line("tax_purchase", 1_000.0),
            line("resale_gpu.ws.m12", -3_000.0),
            line("rental.key.offer", 60_000.0, OFFER),
            line("tax_rented", 6_000.0),
            line("electricity.ws", 9_000.0),
            line("tax_local", 500.0),
            line("staff_local.ws", 6_000.0),
            line("staff_cloud", 500.0),
        ],
        cards=4,
        start_usd=11_000.0,
        month_usd=1_000.0,
        paybacks={"cloud": 6},
    )
    local = way(
        "local",
        120_000.0,
        [daily, job("key", rented=False, gpus=4, hours=60)],
        [line("gpu.ws", 120_000.0)],
        cards=12,
        start_usd=60_000.0,
        month_usd=1_000.0,
        paybacks={"cloud": None, "hybrid": None},
    )
    cloud = way(
        "cloud",
        150_000.0,
        [job("daily", rented=True, gpus=1, hours=1), key],
        [line("rental.daily.offer", 150_000.0, OFFER)],
        month_usd=3_000.0,
    )
    return {
        "horizon_months": 12,
        "recommended": "hybrid",
        "reason": "",
        "reason_code": "cheapest",
        "reason_params": {
            "strategy": "hybrid",
            "runner_up": "local",
            "saving_usd": 28_500.0,
            "saving_share": 0.25,
        },
        "strategies": [local, cloud, hybrid],
    }


@pytest.fixture(scope="module")
def catalog():
    return load_catalog()


def view_of(catalog, change=None):
    changed = copy.deepcopy(report())
    if change:
        change(changed)
    return View(changed, DOCUMENT, catalog, USD)


def plain(text):
    return text.replace(NBSP, " ").replace("**", "")


def test_titles_name_the_machines_and_their_work(catalog):
    assert view_of(catalog).title() == "Own four RTX 4090 for daily work, rent eight A100 for key runs"
    local = view_of(catalog, lambda r: r.update(recommended="local"))
    assert local.title() == "Own twelve RTX 4090 for all work"
    cloud = view_of(catalog, lambda r: r.update(recommended="cloud"))
    assert cloud.title() == "Rent eight A100 for all work, own nothing"
    assert view_of(catalog, lambda r: r.update(recommended=None)).title() == "No way gets this work done as asked"


def test_the_sentence_compares_totals(catalog):
    sentence = plain(view_of(catalog).sentence())
    assert sentence == (
        "About $90 k over 12 months: 25 % less than owning everything, 40 % less than renting everything."
    )


def test_a_near_tie_is_called_one(catalog):
    def nearly(r):
        r["strategies"][0].update(tco_usd=91_000.0, present_value_usd=91_000.0 * 0.95)

    view = view_of(catalog, nearly)
    assert "about the same as owning everything" in plain(view.sentence())
    assert view.sentence().endswith("A near tie: small changes turn it.")
    assert "about as much as owning all" in view.cost_heading()


def test_a_dearer_recommendation_says_so(catalog):
    def dearer(r):
        r["strategies"][0].update(tco_usd=75_000.0)

    view = view_of(catalog, dearer)
    assert "20 % more than owning everything" in plain(view.sentence())
    assert "$15 k more than owning all" in plain(view.cost_heading())
    assert view.sentence().endswith("Counted with interest, it is still the cheapest.")


def test_ways_that_are_the_same_plan_are_shown_once(catalog):
    def twin(r):
        _, cloud, hybrid = r["strategies"]
        r.update(recommended="cloud")
        hybrid.update(tco_usd=cloud["tco_usd"], present_value_usd=cloud["present_value_usd"])

    view = view_of(catalog, twin)
    assert [bar["way"] for bar in plan_rows.cost_bars(view)] == ["cloud", "local"]
    assert "the mix" not in view.sentence()
    assert "Rent all and Mix come out as the same plan." in view.reasons()


def test_parts_of_a_bar_add_up_and_tax_stands_with_what_it_is_paid_on(catalog):
    bar = plan_rows.cost_bars(view_of(catalog))[0]
    assert bar["way"] == "hybrid"
    assert bar["parts_usd"] == {
        "owned": 8_000.0,
        "on_demand": 66_000.0,
        "electricity": 9_000.0,
        "upkeep": 500.0,
        "people": 6_500.0,
    }
    assert sum(bar["parts_usd"].values()) == bar["total_usd"]


def test_reserved_quotes_have_their_own_colour(catalog):
    def reserved(r):
        r["strategies"][1]["lines"] = [line("rental.daily.quote", 150_000.0, "quote")]

    bars = plan_rows.cost_bars(view_of(catalog, reserved))
    assert next(bar for bar in bars if bar["way"] == "cloud")["parts_usd"] == {"reserved": 150_000.0}


def test_money_spent_starts_with_the_purchases(catalog):
    points = plan_rows.spend_lines(view_of(catalog))[0]["points"]
    assert points[0] == (0.0, 11_000.0)
    assert points[1] == (1.0, 12_000.0)
    assert points[12] == (12.0, 23_000.0)


def test_the_worth_of_owned_machines_is_no_cash(catalog):
    def owned(r):
        hybrid = r["strategies"][2]
        hybrid["lines"].append(line("opportunity.ws.gpu", 4_000.0))
        hybrid["months"][0]["capex_usd"] += 4_000.0

    assert plan_rows.spend_lines(view_of(catalog, owned))[0]["points"][1] == (1.0, 12_000.0)


def test_a_ring_stands_where_renting_becomes_dearer(catalog):
    view = view_of(catalog)
    (ring,) = plan_rows.rings(view)
    assert ring["month"] == pytest.approx(5.5)
    assert ring["spent_usd"] == pytest.approx(16_500.0)
    assert ring["text"] == "Month 6: renting all\nbecomes dearer than the mix"
    assert plan_rows.spend_heading(view) == "The owned machines pay for themselves in month 6"


def test_the_month_is_the_one_that_the_plan_found(catalog):
    def later(r):
        r["strategies"][2]["paybacks"][0]["month"] = 9

    view = view_of(catalog, later)
    assert plan_rows.rings(view)[0]["text"].startswith("Month 9: ")
    assert plan_rows.spend_heading(view).endswith("in month 9")


def test_another_way_that_pays_back_becomes_cheaper(catalog):
    def soon(r):
        r["strategies"][0]["paybacks"][1]["month"] = 10
        for month in r["strategies"][0]["months"]:
            month["opex_usd"] = -4_000.0

    text = plan_rows.rings(view_of(catalog, soon))[0]["text"]
    assert text == "Month 10: owning all\nbecomes cheaper than the mix"


def test_no_ring_without_a_crossing(catalog):
    def cheap(r):
        for month in r["strategies"][1]["months"]:
            month["opex_usd"] = 500.0
        r["strategies"][2]["paybacks"][0]["month"] = None

    view = view_of(catalog, cheap)
    assert plan_rows.rings(view) == []
    assert plain(plan_rows.spend_heading(view)) == (
        "The mix takes $17 k more cash than renting all; resale makes up for it"
    )

    def dear(r):
        cheap(r)
        r["strategies"][2].update(tco_usd=160_000.0)

    heading = plain(plan_rows.spend_heading(view_of(catalog, dear)))
    assert heading == "Before resale, the mix takes $23 k in 12 months, renting all $6.0 k"


def test_cash_by_year_adds_up_and_leaves_out_what_is_no_cash(catalog):
    def longer(r):
        r.update(horizon_months=18)
        for way in r["strategies"]:
            way["months"] = [
                {
                    "month": m,
                    "capex_usd": 0.0,
                    "residual_usd": 0.0,
                    "opex_usd": 1_000.0,
                    "amount_usd": 1_000.0,
                    "financing_usd": 0.0,
                }
                for m in range(1, 19)
            ]
        r["strategies"][0]["lines"].append(line("opportunity.ws.gpu", 4_000.0))
        r["strategies"][0]["months"][0]["amount_usd"] += 4_000.0

    first, second = plan_rows.cash_table(view_of(catalog, longer))
    assert {plain(first[way]) for way in ("Mix", "Own all", "Rent all")} == {r"\$12.0 k"}
    assert (second["Year"], plain(second["Mix"])) == ("2 (6 months)", r"\$6.0 k")


def test_reasons_hold_their_numbers(catalog):
    reasons = [plain(reason) for reason in view_of(catalog).reasons()]
    assert reasons[0] == "With later money counted less, Mix is $28.5 k (25 %) cheaper than the next, Own all."
    assert reasons[1] == "The 4 owned RTX 4090 are busy 71 % of the time."
    assert reasons[2] == "Own all: 12 RTX 4090 costs $30 k more in total. Its longest key run takes 60 h."


def test_a_way_that_cannot_work_says_why(catalog):
    def impossible(r):
        params = {"job": "key", "resource": "ws", "gpus": 4, "needs_h": 60.0, "deadline_h": 48.0}
        problem = {"code": "deadline_missed", "field": "jobs.key", "params": params}
        r["strategies"][0].update(feasible=False, problems=[problem])

    view = view_of(catalog, impossible)
    assert [bar["way"] for bar in plan_rows.cost_bars(view)] == ["hybrid", "cloud"]
    words = "Own all does not work: one run of key takes 60 h on 4 GPUs, own RTX 4090 (ws); its limit is 48 h."
    assert words in [plain(reason) for reason in view.reasons()]
    assert plain(view.sentence()).endswith("Owning everything does not work.")


def test_a_setting_that_does_not_apply_is_named(catalog):
    def impossible(r):
        params = {"job": "key", "resource": "ws", "value": 16, "expected": "nothing"}
        problem = {"code": "not_applicable", "field": "jobs.key.adapter_rank", "params": params}
        r["strategies"][0].update(feasible=False, problems=[problem])

    words = "Own all does not work: adapter_rank of key: found 16, expected nothing."
    assert words in [plain(reason).replace("\\", "") for reason in view_of(catalog, impossible).reasons()]


def test_machines_that_are_not_there_yet_are_said_in_words(catalog):
    def impossible(r):
        params = {"job": "key", "machine": "ws", "months": "1-2"}
        missing = {"code": "machines_missing", "field": "machines.ws.purchases", "params": params}
        late = {
            "code": "deadline_missed",
            "field": "jobs.key.deadline_h",
            "params": {"job": "key", "resource": "ws", "gpus": 1, "needs_h": 50.0, "deadline_h": 24.0},
        }
        r["strategies"][0].update(feasible=False, problems=[missing, late])

    reason = next(plain(one) for one in view_of(catalog, impossible).reasons() if "does not work" in one)
    assert reason.startswith(
        "Own all does not work: in months 1–2 too few ws machines are there for key. Order earlier"
    )
    assert "let key rent meanwhile. One run of key takes" in reason


def test_the_quarter_that_breaks_the_ceiling_on_cash_is_named(catalog):
    def broken(r):
        params = {"paid_usd": 6500.0, "ceiling_usd": 6000.0}
        quarters = [("Mix", "1", 0.0), ("Mix", "5", 700.0), ("Own all", "2", 9000.0)]
        r["warnings"] = [
            {
                "code": "quarter_above_ceiling",
                "message": "",
                "params": {**params, "way": way, "quarter": quarter, "paid_usd": params["paid_usd"] + more},
            }
            for way, quarter, more in quarters
        ]

    (words,) = [plain(one) for one in view_of(catalog, broken).reasons() if "ceiling" in one]
    assert words.startswith("2 quarters go over your ceiling of $6.0 k, most 5 with $7.2 k.")
    assert not [one for one in view_of(catalog, lambda r: r.update(warnings=[])).reasons() if "ceiling" in one]


def test_a_place_that_only_helps_out_is_not_in_the_title(catalog):
    def helped(r):
        way = next(way for way in r["strategies"] if way["kind"] == "hybrid")
        daily = next(job for job in way["jobs"] if not job["rented"])
        key = next(job for job in way["jobs"] if job["rented"])
        helping = {**daily, **{name: key[name] for name in ("rented", "gpu", "gpus", "resource")}}
        daily["runs"] = 950.0
        way["jobs"].append({**helping, "runs": 50.0})

    assert view_of(catalog, helped).title().endswith("rent eight A100 for key runs")

    def shared(r):
        helped(r)
        next(way for way in r["strategies"] if way["kind"] == "hybrid")["jobs"][-1]["runs"] = 500.0

    assert view_of(catalog, shared).title() == "Own four RTX 4090 for daily work, rent eight A100 for the rest"


def test_a_run_that_may_miss_its_limit_is_named(catalog):
    def late(r):
        r["strategies"][2]["jobs"][1].update(low_h=40.0, high_h=50.0, deadline_h=48.0)

    reasons = [plain(reason) for reason in view_of(catalog, late).reasons()]
    assert "One run of key may take up to 50 h, over its limit of 48 h." in reasons


def test_overlapping_ranges_are_named(catalog):
    def wide(r):
        r["strategies"][0].update(tco_low_usd=100_000.0)

    assert view_of(catalog, wide).overlapping() == "Own all"


def test_the_key_run_counts_even_when_another_takes_longer(catalog):
    def slow(r):
        r["strategies"][2]["jobs"][0]["time_to_train_h"] = 500.0

    view = view_of(catalog, slow)
    assert view.longest_run(view.recommended)["id"] == "key"


def test_commitments_are_paid_after_the_plan(catalog):
    asked = document("committed-node")
    view = View(plan_document(solve(asked)), asked, catalog, USD)
    rows = plan_rows.cash_table(view)
    assert [row["Year"] for row in rows] == ["1 (9 months)", "After the plan"]
    paid = next(row for row in rows[1].values() if row.startswith(r"\$"))
    assert plain(paid) == r"\$138 k"
    assert {len(line["points"]) for line in plan_rows.spend_lines(view)} == {13}


def test_what_is_taken_off_stands_with_what_it_reduces_and_every_line_has_words(catalog):
    plan = document("committed-node", {"rental.upload_gb": 10, "rental.ingress_usd_per_gb": 1})
    plan["offers"]["on-demand"] |= {"free_node_hours_total": 20, "price_usd_per_h": 150}
    plan["rental"]["credits"] = {"gift": {"amount_usd": 1000, "from_month": 9}}
    view = View(plan_document(solve(plan)), plan, catalog, USD)
    (way,) = (way for way in view.feasible if way["kind"] == "cloud")
    kinds = [line["id"].split(".")[0] for line in way["lines"]]
    assert {"commitment", "overflow", "free_hours", "credit", "ingress"} == set(kinds)
    parts = plan_rows.cost_bars(view)[0]["parts_usd"]
    assert sum(parts.values()) == pytest.approx(way["tco_usd"])
    assert parts["on_demand"] == pytest.approx((70 - 20) * 150 - parts_paid(way, "overflow"))
    assert parts["reserved"] == pytest.approx(12 * 730 * 62.9248 - parts_paid(way, "commitment"))
    assert {row["Line"] for row in plan_rows.line_rows(view)} >= {
        "Commitment",
        "Free hours",
        "Paid by a credit",
        "Data in",
    }


def parts_paid(way, kind):
    """What the credit pays of a kind of line."""
    return -sum(line["amount_usd"] for line in way["lines"] if line["id"].startswith(f"credit.gift.{kind}."))


def test_sales_say_when_and_of_which_purchase():
    """Machines of one type that were bought at different times are sold at different prices on the same day."""
    changes = {"owned": {"count": 1, "age_months": 24, "at_start": "sell"}, "purchases": {0: 1, 12: 1}, "count": None}
    at = {f"machines.workstation.{key}": value for key, value in changes.items()}
    plan = document("hybrid-lab", {**at, "horizon_months": 36, "machines.workstation.useful_life_months": 60})
    view = View(plan_document(solve(plan)), plan, load_catalog(), USD)
    sales = [
        row["For"] for row in plan_rows.line_rows(view) if row["Way"] == "Mix" and row["Line"] == "Resale of cards"
    ]
    assert sales == [
        "workstation, at the start",
        "workstation, month 36",
        "workstation, bought in month 12, month 36",
    ]


@pytest.mark.parametrize(
    ("code", "field", "params", "expected"),
    [
        (
            "over_limit_total",
            "limits.total_usd",
            {"value_usd": 32_405.6, "most_usd": 20_000.0},
            "the plan costs $32,406 in all; its limit is $20,000.",
        ),
        (
            "over_limit_energy_kwh",
            "limits.energy_kwh",
            {"value": 26_567.2, "most": 20_000.0},
            f"the plan draws 26,567{NBSP}kWh; its limit is 20,000{NBSP}kWh.",
        ),
        (
            "limit_to_relax_usd",
            "limits.total_usd",
            {"most_usd": 20_000.0, "needed_usd": 32_405.6},
            "no plan does all the work with “Most in total, USD” at $20,000; it would have to be $32,406 at least, "
            "other limits as they are.",
        ),
        ("deadline_missed", "jobs.key", {"needs_h": 9.0}, None),
    ],
)
def test_a_broken_limit_is_said_with_its_amounts(code, field, params, expected):
    assert limit_problem(code, field, params) == expected


def test_every_kind_of_limit_has_its_sentence():
    for kind in ("total", "capex", "cash_per_month"):
        assert limit_problem(f"over_limit_{kind}", "limits.x_usd", {"value_usd": 2e3, "most_usd": 1e3}).endswith(
            "$1,000."
        )
    assert limit_problem("over_limit_kg_co2e", "limits.kg_co2e", {"value": 2.0, "most": 1.0}).endswith("kg CO₂e.")


def test_options_left_out_can_be_told_apart():
    def left_out(option, kind="offer"):
        return {
            "option": option,
            "kind": kind,
            "reason_code": "rejected_machine_dearer" if kind == "machine" else "rejected_offer_dearer",
            "reason_params": {"job": "key", "count": 1, "more_usd": 2_554.0},
            "field": "",
        }

    regions = ["us-east-1", "us-east-2"]
    options = [left_out(f"aws-p4d-24xlarge-{region}-on-demand") for region in regions] + [left_out("ws", "machine")]
    document = {**DOCUMENT, "machines": {"ws": {"gpu": "rtx-4090", "gpus": 8}}}
    optimal = {"same_as": None, "found": True, "rejected": options}
    report = {"currency": {"code": "USD", "usd_per_unit": 1.0}, "strategies": [], "optimal": optimal}
    shown = plan_best_mix.rejected_rows(View(report, document, load_catalog(), USD))
    assert [row["Option"] for row in shown] == [
        *(f"AWS p4d.24xlarge, on demand, A100 SXM4 40GB, {region}" for region in regions),
        "ws: 8 RTX 4090",
    ]
    assert shown[0]["Why not"] == "2,554 USD more with key there"


def test_several_ways_that_break_limits_are_told_with_dollar_signs_for_the_page_to_escape(catalog):
    def limited(r):
        params = {"value_usd": 120_000.0, "most_usd": 95_000.0}
        over = {"code": "over_limit_total", "field": "limits.total_usd", "params": params}
        for way in r["strategies"][:2]:
            way.update(feasible=False, problems=[over])
        r["strategies"].append(
            {**copy.deepcopy(r["strategies"][2]), "id": "optimal", "kind": "optimal", "tco_usd": 8e4}
        )

    view = view_of(catalog, limited)
    assert plain(view.sentence()).endswith("Owning everything and renting everything do not work.")
    said = "Own all does not work: the plan costs $120,000 in all; its limit is $95,000."
    assert said in [plain(one) for one in view.reasons()]
    assert said in [plain(one) for one in view.alternatives()]
