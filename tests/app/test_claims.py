"""The Claims page through AppTest: counts, filters, boxes, sources."""

import csv
import io
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from ui import claims_data
from ui.claims_blocks import PAGE
from ui.claims_rows import TOPICS, VERDICTS, claims_csv, claims_json, matching, ours, printed

pytestmark = pytest.mark.app

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def document():
    return claims_data.document()


@pytest.fixture
def claims_page():
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).run()
    at.switch_page("ui/pages/claims.py").run()
    assert not at.exception
    return at


def boxes(at):
    """Verdict and printed sentence of the boxes drawn, as they are written."""
    return [markdown.value for markdown in at.markdown if "-badge[" in markdown.value and "“" in markdown.value]


def words(at):
    return "\n".join(markdown.value for markdown in at.markdown)


def test_the_title_counts_the_verdicts(claims_page, document):
    title = claims_page.title[0].value
    counts = document["counts"]
    assert f"Of {len(document['claims'])} printed claims" in title
    assert f"{counts['holds']} hold, {counts['conditional']} hold under" in title
    assert f"{counts['does_not_hold']} do not" in title


def test_every_claim_can_be_reached(claims_page, document):
    seen = len(boxes(claims_page))
    assert seen == PAGE
    while seen < len(document["claims"]):
        claims_page.button(key="claims_more").click().run()
        assert not claims_page.exception
        assert len(boxes(claims_page)) > seen
        seen = len(boxes(claims_page))
    assert "nan" not in words(claims_page).lower().split()
    assert "None" not in words(claims_page)


@pytest.mark.parametrize("verdict", VERDICTS)
def test_a_verdict_can_be_filtered(claims_page, document, verdict):
    claims_page.session_state["claims_verdicts"] = [verdict]
    claims_page.run()
    colour = {"holds": "blue", "conditional": "yellow", "does_not_hold": "orange", "undecidable": "gray"}[verdict]
    assert len(boxes(claims_page)) == min(PAGE, document["counts"][verdict])
    assert all(box.startswith(f":{colour}-badge[:material/") for box in boxes(claims_page))


def test_topics_and_search_narrow_down(claims_page, document):
    claims_page.session_state["claims_topic"] = "money"
    claims_page.run()
    money = [row for row in document["claims"] if row["topic"] == "money"]
    assert len(boxes(claims_page)) == len(money)
    claims_page.text_input(key="claims_search").set_value("p4d 24XLARGE").run()
    assert len(boxes(claims_page)) == 1
    assert f"1 of {len(document['claims'])} claims" in words(claims_page)


def test_finding_nothing_offers_the_way_back(claims_page):
    claims_page.text_input(key="claims_search").set_value("zeppelin $ [x](y) `").run()
    assert not claims_page.exception
    assert boxes(claims_page) == []
    assert "No claim has all of this" in words(claims_page)
    claims_page.button(key="claims_reset").click().run()
    assert not claims_page.exception
    assert len(boxes(claims_page)) == PAGE
    assert claims_page.text_input(key="claims_search").value == ""


def test_filters_survive_a_look_at_another_page(claims_page):
    claims_page.text_input(key="claims_search").set_value("nvlink").run()
    found = len(boxes(claims_page))
    claims_page.switch_page("ui/pages/plan.py").run()
    claims_page.switch_page("ui/pages/claims.py").run()
    assert claims_page.text_input(key="claims_search").value == "nvlink"
    assert len(boxes(claims_page)) == found < PAGE


def test_the_price_of_speed_shows_its_spread(claims_page):
    claims_page.text_input(key="claims_search").set_value("67 %").run()
    charts = claims_page.get("vega_lite_chart") or claims_page.get("arrow_vega_lite_chart")
    assert len(charts) == 2  # the bar of verdicts, and the spread


def test_topics_cover_all_claims(document):
    assert {row["topic"] for row in document["claims"]} <= set(TOPICS)
    listed = [row["id"] for topic in TOPICS for row in matching(document, topic=topic)]
    assert sorted(listed) == sorted(row["id"] for row in document["claims"])


@pytest.mark.parametrize(
    ("claim", "words_printed", "words_ours"),
    [
        ("a100-cuda-cores", "6,912 cores", "6,912 cores"),
        ("p4d-price", "$32.00 an hour", "$21.96 an hour"),
        ("rtx-4090-against-a100-fp32", "82.6 TFLOPS", "82.6 / 19.5 TFLOPS"),
        ("t4-pcie", "Gen4", "Gen3"),
        ("colab-a100-free", "$0 an hour", "$1.31 an hour"),
        ("cuda-cudnn-pair", "8.2", "8.4"),
        ("h100-waiting", "23 %", "unknown"),
        ("speed-by-cuda-cores", "no number", "5.09 times"),
    ],
)
def test_figures_stand_in_the_unit_of_the_claim(document, claim, words_printed, words_ours):
    row = next(row for row in document["claims"] if row["id"] == claim)
    assert printed(row).replace("\N{NO-BREAK SPACE}", " ") == words_printed
    assert ours(row).replace("\N{NO-BREAK SPACE}", " ") == words_ours


def numbers(text):
    return [float(number.replace(",", "")) for number in re.findall(r"(?<![\w.-])\d[\d,]*(?:\.\d+)?(?![\w.]*\d)", text)]


def test_a_figure_is_rounded_as_in_its_sentence(document):
    apart = []
    for row in document["claims"]:
        if row["topic"] == "software":
            continue
        for mine in numbers(ours(row)):
            near = [said for said in numbers(row["explanation"]) if said and abs(mine - said) <= 0.015 * said]
            if near and mine not in near:
                apart.append((row["id"], mine, near))
    assert apart == []
    rows = {row["id"]: row for row in document["claims"]}
    assert "78 % in mixed precision, 81 % in TF32 and 56 % with two cards" in rows["rtx-4090-over-3090"]["explanation"]
    assert ours(rows["rtx-4090-over-3090"]).replace("\N{NO-BREAK SPACE}", " ") == "56–81 %"
    assert ours(rows["hybrid-capex"]).replace("\N{NO-BREAK SPACE}", " ") == "86 %"


def test_the_files_are_those_of_the_command_line(document):
    done = subprocess.run(
        [sys.executable, "-m", "planner", "claims", "--json"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert json.loads(claims_json(document)) == json.loads(done.stdout)
    rows = list(csv.DictReader(io.StringIO(claims_csv(document["claims"]))))
    assert [row["verdict"] for row in rows] == [row["verdict"] for row in document["claims"]]
    assert all(row["printed_value"] != "None" for row in rows)
