"""The user's own measurements as evidence: which rows of a table can answer, and what is odd about the others."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from statistics import median
from typing import Literal, TypeVar

from planner.catalog.query import find_accelerator
from planner.catalog.records import Catalog, Gpu, PartialGpu, Precision, Source, Workload
from planner.cells import CellError, number, shown
from planner.errors import PlannerError, Problem
from planner.measurements.checks import flop_of_macs, flop_of_token, speed_reason
from planner.measurements.fault import Fault
from planner.measurements.parallelism import ParallelismError, parse_parallelism
from planner.measurements.reading import read_grid, refused
from planner.measurements.rows import FLAG, LanguageRow, is_flagged
from planner.measurements.table import read_table
from planner.performance.evidence import OWN, PRECISIONS, Evidence, Measurement, add_own, content_digest, find_precision
from planner.performance.measured import CONTRADICTION, WILD_SPREAD, names_of, precision_class
from planner.performance.recalibrate import with_offsets
from planner.units import MACS_PER_GMAC
from planner.workload.settings import CHECKPOINTINGS, Checkpointing

_SAMPLE_COLUMNS = (
    "id", "date", "gpu", "n_gpus", "gpus_per_node", "task", "model", "n_params", "input", "batch_per_gpu", "precision",
    "framework", "throughput", "notes", "activation_checkpointing", "spread",
)  # fmt: skip
_NEEDED_OF_SAMPLES = ("gpu", "n_gpus", "model", "batch_per_gpu", "precision", "throughput")
_SAME_SIZE = 0.1  # a model whose parameters differ by more is another one of that name
_Number = TypeVar("_Number", int, float)
_FULL_TASKS = (None, "pretrain", "full-finetune", "train")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """A row of either table, as far as it could be read."""

    line: int
    id: str
    gpu: str | None
    n_gpus: int | None
    gpus_per_node: int | None
    task: str | None
    model: str | None
    parameters: float | None
    seq_len: int | None
    micro_batch: int | None
    global_batch: int | None
    precision: str | None
    parallelism: str | None
    checkpointing: str | None
    framework: str | None
    date: str | None
    notes: str | None
    throughput: float | None
    unit: Literal["tokens_per_s", "samples_per_s"]
    spread: str
    faults: tuple[Fault, ...]


def with_own_rows(
    evidence: Evidence, content: bytes, *, file: str, catalog: Catalog, models: Collection[Workload] = ()
) -> tuple[Evidence, tuple[Problem, ...]]:
    """Evidence with the rows of the user's own table, which come before everything published.

    Parameters
    ----------
    evidence : Evidence
        What is known so far.
    content : bytes
        A table of speeds of language models (`tokens_per_s_total`) or of other models (`throughput`).
    file : str
        Its name: part of the ids, and said with what is wrong.
    catalog : Catalog
        GPUs and models that rows may name, those of a scenario included.
    models : collection of Workload
        Further models that rows may name.

    Returns
    -------
    Evidence, tuple of Problem
        Rows that can't answer are left out and stand among the problems with the reason; so do rows that can, but are
        odd: a spread of zero, a wild one, or rows of one configuration that contradict each other.

    Raises
    ------
    TableError
        It is none of the two tables, or can't be read at all.
    """
    found, (problems,) = with_own_tables(evidence, ((file, content),), catalog=catalog, models=models)
    return found, problems


def with_own_tables(
    evidence: Evidence, tables: Sequence[tuple[str, bytes]], *, catalog: Catalog, models: Collection[Workload] = ()
) -> tuple[Evidence, tuple[tuple[Problem, ...], ...]]:
    """Evidence with the rows of several own tables, as `with_own_rows` one after the other, recalibrated once.

    Parameters
    ----------
    evidence, catalog, models
        As in `with_own_rows`.
    tables : sequence of (str, bytes)
        Name and content of each.

    Returns
    -------
    Evidence, tuple of tuples of Problem
        What is wrong with the rows of each table, in their order.

    Raises
    ------
    TableError
        One of them is none of the two tables, or can't be read at all.
    """
    known = {name: workload for workload in (*catalog.workloads.values(), *models) for name in names_of(workload)}
    gpus, found, problems = _Gpus(catalog), evidence, []
    for file, content in tables:
        found, of_table = _with_rows(found, content, file, gpus, known)
        problems.append(of_table)
    return evidence if found is evidence else with_offsets(found, catalog, known), tuple(problems)


def _with_rows(
    evidence: Evidence, content: bytes, file: str, gpus: _Gpus, known: Mapping[str, Workload]
) -> tuple[Evidence, tuple[Problem, ...]]:
    """Evidence with the rows of a table beside the others, not recalibrated; the same where it has them already."""
    digest = content_digest(content)
    if digest in evidence.own_contents:
        twice = Problem(file=file, record="", field="", found=f"the same table as {evidence.own_contents[digest]}",
                        expected="each table once: it counts once")  # fmt: skip
        return evidence, (twice,)
    name = _untaken(file, evidence)
    problems: list[Problem] = []
    found: list[Measurement] = []
    for entry in _entries(content, file):
        if entry.faults:
            problems += [_problem(file, entry, fault.field, fault.found, fault.expected) for fault in entry.faults]
            continue
        try:
            row = _measurement(entry, name, gpus, known)
        except CellError as error:
            problems.append(_problem(file, entry, error.field, error.found, error.expected))
            continue
        found.append(row)
        problems += _odd_spread(file, entry, row)
    problems += _contradictions(name, found)
    problems += _repeated(name, found)
    counts = Counter(row.id for row in found)
    unique = [row if counts[row.id] == 1 else replace(row, id=f"{row.id} ({at})") for at, row in enumerate(found, 1)]
    source = Source(id=f"{OWN}{name}", title=f"own measurements in {name}", url=None, retrieved=None)
    return add_own(evidence, tuple(unique), source, content), tuple(problems)


def _untaken(file: str, evidence: Evidence) -> str:
    """The file's name, with a number where another file of that name was given: ids of rows are made of it."""
    numbered = (file if at == 1 else f"{file} ({at})" for at in count(1))
    return next(name for name in numbered if f"{OWN}{name}" not in evidence.sources)


