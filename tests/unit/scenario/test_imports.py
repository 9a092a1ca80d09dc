"""Own offers from a CSV file: every fault named by row, nothing taken of a faulty file."""

import pytest

from planner.errors import ScenarioError
from planner.scenario.imports import COLUMNS, MAX_ROWS, read_offers
from planner.scenario.load import check_document
from tests.planning import TODAY, document, shipped_catalog

AWS = "aws-p4d-24xlarge-us-east-1-on-demand"
HEAD = "id,gpu,gpu_count,price_usd_per_h"


def read(*lines, head=HEAD, own=None, today=None):
    return read_offers("\n".join([head, *lines]).encode(), shipped_catalog(), own or {}, file="mine.csv", today=today)


def faults(found):
    return [
        (problem.line, problem.field, problem.found, problem.expected) for row in found.rows for problem in row.problems
    ]


def the_fault(cell, column="price_usd_per_h"):
    cells = {"id": "mine", "gpu": "rtx-4090", "gpu_count": "1", "price_usd_per_h": "0.5", column: cell}
    quoted = ",".join('"' + cell.replace('"', '""') + '"' for cell in cells.values())
    found = read(quoted, head=",".join(cells))
    assert not found.ready and found.quotes == {}
    ((line, field, seen, expected),) = faults(found)
    assert (line, field) == (2, column)
    return seen, expected


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("0,35", "a decimal point: 0.35"),
        ("1,234.50", "a number without thousands marks: 1234.50"),
        ("1,234", "a number without a comma: 1.234 or 1234"),
        ("0,35 EUR", "a decimal point: 0.35 EUR"),
        ("0", "a price greater than 0"),
        ("0.0", "a price greater than 0"),
        ("-3", "a price greater than 0"),
        ("400 USD/month", "a price per hour: divide one per month by 730"),
        ("400 per month", "a price per hour: divide one per month by 730"),
        ("365", "a price per hour, at most 100 USD per GPU-hour; if it is one per month, 0.5"),
        ("$0.35", "a number without a sign, such as 0.35"),
        ("0.35 XXX", "a currency with a rate: USD, AED"),
        ("cheap", "a number in USD, such as 2.5"),
        ("nan", "a number in USD, such as 2.5"),
        ("1e400", "a price per hour, at most 100 USD per GPU-hour"),
        ("", "a price in one of price_usd_per_h or price_usd_per_gpu_h"),
    ],
)
def test_a_price_that_is_none_is_explained(cell, expected):
    seen, found = the_fault(cell)
    assert found.startswith(expected)
    assert seen == (f"'{cell}'" if cell else "nothing")


@pytest.mark.parametrize(
    ("column", "cell", "expected"),
    [
        ("gpu", "rtx-490", "a GPU of the catalog, such as rtx-4090"),
        ("gpu", "", "the id of a GPU"),
        ("gpu", "A100-80GB", "a100-pcie-80gb or a100-sxm4-80gb"),
        ("gpu", "k80", "a GPU that is known well enough"),
        ("gpu_count", "0", "a whole number of GPUs, at least 1"),
        ("gpu_count", "1.5", "a whole number of GPUs, at least 1"),
        ("gpu_count", "1,5", "a decimal point: 1.5"),
        (
            "term",
            "reserved_1y",
            "on_demand or spot: reserved offers and capacity blocks are named under rental.commitments",
        ),
        ("market", "bazaar", "cloud or marketplace"),
        ("includes_tax", "perhaps", "true or false"),
        ("startup_s", "-1", "a number of 0 or more"),
        ("billing_unit_s", "0", "a number greater than 0"),
        ("provider", "a b", "a name of letters, digits"),
        ("id", "a b", "a name of letters, digits"),
    ],
)
def test_other_cells_are_explained(column, cell, expected):
    assert the_fault(cell, column)[1].startswith(expected)


def test_rows_are_compared_with_what_is_there():
    own = {
        "kept": {"gpu": "t4", "gpu_count": 1, "price_usd_per_h": 0.3},
        "moved": {"gpu": "t4", "gpu_count": 1, "price_usd_per_h": 0.3},
    }
    found = read("kept,t4,1,0.3", "moved,t4,1,0.4", "fresh,T4,2,0.5 EUR", f"{AWS},,,17.5", own=own)
    assert [row.state for row in found.rows] == ["unchanged", "changed", "new", "changed"]
    assert found.ready
    assert found.quotes == {
        "moved": {"gpu": "t4", "gpu_count": 1, "price_usd_per_h": 0.4},
        "fresh": {"gpu": "t4", "gpu_count": 2, "price_usd_per_h": "0.5 EUR"},
        AWS: {"price_usd_per_h": 17.5},
    }
    assert found.rows[1].before == own["moved"]


