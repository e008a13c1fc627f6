"""Tokens to answer: the given payloads and questions, by the given harness, through the guard and directly."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.model import Options, Part, Plot, Table, Verdict

HOW = """How many tokens pass until everything that an answer needs is visible: real payloads (code host, issue
tracker, logs, tables, manuals, pages, metrics) and questions about them, each with a scripted line of tries. The
harness (`tta.py`) and its payloads are not part of this repository; `--shared` names the folder that holds
`payloads/`. The set meant for tuning is run. The harness counts with its own o200k_base (bpe-openai). Others on the
same questions, measured once, median / mean / answered: 1,566 / 1,807 / 99 % (a reference guard of 50 lines),
2,674 / 18,255 / 83 % (ctxtual), 28,812 / 78,576 / 79 % (slim-guard's modes branch)."""
PACKAGES = ("bpe-openai==0.1.4", "jmespath==1.1.0")
QUICK = "gh_prs,app_log,sql_rows"


def run(options: Options) -> Part:
    """Both, or why not."""
    part = Part("answers", "Tokens to answer", HOW)
    folder = options.shared / "payloads" if options.shared else None
    if folder is None or not (folder / "tta.py").is_file():
        part.skipped = "the folder with the payloads was not given; name it with --shared"
        return part
    python = _interpreter(options.scratch)
    if python is None:
        part.skipped = (
            f"{' and '.join(PACKAGES)} could not be installed; SLIMGUARD_TTA_PYTHON may name a Python with them"
        )
        return part
    columns = ("path", "questions", "answered", "median", "mean", "first view, median", "executed more than once")
    table = Table("Tokens", columns, [])
    answered: dict[str, float] = {}
    for guard in ("direct", "slimguard"):
        found = _harness(python, folder, guard, options)
        rows = [row for row in found["rows"] if row["tokens"] is not None]
        spent = [row["tokens"] for row in rows]
        seen = sum(bool(row["visible"]) for row in rows)
        answered[guard] = 100 * seen / max(1, len(found["rows"]))
        first = statistics.median(row["first_tokens"] for row in rows)
        cells = [len(found["rows"]), f"{answered[guard]:.0f} %", round(statistics.median(spent))]
        more = len(found["executions_other_than_one"])
        table.rows.append([guard, *cells, round(statistics.mean(spent)), round(first), more])
    part.tables.append(table)
    part.verdicts.append(Verdict("tokens to answer: executions other than one", table.rows[1][-1], 0, exactly=True))
    bars = [(f"{row[0]}, median", float(row[3])) for row in table.rows]
    part.plots.append(Plot("answers", "Tokens to answer", bars, "tokens", log=True))
    return part


def _interpreter(scratch: Path) -> str | None:
    """A Python that has what the harness needs: the one that is named, or a scratch environment."""
    named = os.environ.get("SLIMGUARD_TTA_PYTHON")
    if named:
        return named
    home = scratch / "harness"
    python = str(home / "bin" / "python")
    for command in ([sys.executable, "-m", "venv", str(home)], [python, "-m", "pip", "install", "-q", *PACKAGES]):
        if subprocess.run(command, capture_output=True, check=False, timeout=300).returncode != 0:
            return None
    return python


def _harness(python: str, folder: Path, guard: str, options: Options) -> dict[str, Any]:
    output = options.scratch / f"answers-{guard}.json"
    command = [python, str(folder / "tta.py"), guard, "--set", "dev", "--json", str(output)]
    if options.quick:
        command += ["--only", QUICK]
    home = options.scratch / "home"
    home.mkdir(exist_ok=True)
    env = {
        **os.environ,
        "GUARD_CMD": f"{sys.executable} -m slimguard serve --config {{config}}",
        "HOME": str(home),
        "XDG_DATA_HOME": str(home / "data"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    subprocess.run(command, env=env, check=True, capture_output=True, timeout=1_800)
    found: dict[str, Any] = json.loads(output.read_text(encoding="utf-8"))
    return found
