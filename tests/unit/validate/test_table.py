"""Reading tables: what the header says, encodings and separators, cells that can't be meant."""

from __future__ import annotations

import codecs
from pathlib import Path

import pytest

from planner.errors import TableError
from planner.measurements.fault import in_words
from planner.measurements.reading import read_bytes
from planner.measurements.rows import MEASURED, LanguageRow, MemoryRow, TimeRow
from planner.measurements.table import Table, read_table
from tests.unit.validate.tables import LANGUAGE, MEMORY, TIMES, table_of, text_of


def read(text: str | bytes) -> Table:
    return read_table(text if isinstance(text, bytes) else text.encode(), file="t.csv")


def refusal(text: str | bytes) -> str:
    with pytest.raises(TableError) as caught:
        read(text)
    return str(caught.value)


def test_the_measured_column_tells_the_table() -> None:
    language, memory = table_of({}), table_of({}, base=MEMORY)
    assert (language.schema, language.unit) == ("llm_throughput", "tokens_per_s")
    assert (memory.schema, memory.unit) == ("memory_peaks", "gb")
    row = language.rows[0]
    assert isinstance(row, LanguageRow)
    assert (row.n_gpus, row.n_params, row.parallelism, row.tokens_per_s_total) == (8, 7e9, "fsdp", 100.0)
    assert (row.line, row.notes, row.n_kv_heads, row.measured) == (2, None, None, 100.0)
    times = table_of({}, base=TIMES)
    assert (times.schema, times.unit) == ("mlperf_time_to_train", "min")
    assert isinstance(memory.rows[0], MemoryRow)
    assert memory.rows[0].measured == 20.0


def test_a_row_hides_what_was_measured() -> None:
    for base in (LANGUAGE, MEMORY, TIMES):
        row = table_of({}, base=base).rows[0]
        assert row.measured is not None
        assert row.without_measured().measured is None
        assert row.without_measured().gpu == row.gpu
    names = set(LanguageRow.__slots__)
    assert not names & {"tokens_per_s_per_gpu", "published_mfu", "published_step_time_s", "time_to_train_s"}
    assert not set(TimeRow.__slots__) & {
        "throughput", "implied_samples_per_s", "samples_to_converge", "epochs_to_converge", "n_runs",
    }  # fmt: skip


def test_a_column_of_minutes_or_of_throughput_yields_to_a_measured_column_of_another_table() -> None:
    assert table_of({"minutes": 3, "throughput": 9}).schema == "llm_throughput"
    assert table_of({"throughput": 9}, base=TIMES).schema == "mlperf_time_to_train"
    assert table_of({"throughput": 9}, base={**TIMES, "minutes": ""}).rows[0].measured is None


def test_columns_may_come_in_any_order_with_others_between_and_cells_empty() -> None:
    text = "tokens_per_s_total,colour, Model ,N_GPUS,gpu,n_heads\n5,red,own,4,L40S,\n"
    table = read(text)
    row = table.rows[0]
    assert (row.gpu, row.n_gpus, row.model, row.n_heads, row.measured, row.id) == ("L40S", 4, "own", None, 5.0, "row 1")
    assert table.faults == {}


def test_rows_keep_their_ids_also_twice_or_none() -> None:
    assert [row.id for row in table_of({}, {}, {"id": ""}).rows] == ["a", "a", "row 3"]


def test_lines_count_from_the_top_of_the_file_whatever_stands_before_and_within() -> None:
    text = "# measured on Monday\n\n" + text_of({"notes": '"two\nlines"'}, {"id": "b"})
    assert [row.line for row in read(text).rows] == [4, 6]


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"], ids=lambda name: name
)
def test_encodings_that_say_themselves(encoding: str) -> None:
    table = read(text_of({"source": "Größe/日本 x"}).encode(encoding))
    assert table.rows[0].source == "Größe/日本 x"
    assert table.notes == ()


def test_an_8_bit_encoding_is_read_and_said() -> None:
    table = read(text_of({"source": "Größe/x"}).encode("latin-1"))
    assert table.rows[0].source == "Größe/x"
    assert "isn't UTF-8" in table.notes[0]


@pytest.mark.parametrize("separator", [";", "\t"])
def test_other_separators(separator: str) -> None:
    table = read(text_of({}, separator=separator))
    assert table.rows[0].n_gpus == 8
    assert "separated by" in table.notes[0]


def test_the_line_by_which_a_spreadsheet_announces_its_separator() -> None:
    table = read("sep=;\n" + text_of({}, separator=";"))
    assert (table.rows[0].line, table.rows[0].n_gpus) == (3, 8)


