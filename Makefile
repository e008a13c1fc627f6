# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: install demo test check lint types imports docs faults soak bench conformance release-check clean

install: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable . --requirement requirements-dev.txt
	touch $(STAMP)

demo: install
	$(BIN)/slimguard demo

test: install
	$(BIN)/python -m pytest

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: install
	$(BIN)/pyright

imports: install
	$(BIN)/lint-imports --no-cache

check: lint types imports test

clean:
	rm -rf $(VENV) build dist *.egg-info
