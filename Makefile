# Everything a stranger types. `make demo` needs python3 (3.11 or newer) and pip's usual settings, nothing else.
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.ONESHELL:

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
WORKERS ?= 2
PYTEST_ARGS ?=

# An installation is current as long as these two files say the same; the key is their content, not their date.
KEY := $(shell cat pyproject.toml constraints.txt | cksum | cut -d' ' -f1)
RUNTIME := $(VENV)/.ready-$(KEY)
DEV := $(VENV)/.ready-dev-$(KEY)

# Tests run side by side, so each process keeps to one thread.
TEST_ENV := OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

.PHONY: help
help:  ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /make \1\t/' | expand -t 18

.PHONY: install
install: $(RUNTIME)  ## a virtual environment with what running needs

.PHONY: install-dev
install-dev: $(DEV)  ## the same, with the tools the tests and checks need

.PHONY: demo
demo: $(RUNTIME)  ## fetch the corpus, train the demo study, print its table
	@scale=demo status=0
	$(BIN)/ablatable corpus get lohelp-en-de > /dev/null || status=$$?
	if [ $$status = 2 ]; then
	    echo "No apt, or no network: taking toy-en-de, a small grammar of our own, instead of real text."
	    scale=demo-toy
	elif [ $$status != 0 ]; then
	    exit $$status
	fi
	$(BIN)/ablatable run demo --scale $$scale

.PHONY: test
test: $(DEV)  ## the fast tests (under ten minutes)
	@$(TEST_ENV) $(BIN)/pytest -n $(WORKERS) --dist worksteal -m "not slow" $(PYTEST_ARGS)

.PHONY: test-slow
test-slow: $(DEV)  ## the tests that take longer than about ten seconds each
	@$(TEST_ENV) $(BIN)/pytest -n $(WORKERS) --dist worksteal -m slow $(PYTEST_ARGS)

.PHONY: every-value
every-value: $(DEV)  ## train every value of the design space for 50 updates each (test-slow does it too)
	@$(TEST_ENV) $(BIN)/python tests/integration/every_value.py

.PHONY: lint
lint: $(DEV)  ## style, format, types, import contracts
	@$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/lint-imports --no-cache

.PHONY: fix
fix: $(DEV)  ## repair what ruff can repair
	@$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

.PHONY: docs
docs: $(RUNTIME)  ## write docs/design-space.md anew, from the axes, and the list in docs/tables.md, from ablations/
	@$(BIN)/ablatable axes --format markdown > docs/design-space.md.new
	mv docs/design-space.md.new docs/design-space.md
	@sed -n '1,/^<!-- Generated/p' docs/tables.md > docs/tables.md.new
	@$(BIN)/ablatable plan --format markdown >> docs/tables.md.new
	mv docs/tables.md.new docs/tables.md

.PHONY: clean
clean:  ## remove the environment and caches; runs/, results/ and fetched corpora stay
	rm -rf $(VENV) build dist .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

$(RUNTIME):
	@bash .ci/install "$(PYTHON)" "$(VENV)" .
	touch $@

$(DEV):
	@bash .ci/install "$(PYTHON)" "$(VENV)" '.[dev]'
	# W&B's schema of sweep files, for its data alone: as a package it asks for another numpy than ours.
	$(BIN)/python -m pip install --disable-pip-version-check --quiet --no-deps -c constraints.txt sweeps
	touch $(RUNTIME) $@
