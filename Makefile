# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
NODE_STAMP := .node/.installed
CONFORMANCE := .node/node_modules/@modelcontextprotocol/conformance/dist/index.js

.PHONY: install node demo test check lint types imports docs faults soak bench conformance release-check clean

install: $(STAMP)

node: $(NODE_STAMP)

$(STAMP): pyproject.toml constraints.txt requirements-dev.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable . --requirement requirements-dev.txt
	touch $(STAMP)

$(NODE_STAMP): fixtures/servers/install_node.sh
	sh fixtures/servers/install_node.sh

demo: install
	$(BIN)/slimguard demo

test: install node
	$(BIN)/python -m pytest

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: install
	$(BIN)/pyright

imports: install
	$(BIN)/lint-imports --no-cache

check: lint types imports test

faults: install
	FAULT_RESULTS=tests/faults/fault_results.json $(BIN)/python -m pytest tests/faults -m faults
	$(BIN)/python tests/faults/fault_page.py

soak: install
	$(BIN)/python benchmarks/soak.py

bench: install node
	$(BIN)/python -m benchmarks

conformance: install node
	$(BIN)/python tests/conformance/run.py .node/node_modules/.bin/node $(CONFORMANCE)

release-check: install
	sh tests/release/check.sh

clean:
	rm -rf $(VENV) .node build dist *.egg-info
