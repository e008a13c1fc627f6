"""References through the whole guard: what is put in, what is refused before anything is sent, and what stays unsaid."""

from __future__ import annotations

import json
import time

import pytest
from rig import ref_in

SENTINEL = "SENTINEL-4d7f"


@pytest.fixture
def desk(start):
    """A guard before the world `anything`, with a stored value; gives rig, agent, and a function from value to ref."""
    rig, agent = start(["anything", "elsewhere"])
    (rig.folder / "elsewhere" / "value").write_bytes(b"x" * 20_000)

    def store(value):
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        (rig.folder / "anything" / "value").write_bytes(text.encode())
        return ref_in(agent.run("anything/load", {}))

    return rig, agent, store


def saved(rig):
    return json.loads(rig.state("anything", "saved.json"))


def large(**more):
    return {**more, "filler": [f"line {n} of filler" for n in range(1_500)]}


def test_numbers_arrive_as_the_result_spelled_them(desk):
    rig, agent, store = desk
    text = '{"big": 123456789012345678901234567890, "long": 0.1234567890123456789, "e": 1E3, "z": 1.50, "é": "ü",' + (
        ' "f": [' + ",\n".join(['"filler"'] * 4_000) + "]}"
    )
    ref = store(text)
    agent.run("anything/save", {"object": {"$result": {"ref": ref, "select": "@", "edits": [{"remove": "/f"}]}}})
    sent = rig.state("anything", "last_request.json").decode()
    assert '"big": 123456789012345678901234567890, "long": 0.1234567890123456789, "e": 1E3, "z": 1.50' in sent
    assert saved(rig)["object"]["é"] == "ü"


def test_digits_survive_a_change_of_type_and_a_reference_inside_of_edits(desk):
    rig, agent, store = desk
    ref = store('{"z": 1.50, "e": 1E3, "f": [' + ", ".join(['"filler"'] * 4_000) + "]}")
    agent.run("anything/save", {"object": {"$result": ref}})
    assert '{"z": 1.50, "e": 1E3, ' in rig.state("anything", "last_request.json").decode()
    number = {"$result": {"ref": ref, "select": "e"}}
    text = {"$result": {"ref": ref, "select": "{z: z}", "edits": [{"set": "/z", "to": number}]}}
    agent.run("anything/save", {"text": text})
    assert saved(rig)["text"] == '{"z":1E3}'


def test_references_stand_anywhere_and_inside_each_other(desk):
    rig, agent, store = desk
    ref = store(large(title="T", tags=["a", "b"]))
    title = {"$result": {"ref": ref, "select": "title"}}
    value = {"$result": {"ref": ref, "select": "tags", "edits": [{"append": title}]}}
    agent.run("anything/save", {"any": {"deep": [1, {"list": value}]}, "text": f'{{"$result": "{ref} select:title"}}'})
    assert saved(rig) == {"any": {"deep": [1, {"list": ["a", "b", "T"]}]}, "text": "T"}


def test_a_text_is_read_as_json_where_only_that_fits_and_the_other_way(desk):
    rig, agent, store = desk
    ref = store(large(a=1))
    agent.run("anything/save", {"object": {"$result": ref}, "text": {"$result": {"ref": ref, "select": "{a: a}"}}})
    assert saved(rig) == {"object": large(a=1), "text": '{"a":1}'}


def test_what_was_put_in_is_not_looked_into(desk):
    rig, agent, store = desk
    trap = store(large(trap={"$result": "r0000000000000"}))
    agent.run("anything/save", {"any": {"$result": {"ref": trap, "select": "trap"}}})
    assert saved(rig) == {"any": {"$result": "r0000000000000"}}


def test_an_object_that_the_schema_really_takes_is_passed_as_it_is(desk):
    rig, agent, store = desk
    agent.run("anything/save", {"own": {"$result": "pending"}})
    assert saved(rig) == {"own": {"$result": "pending"}}
    agent.run("anything/save", {"any": {"$result": {"code": 5}}})
    assert saved(rig) == {"any": {"$result": {"code": 5}}}
    ref = store(large(title="T"))
    both = {"two": {"$result": f"{ref} select:title"}}
    assert "can be read as a reference and as the object" in agent.run("anything/save", both, fails=True)
    assert len(rig.executions("anything", "save")) == 2


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"$result": "rabc"}, "malformed"),
        ({"$result": "r0000000000000zz"}, "malformed"),
        ({"$result": {"ref": "REF", "select": "nothing.here"}}, "no key nothing"),
        ({"$result": {"ref": "REF", "lines": "5-9"}}, "not within"),
        ({"$result": {"ref": "REF", "block": 4}}, "no block 4"),
        ({"$result": {"ref": "REF", "edits": [{"replace": "not there at all", "with": "x"}]}}, "is not there"),
        ({"$result": {"ref": "REF", "edits": [{"set": "/filler/9999", "to": 1}]}}, "nothing at"),
        ([{"$result": "REF"}] * 1_000, "more than 64"),
    ],
)
def test_a_reference_that_cannot_be_made_out_sends_nothing(desk, value, words):
    rig, agent, store = desk
    ref = store(large())
    value = json.loads(json.dumps(value).replace("REF", ref))
    error = agent.run("anything/save", {"any": value}, fails=True)
    assert words in error and "tool ran: no" in error
    assert len(error) < 4_000
    assert rig.executions("anything", "save") == []


