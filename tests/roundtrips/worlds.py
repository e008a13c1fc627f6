"""The small servers of the round-trip suite: real behaviour, state in a folder, written by hand.

Each world is a function from a folder to its tools: name -> (definition, run). What `run` returns is a text, or a value
that is sent as compact JSON text. State is written to files, so that a test can compare bytes.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

Tools = dict[str, tuple[dict[str, Any], Callable[[dict[str, Any]], Any]]]
TEXT = {"type": "string"}
WORDS = [
    "anchor",
    "basin",
    "cedar",
    "delta",
    "ember",
    "fjord",
    "grove",
    "harbor",
    "inlet",
    "jetty",
    "kiosk",
    "ledger",
    "meadow",
    "north",
    "orchard",
    "pillar",
    "quarry",
    "ridge",
    "summit",
    "timber",
    "upland",
    "valley",
    "willow",
    "zenith",
    "account",
    "budget",
    "commit",
    "deploy",
    "engine",
    "format",
    "gateway",
    "handler",
]


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def tool(description: str, required: str = "", read_only: bool = False, **properties: Any) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": properties,
        "required": required.split(),
        "additionalProperties": False,
    }
    return {"description": description, "inputSchema": schema, "annotations": {"readOnlyHint": read_only}}


def sentence(dice: random.Random, words: int = 12) -> str:
    return " ".join(dice.choice(WORDS) for _ in range(words)).capitalize() + "."


class Refused(Exception):
    """What a server says no to."""


def kept(file: Path, make: Callable[[], str]) -> str:
    """The state in `file`, made at first."""
    if not file.exists():
        file.write_bytes(make().encode("utf-8"))
    return file.read_bytes().decode("utf-8")


# --- a wiki page of 60 KB in storage format --------------------------------------------------------------------------


def wiki_page() -> str:
    dice = random.Random(1)
    rows = "".join(
        f'<tr><td data-row="{n}">service-{n:03}</td><td><p>{sentence(dice, 6)}</p></td>'
        f'<td><ac:structured-macro ac:name="status" ac:macro-id="{dice.getrandbits(64):016x}"><ac:parameter '
        f'ac:name="title">{"RED" if n % 7 == 0 else "GREEN"}</ac:parameter></ac:structured-macro></td></tr>'
        for n in range(150)
    )
    prose = "".join(f"<h2>Part {n} &amp; notes</h2><p>{sentence(dice, 40)}&nbsp;–&#160;ok</p>" for n in range(60))
    return f'<p class="auto-cursor-target"><br /></p><table><tbody>{rows}</tbody></table>{prose}'


def wiki(folder: Path) -> Tools:
    file = folder / "page.html"
    state = {"version": 7}

    def get_page(given: dict[str, Any]) -> Any:
        body = {"storage": {"value": kept(file, wiki_page), "representation": "storage"}}
        return {
            "id": given["page_id"],
            "title": "Services",
            "version": {"number": state["version"], "by": "ops"},
            "body": body,
        }

    def update_page(given: dict[str, Any]) -> Any:
        if given["version"] != state["version"] + 1:
            raise Refused(f"409 Conflict: the page is at version {state['version']}")
        file.write_bytes(given["body"].encode("utf-8"))
        state["version"] += 1
        return {"id": given["page_id"], "version": state["version"]}

    kept(file, wiki_page)
    return {
        "get_page": (tool("Get a wiki page with its body in storage format.", "page_id", True, page_id=TEXT), get_page),
        "update_page": (
            tool(
                "Update a wiki page: the next version number and the whole body in storage format.",
                "page_id version body",
                page_id=TEXT,
                version={"type": "integer"},
                body=TEXT,
            ),
            update_page,
        ),
    }


# --- a document that is one line of JSON -----------------------------------------------------------------------------


def notes_document() -> dict[str, Any]:
    dice = random.Random(2)
    blocks = []
    for n in range(420):
        kind = "heading_2" if n % 12 == 0 else "paragraph"
        text = f"Section {n // 12}: {dice.choice(WORDS)}" if kind == "heading_2" else sentence(dice, 22)
        style = {"bold": n % 3 == 0, "color": "default", "weight": 1.0 + n / 8}
        rich = [{"type": "text", "text": {"content": text, "link": None}, "annotations": style}]
        blocks.append({"id": f"{dice.getrandbits(48):012x}", "type": kind, kind: {"rich_text": rich}})
    return {"object": "document", "title": "Handbook – Übersicht", "revision": 12, "children": blocks}


def notes(folder: Path) -> Tools:
    file = folder / "document.json"

    def read_document(_: dict[str, Any]) -> Any:
        return kept(file, lambda: compact(notes_document()))

    def write_document(given: dict[str, Any]) -> Any:
        file.write_bytes(compact(given["document"]).encode("utf-8"))
        return "saved"

    read_document({})
    return {
        "read_document": (tool("Read a document as JSON.", "name", True, name=TEXT), read_document),
        "write_document": (
            tool("Write a whole document.", "name document", name=TEXT, document={"type": "object"}),
            write_document,
        ),
    }


# --- a spreadsheet of 5,000 rows -------------------------------------------------------------------------------------


def sheet_rows() -> list[dict[str, Any]]:
    dice = random.Random(3)
    return [
        {
            "id": n + 1,
            "customer": f"C-{dice.randrange(900):04}",
            "region": dice.choice(("North", "South", "East", "West")),
            "amount": round(dice.random() * 900 + 10, 2),
            "status": dice.choice(("open", "paid", "late")),
        }
        for n in range(5_000)
    ]


def sheets(folder: Path) -> Tools:
    file = folder / "sheet.json"

    def read_sheet(given: dict[str, Any]) -> Any:
        rows = json.loads(kept(file, lambda: compact(sheet_rows())))
        return {"sheet": given["sheet"], "rows": rows}

    def write_rows(given: dict[str, Any]) -> Any:
        file.write_bytes(compact(given["rows"]).encode("utf-8"))
        return {"written": len(given["rows"])}

    read_sheet({"sheet": ""})
    row = {
        "type": "object",
        "properties": {
            "id": {"type": "integer"},
            "amount": {"type": "number"},
            "status": {"enum": ["open", "paid", "late", "closed"]},
        },
        "required": ["id", "status"],
    }
    return {
        "read_sheet": (tool("Read all rows of a sheet.", "sheet", True, sheet=TEXT), read_sheet),
        "write_rows": (
            tool("Replace all rows of a sheet.", "sheet rows", sheet=TEXT, rows={"type": "array", "items": row}),
            write_rows,
        ),
    }


# --- a memory graph --------------------------------------------------------------------------------------------------


def graph_start() -> dict[str, Any]:
    dice = random.Random(4)
    names = ("Ada Stone", "A. Stone", "Harbor Project", "North Team")
    entities = [
        {
            "name": name,
            "entityType": "person" if "Stone" in name else "project",
            "observations": [f"{name}: {sentence(dice, 14)}" for _ in range(160)],
        }
        for name in names
    ]
    relations = [{"from": "A. Stone", "to": "Harbor Project", "relationType": "works on"}]
    return {"entities": entities, "relations": relations}


def memory(folder: Path) -> Tools:
    file = folder / "graph.json"

    def load() -> dict[str, Any]:
        return json.loads(kept(file, lambda: compact(graph_start())))

    def save(graph: dict[str, Any]) -> None:
        file.write_bytes(compact(graph).encode("utf-8"))

    def search_nodes(given: dict[str, Any]) -> Any:
        words = given["query"].lower()
        return {"entities": [item for item in load()["entities"] if words in item["name"].lower()]}

    def add_observations(given: dict[str, Any]) -> Any:
        graph = load()
        entity = next((item for item in graph["entities"] if item["name"] == given["entity"]), None)
        if entity is None:
            raise Refused("no such entity")
        entity["observations"] += [text for text in given["contents"] if text not in entity["observations"]]
        save(graph)
        return {"observations": len(entity["observations"])}

    def delete_entities(given: dict[str, Any]) -> Any:
        graph = load()
        graph["entities"] = [item for item in graph["entities"] if item["name"] not in given["names"]]
        graph["relations"] = [item for item in graph["relations"] if item["from"] not in given["names"]]
        save(graph)
        return "deleted"

    def create_relations(given: dict[str, Any]) -> Any:
        graph = load()
        graph["relations"] += given["relations"]
        save(graph)
        return "created"

    load()
    texts = {"type": "array", "items": TEXT}
    relation = {"type": "object", "properties": {"from": TEXT, "to": TEXT, "relationType": TEXT}}
    return {
        "search_nodes": (tool("Search entities of the graph by name.", "query", True, query=TEXT), search_nodes),
        "add_observations": (
            tool("Add observations to an entity.", "entity contents", entity=TEXT, contents=texts),
            add_observations,
        ),
        "delete_entities": (tool("Delete entities.", "names", names=texts), delete_entities),
        "create_relations": (
            tool("Create relations.", "relations", relations={"type": "array", "items": relation}),
            create_relations,
        ),
    }


# --- a configuration file of 3,000 lines with comments and CR LF -----------------------------------------------------


def config_file() -> str:
    dice = random.Random(5)
    lines = ["# service configuration\t– do not sort"]
    for n in range(600):
        lines += [
            f"[service.{dice.choice(WORDS)}-{n:03}]",
            f"# {sentence(dice, 8)}",
            f"timeout_seconds = {dice.randrange(5, 90)}   ; default 30",
            f'endpoint = "https://{dice.choice(WORDS)}.example/{n}"',
            "",
        ]
    return "\r\n".join(lines) + "\r\n"


def files(folder: Path) -> Tools:
    file = folder / "service.ini"

    def read_file(_: dict[str, Any]) -> Any:
        return kept(file, config_file)

    def write_file(given: dict[str, Any]) -> Any:
        file.write_bytes(given["content"].encode("utf-8"))
        return f"wrote {len(given['content'])} characters"

    read_file({})
    return {
        "read_file": (tool("Read a text file.", "path", True, path=TEXT), read_file),
        "write_file": (tool("Write a text file.", "path content", path=TEXT, content=TEXT), write_file),
    }


# --- documents that are updated against a base revision --------------------------------------------------------------


def article() -> str:
    dice = random.Random(6)
    parts = [
        f"## Chapter {n}\n\n{sentence(dice, 60)}\n\n- {sentence(dice, 9)}\n- {sentence(dice, 9)}\n" for n in range(110)
    ]
    return "# Manual\n\n" + "\n".join(parts) + "\nLimits: at most 40 requests a minute.\n"


def docs(folder: Path) -> Tools:
    file = folder / "article.md"

    def revision() -> str:
        return f"rev-{sum(file.read_bytes()) % 1_000_003:06}"

    def fetch_article(given: dict[str, Any]) -> Any:
        body = kept(file, article)
        return {"slug": given["slug"], "revision": revision(), "markdown": body}

    def put_article(given: dict[str, Any]) -> Any:
        if given["base_revision"] != revision():
            raise Refused(f"412: base_revision is not {revision()}")
        file.write_bytes(given["markdown"].encode("utf-8"))
        return {"revision": revision()}

    kept(file, article)
    return {
        "fetch_article": (tool("Fetch an article.", "slug", True, slug=TEXT), fetch_article),
        "put_article": (
            tool(
                "Put an article: the revision it is based on and its full text.",
                "slug base_revision markdown",
                slug=TEXT,
                base_revision=TEXT,
                markdown=TEXT,
            ),
            put_article,
        ),
    }


# --- a list in pages -------------------------------------------------------------------------------------------------


def all_issues() -> list[dict[str, Any]]:
    dice = random.Random(7)
    return [
        {"number": n + 1, "title": sentence(dice, 6), "state": "open", "body": sentence(dice, 50)} for n in range(450)
    ]


def issues(folder: Path) -> Tools:
    file = folder / "imported.json"

    def list_issues(given: dict[str, Any]) -> Any:
        start = int(given.get("after", "cursor-0").partition("-")[2])
        page = all_issues()[start : start + 150]
        end = start + len(page)
        return {"items": page, "next_cursor": f"cursor-{end}" if end < len(all_issues()) else None}

    def import_issues(given: dict[str, Any]) -> Any:
        file.write_bytes(compact(given["issues"]).encode("utf-8"))
        return {"imported": len(given["issues"])}

    return {
        "list_issues": (tool("List open issues, 150 a page.", "", True, after=TEXT), list_issues),
        "import_issues": (
            tool("Import issues into the archive.", "issues", issues={"type": "array", "items": {"type": "object"}}),
            import_issues,
        ),
    }


# --- a reader and a mailer on two servers ----------------------------------------------------------------------------


def report() -> str:
    dice = random.Random(8)
    return "Quarterly report\n\n" + "\n".join(f"{n:04}  {sentence(dice, 14)}" for n in range(900)) + "\n"


def reports(_: Path) -> Tools:
    return {"read_report": (tool("Read a report.", "name", True, name=TEXT), lambda _: report())}


def mail(folder: Path) -> Tools:
    def send_mail(given: dict[str, Any]) -> Any:
        (folder / "sent.txt").write_bytes(given["body"].encode("utf-8"))
        return f"sent to {given['to']}"

    return {"send_mail": (tool("Send a mail.", "to body", to=TEXT, body=TEXT), send_mail)}


# --- a large log and tickets -----------------------------------------------------------------------------------------


@cache
def large_log() -> str:
    dice = random.Random(9)
    lines = [
        f"2026-03-{n % 28 + 1:02}T10:{n % 60:02}:00Z {'ERROR' if n % 997 == 0 else 'INFO'} "
        f"{dice.choice(WORDS)}: {dice.choice(WORDS)} took {dice.randrange(900)} ms id={dice.getrandbits(32):08x}"
        for n in range(70_000)
    ]
    return "\n".join(lines) + "\n"


def tickets(folder: Path) -> Tools:
    def download_log(_: dict[str, Any]) -> Any:
        return large_log()

    def attach_file(given: dict[str, Any]) -> Any:
        (folder / "attachment.log").write_bytes(given["content"].encode("utf-8"))
        return {"ticket": given["ticket"], "bytes": len(given["content"].encode("utf-8"))}

    return {
        "download_log": (tool("Download the log of a job.", "job", True, job=TEXT), download_log),
        "attach_file": (
            tool("Attach a file to a ticket.", "ticket name content", ticket=TEXT, name=TEXT, content=TEXT),
            attach_file,
        ),
    }


# --- whatever a test wants -------------------------------------------------------------------------------------------


def anything(folder: Path) -> Tools:
    """A reader that gives the file `value`, and writers whose schemas take a text, an object, and objects of an own."""

    def load(_: dict[str, Any]) -> Any:
        return (folder / "value").read_bytes().decode("utf-8")

    def save(given: dict[str, Any]) -> Any:
        (folder / "saved.json").write_bytes(compact(given).encode("utf-8", "surrogatepass"))
        return "saved"

    strict = {"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": False}
    own = {"type": "object", "properties": {"$result": TEXT}, "required": ["$result"], "additionalProperties": False}
    two = {"anyOf": [own, TEXT]}
    schemas = {"text": TEXT, "object": {"type": "object"}, "any": {}, "list": {"type": "array"}, "strict": strict,
               "own": own, "two": two}  # fmt: skip
    return {
        "load": (tool("Load.", "", True), load),
        "save": (tool("Save.", "", **schemas), save),
    }


WORLDS: dict[str, Callable[[Path], Tools]] = {
    "wiki": wiki,
    "notes": notes,
    "sheets": sheets,
    "memory": memory,
    "files": files,
    "docs": docs,
    "issues": issues,
    "reports": reports,
    "mail": mail,
    "tickets": tickets,
    "anything": anything,
    "elsewhere": anything,
}
