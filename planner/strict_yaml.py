"""Strict reader of YAML: what looks like one thing and means another is a problem, and no input makes it slow."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import yaml
from yaml import events

from planner.errors import Problem
from planner.yaml_scalars import Trap, plain_value

Path: TypeAlias = tuple[str | int, ...]

MAX_BYTES = 1_000_000
MAX_DEPTH = 20
MAX_PROBLEMS = 100  # a hostile file must not make a report that is larger than itself
WHOLE_FILE = "file"

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """A file's data with everything that is wrong with it as YAML.

    `complete` is false when reading stopped early, so that `data` says nothing about what is missing.
    """

    file: str
    data: dict[Any, Any]
    problems: tuple[Problem, ...]
    complete: bool
    lines: Mapping[int, Mapping[Any, int]]  # by identity of the container in `data`: line of each entry, from 1
    faulty: frozenset[Path]  # entries that already have a problem

    def line(self, path: Sequence[str | int]) -> int | None:
        """Line of the entry at a path, or of the nearest entry around it; None for the whole file."""
        node: Any = self.data
        line = None
        for part in path:
            here = self.lines.get(id(node), {}) if isinstance(node, dict | list) else {}
            if part not in here:
                break
            line = here[part]
            try:
                node = node[part]
            except LookupError:
                break
        return line

    def place(self, path: Sequence[str | int]) -> tuple[str, str]:
        """Record and field of a path: the id of the list entry (or "offers 3") and the keys within it."""
        node: Any = self.data
        record, start = "", 0
        for at, part in enumerate(path):
            try:
                node = node[part]
            except (LookupError, TypeError):
                node = None
            if isinstance(part, int) and at == 1 and isinstance(node, dict):
                name = node.get("id")
                record = name if isinstance(name, str) else f"{path[0]} {part + 1}"
                start = at + 1
        return record, ".".join(str(part) for part in path[start:])

    def problem(self, path: Sequence[str | int], found: str, expected: str) -> Problem:
        """A problem of the entry at a path, with its record, field and line."""
        record, field = self.place(path)
        if not record and not field:
            record = WHOLE_FILE
        return Problem(file=self.file, record=record, field=field, found=found, expected=expected, line=self.line(path))

    def is_faulty(self, path: Sequence[str | int]) -> bool:
        """Whether the entry at a path, or one around it, has a problem already, so that its value means nothing."""
        return any(tuple(path[:end]) in self.faulty for end in range(1, len(path) + 1))


def parse(text: str | bytes, *, file: str, max_bytes: int = MAX_BYTES) -> Parsed:
    """Read YAML into plain data: mappings, lists, text, numbers, true/false, dates and None.

    Parameters
    ----------
    text : str or bytes
        Content of the file; bytes have to be UTF-8.
    file : str
        Name of the file in problems.
    max_bytes : int
        A longer text is refused unread. [byte]

    Returns
    -------
    Parsed
        Never raises: whatever is wrong stands in `problems`.
    """
    refused = _refuse_unread(text, max_bytes)
    if refused is not None:
        line, found, expected = refused
        problem = Problem(file=file, record=WHOLE_FILE, field="", found=found, expected=expected, line=line)
        return Parsed(file=file, data={}, problems=(problem,), complete=False, lines={}, faulty=frozenset())
    return _Builder(file).build(text if isinstance(text, str) else text.decode("utf-8"))


# C0 and C1 controls other than tab, line feed, carriage return and next line; lone surrogates; non-characters.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")


def _refuse_unread(text: str | bytes, max_bytes: int) -> tuple[int | None, str, str] | None:
    size = len(text)
    if size > max_bytes:
        return None, f"more than {_megabytes(max_bytes)}", f"at most {_megabytes(max_bytes)}"
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8")
        except UnicodeDecodeError as error:
            line = error.object.count(b"\n", 0, error.start) + 1
            return line, f"the byte 0x{error.object[error.start]:02x}, which is not UTF-8", "text saved as UTF-8"
    control = _CONTROL.search(text)
    if control is not None:
        line = text.count("\n", 0, control.start()) + 1
        return line, f"the control character U+{ord(control.group()):04X}", "printable text"
    if not text.strip():
        return None, "an empty file", "keys with values"
    return None


def _megabytes(size: int) -> str:
    return f"{size / 1e6:g} MB" if size >= 100_000 else f"{size:,} bytes"


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1


class _Stop(Exception):
    """Reading on makes no sense."""


_NO_KEY = object()  # the next event of a mapping is a key
_DROPPED = object()  # the value of a refused key is read but kept nowhere; no key of a file can be equal to it


class _Frame:
    """A mapping or list under construction."""

    __slots__ = ("container", "key", "lines", "name")

    def __init__(self, container: dict[Any, Any] | list[Any], name: str | int) -> None:
        self.container = container
        self.lines: dict[Any, int] = {}
        self.key: Any = _NO_KEY
        self.name = name  # key or index in the frame around it


class _Builder:
    """Builds plain data from parser events with its own stack, so that depth costs no recursion."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.stack: list[_Frame] = []
        self.root: Any = _NO_KEY
        self.lines: dict[int, dict[Any, int]] = {}
        self.found: list[tuple[Path, int | None, str, str]] = []
        self.documents = 0

    def build(self, text: str) -> Parsed:
        complete = True
        try:
            for event in yaml.parse(text, Loader=_LOADER):
                self.take(event)
        except _Stop:
            complete = False
        except yaml.MarkedYAMLError as error:
            complete = False
            mark = error.problem_mark or error.context_mark
            what = error.problem or error.context or "something that is not YAML"
            if mark is None:
                self.found.append(((), None, f"a syntax error: {what}", "YAML"))
            else:
                self.found.append(((), mark.line + 1, f"a syntax error at column {mark.column + 1}: {what}", "YAML"))
        except (yaml.YAMLError, ValueError, OverflowError) as error:  # the latter two from the reader without libyaml
            complete = False
            self.found.append(((), None, f"a syntax error: {error}", "YAML"))
        if complete and self.root is _NO_KEY:
            complete = False
            self.found.append(((), None, "an empty file", "keys with values"))
        elif complete and not isinstance(self.root, dict):
            complete = False
            self.found.append(((), 1, f"{describe(self.root)} at the top", "keys with values"))
        return self.finish(complete)

    def finish(self, complete: bool) -> Parsed:
        faulty = frozenset(path for path, _, _, _ in self.found if path)
        data = self.root if isinstance(self.root, dict) else {}
        bare = Parsed(file=self.file, data=data, problems=(), complete=complete, lines=self.lines, faulty=faulty)
        problems = []
        for path, line, found, expected in self.found:
            record, field = bare.place(path)
            if not record and not field:
                record = WHOLE_FILE
            problems.append(
                Problem(file=self.file, record=record, field=field, found=found, expected=expected, line=line)
            )
        return Parsed(
            file=self.file, data=data, problems=tuple(problems), complete=complete, lines=self.lines, faulty=faulty
        )

    def path(self) -> Path:
        """Path of the entry being read."""
        path = [frame.name for frame in self.stack[1:]]
        if self.stack:
            frame = self.stack[-1]
            if isinstance(frame.container, list):
                path.append(len(frame.container))
            elif frame.key is not _NO_KEY:
                path.append("?" if frame.key is _DROPPED else frame.key)
        return tuple(path)

    def name_of_next(self) -> str | int:
        """Last part of `path` without the rest, which every mapping and list would pay for."""
        if not self.stack:
            return ""
        frame = self.stack[-1]
        if isinstance(frame.container, list):
            return len(frame.container)
        if frame.key is _DROPPED:
            return "?"
        key: str | int = frame.key
        return key

    def report(self, event: events.Event, found: str, expected: str, *, path: Path | None = None) -> None:
        line = _line(event)
        if len(self.found) >= MAX_PROBLEMS:
            self.found.append(((), line, f"more than {MAX_PROBLEMS} problems", "these corrected first"))
            raise _Stop
        self.found.append((self.path() if path is None else path, line, found, expected))

    def take(self, event: events.Event) -> None:
        if isinstance(event, events.ScalarEvent):
            self.check_node(event)
            self.take_scalar(event)
        elif isinstance(event, events.MappingStartEvent | events.SequenceStartEvent):
            self.check_node(event)
            self.open(event)
        elif isinstance(event, events.MappingEndEvent | events.SequenceEndEvent):
            self.stack.pop()
        elif isinstance(event, events.AliasEvent):
            self.report(event, f"the alias *{event.anchor}", "the value written out")
            self.add(event, None)
        elif isinstance(event, events.DocumentStartEvent):
            self.documents += 1
            if self.documents > 1:
                self.report(event, "a second document (---)", "one document", path=())
                raise _Stop

    def check_node(self, event: Any) -> None:
        if event.anchor is not None:
            self.report(event, f"the anchor &{event.anchor}", "each value written out where it is used")
        if event.tag is not None:
            self.report(event, f"the tag {event.tag}", "a value without a tag")

    def take_scalar(self, event: events.ScalarEvent) -> None:
        text = event.value
        if event.style or event.tag is not None:
            value: Any = text
            control = _CONTROL.search(text)
            if control is not None:
                self.report(event, f"the control character U+{ord(control.group()):04X}", "printable text")
        else:
            try:
                value = plain_value(text)
            except Trap as trap:
                self.report(event, *trap.args)
                value = text
        self.add(event, value)

    def open(self, event: events.MappingStartEvent | events.SequenceStartEvent) -> None:
        if len(self.stack) >= MAX_DEPTH:
            self.report(event, f"more than {MAX_DEPTH} levels of nesting", f"at most {MAX_DEPTH}", path=())
            raise _Stop
        if self.stack and isinstance(self.stack[-1].container, dict) and self.stack[-1].key is _NO_KEY:
            self.report(event, "a list or mapping as a key", "text as the key")
            raise _Stop
        container: dict[Any, Any] | list[Any] = {} if isinstance(event, events.MappingStartEvent) else []
        frame = _Frame(container, self.name_of_next())
        self.lines[id(container)] = frame.lines
        self.add(event, container)
        self.stack.append(frame)

    def add(self, event: events.Event, value: Any) -> None:
        """Put a finished value, or a container about to be filled, where it belongs."""
        line = _line(event)
        if not self.stack:
            self.root = value
            return
        frame = self.stack[-1]
        if isinstance(frame.container, list):
            frame.lines[len(frame.container)] = line
            frame.container.append(value)
        elif frame.key is _NO_KEY:
            frame.key = self.checked_key(event, frame, value)
        elif frame.key is _DROPPED:
            frame.key = _NO_KEY
        else:
            frame.container[frame.key] = value
            frame.key = _NO_KEY

    def checked_key(self, event: events.Event, frame: _Frame, key: Any) -> Any:
        line = _line(event)
        style = getattr(event, "style", None)
        if key == "<<" and not style:
            self.report(event, "the merge key <<", "the keys written out")
            return _DROPPED
        if not isinstance(key, str | int) or isinstance(key, bool):
            if not isinstance(event, events.AliasEvent):
                self.report(event, f"{describe(key)} as a key", "text as the key (in quotes)")
            return _DROPPED
        if key in frame.lines:
            found = f"the key a second time (first on line {frame.lines[key]})"
            self.report(event, found, "each key once", path=(*self.path(), key))
            return _DROPPED
        frame.lines[key] = line
        return key


def describe(value: object) -> str:
    """A value in the words of a problem report, shortened."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, str):
        return f"'{shorten(value)}'"
    return shorten(str(value))


def shorten(text: str, limit: int = 80) -> str:
    """Text on one line, cut where it is too long to read."""
    text = " ".join(text.split())
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