def test_a_reference_of_another_owner_or_expired_is_not_there(start, tmp_path):
    rig, agent = start(["anything"], store={"path": str(tmp_path / "shared.db"), "ttl_seconds": 1})
    (rig.folder / "anything" / "value").write_bytes(b"line\n" * 9_000)
    ref, stored = ref_in(agent.run("anything/load", {})), time.time()
    _, other = start(["anything"], "http", store={"path": str(tmp_path / "shared.db")})
    assert "not found" in other.run("anything/save", {"any": {"$result": ref}}, fails=True)
    while time.time() < stored + 1.1:  # the time to live is the clock's, not an event that could be awaited
        time.sleep(0.05)
    assert "expired" in agent.run("anything/save", {"any": {"$result": ref}}, fails=True)


@pytest.mark.parametrize(
    ("rules", "flows"),
    [
        ({}, False),
        ({"allow": ["reports -> mail"]}, True),
        ({"allow": ["rep* -> mail/send_*"]}, True),
        ({"allow": ["mail -> reports"]}, False),
        ({"allow": ["* -> *"], "deny": ["* -> mail"]}, False),
    ],
)
def test_a_result_goes_to_another_server_only_as_the_settings_say(start, suite, rules, flows):
    rig, agent = start(["reports", "mail"], flows=rules)
    ref = ref_in(agent.run("reports/read_report", {"name": "q3"}))
    given = {"to": "board@example.org", "body": {"$result": ref}}
    text = agent.run("mail/send_mail", given, fails=not flows)
    if flows:
        suite.mail_check(rig)
        return
    assert "tool ran: no" in text
    assert "slimguard.flows.deny forbids it" in text if "deny" in rules else 'allow: ["reports -> mail"]' in text
    assert rig.executions("mail") == []
    refused = [item for item in rig.audit() if item["event"] == "flow refused"]
    assert [(item["from"], item["to"]) for item in refused] == [("reports/read_report", "mail/send_mail")]


def test_nothing_of_a_value_is_written_down_or_said_in_errors(desk):
    rig, agent, store = desk
    ref = store(large(**{SENTINEL: {SENTINEL: SENTINEL}, "text": f"{SENTINEL} {SENTINEL}"}))
    said = [
        agent.run("anything/save", {"strict": {"$result": {"ref": ref, "select": "@"}}}, fails=True),
        agent.run("anything/save", {"list": {"$result": {"ref": ref, "select": f'"{SENTINEL}"'}}}, fails=True),
        agent.run("anything/save", {"any": {"$result": ref, "edits": [{"set": "/a/b/c", "to": 1}]}}, fails=True),
        agent.run("anything/save", {"any": {"$result": ref, "lines": "7"}}, fails=True),
    ]
    agent.run("anything/save", {"object": {"$result": {"ref": ref, "select": "@"}}})
    rig.close()
    audit = (rig.folder / "store" / "results.audit.jsonl").read_text()
    assert not any(SENTINEL in text for text in (said[0], said[3], rig.stderr, audit))
    assert "breaks" in said[0] or "unexpected" not in said[0]
    flows = [item for item in rig.audit() if item["event"] == "flow"]
    assert len(flows) == 1 and flows[0]["bytes"] > 1_000 and len(flows[0]["digest"]) == 64
    assert ref not in audit


def test_a_preview_shows_the_change_and_calls_nothing(desk):
    rig, agent, store = desk
    ref = store("\n".join(f"line {n}: value" for n in range(2_000)))
    shown = agent.read(ref, 'edit:{"replace": "line 77: value", "with": "line 77: other"}')
    assert "@@ line 78 @@\n-line 77: value\n+line 77: other" in shown
    assert "1 edit in 1 place" in shown and "nothing was called" in shown
    assert "nearest" in agent.read(ref, 'edit:[{"replace": "line 77; value", "with": "x"}]', fails=True)
    assert "is not JSON" in agent.read(ref, "edit:replace a by b", fails=True)
    assert rig.executions("anything", "save") == []


def test_the_hint_of_a_view_writes_back_once_its_marks_are_filled(start):
    rig, agent = start(["wiki"])
    shown = agent.run("wiki/get_page", {"page_id": "42"})
    line = next(line for line in shown.split("\n") if line.startswith("to change it and write it back"))
    found = json.loads(line.partition("arguments=")[2][:-1])
    assert found["page_id"] == "42" and found["version"] == "<version>"
    reference = found["body"]["$result"]
    assert reference["select"] == "body.storage.value"
    agent.refs["wiki/update_page"] = line.partition('tool_ref="')[2].partition('"')[0]
    assert "tool ran: no" in agent.run("wiki/update_page", {**found, "version": 8}, fails=True)
    reference["edits"] = [{"replace": ">service-001<", "with": ">service-1<"}]
    agent.run("wiki/update_page", {**found, "version": 8})
    assert b">service-1<" in rig.state("wiki", "page.html")


def test_there_is_no_hint_where_nothing_takes_the_value_back(start):
    _, agent = start(["reports", "tickets", "memory"])
    for tool, given in (
        ("reports/read_report", {"name": "q3"}),
        ("tickets/download_log", {"job": "x"}),
        ("memory/search_nodes", {"query": "stone"}),
    ):
        assert "write it back" not in agent.run(tool, given)
