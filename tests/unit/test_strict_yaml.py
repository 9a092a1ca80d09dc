"""What the strict reader refuses, what it reads, and how long hostile input can keep it."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from planner import strict_yaml
from planner.strict_yaml import MAX_BYTES, MAX_PROBLEMS, Parsed, parse


def read(text: str | bytes) -> Parsed:
    return parse(text, file="f.yaml")


def only(text: str | bytes) -> tuple[str, str, str, int | None]:
    """Record, field, what was found and the line of the one problem of a text."""
    (problem,) = read(text).problems
    return problem.record, problem.field, problem.found, problem.line


def test_reads_plain_values() -> None:
    text = """
    whole: 7
    negative: -7
    fraction: 0.5
    short: .5
    exponent: 1.0e-5
    large: 1.5e+9
    yes-text: "NO"
    day: 2026-11-09
    month: "2026-11"
    truth: true
    nothing:
    tilde: ~
    text: 8000 CNY
    version: 1.2.3
    place: us-east-1
    list: [1, a, {b: 2}]
    ages: {0: 1.0, 36: 0.5}
    long: |
      two
      lines
    """
    parsed = read(text)
    assert parsed.problems == ()
    assert parsed.complete
    assert parsed.data == {
        "whole": 7,
        "negative": -7,
        "fraction": 0.5,
        "short": 0.5,
        "exponent": 1e-5,
        "large": 1.5e9,
        "yes-text": "NO",
        "day": dt.date(2026, 11, 9),
        "month": "2026-11",
        "truth": True,
        "nothing": None,
        "tilde": None,
        "text": "8000 CNY",
        "version": "1.2.3",
        "place": "us-east-1",
        "list": [1, "a", {"b": 2}],
        "ages": {0: 1.0, 36: 0.5},
        "long": "two\nlines\n",
    }
    assert isinstance(parsed.data["whole"], int)
    assert isinstance(parsed.data["large"], float)


@pytest.mark.parametrize("word", ["NO", "no", "Yes", "on", "OFF", "y", "N"])
def test_switch_words_need_quotes(word: str) -> None:
    parsed = read(f"a: 1\nregion: {word}\n")
    (problem,) = parsed.problems
    assert (problem.field, problem.line) == ("region", 2)
    assert problem.found == f"{word} without quotes"
    assert problem.expected == f'"{word}" in quotes, or true or false'
    assert read(f'region: "{word}"').data == {"region": word}


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("1e-5", "0.00001 or 1.0e-5"),
        ("1.5e9", "1500000000 or 1.5e+9"),
        ("1E5", "100000 or 1.0e+5"),
        ("-2e3", "-2000 or -2.0e+3"),
        (".5e1", "5 or .5e+1"),
        ("3e24", "3.0e+24"),
        ("1e999", "a finite number"),
    ],
)
def test_exponents_that_yaml_reads_as_text(written: str, expected: str) -> None:
    (problem,) = read(f"rate: {written}").problems
    assert problem.found == f"{written}, which YAML reads as text"
    assert problem.expected == expected
    # The reason for the rule: the reader that most tools use takes the number for text.
    assert isinstance(yaml.safe_load(f"rate: {written}")["rate"], str)


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("12:30", "12:30, which YAML reads as a number to base 60"),
        ("1:02:03.5", "1:02:03.5, which YAML reads as a number to base 60"),
        ("010", "010, which YAML reads to another base"),
        ("08", "08, which YAML reads to another base"),
        ("00.5", "00.5, which YAML reads to another base"),
        ("0o10", "0o10, which YAML reads to another base"),
        ("0x1F", "0x1F, which YAML reads to another base"),
        ("0b101", "0b101, which YAML reads to another base"),
        ("1_000", "1_000 with separators"),
        ("1,000", "1,000 with separators"),
        (".nan", ".nan"),
        (".NaN", ".NaN"),
        (".inf", ".inf"),
        ("-.INF", "-.INF"),
        ("nan", "nan"),
        ("Infinity", "Infinity"),
        ("1.0e+999", "1.0e+999"),
        ("2026-02-30", "2026-02-30"),
        ("2026-11-09 10:00:00", "2026-11-09 10:00:00, a time of day"),
        ("=", "= without quotes"),
    ],
)
def test_values_that_do_not_mean_what_they_look_like(written: str, found: str) -> None:
    assert only(f"a: 1\nb:\n  c: {written}\n") == ("", "b.c", found, 3)


def test_second_key_is_a_problem_and_the_first_stays() -> None:
    parsed = read("a: 1\nb: 2\na: {c: 3}\n")
    (problem,) = parsed.problems
    assert (problem.field, problem.line) == ("a", 3)
    assert problem.found == "the key a second time (first on line 1)"
    assert parsed.data == {"a": 1, "b": 2}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a: &x 1", "the anchor &x"),
        ("a: *x", "the alias *x"),
        ("a: {<<: 1}", "the merge key <<"),
        ("a: !!python/object/apply:os.system [ls]", "the tag tag:yaml.org,2002:python/object/apply:os.system"),
        ("a: !!str 1", "the tag tag:yaml.org,2002:str"),
        ("a: !own 1", "the tag !own"),
        ("a: 1\n---\nb: 2", "a second document (---)"),
        ("- 1\n- 2", "a list at the top"),
        ("only text", "'only text' at the top"),
        ("", "an empty file"),
        ("# a comment\n", "an empty file"),
        ("---\n...\n", "nothing at the top"),
        ("true: 1", "true as a key"),
        ("1.5: 1", "1.5 as a key"),
        ("? [a, b]\n: 1", "a list or mapping as a key"),
        ('a: "\\0"', "the control character U+0000"),
        ("a: \x07", "the control character U+0007"),
        ("a: \ud800", "the control character U+D800"),
        (b"a: \xff", "the byte 0xff, which is not UTF-8"),
        (b"\xff\xfea\x00", "the byte 0xff, which is not UTF-8"),
    ],
)
def test_refused_constructs(text: str | bytes, found: str) -> None:
    assert only(text)[2] == found


def test_alias_bomb_is_refused_at_its_first_alias() -> None:
    lines = ["a0: &a0 [x, x]"]
    lines += [f"a{level}: &a{level} [*a{level - 1}, *a{level - 1}]" for level in range(1, 30)]
    parsed = read("\n".join(lines))
    assert parsed.problems[0].found == "the anchor &a0"
    assert parsed.data["a1"] == [None, None]


@pytest.mark.parametrize(
    ("text", "line"),
    [("a: [1, 2", 2), ("a: b: c", 1), ("a: 1\n\tb: 2", 2), ("a: 'x", 1), ("{a: 1", 1), ("a: 1\n b: 2\n", 2), ("%", 1)],
)
def test_syntax_errors_have_a_line_and_no_traceback(text: str, line: int) -> None:
    parsed = read(text)
    assert not parsed.complete
    assert parsed.problems[-1].found.startswith("a syntax error at column ")
    assert parsed.problems[-1].line is not None
    assert abs(parsed.problems[-1].line - line) <= 1  # the parser may notice at the line after


def test_all_problems_are_reported_together_with_lines() -> None:
    parsed = read("a: NO\nb: 1e-5\nb: 2\nc: [12:30, .nan]\n")
    assert [(problem.field, problem.line) for problem in parsed.problems] == [
        ("a", 1),
        ("b", 2),
        ("b", 3),
        ("c.0", 4),
        ("c.1", 4),
    ]


def test_a_problem_names_the_record_it_stands_in() -> None:
    text = "offers:\n  - id: one\n    region: NO\n  - name: x\n    billing: {unit: 1e3}\nother: {deep: [010]}\n"
    assert [(problem.record, problem.field) for problem in read(text).problems] == [
        ("one", "region"),
        ("offers 2", "billing.unit"),
        ("", "other.deep.0"),
    ]


def test_line_of_a_path_and_of_what_is_missing_there() -> None:
    parsed = read("a: 1\nlist:\n  - id: x\n    deep: {k: 2}\n  - id: y\n")
    assert parsed.line(("list", 0, "deep", "k")) == 4
    assert parsed.line(("list", 1, "id")) == 5
    assert parsed.line(("list", 1, "absent", "k")) == 5
    assert parsed.line(("absent",)) is None
    assert parsed.line(()) is None


def test_faulty_covers_what_lies_below() -> None:
    parsed = read("a: {b: NO, c: 1}\nd: 2")
    assert parsed.is_faulty(("a", "b"))
    assert parsed.is_faulty(("a", "b", "value"))
    assert not parsed.is_faulty(("a", "c"))
    assert not parsed.is_faulty(("a",))


def test_byte_order_mark_and_windows_lines_are_fine() -> None:
    assert read(b"\xef\xbb\xbfa: 1\r\nb: \xc3\xa4\r\n").data == {"a": 1, "b": "ä"}


def test_size_limit_is_checked_before_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml, "parse", lambda *_, **__: pytest.fail("read all the same"))
    (problem,) = read("a: " + "x" * 10_000_000).problems
    assert (problem.found, problem.expected) == ("more than 1 MB", "at most 1 MB")
    assert parse("a: 12345", file="f", max_bytes=4).problems[0].expected == "at most 4 bytes"


def test_depth_limit() -> None:
    assert read("a: " + "[" * 19 + "]" * 19).problems == ()
    parsed = read("a: " + "[" * 20 + "]" * 20)
    assert parsed.problems[0].found == "more than 20 levels of nesting"


def _room(pattern: str) -> str:
    """A text of a pattern repeated up to a quarter of the limit."""
    return pattern * (MAX_BYTES // 4 // len(pattern))


@pytest.mark.parametrize(
    "text",
    [
        _room("["),
        _room("{a: "),
        _room("- "),
        _room("? "),
        _room("&a "),
        "a: " + _room("!!str "),
        "a: [" + _room("1e5,"),
        "a: [" + _room("{},") + "]",
        "a: " + _room("1"),
        "a: " + _room("1:"),
        "a: " + _room("1,"),
        "a: [" + _room("1.1.1, ") + "]",
        _room("a"),
        _room("a: 1\n"),
        "a:\n" + _room("  - id: 010\n"),
        _room('"'),
        _room("#"),
        _room("---\n"),
        _room("\n"),
        "a: |\n" + _room("  x\n"),
        "x: {" + ", ".join(f"k{i}: {i}" for i in range(17_000)) + "}",
    ],
    ids=lambda text: repr(text[:12]),
)
def test_hostile_input_ends_soon(text: str) -> None:
    parsed = read(text)  # a quadratic reader would take hours
    assert len(parsed.problems) <= MAX_PROBLEMS + 1


def test_report_of_endless_problems_is_cut() -> None:
    problems = read("a: [" + "010, " * 1000 + "]").problems
    assert len(problems) == MAX_PROBLEMS + 1
    assert problems[-1].found == f"more than {MAX_PROBLEMS} problems"


@pytest.mark.parametrize(
    "text",
    [
        "a: 1\nb: [x, {c: NO}]\n",
        "a: &x 1\na: *x\n",
        "a: [1, 2",
        _room("["),
        _room("{a: "),
        'a: "\\U99999999"',
        "%YAML 9.9\n---\na: 1",
    ],
    ids=lambda text: repr(text[:12]),
)
def test_without_libyaml_the_same_is_read(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fast = read(text)
    monkeypatch.setattr(strict_yaml, "_LOADER", yaml.SafeLoader)
    slow = read(text)
    assert slow.data == fast.data
    assert bool(slow.problems) == bool(fast.problems)
    assert slow.complete == fast.complete


_plain = (
    st.none()
    | st.booleans()
    | st.integers(-(10**15), 10**15)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20)
    | st.dates()
)
_documents = st.dictionaries(
    st.text(min_size=1, max_size=8),
    st.recursive(
        _plain, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    min_size=1,
    max_size=5,
)


@pytest.mark.slow
@given(_documents)
@example({"?": None})  # once taken for the mark of a refused key, and lost
def test_what_the_usual_writer_writes_comes_back(document: dict[str, Any]) -> None:
    text = yaml.safe_dump(document)
    parsed = read(text)
    if not parsed.problems:
        assert parsed.data == document


@given(st.text(max_size=200) | st.binary(max_size=200))
def test_never_raises(text: str | bytes) -> None:
    parsed = read(text)
    assert parsed.problems or parsed.complete


@given(st.text(alphabet="[]{}:,-?&*!|>'\"%#@ \nab01.e_", max_size=120))
def test_never_raises_on_yaml_signs(text: str) -> None:
    parsed = read(text)
    assert parsed.problems or yaml.safe_load(text) == parsed.data