class _Gpus:
    """GPUs of a catalog by what rows call them, each looked up once."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._found: dict[str, Gpu | PartialGpu | None] = {}

    def find(self, text: str) -> Gpu | PartialGpu:
        """The GPU; raises CellError where it isn't known."""
        if text not in self._found:
            try:
                self._found[text] = find_accelerator(self._catalog, text)
            except PlannerError:
                self._found[text] = None
        gpu = self._found[text]
        if gpu is None:
            raise CellError("gpu", shown(text), "a GPU of the catalog or of the scenario")
        return gpu


def _problem(file: str, entry: _Entry, field: str, found: str, expected: str) -> Problem:
    return Problem(file=file, record=entry.id, field=field, found=found, expected=expected, line=entry.line)


def _entries(content: bytes, file: str) -> Iterator[_Entry]:
    grid = read_grid(content, (*_SAMPLE_COLUMNS, "tokens_per_s_total"), file=file)
    spreads = [_cell(grid.header, cells, "spread") for _, cells in grid.rows]
    if "throughput" in grid.header and "tokens_per_s_total" not in grid.header:
        missing = [name for name in _NEEDED_OF_SAMPLES if name not in grid.header]
        if missing:
            raise refused(file, f"no column '{missing[0]}'", "it: without it no row says what was measured",
                          line=grid.header_line, field="columns")  # fmt: skip
        for at, (line, cells) in enumerate(grid.rows):
            named = {name: _cell(grid.header, cells, name) for name in _SAMPLE_COLUMNS}
            yield _sample_entry(named, line, named["id"] or f"row {at + 1}")
        return
    table = read_table(content, file=file)
    if table.schema != "llm_throughput":
        expected = "a table of speeds: tokens_per_s_total or throughput"
        raise refused(file, f"a table of {table.schema}", expected, field="columns")
    for at, row in enumerate(table.rows):
        assert isinstance(row, LanguageRow)
        yield _language_entry(row, spreads[at], table.faults.get(at, ()))


def _cell(header: tuple[str, ...], cells: list[str], name: str) -> str:
    at = header.index(name) if name in header else len(cells)
    return cells[at].strip() if at < len(cells) else ""


def _language_entry(row: LanguageRow, spread: str, faults: tuple[Fault, ...]) -> _Entry:
    return _Entry(
        line=row.line, id=row.id, gpu=row.gpu, n_gpus=row.n_gpus, gpus_per_node=row.gpus_per_node, task=row.task,
        model=row.model, parameters=row.n_params, seq_len=row.seq_len, micro_batch=row.micro_batch_seqs,
        global_batch=row.global_batch_seqs, precision=row.precision, parallelism=row.parallelism,
        checkpointing=row.activation_checkpointing, framework=row.framework, date=row.date,
        notes=FLAG if is_flagged(row) else row.notes, throughput=row.tokens_per_s_total, unit="tokens_per_s",
        spread=spread, faults=faults,
    )  # fmt: skip


