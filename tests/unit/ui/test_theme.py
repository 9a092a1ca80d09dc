"""The theme file: bound to this machine, silent, and every coloured text readable on its ground."""

import tomllib
from pathlib import Path

import pytest

from tests.unit.ui.contrast import contrast
from ui.palette import DARK, LIGHT

CONFIG = tomllib.loads((Path(__file__).resolve().parents[3] / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
COLOURS = ("red", "orange", "yellow", "green", "blue", "violet", "gray")


def test_the_app_serves_this_machine_only_and_reports_nothing():
    assert CONFIG["server"]["address"] == "127.0.0.1"
    assert CONFIG["browser"]["gatherUsageStats"] is False


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_badges_and_coloured_words_can_be_read(theme):
    colours = CONFIG["theme"][theme]
    for name in COLOURS:
        text = colours[f"{name}TextColor"]
        assert contrast(text, colours[f"{name}BackgroundColor"]) >= 4.5, name
        assert contrast(text, colours["backgroundColor"]) >= 4.5, name
        assert contrast(text, colours["secondaryBackgroundColor"]) >= 4.5, name
    assert contrast(colours["primaryColor"], "#FFFFFF") >= 4.5
    assert contrast(colours["textColor"], colours["secondaryBackgroundColor"]) >= 4.5


@pytest.mark.parametrize(("theme", "palette"), [("light", LIGHT), ("dark", DARK)])
def test_charts_and_pages_share_their_colours(theme, palette):
    colours = CONFIG["theme"][theme]
    assert palette.page == colours["backgroundColor"]
    assert palette.text == colours["textColor"]
    assert palette.secondary == colours["grayTextColor"]
    assert palette.fill["owned"] == colours["blueColor"]
    assert palette.way["hybrid"] == colours["greenColor"]
