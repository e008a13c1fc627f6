"""Text with commas that is no table: a log, prose, lines that repeat."""

from __future__ import annotations

import pytest

from slimguard.demo import shop
from slimguard.document.texttables import delimited_table


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(shop.log_lines()),
        "".join(f"line {i} of the text, with some words to fill it\n" for i in range(200)),
        "".join(f"{i:02}:10:11 INFO served, 200 OK\n" for i in range(50)),
        "yes, no\n" * 30,
    ],
    ids=["log", "prose", "times", "repeated"],
)
def test_lines_with_commas_are_no_csv(text):
    assert delimited_table(text) is None


def test_a_header_over_rows_is_csv_also_with_moments_in_the_rows():
    table = delimited_table("id,name,first order\n1,a,2026-01-01T10:00:00\n2,b,2026-01-02T10:00:00\n3,c,x\n")
    assert table is not None and table.kind == "csv"
