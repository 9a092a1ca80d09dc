"""Colours by role, in light and dark: one colour means one thing on every page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

COST_ROLES = ("owned", "on_demand", "reserved", "spot", "electricity", "people", "upkeep")
"""Parts of a cost bar in the order in which they are stacked."""

WAYS = ("hybrid", "local", "cloud", "optimal")
"""Ways in the order in which they are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Palette:
    """Fills of cost roles and ways, the text on and beside them, and the greys of a chart."""

    text: str
    secondary: str
    grid: str
    page: str
    fill: Mapping[str, str]
    text_on: Mapping[str, str]
    way: Mapping[str, str]
    way_text: Mapping[str, str]
    broken: str  # a limit that isn't kept
    memory: Mapping[str, str]  # parts of a GPU's memory: one grey in steps, for they mean no role


_INK = "#12181F"
_WHITE = "#FFFFFF"

LIGHT = Palette(
    text="#1B2733",
    secondary="#556270",
    grid="#E6EAEE",
    page="#FFFFFF",
    fill=MappingProxyType(
        {
            "owned": "#1F6AA5",
            "on_demand": "#D2691E",
            "reserved": "#84350F",
            "spot": "#F3BE8F",
            "electricity": "#C9A60B",
            "people": "#4B5865",
            "upkeep": "#A7B2BD",
        }
    ),
    text_on=MappingProxyType(
        {
            "owned": _WHITE,
            "on_demand": _INK,
            "reserved": _WHITE,
            "spot": _INK,
            "electricity": _INK,
            "people": _WHITE,
            "upkeep": _INK,
        }
    ),
    way=MappingProxyType({"local": "#1F6AA5", "cloud": "#D2691E", "hybrid": "#14876F", "optimal": "#7A4FA3"}),
    way_text=MappingProxyType({"local": "#1A5C91", "cloud": "#9A4A0F", "hybrid": "#0D6B58", "optimal": "#633D8A"}),
    broken="#B3261E",
    memory=MappingProxyType(
        {
            "weights": "#24384B",
            "states": "#24384B",
            "gradients": "#7F93A6",
            "optimizer": "#4B6279",
            "activations": "#A9B9C8",
            "logits": "#6A7F94",
            "gathered": "#C3CFDA",
            "runtime": "#93A1AD",
        }
    ),
)

DARK = Palette(
    text="#E6EBF0",
    secondary="#A5B1BD",
    grid="#26303A",
    page="#12181F",
    fill=MappingProxyType(
        {
            "owned": "#5AA9E6",
            "on_demand": "#F0893A",
            "reserved": "#B0532A",
            "spot": "#FBD9B5",
            "electricity": "#E6CB3C",
            "people": "#97A4B2",
            "upkeep": "#566371",
        }
    ),
    text_on=MappingProxyType(
        {
            "owned": _INK,
            "on_demand": _INK,
            "reserved": _WHITE,
            "spot": _INK,
            "electricity": _INK,
            "people": _INK,
            "upkeep": _WHITE,
        }
    ),
    way=MappingProxyType({"local": "#5AA9E6", "cloud": "#F0893A", "hybrid": "#56D6B6", "optimal": "#B79AE0"}),
    way_text=MappingProxyType({"local": "#8CC4F0", "cloud": "#F7AD73", "hybrid": "#6FE0C4", "optimal": "#CDB8EC"}),
    broken="#F28B82",
    memory=MappingProxyType(
        {
            "weights": "#DCE6EF",
            "states": "#DCE6EF",
            "gradients": "#7F93A6",
            "optimizer": "#A9B9C8",
            "activations": "#5F7488",
            "logits": "#93A7BA",
            "gathered": "#4B6279",
            "runtime": "#6E7C89",
        }
    ),
)


def palette(*, dark: bool) -> Palette:
    """The palette of the theme in use."""
    return DARK if dark else LIGHT
