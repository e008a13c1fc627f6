"""The variable syntaxes of hosts in our own (`${VAR}`); text to text, with notes that never quote a value."""

from __future__ import annotations

import re
from collections.abc import Callable

from slimguard.install.model import Machine

Translate = Callable[[str, str, list[str]], str]
"""Text, a name for a variable that would hold it (from its key), and the notes to add to."""

_BRACES = re.compile(r"\$\{([^}]*)\}")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_GEMINI = re.compile(r"\$\{([A-Za-z_]\w*)(:-[^}]*)?\}|\$([A-Za-z_]\w*)", re.ASCII)
_OPENCODE = re.compile(r"\{(env|file):([^}]+)\}")
_CONTINUE = re.compile(r"\$\{\{\s*(secrets|inputs)\.([^}\s]+)\s*\}\}")


def as_ours(text: str, _hint: str, _notes: list[str]) -> str:
    """The host writes `${VAR}` and `${VAR:-default}` as we do."""
    return text


def as_literal(text: str, _hint: str, _notes: list[str]) -> str:
    """The host replaces nothing, so neither must we."""
    return text.replace("${", "$${")


def as_editor(machine: Machine) -> Translate:
    """`${env:X}`, `${input:x}`, `${userHome}`, `${workspaceFolder}`, `${file:path}` of VS Code, Cursor and Windsurf."""

    def replaced(inner: str, hint: str, notes: list[str]) -> str:
        kind, _, rest = inner.partition(":")
        if kind == "env" and _NAME.fullmatch(rest):
            return f"${{{rest}}}"
        if kind in ("env", "input", "file", "config", "command") and rest:
            name = variable_name(rest if kind in ("env", "input") else hint)
            notes.append(f"set {name} in the environment, in place of the host's ${{{kind}:…}}")
            return f"${{{name}}}"
        known = {
            "userHome": str(machine.home),
            "workspaceFolder": str(machine.cwd),
            "workspaceFolderBasename": machine.cwd.name,
            "pathSeparator": "\\" if machine.platform == "win32" else "/",
            "/": "\\" if machine.platform == "win32" else "/",
        }
        if inner.startswith("workspaceFolder"):
            notes.append("the workspace folder is written out as this directory")
        return known.get(inner, f"$${{{inner}}}")

    def translate(text: str, hint: str, notes: list[str]) -> str:
        return _BRACES.sub(lambda match: replaced(match[1], hint, notes), text)

    return translate


def as_gemini(text: str, _hint: str, _notes: list[str]) -> str:
    """`$VAR`, `${VAR}` and `${VAR:-default}`."""
    return _GEMINI.sub(lambda match: f"${{{match[1] or match[3]}{match[2] or ''}}}", text)


def as_opencode(text: str, hint: str, notes: list[str]) -> str:
    """`{env:VAR}` and `{file:path}`."""

    def replaced(match: re.Match[str]) -> str:
        if match[1] == "env" and _NAME.fullmatch(match[2]):
            return f"${{{match[2]}}}"
        name = variable_name(hint)
        notes.append(f"set {name} in the environment, in place of the host's {{{match[1]}:…}}")
        return f"${{{name}}}"

    return _OPENCODE.sub(replaced, text.replace("${", "$${"))


def as_continue(text: str, _hint: str, notes: list[str]) -> str:
    """`${{ secrets.NAME }}` and `${{ inputs.NAME }}`."""
    parts: list[str] = []
    at = 0
    for match in _CONTINUE.finditer(text):
        name = variable_name(match[2])
        notes.append(f"set {name} in the environment, in place of the host's ${{{{ {match[1]}.… }}}}")
        parts += [text[at : match.start()].replace("${", "$${"), f"${{{name}}}"]
        at = match.end()
    return "".join([*parts, text[at:].replace("${", "$${")])


def variable_name(text: str) -> str:
    """The name of an environment variable made from a host's id or key."""
    name = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_").upper()
    return name if name[:1].isalpha() else f"V_{name}"
