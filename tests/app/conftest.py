"""Pages without what takes seconds: tests of that stand by themselves."""

import pytest

from ui import plan_band, progress_line


@pytest.fixture(autouse=True)
def best_mix_left(monkeypatch):
    """The best mix is not looked for, and futures aren't drawn without it."""
    left = progress_line.is_left
    monkeypatch.setattr(progress_line, "is_left", lambda key: key == "best_mix" or left(key))
    monkeypatch.setattr(plan_band, "show", lambda *_, **__: None)
