"""The documentation against the code: every key is described, every example is accepted, every link leads somewhere."""

from __future__ import annotations

import dataclasses
import datetime as dt
import itertools
import json
import re
import shlex
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, get_args, get_origin

import pytest
from pydantic import BaseModel

from planner.__main__ import main
from planner.actual.document import COLUMNS as ACTUAL_COLUMNS
from planner.actual.rows import HOURS_COLUMNS, INVOICE_COLUMNS
from planner.advise.claims.assess import RULES
from planner.catalog.load import load_catalog
from planner.catalog.schema import SECTIONS, OfferIn
from planner.cli.arguments import override_of
from planner.measure.document import report_document
from planner.measure.results import WORKLOADS, Bandwidth, MatmulRate, Skipped
from planner.measure.timing import SPREAD_LIMIT
from planner.measurements.parallelism import parse_parallelism
from planner.measurements.rows import LanguageRow, MemoryRow, SampleRow, TimeRow
from planner.performance.evidence import load_evidence
from planner.performance.measured import CONTRADICTION, WILD_SPREAD
from planner.report.break_even import with_break_even
from planner.report.certainty import with_certainty
from planner.report.document import plan_document
from planner.report.export import COLUMNS
from planner.report.finance import with_finance
from planner.report.finance_csv import COLUMNS as YEAR_COLUMNS
from planner.report.front import with_fronts
from planner.report.jobs_csv import JOBS_COLUMNS
from planner.report.listing import KINDS, list_rows
from planner.report.most_work import with_most_work
from planner.report.optimum import with_optimum
from planner.report.shares import with_shares
from planner.report.sweep_csv import header
from planner.report.validation import COLUMNS as VALIDATION_COLUMNS
from planner.report.waiting import with_waiting
from planner.scenario.load import check_document, parse_scenario, read_document
from planner.scenario.money import Money
from planner.scenario.paths import with_overrides
from planner.scenario.schema import Scenario
from planner.scenario.values import CurrencyCode
from planner.strategy.evaluate import evaluate, searched
from planner.strategy.optimise.most_work import MostWork
from planner.strict_yaml import parse
from tests.planning import catalog, document, small_plan, solve
from tests.unit.measure.fakes import TIMING, report, step

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = (ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted(DOCS.glob("*.md")))
TODAY = dt.date(2026, 11, 30)
RUN_APP = "pip install -r requirements.txt && streamlit run app.py"
RUN_TESTS = "pip install -r requirements-dev.txt && python -m pytest"


def text_of(page: str) -> str:
    return (DOCS / page).read_text(encoding="utf-8")


def sections(page: str) -> dict[str, str]:
    """Text of a page by heading, without the backticks around it."""
    found: dict[str, str] = {}
    heading = ""
    for line in text_of(page).splitlines():
        title = re.fullmatch(r"#+ +(.+)", line)
        if title:
            heading = title[1].strip("`")
            assert heading not in found, f"two sections called {heading}"
            found[heading] = ""
        elif heading:
            found[heading] += line + "\n"
    return found


def described(section: str) -> dict[str, str]:
    """Rows of a section's tables by key; a first cell may name several keys."""
    rows: dict[str, str] = {}
    for line in section.splitlines():
        if line.startswith("| `"):
            for key in re.findall(r"`([^`]+)`", line.split("|")[1]):
                assert key not in rows, f"two rows for {key}"
                rows[key] = line
    return rows


# docs/scenario.md


