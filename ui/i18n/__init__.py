"""Texts of the app under dotted keys, one YAML file a language."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import yaml

LANGUAGE = "en"
_FOLDER = Path(__file__).parent


def t(key: str, **params: Any) -> str:
    """The text of `key`, its {names} filled with `params`; an unknown key is a fault of the app and raises KeyError."""
    text = texts(LANGUAGE)[key]
    return text.format(**params) if params else text


@cache
def texts(language: str) -> dict[str, str]:
    """All texts of a language, nested keys joined with dots."""
    document = yaml.safe_load((_FOLDER / f"{language}.yaml").read_text(encoding="utf-8"))
    return dict(_flat(document, ""))


def _flat(node: dict[str, Any], prefix: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for key, value in node.items():
        path = f"{prefix}{key}"
        if isinstance(value, dict):
            found.extend(_flat(value, f"{path}."))
        else:
            found.append((path, str(value)))
    return found