def test_what_is_read_is_a_scenario():
    head = ",".join(COLUMNS)
    line = "mine,aws,big box,us-east-1,t4,on_demand,marketplace,2,,0.25,true,60,60,300,100"
    found = read(line, head=head)
    assert faults(found) == []
    scenario = check_document({**document("workstation-or-rental"), "offers": found.quotes})
    quote = scenario.offers["mine"]
    assert quote.price_usd_per_gpu_h is not None and quote.price_usd_per_gpu_h.amount == 0.25
    assert (quote.includes_tax, quote.startup_s, quote.market) == (True, 300, "marketplace")


def test_an_offer_of_the_catalog_at_its_own_price_is_unchanged_and_cannot_become_another():
    price = shipped_catalog().offers[AWS].price_usd_per_h.value
    assert [row.state for row in read(f"{AWS},a100-sxm4-40gb,8,{price}").rows] == ["unchanged"]
    assert not read(f"{AWS},,,{price}").ready  # nothing to do
    assert faults(read(f"{AWS},t4,4,17"))[0][1:3] == ("gpu", "'t4'")
    per_gpu = read(f"{AWS},2.5", head="id,price_usd_per_gpu_h")
    assert per_gpu.quotes == {AWS: {"price_usd_per_h": 20.0}}


def test_one_price_or_two_that_agree():
    head = "id,gpu,gpu_count,price_usd_per_h,price_usd_per_gpu_h"
    assert read("mine,t4,2,0.5,0.25", head=head).quotes["mine"]["price_usd_per_h"] == 0.5
    assert "prices that agree (0.6)" in faults(read("mine,t4,2,0.5,0.3", head=head))[0][3]


def test_an_id_stands_once():
    found = read("mine,t4,1,0.3", "other,t4,1,0.3", "mine,t4,1,0.4")
    assert [row.state for row in found.rows] == ["new", "new", "faulty"]
    assert faults(found) == [(4, "id", "'mine'", "an id of its own: line 2 has the same")]
    assert not found.ready and len(found.quotes) == 2


def test_a_decimal_comma_that_splits_a_cell_is_recognised():
    assert "decimal comma" in faults(read("mine,t4,1,0,35"))[0][3]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_separators_marks_and_empty_lines(separator):
    lines = [HEAD, "", "mine,t4,1,0.3", ",,,"]
    content = ("\ufeff" + "\r\n".join(line.replace(",", separator) for line in lines)).encode()
    assert list(read_offers(content, shipped_catalog(), {}, file="mine.csv").quotes) == ["mine"]


@pytest.mark.parametrize(
    ("head", "found", "expected"),
    [
        ("name,cost", "the columns 'name', 'cost'", "only id, provider"),
        ("id,gpu,gpus_count,price_usd_per_h", "the column 'gpus_count'", "gpu_count"),
        ("id,gpu,gpu_count,price_per_month", "the column 'price_per_month'", "a price per hour"),
        ("id,gpu,gpu_count,price", "the column 'price'", "price_usd_per_h or price_usd_per_gpu_h"),
        ("id,id,price_usd_per_h", "the column 'id' twice", "each column once"),
        ("gpu,gpu_count,price_usd_per_h", "no column id", "an id and a price"),
    ],
)
def test_other_columns_are_refused_as_a_whole(head, found, expected):
    result = read("a,b,c,d", head=head)
    assert result.rows == () and not result.ready
    assert any(problem.found == found and problem.expected.startswith(expected) for problem in result.problems)


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"", "nothing"),
        (HEAD.encode(), "no row"),
        ("id;Größe".encode("latin-1"), "bytes that are no UTF-8 text"),
        (b"id,\0", "binary data"),
        (b"x" * 3_000_000, "3.0 MB"),
        ((HEAD + '\n"mine,t4,1,0.3').encode(), "unexpected end of data"),
    ],
)
def test_what_is_no_offer_file_is_refused(content, found):
    result = read_offers(content, shipped_catalog(), {}, file="mine.csv")
    assert [problem.found for problem in result.problems] == [found]
    assert not result.ready


