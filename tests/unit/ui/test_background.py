"""Work of seconds: done once, said step by step, ended when nobody waits; faults are raised to who waits."""

from threading import Event

import pytest

from planner.strategy.progress import Step, tell
from ui import background
from ui.background import Work


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(background, "POLL_S", 0.005)
    monkeypatch.setattr(background, "HEAD_START_S", 0.0)


class LeftError(Exception):
    """Somebody doesn't want to wait."""


def leave(step, seconds):
    raise LeftError


def test_an_answer_is_found_once():
    calls = []
    work = Work(lambda: calls.append(1) or len(calls))
    assert not work.known
    assert (work.result(), work.result(), work.answer) == (1, 1, 1)


def test_steps_are_said_until_the_answer_is_there():
    go, said = Event(), []

    def find():
        tell("rounds", 2, 5)
        go.wait(5)
        return "found"

    def show(step, seconds):
        said.append(step)
        if step.of:
            go.set()

    assert Work(find).result(show) == "found"
    assert said[-1] == Step(stage="rounds", done=2, of=5)


def test_work_for_which_nobody_waits_ends_at_its_next_step_and_begins_anew():
    go, ended, begun = Event(), Event(), []

    def find():
        begun.append(1)
        try:
            go.wait(5)
            tell("rounds", 1)
        except BaseException:
            ended.set()
            raise
        return len(begun)

    work = Work(find)
    with pytest.raises(LeftError):
        work.result(leave)
    go.set()
    assert ended.wait(5) or not begun  # it may not even have begun
    assert not work.known
    assert work.result() == len(begun)


def test_a_fault_is_raised_where_the_answer_is_waited_for():
    def find():
        raise ValueError("no such thing")

    work = Work(find)
    for _ in range(2):
        with pytest.raises(ValueError, match="no such thing"):
            work.result()
