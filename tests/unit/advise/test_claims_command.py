"""`python -m planner claims`, and its description in the documentation."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from planner.__main__ import main
from planner.advise.claims.assess import RULES
from tests.planning import TODAY

DOCS = Path(__file__).parents[3] / "docs"
PROMISED = {"id", "claim", "verdict", "explanation", "figures", "sources"}


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    import contextlib
    import io

    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert main(["claims", "--json", "--today", TODAY.isoformat()]) == 0
    return dict(json.loads(out.getvalue()))


def test_the_json_has_what_is_promised(document: dict[str, Any]) -> None:
    assert len(document["claims"]) >= 30
    for row in document["claims"]:
        assert set(row) >= PROMISED
        assert row["verdict"] in ("holds", "conditional", "does_not_hold", "undecidable")
    assert sum(document["counts"].values()) == len(document["claims"])
    assert document["assessed_on"] == TODAY.isoformat()


def test_the_text_says_verdict_claim_and_reason(capsys: pytest.CaptureFixture[str], document: dict[str, Any]) -> None:
    assert main(["claims", "--today", TODAY.isoformat()]) == 0
    text = capsys.readouterr().out
    assert text.startswith(f"{len(document['claims'])} printed claims against the catalog of ")
    for row in document["claims"]:
        assert f"] {row['claim']}\n  {row['explanation']}" in text


def sections() -> dict[str, str]:
    parts = re.split(r"^#+ +(.+)$", (DOCS / "cli.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {title.strip("`"): body for title, body in zip(parts[1::2], parts[2::2], strict=True)}


def described(section: str) -> set[str]:
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    return {key for cell in rows for key in re.findall(r"`([^`]+)`", cell)}


def test_every_key_is_described(document: dict[str, Any]) -> None:
    pages = sections()
    assert described(pages["JSON of `claims"]) == set(document)
    assert described(pages["claims[]"]) == set(document["claims"][0])
    assert described(pages["figures.<id>"]) == set(next(iter(document["figures"].values())))


def test_every_rule_is_described() -> None:
    text = (DOCS / "claims.md").read_text(encoding="utf-8")
    assert [rule for rule in RULES if f"`{rule}`" not in text] == []
