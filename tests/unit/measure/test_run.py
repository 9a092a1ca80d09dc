"""A whole run: what is chosen, what is kept when it is stopped, and that nothing else loads torch."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from planner.measure import library_models, run
from planner.measure.library_models import NotInstalledError, bert_subject, resnet_subject
from planner.measure.power import Meter
from planner.measure.results import WORKLOADS, Result, Skipped
from planner.measure.run import chosen_workloads, measure
from tests.unit.measure.fakes import CPU, report, step, torch_with

ROOT = Path(__file__).parents[3]
NO_METER = Meter(said="none")


def test_workloads_come_in_their_order() -> None:
    assert chosen_workloads(()) == chosen_workloads(["all"]) == WORKLOADS
    assert chosen_workloads(["gpt", "matmul"]) == ("matmul", "gpt")


def test_an_interruption_keeps_what_was_measured() -> None:
    def found() -> Iterator[Result]:
        yield step()
        raise KeyboardInterrupt

    stopped = report()
    stopped.gather(found())
    assert (stopped.interrupted, stopped.results) == (True, [step()])


def test_models_without_their_library_are_said_and_the_rest_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("transformers", "torchvision"):
        monkeypatch.setitem(sys.modules, name, None)
    for subject, workload in ((bert_subject, "bert-large"), (resnet_subject, "resnet-50")):
        with pytest.raises(NotInstalledError, match=f"{workload} needs transformers, .*pip install transformers"):
            subject(torch_with())
    lines: list[str] = []
    asked = ["bert-large", "resnet-50"]
    found = measure(torch_with(), CPU, asked, quick=True, date="2026-11-30", say=lines.append, meter=NO_METER)
    assert [(entry.workload, entry.what) for entry in found.skipped] == [(name, "all of it") for name in asked]
    assert len(lines) == 3


def test_a_torchvision_that_does_not_fit_torch_is_passed_by(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        def find_spec(self, name: str, *_: Any) -> None:
            if name == "torchvision":
                raise RuntimeError("operator torchvision::nms does not exist")

    monkeypatch.delitem(sys.modules, "torchvision", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Broken(), *sys.meta_path])
    fake = type("Transformers", (), {"__version__": "5.0", "BertForQuestionAnswering": None})
    monkeypatch.setattr(library_models, "_transformers", lambda workload: fake)
    assert "transformers 5.0" in resnet_subject(torch_with()).framework


def test_large_models_on_a_cpu_wait_to_be_asked_for_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing: Any = lambda *_, **__: iter(())  # noqa: E731
    for name in ("measure_matmuls", "measure_bandwidth", "measure_training", "gpt_subject", "bert_subject"):
        monkeypatch.setattr(run, name, nothing)
    monkeypatch.setattr(run, "resnet_subject", nothing)

    def left_out(asked: list[str]) -> list[str]:
        found = measure(torch_with(), CPU, asked, quick=True, date="", say=lambda _: None, meter=NO_METER)
        return [entry.workload for entry in found.results if isinstance(entry, Skipped)]

    assert left_out(["all"]) == ["bert-large", "resnet-50"]
    assert left_out(["resnet-50", "gpt"]) == []


@pytest.mark.slow
@pytest.mark.parametrize("command", [["plan", "examples/student.yaml"], ["measure", "--help"]])
def test_nothing_but_measuring_loads_torch(command: list[str]) -> None:
    code = (
        "import sys, planner.__main__ as line, planner.measure.run, planner.measure.gpt\n"
        f"try:\n    line.main({command!r})\nexcept SystemExit:\n    pass\n"
        "loaded = {'torch', 'transformers', 'torchvision', 'pynvml'} & set(sys.modules)\n"
        "assert not loaded, loaded\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