def inner_models(annotation: Any) -> Iterator[tuple[str, type[BaseModel]]]:
    """Models within a field: with a suffix for those that stand under names of the user's choice."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield "", annotation
    elif get_origin(annotation) is dict:
        name = "<code>" if get_args(annotation)[0] == CurrencyCode else "<id>"
        for _, model in inner_models(get_args(annotation)[1]):
            yield f".{name}", model
    else:
        for argument in get_args(annotation):
            yield from inner_models(argument)


def schema_parts(model: type[BaseModel] = Scenario, path: str = "") -> Iterator[tuple[str, type[BaseModel]]]:
    yield path or "Top level", model
    for name, field in model.model_fields.items():
        for suffix, inner in inner_models(field.annotation):
            yield from schema_parts(inner, ".".join(part for part in (path, (field.alias or name) + suffix) if part))


PARTS = dict(schema_parts())


def test_the_parts_of_the_schema_are_found() -> None:
    assert {"site.colocation", "machines.<id>.owned", "currencies.<code>", "jobs.<id>"} <= set(PARTS)


@pytest.mark.parametrize("part", PARTS)
def test_every_key_of_the_scenario_is_described_with_its_default(part: str) -> None:
    rows = described(sections("scenario.md")[part])
    fields = {field.alias or name: field for name, field in PARTS[part].model_fields.items()}
    assert set(rows) == set(fields)
    for key, field in fields.items():
        cells = [cell.strip() for cell in rows[key].split("|")]
        default = field.default
        if field.is_required():
            assert cells[3] == "required", key
        elif isinstance(default, bool | int | float | str):
            shown = json.dumps(default) if isinstance(default, bool) or default == "" else f"{default}"
            assert f"`{shown.removesuffix('.0')}`" in cells[3], key
        elif isinstance(default, list):
            assert f"`[{', '.join(default)}]`" in cells[3], key


def test_defaults_quoted_from_the_assumptions_are_those_of_the_data() -> None:
    assumptions = load_catalog(today=TODAY).assumptions
    quoted = re.findall(r"`assumptions: (\w+)` = ([\d.]+)", text_of("scenario.md"))
    assert len(quoted) > 20
    for name, value in quoted:
        assert float(value) == assumptions[name].figure.value, name


@cache
def examples() -> tuple[tuple[bool, str], ...]:
    """YAML blocks of docs/scenario.md, and whether each is marked as a fragment."""
    blocks = re.findall(r"(<!-- fragment -->\n)?```yaml\n(.*?)```", text_of("scenario.md"), re.DOTALL)
    return tuple((bool(mark), block) for mark, block in blocks)


def test_every_example_of_a_scenario_is_accepted() -> None:
    whole = [block for is_fragment, block in examples() if not is_fragment]
    fragments = [block for is_fragment, block in examples() if is_fragment]
    assert len(whole) >= 1
    assert len(fragments) >= 3
    for block in whole:
        parse_scenario(block)
    base = read_document(whole[-1])
    for block in fragments:  # parts of a file: they replace the same top-level keys of the complete example
        parsed = parse(block, file="fragment")
        assert parsed.problems == ()
        check_document({**base, **parsed.data})


def test_the_complete_example_can_be_planned() -> None:
    scenario = parse_scenario(examples()[-1][1])
    result = evaluate(scenario, load_catalog(today=TODAY), load_evidence(), today=TODAY)
    assert [strategy.id for strategy in result.strategies if strategy.evaluation is not None] == [
        "local", "cloud", "hybrid",
    ]  # fmt: skip


def test_spellings_of_money_in_the_docs_are_those_of_the_code() -> None:
    scenario = parse_scenario(examples()[-1][1])
    assert scenario.site.electricity_usd_per_kwh == Money(amount=0.24, currency="EUR")
    assert scenario.staff.cost_usd_per_fte_year == Money(amount=70_000.0, currency="EUR")
    assert scenario.machines["workstation"].gpu_price_usd == Money(amount=1850.0, currency="EUR")
    assert scenario.offers["campus-cluster"].price_usd_per_gpu_h == Money(amount=1.4, currency="EUR")


# docs/cli.md

FREE = {"params", "reason_params", "settings", "breakdown_s", "tariffs_usd_per_kwh"}  # described in words


def document_parts(node: Any, path: str) -> Iterator[tuple[str, frozenset[str]]]:
    """Objects within a document by place, with their keys."""
    if isinstance(node, list):
        for item in node:
            yield from document_parts(item, f"{path}[]")
    elif isinstance(node, Mapping):
        if path.endswith(("warnings[]", "problems[]")):
            path = "problem"
        path = path.replace("pareto.turnaround[]", "pareto.co2[]")  # of the same form
        if path == "sources":
            for item in node.values():
                yield from document_parts(item, "sources.<id>")
            return
        yield path or "plan", frozenset(node)
        for key, value in node.items():
            if key not in FREE:
                yield from document_parts(value, f"{path}.{key}" if path else key)


@cache
def hybrid_lab(*, impossible: bool, limited: float = 0) -> dict[str, Any]:
    """Document of the hybrid lab with every kind of line in it, or with a job that can't run everywhere."""
    changed: dict[str, Any] = {
        "tax.rate": 0.1,
        "site.colocation": {"contracted_kw": 10},
        "machines.workstation.owned": {"count": 1, "age_months": 12, "at_start": "cheapest"},
        "jobs.key.egress_gb_per_run": 2000,
        "rental.egress_usd_per_gb": 0.05,
        "rental.price_change_per_year": -0.1,
        "cash_ceiling_usd_per_quarter": 1000,
        "machines.workstation.finance": {"lease_offer": {"term_months": 36, "lease_factor_per_month": 0.03}},
        "groups.lab": {"people": 4},
        "jobs.daily.group": "lab",
    }
    if impossible:
        changed = {"jobs.key.in_house": True, "rental.gpus": ["t4", "l4"]}
    if limited:
        changed = {"limits.total_usd": 33_000, "limits.capex_usd": limited}
    document = read_document((ROOT / "examples" / "hybrid-lab.yaml").read_bytes())
    scenario = check_document(with_overrides(document, changed))
    result = evaluate(scenario, load_catalog(today=TODAY), load_evidence(), today=TODAY, search=True)
    plan = with_break_even(with_waiting(plan_document(result), result), result)
    found = with_optimum(with_certainty(with_finance(with_shares(plan, result), result), result), result)
    return with_fronts(found, result) if limited else {**found, "pareto": None}