def test_fifty_thousand_rows_are_refused_as_a_whole():
    lines = [f"r{index},t4,1,0.3" for index in range(50_000)]
    found = read(*lines)
    assert [(problem.found, problem.expected) for problem in found.problems] == [
        ("50,000 rows", f"at most {MAX_ROWS}: keep the offers you could take")
    ]
    assert found.rows == ()


def test_cells_made_safe_for_a_spreadsheet_are_read_back():
    head = HEAD + ",instance_type,source"
    found = read("mine,t4,1,0.3,'=box,somewhere", head=head)
    assert found.quotes["mine"]["instance_type"] == "=box"
    assert found.ignored == ("source",)


BY_SCENARIO = [
    ("price_usd_per_h", "1e-12", "an amount of at least 0.000000001"),
    ("instance_type", "big\x07box", "text in one line of printable characters"),
    ("instance_type", "x" * 101, "text of at most 100 characters"),
    ("region", "us\x1b[31m", "text in one line of printable characters"),
    ("billing_unit_s", "1e9", "a number of at most 2,628,000"),
    ("minimum_s", "1e9", "a number of at most 2,628,000"),
    ("startup_s", "2628001", "a number of at most 2,628,000"),
    ("network_gbit_per_s", "1e7", "a number from 0.001 to 1,000,000 Gbit/s"),
    ("gpu_count", "2000000", "a number of at most 1,000,000"),
    ("provider", "x" * 65, "a name of letters, digits"),
]


@pytest.mark.parametrize(("column", "cell", "expected"), BY_SCENARIO)
def test_the_limits_are_those_of_a_scenario(column, cell, expected):
    seen, found = the_fault(cell, column)
    assert found.startswith(expected)
    assert seen.startswith(f"'{cell[:50]}")
    value = cell if column in ("instance_type", "region", "provider") else float(cell)
    quote = {"gpu": "t4", "gpu_count": 1, "price_usd_per_h": 0.5, column: value}
    with pytest.raises(ScenarioError) as caught:
        check_document({**document("workstation-or-rental"), "offers": {"mine": quote}})
    assert [problem.expected for problem in caught.value.problems] == [found]


@pytest.mark.parametrize("column", ["gpu_count", "price_usd_per_h", "billing_unit_s", "startup_s"])
@pytest.mark.parametrize("cell", ["1_0", "\uff11\uff12", "\u0663", "0x10", "1e", "infinity"])
def test_numbers_are_written_in_plain_digits(column, cell):
    assert the_fault(cell, column)[1].startswith("a number")


def test_a_price_of_one_gpu_of_a_known_offer_is_named_as_it_stands_there():
    ((_, field, seen, expected),) = faults(read(f"{AWS},1e-12", head="id,price_usd_per_gpu_h"))
    assert (field, seen, expected) == ("price_usd_per_gpu_h", "'1e-12'", "an amount of at least 0.000000001")


def test_two_prices_that_differ_are_shown_as_typed():
    found = read("mine,t4,2,0.50,0.30", head="id,gpu,gpu_count,price_usd_per_h,price_usd_per_gpu_h")
    assert faults(found)[0][2] == "0.50 for 2 GPUs and 0.30 for one"
    assert the_fault("Perhaps", "includes_tax")[0] == "'Perhaps'"


@pytest.mark.parametrize(
    ("cells", "field", "expected"),
    [
        (("retired", ""), "status", "an offer that can be had: leave out the row"),
        (("Retired", ""), "status", "an offer that can be had: leave out the row"),
        (("stale", ""), "status", "a price that holds today"),
        (("gone", ""), "status", "current, stale or retired"),
        (("", "2026-11-29"), "retired_on", "an offer that can be had: leave out the row"),
        (("", "last year"), "retired_on", "a date such as 2026-11-30"),
    ],
)
def test_an_offer_that_cannot_be_had_is_not_new(cells, field, expected):
    found = read(f"mine,t4,1,0.3,{','.join(cells)}", head=HEAD + ",status,retired_on", today=TODAY)
    assert [row.state for row in found.rows] == ["faulty"]
    ((_, column, _, words),) = faults(found)
    assert column == field and words.startswith(expected)


