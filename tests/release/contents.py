"""What the built distributions must hold: every module, data file and licence of the source. Usage: SOURCE WHEEL SDIST"""

from __future__ import annotations

import sys
import tarfile
import zipfile
from pathlib import Path

NEEDED = ("slimguard/py.typed", "slimguard/data/o200k_base.lp.gz", "slimguard/data/NOTICE-o200k_base")


def main() -> int:
    """Say what is missing; exit code 1 when anything is."""
    source, wheel, sdist = (Path(argument) for argument in sys.argv[1:])
    package = {
        path.relative_to(source).as_posix()
        for path in (source / "slimguard").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    with zipfile.ZipFile(wheel) as file:
        in_wheel = set(file.namelist())
        metadata = file.read(next(name for name in in_wheel if name.endswith(".dist-info/METADATA"))).decode()
    with tarfile.open(sdist) as file:
        in_sdist = {name.partition("/")[2] for name in file.getnames()}
    licences = {name for name in in_wheel if ".dist-info/licenses/" in name}
    wrong = [f"not in the wheel: {name}" for name in sorted((package | set(NEEDED)) - in_wheel)]
    wrong += [f"not in the sdist: {name}" for name in sorted((package | set(NEEDED)) - in_sdist)]
    wrong += [f"in the wheel, but nothing of the package: {name}" for name in sorted(in_wheel) if _foreign(name)]
    wrong += [] if len(licences) >= 2 else [f"licence and notice are not both in the wheel: {sorted(licences)}"]
    wrong += [
        f"not in the metadata: {field}"
        for field in ("License-Expression: MIT", "Requires-Python: >=3.11", "Name: slimguard")
        if field not in metadata
    ]
    for line in wrong:
        print(line)
    if not wrong:
        print(f"{len(package)} files of the package, {len(licences)} licence files")
    return 1 if wrong else 0


def _foreign(name: str) -> bool:
    return not name.startswith("slimguard") or name.endswith(".pyc")


if __name__ == "__main__":
    sys.exit(main())
