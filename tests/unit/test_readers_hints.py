"""Every call that an answer or an error prints runs as it is printed."""

import json
import re
from typing import Any

from slimguard.errors import QueryRejected
from slimguard.frame import error_text

LOG = "".join(f"2026-01-01 10:00:{n % 60:02d} INFO [w-{n % 7}] http req={n} GET /api\n" for n in range(900))
RECORDS = {"items": [{"id": n, "name": f"row {n}", "body": "text " * 40, "u": {"login": "x"}} for n in range(200)]}
QUERIES = [
    "", "raw:", "block:0", "block:9", "outline", "outline:nope", "lines:1-800", "items:0-150", "items:0 of nope",
    "bytes:0-100000", "last:500", "INFO", "htpp", "no such words at all", "/INFO/", "/nope.*/", "/(?=x)/", "select:items",
    "select:nope.x", "select:items[", "select:@", "sql:SELECT * FROM rows", "sql:SELECT nope FROM rows", "sql:DROP", "sql:",
    "diff:rnope", "lines:x", "regex:", "find:", "items:x", "lines:1-800\nINFO\nsql:SELECT * FROM rows", "block:0 lines:1-700",
]  # fmt: skip
CALL = re.compile(r'read_result\(result_ref="([^"]+)"(?:, query=("(?:[^"\\]|\\.)*"))?(?:, cursor="([^"]*)")?\)')
BYTES = re.compile(r"\((bytes:\d+-\d+)\)")


def test_every_printed_call_runs(desk: Any):
    sources = [
        desk.text(LOG, number=1),
        desk.json(RECORDS, number=2),
        desk.text("", number=3),
        desk.text(json.dumps({"text": "word " * 3000 + "INFO"}), number=4),
        desk.result({"content": []}, number=5),
        desk.text("a,b\n1,2\n3,4\n", "INFO second", number=6),
    ]
    known = {source.ref: source for source in sources}
    run = 0
    for source in sources:
        for query in QUERIES:
            try:
                text = desk.ask(source, query)
            except QueryRejected as error:
                text = error_text(error)
            for ref, printed, cursor in CALL.findall(text):
                try:
                    desk.ask(known[ref], json.loads(printed) if printed else "", cursor)
                except QueryRejected as error:
                    raise AssertionError(f"{query!r} printed a call that fails: {text[-400:]}") from error
                run += 1
            for hint in BYTES.findall(text):
                assert desk.ask(source, hint)
                run += 1
    assert run > 60