def _sample_entry(row: Mapping[str, str], line: int, id: str) -> _Entry:
    faults: list[Fault] = []

    def refuse(name: str, found: str, expected: str) -> None:
        faults.append(Fault(field=name, found=found, expected=expected))

    def count(name: str) -> int | None:
        value = amount(name)
        if value is not None and value != int(value):
            refuse(name, shown(row[name]), "a whole number")
            return None
        return None if value is None else int(value)

    def amount(name: str) -> float | None:
        if not row[name]:
            return None
        try:
            value = number(name, row[name])
        except CellError as error:
            refuse(name, error.found, error.expected)
            return None
        if value <= 0:
            refuse(name, shown(row[name]), "a number greater than 0")
            return None
        return value

    length = re.fullmatch(r"seq(\d{1,6})", row["input"])
    gpus, batch = count("n_gpus"), count("batch_per_gpu")
    return _Entry(
        line=line, id=id, gpu=row["gpu"] or None, n_gpus=gpus, gpus_per_node=count("gpus_per_node"),
        task=row["task"] or None, model=row["model"] or None, parameters=amount("n_params"),
        seq_len=int(length[1]) if length else None, micro_batch=batch,
        global_batch=batch * gpus if batch and gpus else None, precision=row["precision"] or None, parallelism=None,
        checkpointing=row["activation_checkpointing"] or None, framework=row["framework"] or None,
        date=row["date"] or None, notes=row["notes"], throughput=amount("throughput"), unit="samples_per_s",
        spread=row["spread"], faults=tuple(faults),
    )  # fmt: skip


def _measurement(entry: _Entry, file: str, gpus_known: _Gpus, known: Mapping[str, Workload]) -> Measurement:
    """The measurement of a row; raises CellError where it can answer no question."""
    if FLAG in (entry.notes or ""):
        raise CellError("notes", "a flag", "a row that nobody doubts")
    if entry.task is not None and entry.task.casefold() not in _FULL_TASKS:
        raise CellError("task", shown(entry.task), "training in full: others aren't planned with")
    gpus = _given("n_gpus", entry.n_gpus, "the number of GPUs")
    throughput = _given("throughput", entry.throughput, "a measured speed")
    micro_batch = _given("micro-batch", entry.micro_batch, "it: a speed counts for its batch")
    if entry.unit == "tokens_per_s" and entry.seq_len is None:
        raise CellError("seq_len", "nothing", "it: a speed counts for its length of sequences")
    workload = _workload(entry, known)
    gpu = gpus_known.find(entry.gpu or "")
    _check_speed(entry, workload, gpu, gpus, throughput)
    global_batch = entry.global_batch or micro_batch * gpus
    return Measurement(
        id=f"{OWN}{file}:{entry.id}",
        source=f"{OWN}{file}",
        date=entry.date or "",
        gpu=gpu.id,
        gpus=gpus,
        gpus_per_node=entry.gpus_per_node or gpus,
        model=entry.model or "",
        precision=_precision(entry),
        throughput=throughput,
        unit=entry.unit,
        micro_batch=micro_batch,
        micro_steps=global_batch / gpus / micro_batch,
        global_batch=global_batch,
        seq_len=entry.seq_len,
        checkpointing=_checkpointing(entry),
        sharded=_sharded(entry),
        parameters=workload.parameters.value,
        gmacs=0.0,
        activations_m=0.0,
        use="evidence",
        framework=entry.framework or "own software",
        notes=entry.notes or "",
        spread=_spread(entry),
    )


def _given(field: str, value: _Number | None, expected: str) -> _Number:
    if value is None:
        raise CellError(field, "nothing", expected)
    return value


def _workload(entry: _Entry, known: Mapping[str, Workload]) -> Workload:
    workload = known.get((entry.model or "").casefold())
    if workload is None:
        raise CellError("model", shown(entry.model or ""), "a model of the catalog or of the scenario")
    unit = f"{workload.unit}_per_s"
    if unit != entry.unit:
        raise CellError(
            "model", shown(entry.model or ""), f"one that counts its work in {entry.unit.partition('_')[0]}"
        )
    usual = workload.parameters.value
    if entry.parameters is not None and abs(entry.parameters / usual - 1) > _SAME_SIZE:
        expected = f"about {usual:.4g}, the parameters of {workload.id}; or another name of the model"
        raise CellError("n_params", f"{entry.parameters:.4g}", expected)
    return workload