def test_every_key_of_a_plan_is_described() -> None:
    parts: dict[str, set[str]] = {}
    bound, contradicting = (hybrid_lab(impossible=False, limited=capex) for capex in (5000, 1))
    for plan in (*(hybrid_lab(impossible=impossible) for impossible in (False, True)), bound, contradicting):
        for path, keys in document_parts(plan, ""):
            parts.setdefault(path, set()).update(keys)
    for path, keys in document_parts(plan_document(solve(document("spot-node"))), ""):
        parts.setdefault(path, set()).update(keys)
    asked = check_document(small_plan({"jobs.work.deadline_h": 2}))
    small = evaluate(asked, catalog(), load_evidence(), today=TODAY)
    for path, keys in document_parts(with_certainty(plan_document(small), small, scenario=asked, anew=True), ""):
        parts.setdefault(path, set()).update(keys)
    assert {"plan", "problem", "strategies[]", "strategies[].jobs[].runner_up", "sources.<id>"} <= set(parts)
    pages = sections("cli.md")
    for path, found in parts.items():
        assert path in pages, path
        assert set(described(pages[path])) == found, path


def test_every_key_of_the_most_work_is_described() -> None:
    result = searched(solve(small_plan({"limits.total_usd": 1.0})))
    found = with_most_work({}, MostWork(factor=1.0, beyond=None, tried=1), result, ["work"])["most_work"]
    pages = sections("cli.md")
    assert set(described(pages["most_work"])) == set(found)
    assert set(described(pages["most_work.jobs[]"])) == set(found["jobs"][0])


