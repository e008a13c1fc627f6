"""What the benchmarks rest on: the start imports nothing that the handshake and the list of tools do not need."""

from __future__ import annotations

import subprocess
import sys

HEAVY = (
    "tiktoken",
    "sqlite3",
    "sqlite_utils",
    "jsonschema",
    "jsonschema_rs",
    "re2",
    "rapidfuzz",
    "snowballstemmer",
    "jmespath",
    "yaml",
    "uvicorn",
    "slimguard.app",
    "slimguard.guard",
    "slimguard.views",
    "slimguard.readers",
    "slimguard.ranking",
    "slimguard.store",
    "slimguard.upstream",
)


def test_serving_over_stdio_starts_without_the_guard_proper_and_its_libraries() -> None:
    code = (
        "import sys, slimguard.cli, slimguard.cli.serve, slimguard.config, slimguard.serving\n"
        f"print(*(name for name in {HEAVY!r} if name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) <= _of_the_sdk()


def _of_the_sdk() -> set[str]:
    """Modules that the SDK itself brings along, which nobody can leave out."""
    code = f"import sys, mcp.server.lowlevel\nprint(*(name for name in {HEAVY!r} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())
