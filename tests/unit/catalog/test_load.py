"""Loading: what a figure carries away from the files, and every fault that stops it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path

import pytest

import planner.catalog.load as load_module
from planner.catalog import Catalog, load_catalog
from planner.errors import CatalogError, Problem

TODAY = dt.date(2026, 11, 30)
Problems = Callable[..., tuple[Problem, ...]]


def test_record_source_and_date_are_spread_over_its_figures(catalog: Catalog) -> None:
    gpu = catalog.gpus["h100-sxm5-80gb"]
    assert gpu.memory_gb.value == 80
    assert gpu.memory_gb.sources == ("fixture-specs",)
    assert gpu.memory_gb.as_of == "2026-11-01"
    assert not gpu.memory_gb.estimate
    assert gpu.dense_tflop_per_s["fp8"].value == 1978.9
    assert gpu.dense_tflop_per_s["fp8"].sources == ("fixture-specs",)
    assert list(catalog.gpus["a100-sxm4-80gb"].dense_tflop_per_s) == ["fp32", "tf32", "fp16", "bf16"]
    assert gpu.launch_date == "2022-10"


def test_a_figure_from_elsewhere_keeps_its_own_origin(catalog: Catalog) -> None:
    idle = catalog.gpus["h100-sxm5-80gb"].idle_w
    assert idle is not None
    assert (idle.low, idle.value, idle.high) == (50, 70, 110)
    assert idle.sources == ("fixture-estimate",)
    assert idle.estimate


def test_a_figure_with_its_own_source_does_not_take_the_records_date(edited: Callable[..., Path]) -> None:
    own = "startup_s: {value: 300, low: 120, high: 600, source: fixture-estimate, as_of: 2026-11-01}"
    folder = edited(("prices.yaml", own, "startup_s: {value: 300, source: fixture-estimate}"))
    startup = load_catalog(folder, today=TODAY).providers["examplecloud"].startup_s
    assert startup is not None
    assert startup.as_of is None


def test_a_figure_may_say_that_it_is_no_estimate(edited: Callable[..., Path]) -> None:
    folder = edited(
        ("gpus.yaml", "idle_w: {value: 50, low: 45, high: 60, ", "idle_w: {value: 50, estimate: false, "),
        ("gpus.yaml", "memory_gb: 24", "memory_gb: {value: 24, estimate: true}"),
    )
    gpus = load_catalog(folder, today=TODAY).gpus
    idle = gpus["a100-sxm4-40gb"].idle_w
    assert idle is not None
    assert not idle.estimate
    assert gpus["rtx-4090"].memory_gb.estimate
    assert gpus["rtx-4090"].memory_gb.as_of == "2026-11-01"


def test_price_per_gpu_becomes_price_per_instance(catalog: Catalog) -> None:
    offer = catalog.offers["examplecloud-h100x8-us-on-demand"]
    assert offer.price_usd_per_h.value == 28.0
    assert offer.price_usd_per_gpu_h == 3.5
    assert offer.printed_per_gpu
    whole = catalog.offers["examplecloud-a100x8-us-on-demand"]
    assert (whole.price_usd_per_h.value, whole.price_usd_per_gpu_h, whole.printed_per_gpu) == (20.0, 2.5, False)


def test_unclear_gpu_has_a_label_only(catalog: Catalog) -> None:
    offer = catalog.offers["examplecloud-mixed-on-demand"]
    assert (offer.gpu, offer.gpu_label) == (None, "A100 or H100")
    assert catalog.offers["examplecloud-a100x8-us-spot"].gpu_label == "a100-sxm4-80gb"


def test_tariff_in_another_currency_becomes_usd_with_both_sources(catalog: Catalog) -> None:
    tariff = catalog.sites["germany"].tariffs["commercial"]
    assert tariff.usd_per_kwh.value == pytest.approx(0.2 * 1.1, rel=1e-15)
    assert tariff.usd_per_kwh.low == pytest.approx(0.2 * 1.0, rel=1e-15)
    assert tariff.usd_per_kwh.high == pytest.approx(0.2 * 1.2, rel=1e-15)
    assert tariff.usd_per_kwh.sources == ("fixture-prices", "fixture-estimate")
    assert tariff.usd_per_kwh.as_of == "2026-03"
    assert tariff.usd_per_kwh.estimate
    assert not tariff.includes_tax
    dollar = catalog.sites["us-average"].tariffs["commercial"].usd_per_kwh
    assert (dollar.value, dollar.low, dollar.sources) == (0.15, None, ("fixture-prices",))


def test_grams_become_kilograms(catalog: Catalog) -> None:
    assert catalog.grids["us"].kg_co2e_per_kwh.value == pytest.approx(0.37, rel=1e-15)


def test_defaults_and_curves(catalog: Catalog) -> None:
    assert catalog.assume("discount_rate").value == 0.05
    assert catalog.assumptions["discount_rate"].unit == "1/year"
    curve = catalog.residuals["gpu-consumer"].ratio_by_age_months
    assert (curve[0].value, curve[36].value) == (1.0, 0.55)
    assert curve[36].sources == ("fixture-estimate",)


def test_workloads(catalog: Catalog) -> None:
    bert = catalog.workloads["bert-large-squad"]
    assert bert.transformer is not None
    assert (bert.transformer.layers, bert.transformer.parallel_blocks, bert.transformer.learned_positions) == (
        24,
        False,
        512,
    )
    resnet = catalog.workloads["resnet50-imagenet"]
    assert resnet.vision is not None
    assert (resnet.vision.gmacs, resnet.vision.input) == (4.11, "3x224x224")
    assert resnet.source == "fixture-specs"


def test_catalog_date_is_the_newest_in_the_form_written(edited: Callable[..., Path], catalog: Catalog) -> None:
    assert catalog.as_of == "2026-11-10"
    folder = edited(
        ("workloads.yaml", "as_of: 2026\n", 'as_of: "2026-11"\n'), ("sites.yaml", "as_of: 2025,", "as_of: 2026-11-29,")
    )
    assert load_catalog(folder, today=TODAY).as_of == "2026-11-29"


def test_unchanged_files_are_not_read_again(edited: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    folder = edited(("prices.yaml", "price_usd_per_gpu_h: 3.5", "price_usd_per_gpu_h: 3.25"))
    first = load_catalog(folder, today=TODAY)
    monkeypatch.setattr(load_module, "parse", lambda *args, **kwargs: pytest.fail("read the files a second time"))
    assert load_catalog(folder, today=TODAY) is first
    assert load_catalog(folder, today=TODAY + dt.timedelta(days=1)) is first
    monkeypatch.undo()
    path = folder / "prices.yaml"
    path.write_text(path.read_text().replace("price_usd_per_gpu_h: 3.25", "price_usd_per_gpu_h: 3.30"))
    second = load_catalog(folder, today=TODAY)
    assert second.offers["examplecloud-h100x8-us-on-demand"].price_usd_per_gpu_h == pytest.approx(3.30)
    assert second.content_hash != first.content_hash


def test_a_date_is_judged_on_each_day(edited: Callable[..., Path]) -> None:
    folder = edited(("sites.yaml", "as_of: 2025,", "as_of: 2026-11-30,"))
    assert load_catalog(folder, today=TODAY).as_of == "2026-11-30"
    with pytest.raises(CatalogError) as caught:
        load_catalog(folder, today=TODAY - dt.timedelta(days=1))
    assert [problem.found for problem in caught.value.problems] == ["2026-11-30"]


def test_missing_folder_is_reported_file_by_file(tmp_path: Path) -> None:
    with pytest.raises(CatalogError) as caught:
        load_catalog(tmp_path / "nowhere", today=TODAY)
    assert [problem.file for problem in caught.value.problems] == [
        "gpus.yaml",
        "prices.yaml",
        "sites.yaml",
        "assumptions.yaml",
        "workloads.yaml",
    ]
    assert caught.value.code == "catalog_invalid"


MANY = (
    ("gpus.yaml", "tdp_w: 450", "tdp_w: 450 W"),
    ("gpus.yaml", "segment: consumer", "segment: gaming"),
    ("prices.yaml", "provider: hostcloud", "provider: hostclod"),
    ("prices.yaml", 'region: "us-east"', "region: NO"),
    ("sites.yaml", "grid: us\n", "grid: usa\n"),
    ("assumptions.yaml", "id: discount_rate, value: 0.05", "id: discount_rate, value: 5e-2"),
    ("workloads.yaml", "layers: 24", "layer: 24"),
)


def test_every_problem_of_every_file_in_one_error(problems: Problems) -> None:
    found = problems(*MANY)
    assert [(problem.file, problem.record, problem.field, problem.found, problem.expected) for problem in found] == [
        ("gpus.yaml", "rtx-4090", "segment", "'gaming'", "'consumer', 'workstation' or 'datacenter'"),
        (
            "gpus.yaml",
            "rtx-4090",
            "tdp_w",
            "'450 W'",
            "a number, or a mapping with value, low, high, source and as_of",
        ),
        (
            "prices.yaml",
            "examplecloud-a100x8-us-on-demand",
            "region",
            "NO without quotes",
            '"NO" in quotes, or true or false',
        ),
        (
            "prices.yaml",
            "hostcloud-rtx-4090-on-demand",
            "provider",
            "the unknown id 'hostclod'",
            "an id of providers, such as hostcloud or oldcloud",
        ),
        ("sites.yaml", "us-average", "grid", "the unknown id 'usa'", "an id of grids, such as us"),
        ("assumptions.yaml", "discount_rate", "value", "5e-2, which YAML reads as text", "0.05 or 5.0e-2"),
        (
            "workloads.yaml",
            "bert-large-squad",
            "transformer.layers",
            "nothing",
            "a value (the key is required)",
        ),
        ("workloads.yaml", "bert-large-squad", "transformer.layer", "an unknown key", "layers or dense_layers"),
    ]


def test_lines_point_at_the_fault(problems: Problems, edited: Callable[..., Path]) -> None:
    found = problems(*MANY)
    texts = {problem.field: (problem.file, problem.line) for problem in found}
    folder = edited(*MANY)
    for field, wanted in (("tdp_w", "tdp_w: 450 W"), ("region", "region: NO"), ("provider", "provider: hostclod")):
        name, line = texts[field]
        assert (folder / name).read_text().splitlines()[(line or 0) - 1].strip() == wanted


OFFER = "  - id: examplecloud-h100x1-us-on-demand\n"
PER_GPU = "price_usd_per_gpu_h: 3.0\n"
SPOT = "interrupted_share_per_month: {value: 0.075, low: 0.05, high: 0.1, source: fixture-estimate, as_of: 2026-11-01}"


@pytest.mark.parametrize(
    ("name", "old", "new", "field", "found"),
    [
        # Form
        ("gpus.yaml", "schema_version: 1", "schema_version: 2", "schema_version", "2"),
        ("gpus.yaml", "schema_version: 1\n", "", "schema_version", "nothing"),
        ("gpus.yaml", "hosts:", "host:", "host", "an unknown key"),
        ("sites.yaml", "sites:\n", "sites: {}\nold:\n", "sites", "a mapping"),
        ("gpus.yaml", "    vendor: NVIDIA\n", "", "vendor", "nothing"),
        (
            "gpus.yaml",
            "    vendor: NVIDIA\n",
            "    vendor: NVIDIA\n    vendor: AMD\n",
            "vendor",
            "the key a second time",
        ),
        ("gpus.yaml", "    tdp_w: 400\n", "    tdp_w: 400\n    tdp_kw: 0.4\n", "tdp_kw", "an unknown key"),
        ("gpus.yaml", "peer_to_peer: true", 'peer_to_peer: "true"', "peer_to_peer", "'true'"),
        ("gpus.yaml", "gpu_slots: 8", "gpu_slots: 8.5", "gpu_slots", "8.5"),
        ("gpus.yaml", "gpu_slots: 8", "gpu_slots: 0", "gpu_slots", "0"),
        ("gpus.yaml", "name: A100 SXM4 40GB", "name: 100", "name", "100"),
        ("gpus.yaml", "pcie_gen: 4", "pcie_gen: four", "pcie_gen", "'four'"),
        ("gpus.yaml", "pcie_gen: 4", "pcie_gen: true", "pcie_gen", "true"),
        ("gpus.yaml", "pcie_gen: 4", "pcie_gen: {low: 3, high: 5}", "pcie_gen.value", "nothing"),
        ("gpus.yaml", "pcie_gen: 4", "pcie_gen: {value: 4, unit: 1}", "pcie_gen.unit", "an unknown key"),
        # Numbers
        ("gpus.yaml", "tdp_w: 400", "tdp_w: 0", "tdp_w", "0"),
        ("gpus.yaml", "tdp_w: 400", "tdp_w: .inf", "tdp_w", ".inf"),
        ("gpus.yaml", "tdp_w: 400", "tdp_w: 1.0e+31", "tdp_w", "1e+31"),
        ("gpus.yaml", "fp16_matmul_fraction: 0.84", "fp16_matmul_fraction: 84", "fp16_matmul_fraction", "84"),
        ("gpus.yaml", "idle_w: {value: 50,", "idle_w: {value: 44,", "idle_w", "low 45, value 44, high 60"),
        ("gpus.yaml", "{value: 50,", "{value: 1234567.5,", "idle_w", "low 45, value 1234567.5, high 60"),
        (
            "gpus.yaml",
            "fp16_matmul_fraction: 0.84",
            "fp16_matmul_fraction: 1.7654321",
            "fp16_matmul_fraction",
            "1.7654321",
        ),
        (
            "gpus.yaml",
            "idle_w: {value: 50, low: 45, high: 60,",
            "idle_w: {value: 50, low: 45,",
            "idle_w",
            "one end of a range",
        ),
        (
            "gpus.yaml",
            "wall_w_per_gpu_tdp: {value: 1.25, low: 1.2",
            "wall_w_per_gpu_tdp: {value: 1.25, low: 0.9",
            "wall_w_per_gpu_tdp",
            "0.9",
        ),
        ("gpus.yaml", "tdp_w: 450", "tdp_w: 15", "", "idle_w 20 at tdp_w 15"),
        ("gpus.yaml", "    fp8_dense_tflop_per_s: 1978.9\n", "", "", "fp8_matmul_fraction alone"),
        ("prices.yaml", "price_usd_per_h: 20.0", "price_usd_per_h: -20.0", "price_usd_per_h", "-20"),
        ("prices.yaml", "gpu_count: 8", "gpu_count: 0", "gpu_count", "0"),
        ("prices.yaml", "minimum_s: 60", "minimum_s: -1", "minimum_s", "-1"),
        ("prices.yaml", "value: 0.075, low: 0.05, high: 0.1,", "value: 7.5,", "interrupted_share_per_month", "7.5"),
        ("prices.yaml", "pue: 1.15", "pue: 0.15", "pue", "0.15"),
        ("assumptions.yaml", "value: 0.05, low: 0.03", "value: 0.05, low: 0.06", "", "low 0.06, value 0.05, high 0.08"),
        ("assumptions.yaml", "0: 1.0", "0: 1.01", "ratio_by_age_months.0", "1.01"),
        ("assumptions.yaml", "      0: 1.0\n", "      13: 1.0\n", "", "ages out of order"),
        ("assumptions.yaml", "      0: 1.0\n", "      new: 1.0\n", "ratio_by_age_months.new", "'new'"),
        # Hosts, offers, sites and workloads as wholes
        ("gpus.yaml", "    idle_w: 70\n", "", "", "load_w"),
        (
            "gpus.yaml",
            "    idle_w: 70\n",
            "    idle_w: 70\n    wall_w_per_gpu_tdp: 1.2\n",
            "",
            "load_w, idle_w, wall_w_per_gpu_tdp",
        ),
        ("prices.yaml", PER_GPU, PER_GPU + "    price_usd_per_h: 3\n", "", "price_usd_per_h and price_usd_per_gpu_h"),
        ("prices.yaml", "    " + PER_GPU, "", "", "no price"),
        ("prices.yaml", "    gpu_label: A100 or H100\n", "", "", "neither gpu nor gpu_label"),
        ("prices.yaml", "term: spot", "term: on_demand", "", "interrupted_share_per_month with term on_demand"),
        ("prices.yaml", "term: spot", "term: preemptible", "term", "'preemptible'"),
        ("prices.yaml", "market: marketplace", "market: bazaar", "market", "'bazaar'"),
        ("prices.yaml", "retired_on: 2025-06-01", 'retired_on: "2025-06"', "retired_on", "'2025-06'"),
        ("prices.yaml", "condition: used", "condition: broken", "condition", "'broken'"),
        ("prices.yaml", "code: EUR", "code: Eur", "code", "'Eur'"),
        ("prices.yaml", "code: EUR", "code: USD", "", "USD at 1.1"),
        (
            "workloads.yaml",
            "source: fixture-specs",
            "source: [fixture-specs, fixture-x]",
            "",
            "2 sources of the record",
        ),
        ("sites.yaml", "default_tariff: commercial", "default_tariff: industrial", "", "default_tariff industrial"),
        ("sites.yaml", "commercial: {price", "office: {price", "tariffs.office", "'office'"),
        ("sites.yaml", "currency: EUR", "currency: GBP", "tariffs.commercial.currency", "GBP without a rate"),
        ("workloads.yaml", "kv_heads: 16", "kv_heads: 5", "transformer", "16 heads, 5 kv_heads"),
        (
            "workloads.yaml",
            "kv_heads: 16",
            "kv_heads: 16, shared_d_ff: 9",
            "transformer",
            "shared_d_ff without experts",
        ),
        ("workloads.yaml", "kv_heads: 16", "kv_heads: 16, experts: 8", "transformer", "0 experts_per_token"),
        (
            "workloads.yaml",
            "kv_heads: 16",
            "kv_heads: 16, experts: 8, experts_per_token: 2, dense_layers: 99",
            "transformer",
            "99 dense_layers",
        ),
        (
            "workloads.yaml",
            "kv_heads: 16",
            "kv_heads: 16, v_head_dim: 64",
            "transformer",
            "v_head_dim without head_dim",
        ),
        ("workloads.yaml", "kv_heads: 16", "kv_heads: 16, head_dim: 0", "transformer.head_dim", "0"),
        ("workloads.yaml", "    vision: {gmacs: 4.11, activations_m: 11.11, input: 3x224x224}\n", "", "", "no shape"),
        (
            "workloads.yaml",
            "input: 3x224x224}",
            "input: 3x224x224, patches: true, plain: true}",
            "vision",
            "patches and",
        ),
        # Ids
        ("prices.yaml", OFFER, OFFER.replace("h100x1", "H100x1"), "id", "'examplecloud-H100x1-us-on-demand'"),
        (
            "prices.yaml",
            OFFER,
            OFFER.replace("h100x1-us-on-demand", "mixed-on-demand"),
            "id",
            "'examplecloud-h100x8-us-on-demand' after",
        ),
        ("prices.yaml", "id: rtx-4090-used", "id: rtx-4090-new", "id", "the id 'rtx-4090-new' a second time"),
        ("assumptions.yaml", "id: fte_cloud", "id: fte-cloud", "id", "'fte-cloud'"),
        ("gpus.yaml", 'aliases: ["GeForce RTX 4090", "4090"]', 'aliases: ["a100 80gb"]', "aliases.0", "'a100 80gb'"),
        ("gpus.yaml", 'aliases: ["GeForce RTX 4090", "4090"]', 'aliases: ["4090", "4090"]', "aliases.1", "'4090'"),
        ("workloads.yaml", "aliases: [bert-large]", "aliases: [gpt-1.3b]", "aliases.0", "'gpt-1.3b'"),
        # References
        ("prices.yaml", "gpu: a100-sxm4-80gb", "gpu: a100-80gb", "gpu", "the unknown id 'a100-80gb'"),
        ("prices.yaml", "grid: germany", "grid: de", "grid", "the unknown id 'de'"),
        ("prices.yaml", "item: workstation-1", "item: workstation-3", "item", "the unknown id 'workstation-3'"),
        # Sources and dates
        ("gpus.yaml", "source: fixture-specs", "source: fixture-spec", "source", "the unknown source 'fixture-spec'"),
        ("gpus.yaml", "source: fixture-specs", "source: []", "source", "a list"),
        (
            "gpus.yaml",
            "source: fixture-specs",
            "source: [fixture-specs, fixture-specs]",
            "source",
            "a source named twice",
        ),
        ("gpus.yaml", "source: fixture-specs", "source: 5", "source", "5"),
        (
            "gpus.yaml",
            "sources:\n",
            'sources:\n  extra: {title: "Nobody cites it"}\n',
            "sources.extra",
            "a source that nothing cites",
        ),
        (
            "workloads.yaml",
            '"Fixture: made-up specifications"',
            '"Fixture: other"',
            "sources.fixture-specs",
            "another source under this id",
        ),
        (
            "gpus.yaml",
            "retrieved: 2026-11-01",
            "retrieved: 2026-12-01",
            "sources.fixture-specs.retrieved",
            "2026-12-01",
        ),
        ("gpus.yaml", "retrieved: 2026-11-01", "retrieved: 2026", "sources.fixture-specs.retrieved", "2026"),
        ("gpus.yaml", "kind: estimate", "kind: guess", "sources.fixture-estimate.kind", "'guess'"),
        ("gpus.yaml", "as_of: 2026-11-01\n", "as_of: 2026-12-01\n", "as_of", "2026-12-01"),
        ("gpus.yaml", "as_of: 2026-11-01}", "as_of: 2027}", "idle_w.as_of", "2027"),
        ("gpus.yaml", "as_of: 2026-11-01\n", 'as_of: "2026-12"\n', "as_of", "2026-12"),
        ("gpus.yaml", "as_of: 2026-11-01\n", 'as_of: "2026-13"\n', "as_of", "'2026-13'"),
        ("gpus.yaml", "as_of: 2026-11-01\n", "as_of: last spring\n", "as_of", "'last spring'"),
        (
            "prices.yaml",
            'url: "https://example.com/prices"',
            'url: "example.com"',
            "sources.fixture-prices.url",
            "'example.com'",
        ),
    ],
)
def test_each_fault(problems: Problems, name: str, old: str, new: str, field: str, found: str) -> None:
    report = problems((name, old, new))
    hits = [
        problem
        for problem in report
        if problem.file == name and problem.field == field and problem.found.startswith(found)
    ]
    assert hits, "\n".join(map(str, report)) or "no problem was found"
    assert all(problem.line is not None or problem.field in ("schema_version", "sites") for problem in hits)
    # A fault must not drag in others: at most those that the missing key or id leaves behind.
    assert len(report) <= 3, "\n".join(map(str, report))


def test_a_figure_without_any_source(problems: Problems) -> None:
    report = problems(("gpus.yaml", "    source: fixture-specs\n", ""))
    assert {problem.found for problem in report} == {"a figure without a source"}
    assert {problem.record for problem in report} == {"a100-sxm4-40gb"}
    assert "tdp_w" in {problem.field for problem in report}
    assert "idle_w" not in {problem.field for problem in report}


def test_a_broken_file_hides_no_other(problems: Problems) -> None:
    report = problems(("gpus.yaml", "gpus:", "gpus: ["), ("prices.yaml", "gpu_count: 8", "gpu_count: none"))
    assert [(problem.file, problem.field) for problem in report] == [("gpus.yaml", ""), ("prices.yaml", "gpu_count")]
    assert report[0].found.startswith("a syntax error at column")


def test_the_error_text_lists_place_found_and_expected(problems: Problems) -> None:
    (problem,) = problems(("prices.yaml", "price_usd_per_h: 20.0", "price_usd_per_h: free"))
    text = str(CatalogError("catalog_invalid", [problem]))
    assert text == (
        f"prices.yaml:{problem.line}: examplecloud-a100x8-us-on-demand price_usd_per_h: found 'free', "
        "expected a number, or a mapping with value, low, high, source and as_of"
    )


def test_estimator_constants_may_stand_at_the_end(problems: Problems) -> None:
    entry = "  - {id: estimator_x, value: 1, unit: s, meaning: m, source: fixture-estimate, as_of: 2026}\n"
    assert problems(("assumptions.yaml", "residuals:", entry + "residuals:")) == ()
    early = problems(("assumptions.yaml", "assumptions:\n", "assumptions:\n" + entry))
    assert "entries sorted by id" in {problem.expected for problem in early}


def test_a_large_catalog_is_read_whole_and_once(edited: Callable[..., Path]) -> None:
    folder = edited()
    path = folder / "prices.yaml"
    text = path.read_text()
    start = text.index("  - id: examplecloud-h100x1-us-on-demand\n")
    end = text.index("  - id: examplecloud-h100x8-us-on-demand\n")
    copies = [text[start:end].replace("h100x1-us-on", f"h100x1-{number:04d}-on") for number in range(600)]
    path.write_text(text[:start] + "".join(copies) + text[end:])
    catalog = load_catalog(folder, today=TODAY)
    assert len(catalog.offers) > 600
    assert load_catalog(folder, today=TODAY) is catalog


def test_a_shape_may_have_experts_and_heads_of_its_own(edited: Callable[..., Path]) -> None:
    own = "head_dim: 96, v_head_dim: 64, experts: 8, experts_per_token: 2, expert_d_ff: 512, dense_layers: 1"
    catalog = load_catalog(edited(("workloads.yaml", "kv_heads: 16", f"kv_heads: 16, {own}")), today=TODAY)
    spec = next(w.transformer for w in catalog.workloads.values() if w.transformer and w.transformer.experts)
    assert (spec.head_dim, spec.v_head_dim, spec.expert_d_ff, spec.shared_d_ff, spec.dense_layers) == (
        96,
        64,
        512,
        0,
        1,
    )
