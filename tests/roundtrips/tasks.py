"""The ten tasks: what the scripted agent does with the guard's tools alone, and what the servers must hold then.

An agent only uses what it was shown: refs, versions and places come from answers, never from the world's source.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import worlds
from rig import Agent, Rig, body_of, ref_in
from worlds import compact


@dataclass(frozen=True, slots=True)
class Task:
    """One task: its worlds, the agent's script, what must be true afterwards, and how often each tool ran."""

    name: str
    worlds: tuple[str, ...]
    script: Callable[[Agent], None]
    check: Callable[[Rig], None]
    runs: dict[str, int]
    section: dict[str, Any] = field(default_factory=dict)


def result(ref: str, **part: Any) -> dict[str, Any]:
    """A reference."""
    return {"$result": {"ref": ref, **part} if part else ref}


def wiki_script(agent: Agent) -> None:
    shown = agent.run("wiki/get_page", {"page_id": "42"}, "find:service-042\nselect:version.number")
    ref = ref_in(shown)
    version = int(re.search(r"select:version\.number — .*\n(\d+)", shown)[1])
    cell = re.search(r'data-row=\\?"42\\?">service-042', shown)
    assert cell is not None
    old = cell[0].replace("\\", "")
    edit = [{"replace": old, "with": old.replace("service-042", "service-042 (retired)")}]
    body = result(ref, select="body.storage.value", edits=edit)
    agent.run("wiki/update_page", {"page_id": "42", "version": version + 1, "body": body})


def wiki_check(rig: Rig) -> None:
    expected = worlds.wiki_page().replace(">service-042<", ">service-042 (retired)<")
    assert rig.state("wiki", "page.html") == expected.encode()


def notes_script(agent: Agent) -> None:
    shown = agent.run("notes/read_document", {"name": "handbook"}, "find:Section 23")
    ref = ref_in(shown)
    path = re.search(r"children\[276\]", shown)
    assert path is not None, shown
    place = f"{path[0]}.heading_2.rich_text[0].text.content"
    document = result(ref, select="@", edits=[{"set": place, "to": "Section 23: Ausfälle"}])
    agent.run("notes/write_document", {"name": "handbook", "document": document})


def notes_check(rig: Rig) -> None:
    document = worlds.notes_document()
    document["children"][276]["heading_2"]["rich_text"][0]["text"]["content"] = "Section 23: Ausfälle"
    assert rig.state("notes", "document.json") == compact(document).encode()


def sheets_script(agent: Agent) -> None:
    wanted = "SELECT count(*) FROM rows WHERE region='North' AND status='late'"
    ref = ref_in(agent.run("sheets/read_sheet", {"sheet": "2026"}, f"sql:{wanted}"))
    edits = [{"set": "[?region=='North' && status=='late'].status", "to": "closed"}]
    rows = result(ref, select="rows", edits=edits)
    agent.run("sheets/write_rows", {"sheet": "2026", "rows": rows})


def sheets_check(rig: Rig) -> None:
    rows = worlds.sheet_rows()
    for row in rows:
        if row["region"] == "North" and row["status"] == "late":
            row["status"] = "closed"
    assert rig.state("sheets", "sheet.json") == compact(rows).encode()


def memory_script(agent: Agent) -> None:
    shown = agent.run("memory/search_nodes", {"query": "stone"}, "select:entities[].name")
    ref = ref_in(shown)
    assert '"A. Stone"' in shown
    contents = result(ref, select="entities[?name=='A. Stone'].observations[]")
    agent.run("memory/add_observations", {"entity": "Ada Stone", "contents": contents})
    relation = {"from": "Ada Stone", "to": "Harbor Project", "relationType": "works on"}
    agent.run("memory/delete_entities", {"names": ["A. Stone"]})
    agent.run("memory/create_relations", {"relations": [relation]})


def memory_check(rig: Rig) -> None:
    graph = worlds.graph_start()
    first, second = graph["entities"][:2]
    first["observations"] += second["observations"]
    graph["entities"].remove(second)
    graph["relations"] = [{"from": "Ada Stone", "to": "Harbor Project", "relationType": "works on"}]
    assert rig.state("memory", "graph.json") == compact(graph).encode()


def files_script(agent: Agent) -> None:
    shown = agent.run("files/read_file", {"path": "service.ini"}, "find:-321]")
    ref = ref_in(shown)
    section = re.search(r"\[service\.\w+-321\]", shown)
    assert section is not None, shown
    number = int(re.search(r"(\d+)[^\n]*-321\]", body_of(shown))[1])
    lines = body_of(agent.read(ref, f"lines:{number}-{number + 2}")).replace("\r", "").split("\n")
    old = "\n".join(lines[:3])
    new = re.sub(r"timeout_seconds = \d+", "timeout_seconds = 120", old)
    content = result(ref, edits=[{"replace": old, "with": new}])
    agent.run("files/write_file", {"path": "service.ini", "content": content})


