"""Short tables of a page, read back from their Markdown."""

import re

import pandas as pd


def markdown_tables(at):
    """Every table of the page in its order."""
    return [_frame(one.value) for one in at.markdown if one.value.startswith("| ")]


def _frame(text):
    heads, _, *rows = [_cells(line) for line in text.splitlines()]
    return pd.DataFrame(rows, columns=heads)


def _cells(line):
    return [cell.strip(" ").replace(r"\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
