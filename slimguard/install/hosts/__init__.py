"""The hosts that slimguard can be put into, by name; one module each."""

from slimguard.install.hosts import (
    claude_code,
    claude_desktop,
    cline,
    codex,
    continue_dev,
    cursor,
    gemini_cli,
    goose,
    opencode,
    vscode,
    windsurf,
    zed,
)
from slimguard.install.model import Host

HOSTS: dict[str, Host] = {
    module.HOST.name: module.HOST
    for module in (
        claude_code,
        claude_desktop,
        codex,
        cursor,
        vscode,
        gemini_cli,
        windsurf,
        opencode,
        cline,
        zed,
        goose,
        continue_dev,
    )
}
