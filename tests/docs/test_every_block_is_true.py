"""Every block of code in the documents is run or checked, every link leads somewhere."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from slimguard import config
from slimguard.cli import build_parser
from slimguard.jsonc import loads
from slimguard.query import parse as parse_query

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    path
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "fixtures").rglob("*.md")]
    if "node_modules" not in path.parts
)
TASKS = sorted([*(ROOT / "docs" / "how-to").glob("*.md"), *(ROOT / "docs" / "tutorial").glob("*.md")])
BLOCK = re.compile(r"^(`{3,})([^\n`]*)\n(.*?)^\1\s*$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]\n]*\]\(([^)\s]+)\)")
CALL = re.compile(r"""\b(read_result|find_tool|call_tool)\(((?:[^()"]|"(?:[^"\\]|\\.)*")*)\)""")
ARGUMENT = re.compile(r'\b(\w+)=("(?:[^"\\]|\\.)*")')
COMMAND = re.compile(r"(?:^|\s)slimguard (?!serve --$)[a-z]")
FORBIDDEN = re.compile(
    r"/(?:work|root|opt/pypi)[/\w-]*|pypi\.org|pythonhosted\.org|registry\.npmjs|proxy\.golang|\bthis (?:session|workplace)\b",
    re.IGNORECASE,
)
NAMES: dict[str, set[str]] = {
    "find_tool": {"query"},
    "call_tool": {"tool_ref", "arguments", "result_query"},
    "read_result": {"result_ref", "query", "cursor"},
}


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@dataclass(frozen=True)
class Block:
    info: str
    text: str

    @property
    def language(self) -> str:
        return self.info.split(" ")[0] if self.info else ""


def blocks(path: Path) -> list[Block]:
    return [Block(found[2].strip(), found[3]) for found in BLOCK.finditer(path.read_text(encoding="utf-8"))]


def prose(path: Path) -> str:
    return BLOCK.sub("", path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_every_link_leads_to_a_file_and_a_heading(path: Path) -> None:
    for target in LINK.findall(prose(path)):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = target.partition("#")
        there = (path.parent / file).resolve() if file else path
        assert there.exists(), f"{target} does not exist"
        if anchor:
            headings = re.findall(r"^#+ (.+)$", prose(there), re.MULTILINE)
            assert anchor in [re.sub(r"[^\w\- ]", "", line.lower()).replace(" ", "-") for line in headings], target


def test_every_page_is_reached_from_the_index() -> None:
    seen: set[Path] = set()
    waiting = [ROOT / "docs" / "README.md"]
    while waiting:
        page = waiting.pop()
        if page in seen:
            continue
        seen.add(page)
        targets = [target.partition("#")[0] for target in LINK.findall(prose(page)) if not re.match(r"[a-z]+:", target)]
        found = [(page.parent / target).resolve() for target in targets if target.endswith(".md")]
        waiting += [target for target in found if target.exists()]
    assert [name_of(path) for path in PAGES if "docs" in path.parts and path not in seen] == []


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_every_json_block_parses_and_a_configuration_loads(path: Path, tmp_path: Path) -> None:
    for block in blocks(path):
        if block.language not in ("json", "jsonc"):
            continue
        value = loads(block.text)
        ours = set(value) <= {"$schema", "mcpServers", "slimguard"} and block.info != "json host"
        starts_us = any(
            "slimguard" in str(server.get("command", "")) for server in (value.get("mcpServers") or {}).values()
        )
        if ours and not starts_us:
            file = tmp_path / "slimguard.json"
            file.write_text(block.text, encoding="utf-8")
            config.load(str(file), {"TRACKER_TOKEN": "x"}, str(tmp_path))


def called(text: str) -> list[tuple[str, dict[str, str]]]:
    found: list[tuple[str, dict[str, str]]] = []
    for name, inside in CALL.findall(text):
        found.append((name, {key: json.loads(value) for key, value in ARGUMENT.findall(inside)}))
    return found


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_every_call_that_is_shown_can_be_made(path: Path) -> None:
    for name, arguments in called(path.read_text(encoding="utf-8")):
        assert set(arguments) <= NAMES[name], f"{name} takes no {set(arguments) - NAMES[name]}"
        for key in ("query", "result_query"):
            if key in arguments and name != "find_tool":
                parse_query(arguments[key])


def command_lines(text: str) -> list[str]:
    """The `slimguard …` commands of console and shell blocks."""
    lines = [line.removeprefix("$ ").partition("  #")[0].strip() for line in text.splitlines()]
    return [line for line in lines if re.match(r"(\w+=\S+ )*slimguard ", line)]


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_every_command_that_is_shown_exists(path: Path) -> None:
    for block in blocks(path):
        if block.language not in ("console", "sh", "shell", "bash"):
            continue
        for line in command_lines(block.text):
            words = shlex.split(line.partition(" > ")[0].rstrip("& "), comments=True)
            words = words[words.index("slimguard") + 1 :]
            if words[0] in ("--version", "…"):
                continue
            build_parser().parse_args(words)


@pytest.mark.parametrize("path", TASKS, ids=name_of)
def test_a_task_does_what_its_page_says(
    path: Path, machine: Any, stored: Callable[[], str], free_port: Callable[[], int]
) -> None:
    text = path.read_text(encoding="utf-8")
    if "<!-- setup: shop -->" in text:
        (machine.project / "slimguard.json").write_text(
            '{"mcpServers": {"shop": {"command": "python", "args": ["-m", "slimguard.demo.shop", "outbox.jsonl"]}}}'
        )
    if "<!-- setup: a host with servers -->" in text:
        entries = {"shop": {"command": "python", "args": ["-m", "slimguard.demo.shop", "outbox.jsonl"]}}
        (machine.project / ".mcp.json").write_text(json.dumps({"mcpServers": entries}, indent=2))
    if "<!-- needs: stored result -->" in text:
        machine.replaced["REF"] = stored()
    machine.replaced["8765"] = str(free_port())
    for block in blocks(path):
        if block.info == "json slimguard.json":
            (machine.project / "slimguard.json").write_text(block.text, encoding="utf-8")
        if block.language == "console":
            _run(block.text, machine)


def _run(text: str, machine: Any) -> None:
    """Run each line after `$`; what follows it is a part of what it prints, `…` for anything."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        line, _, shown = part.partition("\n")
        line, _, comment = line.partition("   #")
        line = line.strip()
        if line.split()[0] in ("pip", "pipx", "uv"):
            continue
        code, printed = machine.run(line)
        expected = 1 if "exit code 1" in comment else 0
        assert code == expected, f"$ {line}\n{printed}"
        for wanted in filter(str.strip, shown.splitlines()):
            for old, new in machine.replaced.items():
                wanted = wanted.replace(old, new)  # noqa: PLW2901
            pattern = r"\s+".join(".*".join(re.escape(piece) for piece in word.split("…")) for word in wanted.split())
            assert re.search(pattern, printed), f"$ {line}\nshould print: {wanted}\nprinted:\n{printed}"


def test_no_file_names_a_machine_or_a_registry() -> None:
    wrong: list[str] = []
    for folder in ("slimguard", "docs", "tests", "fixtures", "benchmarks", ".ci"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".py", ".md", ".sh", ".toml", ".txt", ".json", ".tsv", "") and path.is_file():
                if path == Path(__file__).resolve() or "__pycache__" in path.parts:
                    continue
                found = FORBIDDEN.search(path.read_text(encoding="utf-8", errors="replace"))
                wrong += [f"{name_of(path)}: {found[0]}"] if found else []
    for path in ROOT.iterdir():
        if path.is_file() and path.suffix in (".md", ".toml", ".txt", "") and path.name != ".git":
            found = FORBIDDEN.search(path.read_text(encoding="utf-8", errors="replace"))
            wrong += [f"{name_of(path)}: {found[0]}"] if found else []
    assert wrong == []
