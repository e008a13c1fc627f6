"""Which host profile a client is, by the name that it gives at initialise; unknown clients get the default."""

from __future__ import annotations

_NAMES: tuple[tuple[str, str], ...] = (
    ("claude-code", "claude-code"),
    ("claude code", "claude-code"),
    ("claude-ai", "claude-desktop"),
    ("claude", "claude-desktop"),
    ("codex", "codex"),
    ("copilot-cli", "copilot-cli"),
    ("github-copilot", "copilot-cli"),
    ("cursor", "cursor"),
    ("visual studio code", "vscode"),
    ("vscode", "vscode"),
    ("gemini", "gemini-cli"),
    ("windsurf", "windsurf"),
    ("codeium", "windsurf"),
    ("opencode", "opencode"),
    ("cline", "cline"),
    ("zed", "zed"),
    ("goose", "goose"),
)
"""Fragments of client names, the more special first."""


def profile_of(client: str) -> str:
    """The name of the profile in `policy.HOSTS` for a client's name."""
    name = client.casefold()
    return next((profile for fragment, profile in _NAMES if fragment in name), "default")
