"""The subcommand `recommend`: its JSON contract, its text, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from planner.__main__ import main

TODAY = ("--today", "2026-11-30")
DOCS = Path(__file__).resolve().parents[3] / "docs" / "cli.md"


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = main(["recommend", *arguments, *TODAY])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_json_has_the_documented_keys(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(
        capsys, "--budget", "8000 CNY", "--use", "teaching", "--parameters", "100M", "--samples", "100k", "--json"
    )
    assert (status, err) == (0, "")
    document = json.loads(out)
    documented = DOCS.read_text(encoding="utf-8").partition("## JSON of `recommend`")[2]
    parts = [document, document["work"], document["guide_pick"]]
    parts += [document["options"][document[kind]["best"]] for kind in ("build", "rental")]
    parts += [document["options"][document["build"]["best"]]["parts"][0], document["step_up"], document["free"][0]]
    for part in parts:
        assert [key for key in part if f"`{key}`" not in documented] == []


def test_text_is_the_default(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "--budget", "30000 CNY", "--use", "training", "--months", "12", "--site", "germany")
    assert status == 0
    assert "over 12 months" in out
    assert "30,000 CNY" in out


def test_a_budget_too_small_is_an_answer(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "--budget", "0.01 USD", "--use", "training", "--parameters", "7B")
    assert (status, err) == (0, "")
    assert "Free: " in out
    assert "The least to buy" in out


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"--budget": "1,000 USD"}, "--budget: found '1,000 USD', expected an amount and a currency"),
        ({"--budget": "9 XAU"}, "--budget: found '9 XAU', expected a known currency"),
        ({"--budget": "1e13 USD"}, "--budget: found '1e13 USD', expected an amount worth 0.01 to 1e12 USD"),
        ({"--parameters": "1e400B"}, "--parameters: found '1e400B', expected from 10k to 671B"),
        ({"--parameters": "1e21B"}, "--parameters: found '1e21B', expected from 10k to 671B"),
        ({"--samples": "2000000M"}, "--samples: found '2000000M', expected from 1 to 1000B"),
        ({"--budget": "0 CNY"}, "--budget: found '0 CNY', expected an amount greater than 0"),
        ({"--budget": "-3 CNY"}, "--budget: found '-3 CNY', expected an amount greater than 0"),
        ({"--parameters": "lots"}, "--parameters: found 'lots', expected a number such as"),
        ({"--samples": "0"}, "--samples: found '0', expected from 1"),
        ({"--budget": "1e400 USD"}, "--budget: found '1e400 USD', expected an amount worth 0.01 to 1e12 USD"),
        ({"--budget": "1e-320 USD"}, "--budget: found '1e-320 USD', expected an amount worth 0.01 to 1e12 USD"),
        ({"--months": "0"}, "--months: found '0', expected a whole number from 1 to 84"),
        ({"--months": "2.5"}, "--months: found '2.5', expected a whole number from 1 to 84"),
        ({"--months": "9" * 400}, "--months: found '99"),
        ({"--months": "85"}, "--months: found '85', expected a whole number from 1 to 84"),
        ({"--site": "mars"}, "--site: no site called 'mars'"),
    ],
)
def test_bad_input_ends_with_status_2(changes: dict[str, str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    given = {"--budget": "8000 CNY", "--use": "teaching", **changes}
    status, out, err = run(capsys, *(part for pair in given.items() for part in pair))
    assert (status, out) == (2, "")
    assert err.startswith(words)


@pytest.mark.parametrize(
    "arguments", [("--budget", "8 CNY"), ("--use", "teaching"), ("--budget", "8 CNY", "--use", "x")]
)
def test_budget_and_use_are_needed(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["recommend", *arguments])
    assert stop.value.code == 2
    assert "--" in capsys.readouterr().err