def _check_speed(entry: _Entry, workload: Workload, gpu: Gpu | PartialGpu, gpus: int, throughput: float) -> None:
    """Refuse a speed beyond what the GPUs can compute, as `validate` does."""
    spec = workload.transformer
    if spec is not None:
        flop = flop_of_token(spec.layers, spec.d_model)
        if entry.unit == "samples_per_s":
            flop *= entry.seq_len or spec.seq_len
    else:
        assert workload.vision is not None
        flop = flop_of_macs(workload.vision.gmacs * MACS_PER_GMAC)
    column = "tokens_per_s_total" if entry.unit == "tokens_per_s" else "throughput"
    found = speed_reason(column, throughput, gpu, gpus, flop)
    if found is not None:
        raise CellError(found.field, found.found, found.expected)


def _precision(entry: _Entry) -> Precision:
    found = find_precision(entry.precision)
    if found is None:
        raise CellError("precision", shown(entry.precision or ""), f"one of {', '.join(PRECISIONS)}")
    return found


def _checkpointing(entry: _Entry) -> Checkpointing:
    """Where it isn't said, none: what a training code does by itself."""
    for mode in CHECKPOINTINGS:
        if (entry.checkpointing or "none").casefold() == mode:
            return mode
    raise CellError("activation_checkpointing", shown(entry.checkpointing or ""), f"one of {', '.join(CHECKPOINTINGS)}")


def _sharded(entry: _Entry) -> bool:
    if not entry.parallelism:
        return False
    try:
        spread = parse_parallelism(entry.parallelism)
    except ParallelismError:
        raise CellError("parallelism", shown(entry.parallelism), "a form that docs/validate.md describes") from None
    if spread.split > 1 or spread.expert > 1:
        raise CellError(
            "parallelism", shown(entry.parallelism), "copies or shards: split models aren't taken from tables"
        )
    return spread.kind == "fsdp"


_MOST_SPREAD = 1.0  # of samples over their median: beyond it nothing was measured


def _spread(entry: _Entry) -> float | None:
    try:
        value = number("spread", entry.spread) if entry.spread else None
    except CellError:
        value = -1.0
    if value is not None and not 0 <= value <= _MOST_SPREAD:
        raise CellError("spread", shown(entry.spread), f"a fraction of at most {_MOST_SPREAD:g}, such as 0.02")
    return value


def _odd_spread(file: str, entry: _Entry, row: Measurement) -> Iterator[Problem]:
    if row.spread == 0:
        expected = "more: no clock repeats itself exactly, was it measured once?"
        yield _problem(file, entry, "spread", "0", expected)
    elif row.spread is not None and row.spread > WILD_SPREAD:
        expected = (
            f"at most {WILD_SPREAD:.0%}: the row counts, with an interval as wide; measure again on an idle machine"
        )
        yield _problem(file, entry, "spread", f"{row.spread:.0%}", expected)


def _contradictions(file: str, rows: list[Measurement]) -> Iterator[Problem]:
    """Rows of one configuration that lie too far apart to be the same thing."""
    for group in _alike(rows).values():
        speeds = [row.throughput for row in group]
        if max(speeds) > CONTRADICTION * min(speeds):
            names = ", ".join(row.id.removeprefix(f"{OWN}{file}:") for row in group)
            found = f"{min(speeds):.6g} to {max(speeds):.6g} for one configuration"
            expected = f"at most {CONTRADICTION - 1:.0%} apart; their median, {median(speeds):.6g}, counts"
            yield Problem(file=file, record=names, field="", found=found, expected=expected)


def _repeated(file: str, rows: list[Measurement]) -> Iterator[Problem]:
    """Rows of one configuration that also agree in all digits of their speed: one measurement, written twice."""
    for group in _alike(rows).values():
        if len(group) > 1 and len({row.throughput for row in group}) == 1:
            first = group[0].id.removeprefix(f"{OWN}{file}:")
            found = f"{len(group)} rows of one configuration with the same speed"
            expected = "each measurement once: of other configurations they say as much as one"
            yield Problem(file=file, record=first, field="", found=found, expected=expected)


def _alike(rows: list[Measurement]) -> dict[tuple[object, ...], list[Measurement]]:
    """Rows by their configuration."""
    groups: dict[tuple[object, ...], list[Measurement]] = {}
    for row in rows:
        key = (
            row.model.casefold(), row.gpu, row.gpus, row.gpus_per_node, precision_class(row.precision), row.seq_len,
            row.micro_batch, row.global_batch, row.checkpointing,
        )  # fmt: skip
        groups.setdefault(key, []).append(row)
    return groups