def test_status_of_offers_that_are_there():
    head = HEAD + ",status,retired_on"
    catalog = shipped_catalog()
    retired = next(o for o in catalog.offers.values() if o.retired_on and o.gpu and o.term == "on_demand")
    price = retired.price_usd_per_h.value
    rows = (f"{retired.id},,,{price},retired,{retired.retired_on}", "mine,t4,1,0.3,current,2027-01-01")
    assert [row.state for row in read(*rows, head=head, today=TODAY).rows] == ["unchanged", "new"]
    assert [row.state for row in read(f"{retired.id},,,1,retired,", head=head, today=TODAY).rows] == ["faulty"]
    assert [row.state for row in read(f"{AWS},,,17,stale,", head=head, today=TODAY).rows] == ["changed"]
    assert read(*rows, head=head, today=TODAY).ignored == ()


@pytest.mark.parametrize("first", ["sep=;", "SEP=;", '"sep=;"', "sep=;;;;"])
def test_a_line_that_names_the_separator_is_understood(first):
    content = "\r\n".join([first, HEAD.replace(",", ";"), "mine;t4;1;0.3", "bad;t4;0;0.3"]).encode("utf-8-sig")
    found = read_offers(content, shipped_catalog(), {}, file="mine.csv")
    assert [(row.line, row.id, row.state) for row in found.rows] == [(3, "mine", "new"), (4, "bad", "faulty")]
    piped = read_offers(content.replace(b";", b"|"), shipped_catalog(), {}, file="mine.csv")
    assert [row.state for row in piped.rows] == ["new", "faulty"]


def test_separators_behind_every_line_are_no_faults():
    assert list(read("mine,t4,1,0.3,,", "other,t4,1,0.3", head=HEAD + ",,").quotes) == ["mine", "other"]
    assert list(read("mine,t4,1,0.3,,,").quotes) == ["mine"]
    assert "5 cells" in faults(read("mine,t4,1,0.3,7,"))[0][2]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-16-le"])
def test_utf_16_is_read_where_it_says_so(encoding):
    text = "\r\n".join([HEAD + ",region", "mine,t4,1,0.3,Zürich"]).replace(",", "\t")
    mark = "" if encoding == "utf-16" else "\ufeff"
    found = read_offers((mark + text).encode(encoding), shipped_catalog(), {}, file="mine.txt")
    assert found.quotes["mine"]["region"] == "Zürich"
    if mark:
        bare = read_offers(text.encode(encoding), shipped_catalog(), {}, file="mine.txt")
        assert "CSV UTF-8" in bare.problems[0].expected


@pytest.mark.parametrize("separator", [";", "\t"])
@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("1.234", "1.2340 if the point marks decimals, 1234 if thousands"),
        ("21.957 EUR", "21.9570 EUR if the point marks decimals, 21957 EUR if thousands"),
        ("1.234.567", "a number without thousands marks: 1234567"),
        ("1.234,50", "a number without thousands marks: 1234.50"),
        ("0,35", "a decimal point: 0.35"),
    ],
)
def test_a_point_that_may_mark_thousands_is_asked_about(separator, cell, expected):
    lines = [HEAD.replace(",", separator), separator.join(["mine", "t4", "1", cell])]
    found = read_offers("\n".join(lines).encode(), shipped_catalog(), {}, file="mine.csv")
    assert [(problem[1], problem[3]) for problem in faults(found)] == [("price_usd_per_h", expected)]


def test_a_point_is_a_decimal_point_where_it_can_be_nothing_else():
    assert read("mine,t4,1,1.234").quotes["mine"]["price_usd_per_h"] == 1.234
    lines = [HEAD, "a,t4,1,0.234", "b,t4,1,1.2340", "c,t4,1,1.23"]
    found = read_offers("\n".join(lines).replace(",", ";").encode(), shipped_catalog(), {}, file="mine.csv")
    assert [quote["price_usd_per_h"] for quote in found.quotes.values()] == [0.234, 1.234, 1.23]
    count = read_offers(b"id;gpu;gpu_count;price_usd_per_h\nmine;t4;1.000;3", shipped_catalog(), {}, file="mine.csv")
    assert [(problem[1], problem[3][:6]) for problem in faults(count)] == [("gpu_count", "1.0000")]