def test_carriage_returns() -> None:
    assert len(read(text_of({}, {}).replace("\n", "\r\n")).rows) == 2


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "nothing"),
        (b"\n\n# only a remark\n", "nothing"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "binary data"),
        (codecs.BOM_UTF16_LE + b"a", "UTF-16"),
        (text_of().encode(), "no row"),
        (text_of({"notes": '"never closed'}).encode(), "can't be read"),
        (b"throughput,gpu\n1,L40S\n", "or its shape (fwd_gmacs_per_sample and activations_m_per_sample)"),
        (b"minutes,gpu\n1,L40S\n", "no column 'benchmark'"),
        (b"a,b\n1,2\n", "tokens_per_s_total (llm_throughput) or peak_memory_gb (memory_peaks) or throughput"),
        (b"minutes,gpu,n_gpus,throughput,benchmrk\n1,L40S,1,3,a\n", "the nearest here is 'benchmrk'"),
        (b"gpu,n_gpus,model,tokens_per_s_totl\nL40S,1,own,5\n", "the nearest here is 'tokens_per_s_totl'"),
        (b"gpu,n_gpus,model,tokens_per_s_total,peak_memory_gb\n", "no row"),
        (b"gpu,n_gpus,model,tokens_per_s_total,peak_memory_gb\n1,1,1,1,1\n", "measured columns of two tables"),
        (b"gpu,n_gpu,model,tokens_per_s_total\nL40S,1,own,5\n", "no column 'n_gpus'"),
        (b"gpu,n_gpu,model,tokens_per_s_total\nL40S,1,own,5\n", "the nearest here is 'n_gpu'"),
        (b"gpu_name,n_gpus,model,tokens_per_s_total\nL40S,1,own,5\n", "the nearest here is 'gpu_name'"),
        (b"gpu,n_gpus,n_layers,tokens_per_s_total\nL40S,1,3,5\n", "its shape (n_layers and d_model)"),
        (b"gpu,n_gpus,model,gpu,tokens_per_s_total\nL40S,1,own,T4,5\n", "the column 'gpu' twice"),
    ],
)
def test_files_that_cannot_be_used(content: bytes, words: str) -> None:
    message = refusal(content)
    assert words in message
    assert message.startswith("t.csv")


def test_every_missing_column_is_named_at_once() -> None:
    message = refusal("tokens_per_s_total\n5\n")
    assert all(f"no column '{name}'" in message for name in ("gpu", "n_gpus", "model"))


def test_a_shape_does_without_a_name() -> None:
    assert read("gpu,n_gpus,n_layers,d_model,tokens_per_s_total\nL40S,1,2,64,5\n").rows[0].model is None


def test_a_misspelt_column_is_pointed_out() -> None:
    table = read(text_of({}).replace("micro_batch_seqs", "microbatch_seqs"))
    assert table.rows[0].id == "a"
    assert "'microbatch_seqs' was ignored: is micro_batch_seqs meant?" in table.notes[0]


@pytest.mark.parametrize(
    ("column", "text", "words"),
    [
        ("tokens_per_s_total", "fast", "found 'fast', expected a number"),
        ("tokens_per_s_total", "-5", "found '-5', expected a number greater than 0"),
        ("tokens_per_s_total", "0", "expected a number greater than 0"),
        ("tokens_per_s_total", "NaN", "found 'NaN', expected a number"),
        ("tokens_per_s_total", "inf", "found 'inf', expected a number"),
        ("tokens_per_s_total", "1e30", "expected a number from 0.001 to 1e+12"),
        ("n_gpus", "2.5", "expected a whole number from 1 to 1,000,000"),
        ("n_gpus", "1_0", "found '1_0', expected a number"),
        ("n_gpus", "\uff18", "expected a number"),
        ("n_gpus", "0", "expected a whole number"),
        ("n_layers", "1e400", "expected a finite number"),
        ("n_heads", "-32", "expected a whole number"),
        ("seq_len", "2k", "found '2k', expected a number"),
        ("gated_mlp", "maybe", "expected 1 or 0"),
    ],
)
def test_a_cell_that_cannot_be_meant_is_named(column: str, text: str, words: str) -> None:
    table = table_of({}, {column: text}, {})
    assert list(table.faults) == [1]
    (fault,) = table.faults[1]
    assert fault.field == column
    assert words in str(fault)
    assert getattr(table.rows[1], column) is None
    assert table.rows[2].n_gpus == 8


def test_several_faults_of_a_row_are_all_named() -> None:
    faults = table_of({"n_gpus": "x", "n_heads": "y"}).faults[0]
    assert [fault.field for fault in faults] == ["n_gpus", "n_heads"]
    assert in_words(faults) == "n_gpus: found 'x', expected a number; n_heads: found 'y', expected a number"


def test_numbers_with_commas_say_what_is_meant() -> None:
    table = read(text_of({"tokens_per_s_total": "12,5"}, separator=";"))
    words = in_words(table.faults[0])
    assert "a decimal point: 12.5" in words
    assert "1 cells" not in words


def test_a_row_with_too_many_cells_is_a_fault_and_one_with_fewer_is_not() -> None:
    header, row = text_of({}).splitlines()
    table = read(f"{header}\n{row},extra\n{row.rstrip(',')}\n")
    assert list(table.faults) == [0]
    assert "18 cells in this row, expected 17" in in_words(table.faults[0])


def test_whole_numbers_may_be_written_as_decimals() -> None:
    assert table_of({"n_gpus": "8.0", "n_layers": "3.2e1"}).rows[0].n_gpus == 8


@pytest.mark.refit
def test_a_hundred_thousand_rows() -> None:
    text = text_of({})
    header, row = text.splitlines()
    rows = [row if at % 10 else row.replace("100.0", f"-{at}") for at in range(1, 100_001)]
    table = read("\n".join([header, *rows]))
    assert len(table.rows) == 100_000
    assert len(table.faults) == 10_000
    assert table.rows[-1].line == 100_001


def test_a_file_that_is_not_there_or_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TableError, match="No such file"):
        read_bytes(tmp_path / "none.csv")
    with pytest.raises(TableError, match="directory"):
        read_bytes(tmp_path)
    (tmp_path / "t.csv").write_text("12345")
    monkeypatch.setattr("planner.measurements.reading.MAX_BYTES", 4)
    with pytest.raises(TableError, match="at most"):
        read_bytes(tmp_path / "t.csv")


def test_measured_columns_are_fields_of_their_rows() -> None:
    assert MEASURED["llm_throughput"] in LanguageRow.__slots__
    assert MEASURED["memory_peaks"] in MemoryRow.__slots__
    assert MEASURED["mlperf_time_to_train"] in TimeRow.__slots__
