"""The benchmarks' report: verdicts, the page that is made of the figures, and the plots."""

from __future__ import annotations

import json
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from benchmarks import report  # noqa: E402
from benchmarks.model import Part, Plot, Table, Verdict  # noqa: E402
from benchmarks.plots import bars  # noqa: E402
from benchmarks.pulls import forms  # noqa: E402


def a_part() -> Part:
    part = Part("one", "One part", "How it is measured.")
    part.tables.append(Table("A table", ("what", "tokens"), [["direct", 71_388], ["compact", 12_345.5]]))
    part.verdicts += [Verdict("few tokens", 900, 1_000, "tokens"), Verdict("hashes equal", False, 1, exactly=True)]
    part.plots.append(Plot("one", "One & all", [("direct", 1_000.0), ("slimguard", 10.0)], "tokens", log=True))
    return part


def test_a_bound_holds_up_to_its_value_and_an_exact_one_only_at_it() -> None:
    assert Verdict("at most", 1_000, 1_000).holds
    assert not Verdict("at most", 1_001, 1_000).holds
    assert not Verdict("exactly", 23, 24, exactly=True).holds


def test_the_page_is_made_of_the_figures_and_says_what_does_not_hold() -> None:
    document = report.document([a_part()], quick=True)
    page = report.markdown(json.loads(json.dumps(document)), "benchmarks")
    assert "| direct | 71,388 |" in page
    assert "| few tokens | 900 tokens | ≤ 1,000 tokens |  | yes |" in page
    assert "| hashes equal | no | = yes |  | **no** |" in page
    assert "bounds: 1 of 2 hold" in page
    assert "![One & all](benchmarks/one.svg)" in page


def test_a_run_of_some_parts_renews_those_and_says_when_the_others_were_made() -> None:
    other = Part("two", "Two", "How.")
    before = report.document([a_part(), other], quick=True) | {"date": "yesterday", "commit": "abc"}
    again = a_part()
    again.verdicts = [Verdict("few tokens", 800, 1_000, "tokens")]
    both = report.merged(report.document([again], quick=True), before)
    page = report.markdown(both, ".")
    assert [part["name"] for part in both["parts"]] == ["one", "two"]
    assert "bounds: 1 of 1 hold" in page
    assert "800 tokens" in page and "900 tokens" not in page
    assert page.count("Measured yesterday, commit `abc`.") == 1


def test_a_part_that_did_not_run_says_why() -> None:
    page = report.markdown(report.document([Part("x", "X", "", skipped="no folder")], quick=False), ".")
    assert "Not run: no folder" in page


def test_plots_are_well_formed_and_longer_bars_stand_for_more() -> None:
    picture = ET.fromstring(bars(report.document([a_part()], quick=True)["parts"][0]["plots"][0]))
    widths = [float(item.get("width", "0")) for item in picture.iter() if item.get("rx")]
    assert len(widths) == 2
    assert widths[0] > widths[1]


def test_the_same_records_are_written_in_four_forms() -> None:
    written = forms([{"a": 1, "b": {"c": "x, y"}}, {"a": 2, "b": {"c": "z"}}])
    assert json.loads(written["JSON, compact"]) == json.loads(written["JSON, indented"])
    assert written["CSV, flattened"].splitlines()[:2] == ["a,b.c", '1,"x, y"']
    assert written["TOON-like, flattened"].splitlines() == ["[2]{a,b.c}:", '  1,"x, y"', "  2,z"]