def files_check(rig: Rig) -> None:
    lines = worlds.config_file().split("\r\n")
    place = next(n for n, line in enumerate(lines) if line.endswith("-321]"))
    lines[place + 2] = re.sub(r"= \d+", "= 120", lines[place + 2])
    assert rig.state("files", "service.ini") == "\r\n".join(lines).encode()


def docs_script(agent: Agent) -> None:
    shown = agent.run("docs/fetch_article", {"slug": "manual"}, "select:revision\nfind:requests a minute")
    ref = ref_in(shown)
    body = result(ref, select="markdown", edits={"replace": "at most 40 requests", "with": "at most 60 requests"})
    given = {"slug": "manual", "base_revision": result(ref, select="revision"), "markdown": body}
    agent.run("docs/put_article", given)


def docs_check(rig: Rig) -> None:
    assert rig.state("docs", "article.md") == worlds.article().replace("at most 40", "at most 60").encode()


def issues_script(agent: Agent) -> None:
    refs: list[str] = []
    given: dict[str, Any] = {}
    while True:
        shown = agent.run("issues/list_issues", given)
        refs.append(ref_in(shown))
        cursor = re.search(r"next_cursor[\"=: ]+(cursor-\d+)", shown.split("\n")[0])
        if cursor is None:
            break
        given = {"after": cursor[1]}
    agent.run("issues/import_issues", {"issues": result("+".join(refs), select="items")})


def issues_check(rig: Rig) -> None:
    assert rig.state("issues", "imported.json") == compact(worlds.all_issues()).encode()


def mail_script(agent: Agent) -> None:
    ref = ref_in(agent.run("reports/read_report", {"name": "q3"}))
    agent.run("mail/send_mail", {"to": "board@example.org", "body": result(ref)})


def mail_check(rig: Rig) -> None:
    assert rig.state("mail", "sent.txt") == worlds.report().encode()
    flows = [item for item in rig.audit() if item["event"] == "flow"]
    assert [(item["from"], item["to"], item["bytes"]) for item in flows] == [
        ("reports/read_report", "mail/send_mail", len(worlds.report().encode()))
    ]


def tickets_script(agent: Agent) -> None:
    ref = ref_in(agent.run("tickets/download_log", {"job": "nightly"}))
    agent.run("tickets/attach_file", {"ticket": "T-7", "name": "nightly.log", "content": result(ref)})


def tickets_check(rig: Rig) -> None:
    assert rig.state("tickets", "attachment.log") == worlds.large_log().encode()


def repair_script(agent: Agent) -> None:
    ref = ref_in(agent.run("docs/fetch_article", {"slug": "manual"}, "select:revision"))

    def put(old: str, fails: bool = False) -> str:
        new = old.replace("40", "60")
        body = result(ref, select="markdown", edits=[{"replace": old, "with": new}])
        given = {"slug": "manual", "base_revision": result(ref, select="revision"), "markdown": body}
        return agent.run("docs/put_article", given, fails=fails)

    error = put("Limit: at most 40 request per minute", fails=True)
    assert "tool ran: no" in error
    near = re.search(r'nearest, in line \d+: ("(?:[^"\\]|\\.)*")', error)
    assert near is not None, error
    put(json.loads(near[1]))


TASKS = (
    Task("wiki page, a table cell", ("wiki",), wiki_script, wiki_check, {"get_page": 1, "update_page": 1}),
    Task("one-line JSON, a heading", ("notes",), notes_script, notes_check, {"read_document": 1, "write_document": 1}),
    Task("spreadsheet, matching rows", ("sheets",), sheets_script, sheets_check, {"read_sheet": 1, "write_rows": 1}),
    Task(
        "memory graph, merge two",
        ("memory",),
        memory_script,
        memory_check,
        {"search_nodes": 1, "add_observations": 1, "delete_entities": 1, "create_relations": 1},
    ),
    Task("configuration file, one value", ("files",), files_script, files_check, {"read_file": 1, "write_file": 1}),
    Task("article with base revision", ("docs",), docs_script, docs_check, {"fetch_article": 1, "put_article": 1}),
    Task("list in pages, imported", ("issues",), issues_script, issues_check, {"list_issues": 3, "import_issues": 1}),
    Task(
        "report to another server",
        ("reports", "mail"),
        mail_script,
        mail_check,
        {"read_report": 1, "send_mail": 1},
        {"flows": {"allow": ["reports -> mail"]}},
    ),
    Task("5 MB log to a ticket", ("tickets",), tickets_script, tickets_check, {"download_log": 1, "attach_file": 1}),
    Task("repair after a failed edit", ("docs",), repair_script, docs_check, {"fetch_article": 1, "put_article": 1}),
)
