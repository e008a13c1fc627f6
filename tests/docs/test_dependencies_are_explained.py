"""Every dependency is declared where it is used, pinned, and explained in one line."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from pathlib import Path

import slimguard

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = Path(slimguard.__file__).parent
PAGE = (ROOT / "docs" / "explanation" / "dependencies.md").read_text(encoding="utf-8")
MODULES = {
    "yaml": "pyyaml",
    "re2": "google-re2",
    "mcp_types": "mcp",
    "sqlite_utils": "sqlite-utils",
    "jsonschema_rs": "jsonschema-rs",
}
"""Modules that are not called as their distribution is."""


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", re.split(r"[<>=!~\[; ]", name.strip())[0]).lower()


def project() -> dict[str, object]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def declared() -> list[str]:
    return [normal(one) for one in project()["project"]["dependencies"]]


def for_development() -> list[str]:
    lines = (ROOT / "requirements-dev.txt").read_text(encoding="utf-8").splitlines()
    return [normal(line) for line in lines if line.strip() and not line.startswith("#")]


def explained(title: str) -> list[str]:
    part = PAGE.partition(f"## {title}\n")[2].partition("\n## ")[0]
    return re.findall(r"^\| ([\w-]+) \| [^|]+ \| [^|]+ \|$", part, re.MULTILINE)[1:]


def test_each_dependency_has_its_line_and_no_line_is_left_over() -> None:
    assert sorted(explained("At run time")) == sorted(declared())
    assert sorted(explained("For development")) == sorted(for_development())


def test_the_development_group_of_the_project_names_the_same() -> None:
    group = [normal(one) for one in project()["dependency-groups"]["dev"]]
    assert sorted(group) == sorted(for_development())


def test_every_dependency_is_pinned() -> None:
    pins = [normal(line) for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()]
    assert [name for name in [*declared(), *for_development()] if name not in pins] == []


def test_what_is_imported_is_declared_and_what_is_declared_is_imported() -> None:
    imported: set[str] = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
            imported |= {name.partition(".")[0] for name in names}
    foreign = imported - sys.stdlib_module_names - {"slimguard", ""}
    optional = {"mcp_server_time", "mcp_server_git"}
    assert {normal(MODULES.get(name, name)) for name in foreign - optional} == set(declared())