def test_every_key_of_what_limits_renting_is_described() -> None:
    limited = {"rental.quota_gpus": {"rented": 2}, "offers.rented.available_share": 0.5}
    result = solve(small_plan(limited))
    cloud = next(entry for entry in with_waiting(plan_document(result), result)["strategies"] if entry["id"] == "cloud")
    pages = sections("cli.md")
    assert set(described(pages["strategies[].jobs[].start_wait"])) == set(cloud["jobs"][0]["start_wait"])
    assert set(described(pages["strategies[].quotas[]"])) == set(cloud["quotas"][0])
    waiting = cloud["quotas"][0]["waiting"]  # has the form of that of machines
    assert set(described(pages["strategies[].machines[].waiting"])) == set(waiting)
    assert set(described(pages["strategies[].machines[].waiting.jobs[]"])) == set(waiting["jobs"][0])


FINANCED: tuple[dict[str, Any], ...] = (
    {"kind": "loan", "term_months": 6, "nominal_interest_per_year": 0.05},
    {"kind": "lease", "term_months": 6, "nominal_payment_usd_per_month": 90},
    {"kind": "lease", "term_months": 6, "lease_factor_per_month": 0.1, "at_end": "buy", "nominal_buyout_usd": 100},
)


def test_every_kind_of_line_is_described_with_its_group() -> None:
    rows = described(sections("cli.md")["Kinds of lines"])
    seen = set()
    committed = plan_document(solve(document("committed-node")))
    relieved = {"rental.upload_gb": 1, "rental.credits.gift.amount_usd": 1, "offers.rented.free_node_hours_total": 1}
    helped = plan_document(solve(small_plan(relieved)))
    financed = [plan_document(solve(small_plan({"tax.rate": 0.1, "machines.own.finance": way}))) for way in FINANCED]
    owed = {"loan": {"payments": 3, "nominal_usd_per_month": 9}}
    owed["lease"] = {"kind": "lease", **owed["loan"]}
    running = plan_document(solve(small_plan({"machines.own.still_to_pay": owed})))
    plans = (hybrid_lab(impossible=False), committed, helped, *financed, running)
    for strategy in itertools.chain.from_iterable(plan["strategies"] for plan in plans):
        for line in strategy["lines"]:
            kind = line["id"].partition(".")[0]
            seen.add(kind)
            assert line["group"] in rows[kind].split("|")[3]
            assert line["unit"] in rows[kind].split("|")[2]
    assert set(rows) == seen


def test_every_column_of_the_csv_is_described_in_its_order() -> None:
    assert tuple(described(sections("cli.md")["CSV"])) == COLUMNS
    assert tuple(described(sections("cli.md")["CSV by fiscal year"])) == YEAR_COLUMNS
    assert tuple(described(sections("cli.md")["CSV by job"])) == JOBS_COLUMNS


