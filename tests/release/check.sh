#!/bin/sh
# Builds the source distribution, the wheel from it, installs the wheel where no source is near (pip, pipx, uv), runs it,
# and runs tests against what was installed. Everything happens in a scratch folder. Usage: sh tests/release/check.sh
# SLIMGUARD_RELEASE_TESTS: which tests to run against the wheel (default: those of units and of the three tools).
set -eu

here=$(cd "$(dirname "$0")/../.." && pwd)
python=${PYTHON:-python3}
scratch=$(mktemp -d "${TMPDIR:-/tmp}/slimguard-release.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
export PIP_DISABLE_PIP_VERSION_CHECK=1 PYTHONDONTWRITEBYTECODE=1
export HOME="$scratch/home" XDG_CONFIG_HOME="$scratch/home/.config" XDG_DATA_HOME="$scratch/home/.local/share"
unset PYTHONPATH SLIMGUARD_CONFIG || true
mkdir -p "$HOME" "$scratch/away"

step() { printf '\n== %s\n' "$1"; }

# The files that are committed or about to be: not what the working tree has lying around.
step "source"
mkdir "$scratch/source"
(cd "$here" && git ls-files -z --cached --others --exclude-standard | tar --null --files-from - --create --file - 2>"$scratch/tar.log") |
  tar --extract --file - --directory "$scratch/source" || { cat "$scratch/tar.log"; exit 1; }

step "build tools"
"$python" -m venv "$scratch/tools"
"$scratch/tools/bin/python" -m pip install --quiet --constraint "$here/constraints.txt" build pipx uv

step "sdist, and the wheel from it"
"$scratch/tools/bin/python" -m build --outdir "$scratch/dist" "$scratch/source" >"$scratch/build.log" 2>&1 ||
  { tail -40 "$scratch/build.log"; exit 1; }
wheel=$(ls "$scratch"/dist/*.whl)
ls -l "$scratch/dist"
"$python" "$here/tests/release/contents.py" "$scratch/source" "$wheel" "$scratch"/dist/*.tar.gz

step "pip: a clean environment"
"$python" -m venv "$scratch/clean"
"$scratch/clean/bin/python" -m pip install --quiet --constraint "$here/constraints.txt" "$wheel"
"$scratch/clean/bin/python" -m pip check
cd "$scratch/away"
"$scratch/clean/bin/slimguard" --version
"$scratch/clean/bin/python" "$here/tests/release/demo.py" "$scratch/clean/bin/slimguard"

step "pipx"
PIPX_HOME="$scratch/pipx" PIPX_BIN_DIR="$scratch/pipx-bin" "$scratch/tools/bin/pipx" install --quiet \
  --pip-args="--constraint '$here/constraints.txt'" "$wheel"
"$scratch/pipx-bin/slimguard" --version

step "uv"
UV_TOOL_DIR="$scratch/uv" UV_TOOL_BIN_DIR="$scratch/uv-bin" UV_CACHE_DIR="$scratch/uv-cache" "$scratch/tools/bin/uv" tool \
  install --quiet --no-python-downloads --constraints "$here/constraints.txt" "$wheel"
"$scratch/uv-bin/slimguard" --version

step "tests against the installed wheel"
"$scratch/clean/bin/python" -m pip install --quiet --constraint "$here/constraints.txt" \
  --requirement "$here/requirements-dev.txt"
rm -rf "$scratch/source/slimguard"
cd "$scratch/source"
# Word splitting is meant: the variable lists several paths.
# shellcheck disable=SC2086
"$scratch/clean/bin/python" -m pytest ${SLIMGUARD_RELEASE_TESTS:-tests/unit tests/contracts tests/protocol/test_the_three_tools.py}
printf '\nrelease check passed: %s\n' "$(basename "$wheel")"
