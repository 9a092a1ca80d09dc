"""Every text key exists, is used, and gets the values its sentence names."""

import ast
import re
from pathlib import Path

import pytest

from ui.i18n import t, texts

ROOT = Path(__file__).resolve().parents[3]
SOURCES = [ROOT / "app.py", *sorted((ROOT / "ui").rglob("*.py"))]
KEYS = texts("en")


def trees():
    return [(path, ast.parse(path.read_text(encoding="utf-8"))) for path in SOURCES if path.exists()]


def calls():
    for path, tree in trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "t" and node.args:
                yield path, node


def strings():
    """Literal strings of the code, and the fixed beginnings of those put together from parts."""
    whole, beginnings = set(), set()
    for _, tree in trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                whole.add(node.value)
            elif isinstance(node, ast.JoinedStr) and isinstance(node.values[0], ast.Constant):
                beginnings.add(node.values[0].value)
    return whole, {start for start in beginnings if "." in start}


def test_every_key_in_the_code_exists():
    missing = set()
    for path, call in calls():
        key = call.args[0]
        if isinstance(key, ast.Constant) and key.value not in KEYS:
            missing.add((path.name, key.value))
        if isinstance(key, ast.JoinedStr):
            start = key.values[0].value if isinstance(key.values[0], ast.Constant) else ""
            if not any(known.startswith(start) for known in KEYS) or not start:
                missing.add((path.name, start))
    assert missing == set()


def test_no_key_is_unused():
    whole, beginnings = strings()
    whole |= {f"{key}.{form}" for key in whole for form in ("one", "many")}
    assert [key for key in KEYS if key not in whole and not key.startswith(tuple(beginnings))] == []


def test_calls_give_what_the_sentence_names():
    wrong = []
    for path, call in calls():
        key = call.args[0]
        if isinstance(key, ast.Constant) and key.value in KEYS and all(word.arg for word in call.keywords):
            given = {word.arg for word in call.keywords}
            named = set(re.findall(r"\{(\w+)\}", KEYS[key.value]))
            if given != named:
                wrong.append((path.name, key.value, given ^ named))
    assert wrong == []


def test_texts_hold_no_typing_machine_characters():
    assert [key for key, text in KEYS.items() if re.search(r"\d [%hW]|--|\.\.\.|'", text)] == []


def test_unknown_key_is_a_fault():
    with pytest.raises(KeyError):
        t("no.such.key")
