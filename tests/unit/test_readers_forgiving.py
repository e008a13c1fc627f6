"""What people write from other languages is understood, or the error says what to write; probes of fresh shapes."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

import pytest

PODS = {
    "kind": "PodList",
    "items": [
        {
            "metadata": {
                "name": f"web-{n:02d}",
                "labels": {"app.kubernetes.io/name": f"svc{n % 3}"},
                "made": "2026-05-07",
            },
            "status": {"phase": "Failed" if n == 7 else "Running", "restarts": n % 9},
        }
        for n in range(40)
    ],
}
USERS = {"users": {f"u-{n}": {"name": f"N{n}", "e-mail": f"n{n}@x.gr", "seen": 1_760_000_000 + n} for n in range(30)}}

PROBES = [
    (PODS, "sql:SELECT metadata.name FROM items WHERE metadata.name ILIKE 'WEB-07'", "web-07"),
    (PODS, "sql:SELECT metadata.name::text FROM items LIMIT 1", "web-00"),
    (PODS, "sql:SELECT sum(status.restarts::int) FROM items", "150"),
    (PODS, "sql:SELECT max(length(metadata.name)::float) FROM items", "6.0"),
    (PODS, "sql:SELECT string_agg(metadata.name, '+') FROM items WHERE status.restarts = 8", "web-08+web-17"),
    (
        PODS,
        "sql:SELECT year(metadata.made), month(metadata.made), day(metadata.made) FROM items LIMIT 1",
        "2026 | 5 | 7",
    ),
    (PODS, "sql:SELECT date_trunc('month', metadata.made), count(*) FROM items GROUP BY 1", "2026-05-01 | 40"),
    (PODS, "sql:SELECT median(status.restarts), concat('a', 1, NULL), len('four') FROM items", "| a1 | 4"),
    (USERS, "sql:SELECT e-mail FROM users WHERE _key = 'u-7'", "n7@x.gr"),
    (USERS, "sql:SELECT name FROM users WHERE e-mail = 'n9@x.gr'", "N9"),
    (USERS, "sql:SELECT from_unixtime(seen) FROM users LIMIT 1", "2025-10-09 08:53:20"),
    (PODS, "sql:SELECT IF(status.restarts > 7, 'many', 'few') k, count(*) FROM items GROUP BY k", "many | 4"),
    (PODS, "sql:SELECT LEFT(metadata.name, 3), right(metadata.name, 2) FROM items LIMIT 1", "web | 00"),
    (PODS, "items:items:-1", "web-39"),
    (PODS, "items:items:38-", "web-39"),
    (PODS, "items:items[1:2]", "web-02"),
    (PODS, "items:items[3].metadata.labels:0", "svc0"),
    (PODS, "select:items | length", "40"),
    (PODS, "select:items[?status.phase=='Failed'].metadata.name | [0]", "web-07"),
    (PODS, "select:items.*.metadata.name", "web-39"),
    (PODS, "select:reverse(sort_by(items, status.restarts))[0].status.restarts", "8"),
    (PODS, "select:items[?metadata.labels.app.kubernetes.io/name=='svc1'].metadata.name", "web-01"),
    (PODS, "select:items[].metadata.nme", "no key nme in items[].metadata; nearest: name"),
    (PODS, "items[3].metadata.name", "web-03"),
    (PODS, "$.items[3].metadata.name", "web-03"),
    (USERS, "select:users['u-7'].name", "N7"),
    (USERS, "select:users[?name=='N4'].\"e-mail\"", "n4@x.gr"),
]


@pytest.mark.parametrize(("value", "query", "expected"), PROBES, ids=[probe[1] for probe in PROBES])
def test_what_people_write_first_is_answered(desk: Any, value: object, query: str, expected: str) -> None:
    assert expected in desk.ask(desk.text(json.dumps(value)), query)


def test_a_pattern_finds_text_that_is_written_with_combining_marks(desk: Any) -> None:
    text = unicodedata.normalize("NFD", "\n".join(f"Ligne {n} été à Besançon" for n in range(20)))
    assert "20 hits" in desk.ask(desk.text(text), "/été à Besançon$/")


def test_words_that_only_look_like_a_path_are_still_words(desk: Any) -> None:
    assert "0 hits" in desk.ask(desk.text(json.dumps(PODS)), "setup.cfg")


def test_select_on_a_table_in_text_points_to_sql(desk: Any) -> None:
    text = "name,size\n" + "\n".join(f"n{n},{n}" for n in range(20))
    assert "sql:SELECT * FROM csv LIMIT 5" in desk.error(desk.text(text), "select:[0].name").next_call