def test_every_key_and_column_of_a_sweep_is_described(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    target = str(tmp_path / "sweep.csv")
    arguments = ["sweep", str(ROOT / "examples" / "hybrid-lab.yaml"), "--vary", "discount_rate=0", "--csv", target]
    assert main([*arguments, "--json"]) == 0
    assert set(described(sections("cli.md")["JSON of `sweep"])) == set(json.loads(capsys.readouterr().out))
    columns = described(sections("cli.md")["CSV of a sweep"])
    for column in header((), ["<machine>"], ["<job>"]):
        assert column.replace("local.", "<strategy>.") in columns or column.startswith(("cloud.", "hybrid.")), column


def test_every_key_of_an_estimate_is_described(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["estimate", "--gpu", "rtx-4090", "--gpus", "1", "--workload", "bert-large-squad", "--json"]
    assert main([*command, "--today", TODAY.isoformat()]) == 0
    assert set(described(sections("cli.md")["JSON of `estimate"])) == set(json.loads(capsys.readouterr().out))


def test_every_key_of_what_is_inside_an_estimate_is_described(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["estimate", "--gpu", "rtx-4090", "--gpus", "1", "--workload", "llama-2-7b", "--tokens", "1e9", "--json"]
    assert main([*command, "--today", TODAY.isoformat()]) == 0
    document = json.loads(capsys.readouterr().out)
    assert set(described(sections("cli.md")["remedies[]"])) == set(document["remedies"][0])
    for part in ("bottleneck", "time_to_train"):
        assert set(described(sections("cli.md")[part])) == set(document[part])


def test_every_key_and_column_of_plan_against_actual_is_described(capsys: pytest.CaptureFixture[str]) -> None:
    files = [str(ROOT / "examples" / f"hybrid-lab{end}") for end in (".yaml", "-hours.csv", "-invoice.csv")]
    command = ["actual", files[0], "--hours", files[1], "--invoice", files[2], "--month", "7", "--json"]
    assert main([*command, "--today", TODAY.isoformat()]) == 0
    document = json.loads(capsys.readouterr().out)
    pages = sections("actual.md")
    assert set(described(pages["JSON of `actual"]) | described(pages["actual"])) == set(document)
    assert set(described(pages["totals"])) == set(document["totals"])
    assert set(described(pages["replan"])) == set(document["replan"])
    assert set(described(pages["replan.ways[]"])) == set(document["replan"]["ways"][0])
    for part in ("months", "jobs", "resources", "bills", "energy"):
        assert set(described(pages[f"{part}[]"])) == set(document[part][0]), part
    assert set(described(pages["Why a bill differs"])) == set(document["totals"]["effects"])
    assert tuple(described(pages["CSV of `actual"])) == ACTUAL_COLUMNS
    assert tuple(described(pages["Hours"])) == HOURS_COLUMNS
    assert set(described(pages["Invoice"])) == set(INVOICE_COLUMNS)


@pytest.mark.parametrize("kind", KINDS)
def test_every_key_of_a_listing_is_described(kind: Any) -> None:
    row = list_rows(load_catalog(today=TODAY), kind, today=TODAY)[0]
    assert set(described(sections("cli.md")[kind])) == set(row)


def test_every_key_of_a_check_is_described(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["catalog", "check", "--json", "--today", TODAY.isoformat()]) == 0
    assert set(described(sections("cli.md")["JSON of `catalog check"])) == set(json.loads(capsys.readouterr().out))


@pytest.mark.parametrize(
    "command",
    [
        "plan",
        "optimise",
        "sweep",
        "actual",
        "estimate",
        "recommend",
        "catalog check",
        "catalog list",
        "catalog diff",
        "claims",
        "validate",
        "measure",
    ],
)
def test_every_option_is_described(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([*command.split(), "--help"])
    options = set(re.findall(r"--[a-z][a-z-]+", capsys.readouterr().out))
    assert "--json" in options
    missing = [option for option in options if not re.search(rf"{option}(?![a-z-])", text_of("cli.md"))]
    assert missing == []


@pytest.mark.parametrize(
    "command",
    [
        ["plan", str(ROOT / "examples" / "student.yaml")],
        ["estimate", "--gpu", "rtx-4090", "--gpus", "1", "--workload", "bert-large-squad"],
        ["catalog", "check"],
        ["catalog", "list", "offers"],
        ["claims"],
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_a_day_before_the_newest_date_of_the_data_can_be_planned(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert load_catalog(today=TODAY).as_of > "2026-07-01"
    assert main([*command, "--today", "2026-07-01"]) == 0
    assert capsys.readouterr().out


def test_every_key_of_a_validation_is_described(capsys: pytest.CaptureFixture[str]) -> None:
    evidence = str(ROOT / "data" / "measurements" / "llm_throughput.csv")
    assert main(["validate", evidence, "--measurements", evidence, "--json", "--today", TODAY.isoformat()]) == 0
    document = json.loads(capsys.readouterr().out)
    pages = sections("cli.md")
    assert set(described(pages["JSON of `validate"])) == set(document)
    assert tuple(described(pages["rows[]"])) == VALIDATION_COLUMNS == tuple(document["rows"][0])
    assert set(described(pages["summary"])) == set(document["summary"])
    assert set(described(pages["groups[]"])) == set(document["groups"][0])
    assert set(described(pages["own_rows[]"])) == set(document["own_rows"][0])


def test_every_key_of_a_measurement_is_described() -> None:
    rate = MatmulRate(precision="bf16", size=512, tflop_per_s=1.0, timing=TIMING)
    copy = Bandwidth(kind="copy", array_gb=1.0, gb_per_s=1.0, timing=TIMING)
    skipped = Skipped(workload="gpt", what="all", reason="no memory")
    document = report_document(report(rate, copy, step(), skipped))
    pages = sections("cli.md")
    assert set(described(pages["JSON of `measure"])) == set(document)
    assert set(described(pages["device"])) == set(document["device"])
    for part in ("matmul", "bandwidth", "steps"):
        assert set(described(pages[f"{part}[]"])) == set(document[part][0]), part
    assert all(f"`{key}`" in pages["JSON of `measure"] for key in document["skipped"][0])


# docs/measure.md


def test_every_workload_and_limit_of_measure_is_described() -> None:
    assert set(described(sections("measure.md")["What is measured"])) == set(WORKLOADS)
    text = " ".join(text_of("measure.md").split())
    assert f"spread is at most {SPREAD_LIMIT:.0%}".replace("%", " %") in text
    assert f"above {WILD_SPREAD:.0%}".replace("%", " %") in text
    assert f"more than {CONTRADICTION - 1:.0%} apart".replace("%", " %") in text


# docs/validate.md


def test_every_column_of_a_table_of_measurements_is_described() -> None:
    fields = {field.name for row in (LanguageRow, MemoryRow) for field in dataclasses.fields(row)} - {"line"}
    assert set(described(sections("validate.md")["Columns"])) == fields
    others = {field.name for field in dataclasses.fields(SampleRow)} - {"line"}
    assert set(described(sections("validate.md")["Columns of vision and other models"])) == others
    of_times = {field.name for field in dataclasses.fields(TimeRow)} - {"line"}
    assert set(described(sections("validate.md")["Columns of times to a target"])) == of_times


def test_the_spellings_of_parallelism_are_understood() -> None:
    spellings = described(sections("validate.md")["Parallelism"])
    assert len(spellings) > 20
    for spelling in spellings:
        parse_parallelism(spelling)


# docs/claims.md


def test_every_rule_of_claims_is_described() -> None:
    assert set(described(sections("claims.md")["Rules"])) == set(RULES)


# docs/data.md


def test_the_example_of_an_offer_is_one() -> None:
    block = re.findall(r"```yaml\n(.*?)```", sections("data.md")["Offers"], re.DOTALL)[0]
    parsed = parse(f"offers:\n{block}", file="offer")
    assert parsed.problems == ()
    assert OfferIn.model_validate(parsed.data["offers"][0]).price_usd_per_h is not None


def test_every_data_file_and_its_lists_are_named() -> None:
    rows = described(sections("data.md")["The data files"])
    for file, lists in SECTIONS.items():
        assert all(f"`{name}`" in rows[f"data/{file}"] for name in lists), file


# All pages


def anchors(page: Path) -> set[str]:
    """Anchors of the headings, as GitHub makes them."""
    titles = re.findall(r"^#+ +(.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_relative_links_lead_somewhere(page: Path) -> None:
    prose = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", prose):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = target.partition("#")
        aim = (page.parent / file).resolve() if file else page
        assert aim.exists(), target
        if anchor and aim.suffix == ".md":
            assert anchor in anchors(aim), target


def test_files_named_in_the_docs_exist() -> None:
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for name in re.findall(r"`((?:data|examples|docs|planner|tests|ui)/[\w./-]*\w)`", text):
            assert (ROOT / name).exists(), f"{page.name}: {name}"


def test_the_two_commands_of_the_readme_are_those_that_are_checked() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```\w*\n(.*?)```", readme, re.DOTALL)
    lines = [line.strip() for block in blocks for line in block.splitlines()]
    assert lines.count(RUN_APP) == 1
    assert lines.count(RUN_TESTS) == 1
    checked = re.findall(r"^\((pip install .+)\)", (ROOT / ".ci" / "run").read_text(encoding="utf-8"), re.MULTILINE)
    assert checked == [RUN_TESTS]


def readme_blocks() -> list[list[str]]:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    return [block.splitlines() for block in re.findall(r"```\w*\n(.*?)```", readme, re.DOTALL)]


def arguments_of(line: str) -> list[str]:
    words = shlex.split(line.removeprefix("$ "))
    assert words[:3] == ["python", "-m", "planner"]
    return words[3:]


@pytest.fixture
def project_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which the README's commands find what they name, and may write."""
    (tmp_path / "earlier").mkdir()
    for place in ("examples", "data", "tests"):
        (tmp_path / place).symlink_to(ROOT / place)
    (tmp_path / "earlier" / "data").symlink_to(ROOT / "data")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_output_in_the_readme_is_what_its_command_prints(
    project_copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = [block for block in readme_blocks() if block[0].startswith("$ python -m planner") and "..." in block]
    assert len(shown) == 1
    command, *expected = shown[0]
    assert "--today" in command
    assert main(arguments_of(command)) == 0
    assert expected[-1] == "..."
    assert len(expected) > 5
    assert capsys.readouterr().out.splitlines()[: len(expected) - 1] == expected[:-1]


def test_the_commands_of_the_readme_work(project_copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [line for block in readme_blocks() for line in block if line.startswith("$ python -m planner")]
    named = {" ".join(arguments_of(line)[:2]) for line in lines}
    assert {"catalog list", "catalog check", "catalog diff"} <= named
    assert {"plan", "estimate", "recommend", "claims"} <= {name.split()[0] for name in named}
    for line in lines:
        assert main(arguments_of(line)) == 0, line
        assert capsys.readouterr().out, line


def test_values_set_in_the_commands_of_the_docs_are_those_of_the_scenario() -> None:
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    commands = [arguments_of(line) for line in re.findall(r"^\$ python -m planner .+", text, re.MULTILINE)]
    commands = [words for words in commands if "--set" in words]
    assert {words[0] for words in commands} >= {"plan", "optimise"}
    for words in commands:
        given = [override_of(value) for before, value in itertools.pairwise(words) if before == "--set"]
        check_document(with_overrides(read_document((ROOT / words[1]).read_text(encoding="utf-8")), dict(given)))


def test_the_pages_of_the_app_are_those_of_the_readme() -> None:
    table = (
        (ROOT / "README.md").read_text(encoding="utf-8").partition("| page | |\n|---|---|\n")[2].partition("\n\n")[0]
    )
    named = [line.split("|")[1].strip() for line in table.splitlines()]
    calls = re.findall(r"ui/pages/(\w+)\.py", (ROOT / "app.py").read_text(encoding="utf-8"))
    assert [name.lower().replace("-", "") for name in named] == calls


def test_counts_in_the_changelog_are_those_of_the_data(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["catalog", "check", "--json", "--today", TODAY.isoformat()]) == 0
    counts = json.loads(capsys.readouterr().out)
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = " ".join(changelog.partition("\nData\n")[2].partition("\n## ")[0].split())
    for words in (
        "{gpus} accelerators with whole spec sheets and {partial_gpus} partly known ones",
        "{hosts} hosts, {systems} complete machines and boards, {parts} parts",
        "{offers} offers of {providers} providers ({offers_current} current on 2026-11-30)",
        "{hardware} dated purchase prices",
        "{sites} sites",
        "{grids} grids",
        "{currencies} currencies",
        "{workloads} workloads",
    ):
        assert words.format_map(counts) in newest, words
    rows = [row for rows in load_evidence().by_model.values() for row in rows]
    assert f"more than {len(rows) // 100 * 100} measured training speeds" in newest


def test_the_changelog_begins_with_this_version() -> None:
    from planner import __version__

    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert newest is not None
    assert newest[1] == __version__
