"""Tables of hours and bills: what is read, and what is said of what can't be."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from planner.actual.compare import strategy_to_follow
from planner.actual.known import Known, known_names, later, months_between
from planner.actual.rows import read_hours, read_invoice
from planner.actual.table import MAX_BYTES, MAX_ROWS, read_content
from planner.errors import Problem, TableError
from planner.scenario.load import check_document
from tests.planning import small_plan, solve

HOURS = "month,job,resource,runs,gpu_hours\n"
BILLS = "month,resource,line,amount_usd\n"


@cache
def known(plan_starts: str | None = "2026-10") -> Known:
    plan = small_plan() | ({} if plan_starts is None else {"plan_starts": plan_starts})
    result = solve(plan)
    return known_names(check_document(plan), result, strategy_to_follow(result, "cloud"))


def hours_problems(text: str | bytes, names: Known | None = None) -> tuple[Problem, ...]:
    content = text if isinstance(text, bytes) else text.encode()
    with pytest.raises(TableError) as error:
        read_hours(content, names or known(), file="h.csv")
    return error.value.problems


def bill_problems(text: str) -> tuple[Problem, ...]:
    with pytest.raises(TableError) as error:
        read_invoice(text.encode(), known(), file="i.csv")
    return error.value.problems


@pytest.mark.parametrize(
    ("row", "field", "found", "expected"),
    [
        ("13,work,rented,1,1", "month", "'13'", "from 1 to 12"),
        ("0,work,rented,1,1", "month", "'0'", "from 1 to 12"),
        ("1.5,work,rented,1,1", "month", "'1.5'", "from 1, or 2026-10"),
        ("2026-09,work,rented,1,1", "month", "'2026-09'", "2026-10 to 2027-09"),
        ("2027-10,work,rented,1,1", "month", "'2027-10'", "2026-10 to 2027-09"),
        ("2026-13,work,rented,1,1", "month", "'2026-13'", "from 1, or 2026-10"),
        (",work,rented,1,1", "month", "nothing", "from 1"),
        ("1,wrok,rented,1,1", "job", "'wrok'", "work"),
        ("1,,rented,1,1", "job", "nothing", "work"),
        ("1,work,rentd,1,1", "resource", "'rentd'", "rented"),
        ("1,work,,1,1", "resource", "nothing", "a machine"),
        ("1,work,rented,,1", "runs", "nothing", "leave out the row"),
        ("1,work,rented,-1,1", "runs", "'-1'", "0 or more"),
        ("1,work,rented,ten,1", "runs", "'ten'", "a number"),
        ("1,work,rented,1e300,1", "runs", "'1e300'", "below"),
        ("1,work,rented,1,", "gpu_hours", "nothing", "gpu_hours or node_hours"),
        ("1,work,rented,1,0", "gpu_hours", "0", "the hours of 1 runs"),
        ("1,work,rented,1,inf", "gpu_hours", "'inf'", "a number"),
        ('1,work,rented,1,"2,5"', "gpu_hours", "'2,5'", "2.5"),
        ("1,work,rented,1,1,9", "", "6 cells", "5"),
    ],
)
def test_a_faulty_row_of_hours_is_named_with_its_line(row: str, field: str, found: str, expected: str) -> None:
    (problem,) = hours_problems(f"{HOURS}1,work,own,1,1\n{row}\n")
    assert (problem.line, problem.field, problem.found) == (3, field, found)
    assert expected in problem.expected


@pytest.mark.parametrize(
    ("row", "field", "found", "expected"),
    [
        ("1,own,rent,1", "line", "'rent'", "rental"),
        ("1,own,rental.wrk.rented,1", "line", "'rental.wrk.rented'", "rental.work.rented"),
        ("1,owned,electricity,1", "resource", "'owned'", "own"),
        ("1,,electricity,1", "resource", "nothing", "site"),
        ("1,own,electricity,", "amount_usd", "nothing", "0 where nothing"),
        ("1,own,electricity,$12", "amount_usd", "'$12'", "12"),
        ("1,own,electricity,12 EUR", "amount_usd", "'12 EUR' in EUR", "USD"),
        ('1,own,electricity,"1,200.50"', "amount_usd", "'1,200.50'", "1200.50"),
        ("1,own,electricity,twelve", "amount_usd", "'twelve'", "120.50"),
        ("1,own,electricity,1e20", "amount_usd", "'1e20'", "below"),
    ],
)
def test_a_faulty_bill_is_named_with_its_line(row: str, field: str, found: str, expected: str) -> None:
    (problem,) = bill_problems(f"{BILLS}1,own,maintenance,1\n{row}\n")
    assert (problem.line, problem.field, problem.found) == (3, field, found)
    assert expected in problem.expected


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", "nothing"),
        ("month,job,resource,runs,gpu_hours\n", "no row"),
        ("month,job,resource,runs\n1,work,own,1\n", "no column gpu_hours or node_hours"),
        ("month,job,resource,gpu_hours\n1,work,own,1\n", "no column runs"),
        ("month,job,resource,runs,gpu_hours,gpu_hour\n1,work,own,1,1,1\n", "the column 'gpu_hour'"),
        ("month,month,job,resource,runs,gpu_hours\n1,1,work,own,1,1\n", "the column 'month' twice"),
        ('month,job,resource,runs,gpu_hours\n1,"work,own,1,1\n', "unexpected end of data"),
        (b"month,job,resource,runs,gpu_hours\n1,work\xff,own,1,1\n", "bytes that are no UTF-8 text"),
        (b"\x00\x01\x02", "binary data"),
        (b"x" * (MAX_BYTES + 1), "8.0 MB"),
        (HOURS + "1,work,own,1,1\n" * (MAX_ROWS + 1), "20,001 rows"),
    ],
)
def test_a_faulty_file_is_refused_as_a_whole(text: str | bytes, found: str) -> None:
    assert hours_problems(text)[0].found == found


def test_every_fault_is_reported_and_good_rows_are_not_kept() -> None:
    problems = hours_problems(f"{HOURS}1,work,own,1,1\n99,wrok,own,1,1\n1,work,own,-1,1\n")
    assert [(problem.line, problem.field) for problem in problems] == [(3, "month"), (3, "job"), (4, "runs")]


def test_calendar_months_need_the_plan_starts_of_the_plan() -> None:
    (problem,) = hours_problems(f"{HOURS}2026-11,work,own,1,1\n", known(None))
    assert "plan_starts" in problem.expected
    (row,) = read_hours(f"{HOURS}2026-11,work,own,1,1\n".encode(), known(), file="h.csv")
    assert row.month == 2


@pytest.mark.parametrize(
    "content",
    [
        b"sep=;\nmonth;job;resource;runs;gpu_hours;\n1;work;own;2;3.5;\n",
        "month\tjob\tresource\truns\tgpu_hours\n1\twork\town\t2\t3.5\n".encode("utf-16"),
        b"\xef\xbb\xbfMonth, Job ,machine,RUNS,GPU_hours,note\r\n1, work ,own,2,3.5,first\r\n\r\n",
    ],
)
def test_tables_are_read_whatever_spreadsheet_wrote_them(content: bytes) -> None:
    (row,) = read_hours(content, known(), file="h.csv")
    assert (row.month, row.job, row.resource, row.runs, row.gpu_hours) == (1, "work", "own", 2, 3.5)


def test_a_point_before_three_digits_beside_semicolons_could_mean_thousands() -> None:
    (problem,) = hours_problems("month;job;resource;runs;gpu_hours\n1;work;own;2;1.234\n")
    assert (problem.field, "1234" in problem.expected) == ("gpu_hours", True)


def test_node_hours_count_all_gpus_of_a_node_and_must_agree() -> None:
    plan = small_plan({"machines.own.gpus": 4})
    result = solve(plan)
    names = known_names(check_document(plan), result, strategy_to_follow(result, "cloud"))
    header = "month,job,resource,runs,node_hours,gpu_hours\n"
    (row,) = read_hours(f"{header}1,work,own,1,2,\n".encode(), names, file="h.csv")
    assert row.gpu_hours == 8
    (problem,) = hours_problems(f"{header}1,work,own,1,2,2\n", names)
    assert problem.found == "2 beside 2 node-hours of 4 GPUs"


def test_fewer_attempts_than_runs_are_refused() -> None:
    (problem,) = hours_problems("month,job,resource,runs,attempts,gpu_hours\n1,work,own,5,4,5\n")
    assert (problem.field, problem.found) == ("attempts", "'4'")


def test_rows_of_one_cell_add_up_and_a_figure_that_one_lacks_is_unknown() -> None:
    text = "month,job,resource,runs,attempts,gpu_hours,kwh\n1,work,own,5,6,5,1\n1,work,own,1,1,1,\n"
    (row,) = read_hours(text.encode(), known(), file="h.csv")
    assert (row.runs, row.attempts, row.gpu_hours, row.kwh) == (6, 7, 6, None)


def test_amounts_in_other_currencies_are_converted_and_credits_are_negative() -> None:
    text = (
        "month,provider,kind,amount,currency\n1,rented,rental,100 EUR,\n1,own,electricity,-10,EUR\n1,own,host,5 USD,\n"
    )
    own, host, rented = read_invoice(text.encode(), known(), file="i.csv")
    rate = known().rates["EUR"]
    assert (own.amount_usd, host.amount_usd, rented.amount_usd) == (-10 * rate, 5, 100 * rate)


@pytest.mark.parametrize(
    ("cells", "found"),
    [
        ("100 XXX,", "'XXX'"),
        ("100 EUR,USD", "'100 EUR' beside USD"),
        ("100,", "'100'"),
        ("100,euro", "'euro'"),
    ],
)
def test_an_amount_needs_one_known_currency(cells: str, found: str) -> None:
    (problem,) = bill_problems(f"month,resource,line,amount,currency\n1,own,electricity,{cells}\n")
    assert problem.found == found


def test_a_file_that_is_not_there_is_an_error_of_its_own() -> None:
    with pytest.raises(TableError):
        read_content(Path("no/such/file.csv"))


def test_calendar_months_are_counted_over_years() -> None:
    assert (months_between("2026-10", "2028-01"), later("2026-10", 15)) == (15, "2028-01")


def test_one_slip_in_all_of_many_rows_takes_no_time() -> None:
    names = replace(known(), offers={f"offer-{number}-on-demand": 1 for number in range(500)})
    started = time.process_time()
    problems = hours_problems(HOURS + "1,work,offer-on-demnad,1,1\n" * 2_000, names)
    assert len(problems) == 2_000
    assert time.process_time() - started < 2


def test_an_invoice_may_hold_every_kind_of_line() -> None:
    rows = "".join(f"1,rented,{kind},1\n" for kind in ("ingress", "credit", "free_hours", "lease", "buyout"))
    assert len(read_invoice(f"month,resource,line,amount_usd\n{rows}".encode(), known(), file="i.csv")) == 5


def test_many_different_slips_are_each_named_and_only_the_first_get_suggestions() -> None:
    problems = hours_problems(HOURS + "".join(f"1,work,rented{number},1,1\n" for number in range(1000)))
    assert len(problems) == 1000
    assert "rented?" in problems[0].expected and "rented?" not in problems[-1].expected


def test_a_cell_beyond_what_is_read_is_said_so() -> None:
    (problem,) = hours_problems(f'{HOURS}1,work,"{"x" * 140_000}",1,1\n')
    assert "131,072 characters, by line 2" in problem.found and "quote" in problem.expected
