"""The shipped claims: verdicts, sentences, figures and sources; and that verdicts follow the figures."""

from __future__ import annotations

import dataclasses
import datetime as dt
import re
import shutil
from collections import Counter

import pytest

from planner import messages
from planner.advise.claims import VERDICTS, Assessment, Facts, assess_claims
from planner.advise.claims.assess import RULES
from planner.catalog.load import DATA_FOLDER, load_catalog
from planner.performance.evidence import Evidence
from planner.report.claims import claims_document
from tests.planning import TODAY, evidence, shipped_catalog

# What each claim comes to. A changed figure may change a verdict: then this table is what a reviewer looks at.
EXPECTED = {
    "a100-bandwidth": "conditional",
    "a100-cuda-cores": "holds",
    "a100-energy": "does_not_hold",
    "a100-mig": "holds",
    "a100-nvlink": "conditional",
    "a100-over-2080-ti": "conditional",
    "a100-over-cpu": "does_not_hold",
    "a100-per-watt": "does_not_hold",
    "a100-power": "conditional",
    "blackwell-fp8": "does_not_hold",
    "colab-a100-free": "does_not_hold",
    "cuda-cudnn-pair": "does_not_hold",
    "cuda-driver-470": "conditional",
    "cuda-driver-515": "conditional",
    "dgx-a100-memory": "conditional",
    "gpt3-memory": "conditional",
    "grace-hopper-link": "holds",
    "h100-bandwidth": "conditional",
    "h100-per-watt": "does_not_hold",
    "h100-waiting": "undecidable",
    "hybrid-capex": "conditional",
    "hybrid-productivity": "conditional",
    "mi300x-memory": "holds",
    "one-billion-arithmetic": "does_not_hold",
    "one-billion-memory": "conditional",
    "p4d-price": "does_not_hold",
    "pcie-gen4": "conditional",
    "rtx-3060-cuda-cores": "holds",
    "rtx-3090-cuda-cores": "holds",
    "rtx-4090-against-a100-fp32": "conditional",
    "rtx-4090-bandwidth": "holds",
    "rtx-4090-cuda-cores": "holds",
    "rtx-4090-nvlink": "does_not_hold",
    "rtx-4090-over-3090": "does_not_hold",
    "rtx-4090-price-per-tflops": "conditional",
    "smaller-gpu-below-60-percent": "conditional",
    "speed-by-cuda-cores": "does_not_hold",
    "stable-diffusion-fp16": "undecidable",
    "t4-pcie": "does_not_hold",
    "tf32-eight-times": "conditional",
    "tf32-three-times": "does_not_hold",
    "transformer-engine": "conditional",
}


def test_every_claim_comes_to_its_verdict(shipped_claims: dict[str, Assessment]) -> None:
    assert {id: entry.verdict for id, entry in shipped_claims.items()} == EXPECTED


def test_there_are_enough_claims_of_every_kind(shipped_claims: dict[str, Assessment]) -> None:
    assert len(shipped_claims) >= 30
    assert set(Counter(entry.verdict for entry in shipped_claims.values())) == set(VERDICTS)
    assert {entry.claim.topic for entry in shipped_claims.values()} == {
        "specs", "performance", "memory", "money", "software",
    }  # fmt: skip


def test_every_rule_is_known_and_used(shipped_claims: dict[str, Assessment]) -> None:
    assert {entry.claim.rule for entry in shipped_claims.values()} == set(RULES)


def test_figures_and_sources_resolve(shipped_claims: dict[str, Assessment], facts: Facts) -> None:
    document = claims_document(list(shipped_claims.values()), facts)
    for row in document["claims"]:
        assert row["sources"], row["id"]
        assert all(document["sources"][source]["kind"] != "unknown" for source in row["sources"]), row["id"]
        assert all(document["sources"][source]["title"] for source in row["sources"]), row["id"]
        if row["verdict"] != "undecidable":
            assert row["figures"], row["id"]
        for figure in row["figures"]:
            assert document["figures"][figure]["value"] is not None, figure
            assert set(document["figures"][figure]["sources"]) <= set(row["sources"]), figure


def test_explanations_are_whole_sentences_with_numbers(shipped_claims: dict[str, Assessment], facts: Facts) -> None:
    for row in claims_document(list(shipped_claims.values()), facts)["claims"]:
        text = row["explanation"]
        assert text == messages.fill(row["explanation_code"], dict(row["params"])), row["id"]
        assert text[0].isupper() or text[0].isdigit(), text
        assert text.endswith("."), text
        assert re.search(r"\d", text), text
        assert not re.search(r"nan|inf\b|None|[{}\[\]]|\.\.|-0 ", text), text
        assert not re.search(r"^Not |\(PCIe|: [^;.]+: ", text), text  # a list of labels is no sentence


def test_predictions_and_plans_cite_what_they_rest_on(shipped_claims: dict[str, Assessment]) -> None:
    assert "assumptions:estimator_memory_reserve_gb" in shipped_claims["one-billion-memory"].sources
    assert "measurements:lam-2002" in shipped_claims["smaller-gpu-below-60-percent"].sources
    assert "assumptions:maintenance_share_per_year" in shipped_claims["hybrid-capex"].sources


def test_what_cannot_be_decided_says_why(shipped_claims: dict[str, Assessment]) -> None:
    waiting = shipped_claims["h100-waiting"].finding
    assert waiting.code == "claim_bound_only"
    assert waiting.our_high == pytest.approx(100 * (1 - 2039 / 3350))
    assert shipped_claims["stable-diffusion-fp16"].finding.code == "claim_not_measured"


