"""`slimguard serve`: what a host starts; stdio by default, `--http` on loopback."""

from __future__ import annotations

import argparse
import os
import secrets
import sys
from collections.abc import Callable
from typing import Any, NoReturn, cast

from slimguard.cli.helping import command
from slimguard.cli.output import add_config, complain

DESCRIPTION = """\
Serve a host over stdin and stdout, which is what a host's configuration starts, or over HTTP with --http.

The configuration is the first of: --config FILE, $SLIMGUARD_CONFIG, ./slimguard.json, slimguard.json in the
user's configuration folder. With `-- COMMAND ARGS…` one server is guarded without any file.

Over HTTP every request needs `Authorization: Bearer TOKEN`; the token is $SLIMGUARD_TOKEN, or a new one that
is printed at the start."""
EXAMPLES = (
    ("slimguard serve --config slimguard.json", "over stdin and stdout"),
    ("slimguard serve -- uvx mcp-server-git", "one server, no file"),
    ("SLIMGUARD_TOKEN=… slimguard serve --http 8765", "over HTTP, at http://127.0.0.1:8765/mcp"),
)
THEN = "A host needs one entry that starts this: slimguard install --host HOST writes it."


def add(commands: Any) -> None:
    """Register the command."""
    summary = "serve a host; this is what a host's configuration starts"
    parser = command(commands, "serve", summary, DESCRIPTION, examples=EXAMPLES, then=THEN)
    add_config(parser)
    parser.add_argument("--mode", choices=("compact", "extreme", "native"), help="override the configuration's mode")
    parser.add_argument("--http", metavar="[HOST:]PORT", help="serve Streamable HTTP at /mcp (default host 127.0.0.1)")
    parser.add_argument("--name", default="server", help="name of the server given after -- (default: server)")
    parser.add_argument("guarded", nargs="*", metavar="-- COMMAND ARGS", help="guard this one server")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Serve until the host hangs up or a signal comes."""
    import anyio

    from slimguard.serving import serve_http, serve_stdio

    settings = settings_of(options)
    address: str | None = options.http
    if address is None:
        anyio.run(lambda: serve_stdio(settings, reload=reload_of(options, settings)))
        _leave_now()
    host, port = http_address(address)
    token = os.environ.get("SLIMGUARD_TOKEN") or secrets.token_urlsafe(24)
    complain(f"slimguard: serving http://{host}:{port}/mcp")
    if not os.environ.get("SLIMGUARD_TOKEN"):
        complain(f"slimguard: send Authorization: Bearer {token} (set SLIMGUARD_TOKEN to choose it)")
    anyio.run(lambda: serve_http(settings, host=host, port=port, token=token, reload=reload_of(options, settings)))
    return 0


def settings_of(options: argparse.Namespace) -> Any:
    """Settings from the file or from the guarded command, with what the command line overrides."""
    from dataclasses import replace
    from pathlib import Path

    from slimguard import config

    if options.guarded:
        settings = config.for_command(options.name, cast("list[str]", options.guarded), os.environ)
    else:
        settings = config.load(options.config, os.environ, str(Path.cwd()))
    return replace(settings, mode=options.mode) if options.mode else settings


def reload_of(options: argparse.Namespace, settings: Any) -> Callable[[], Any] | None:
    """What reads a changed configuration file again; None without a file."""
    return (lambda: settings_of(options)) if settings.source else None


def http_address(text: str) -> tuple[str, int]:
    """Host and port of `[HOST:]PORT`."""
    from slimguard.errors import ConfigurationError

    host, _, port = text.rpartition(":")
    if not port.isdigit() or not 0 < int(port) < 65_536:
        raise ConfigurationError(f"--http takes [HOST:]PORT, not {text!r}", next_call="slimguard serve --http 8765")
    return host or "127.0.0.1", int(port)


def _leave_now() -> NoReturn:
    """End the process although a thread may still be blocked in a read of stdin that never returns."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