def test_price_of_speed_spans_the_published_range(shipped_claims: dict[str, Assessment]) -> None:
    finding = shipped_claims["rtx-4090-price-per-tflops"].finding
    ranges = {
        name: [value.value for value in finding.values if value.label.startswith(name)]
        for name in ("peak fp32", "dense 16-bit", "measured BERT-large")
    }
    assert min(ranges["peak fp32"]) > 90
    assert min(ranges["dense 16-bit"]) < 67 < max(ranges["dense 16-bit"])
    assert min(ranges["measured BERT-large"]) < 75 < max(ranges["measured BERT-large"])
    assert all(f"({name})" in str(finding.params["by_definition"]) for name in ranges)


# A copy of the data files with other figures


def set_figure(text: str, record: str, name: str, value: str | None, *, new: str = "") -> str:
    """The text of a data file with one figure of a record changed, removed (None) or added (`new`)."""
    found = re.search(rf"^  - id: {re.escape(record)}\n(?:    .*\n|  #.*\n)+", text, re.MULTILINE)
    assert found is not None, record
    block = found[0]
    if new:
        changed = block + f"    {new}\n"
    else:
        changed, count = re.subn(
            rf"^(    {name}: )(\{{value: )?[\d.]+", rf"\g<1>\g<2>{value}", block, flags=re.MULTILINE
        )
        assert count == 1, (record, name)
    return text.replace(block, changed)


@pytest.fixture(scope="module")
def changed_claims(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Assessment]:
    folder = tmp_path_factory.mktemp("data")
    for file in DATA_FOLDER.glob("*.yaml"):
        shutil.copy(file, folder)
    gpus = (folder / "gpus.yaml").read_text()
    gpus = set_figure(gpus, "rtx-4090", "cuda_cores", "16000")
    gpus = set_figure(gpus, "a100-pcie-40gb", "cuda_cores", "6144")
    gpus = set_figure(gpus, "rtx-4090", "", None, new="nvlink_bridge_gb_per_s: 96")
    gpus = set_figure(gpus, "t4", "pcie_gen", "4")
    gpus = set_figure(gpus, "mi300x-192gb", "memory_gb", "256")
    gpus = set_figure(gpus, "h100-sxm5-80gb", "memory_bandwidth_gb_per_s", "2100")
    gpus = set_figure(gpus, "a100-sxm4-80gb", "nvlink_gb_per_s", "500")
    gpus = set_figure(gpus, "b200-sxm-180gb", "fp8_dense_tflop_per_s", "200")
    (folder / "gpus.yaml").write_text(gpus)
    prices = (folder / "prices.yaml").read_text()
    prices = set_figure(prices, "aws-p4d-24xlarge-us-east-1-on-demand", "price_usd_per_h", "32.2")
    (folder / "prices.yaml").write_text(prices)
    catalog = load_catalog(folder, today=TODAY)
    return {entry.claim.id: entry for entry in assess_claims(catalog, evidence(), today=TODAY)}


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("rtx-4090-cuda-cores", "does_not_hold"),
        ("a100-cuda-cores", "conditional"),
        ("rtx-4090-nvlink", "holds"),
        ("t4-pcie", "holds"),
        ("mi300x-memory", "does_not_hold"),
        ("h100-bandwidth", "does_not_hold"),
        ("h100-waiting", "does_not_hold"),
        ("a100-nvlink", "does_not_hold"),
        ("blackwell-fp8", "conditional"),
        ("p4d-price", "holds"),
    ],
)
def test_another_figure_in_the_data_gives_another_verdict(
    claim: str, verdict: str, changed_claims: dict[str, Assessment], shipped_claims: dict[str, Assessment]
) -> None:
    assert changed_claims[claim].verdict == verdict
    assert shipped_claims[claim].verdict != verdict
    assert changed_claims["rtx-3090-cuda-cores"].verdict == "holds"  # untouched


def test_another_measurement_gives_another_verdict() -> None:
    rows = tuple(
        dataclasses.replace(row, throughput=1.18 * 52.5676)
        if row.id == "lam-2002"
        else dataclasses.replace(row, throughput=1.18 * 24.8211)
        if row.id == "lam-2003"
        else row
        for row in evidence().measurements
    )
    changed = dataclasses.replace(evidence(), measurements=rows, by_id={row.id: row for row in rows})
    found = {entry.claim.id: entry for entry in assess_claims(shipped_catalog(), changed, today=TODAY)}
    assert found["rtx-4090-over-3090"].verdict == "conditional"  # two cards stay 56 % faster


def test_the_price_of_a_p4d_was_true_once(shipped_claims: dict[str, Assessment]) -> None:
    params = shipped_claims["p4d-price"].finding.params
    assert params["price"] == pytest.approx(21.957642)
    assert params["was"] == pytest.approx(32.77, abs=0.01)
    assert dt.date.fromisoformat(str(params["until"])) < TODAY


def test_without_figures_nothing_is_decided() -> None:
    empty = dataclasses.replace(
        shipped_catalog(), gpus={}, partial_gpus={}, offers={}, hardware={}, systems={}, workloads={}
    )
    nothing = Evidence(
        measurements=(),
        by_id={},
        content_hash="",
        by_model={},
        known_gpus=frozenset(),
        known_precisions=frozenset(),
        sources={},
    )
    found = assess_claims(empty, nothing, today=TODAY)
    undecided = {entry.claim.id for entry in found if entry.verdict == "undecidable"}
    by_observation = {
        "a100-over-2080-ti", "a100-over-cpu", "colab-a100-free", "cuda-cudnn-pair", "grace-hopper-link",
        "one-billion-arithmetic", "pcie-gen4", "transformer-engine",
    }  # fmt: skip
    assert undecided == set(EXPECTED) - by_observation
    assert all(entry.finding.params for entry in found)
