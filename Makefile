# Commands for people and for CI. Each sets up what it needs in .venv; `make` alone lists them.

SHELL := /bin/sh
VENV := .venv
BIN := $(VENV)/bin
RUNTIME := $(VENV)/.runtime
READY := $(VENV)/.ready
PYTHONS := $(or $(PYTHON),python3 python3.14 python3.13 python3.12 python3.11)
ARGS ?=

NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check

# An environment that lost its Python, or was moved with the folder, is made again.
USABLE := $(shell $(BIN)/python -c '' 2>/dev/null \
  && [ "$$(cat $(RUNTIME) 2>/dev/null)" = "$$(pwd -P)" ] && echo yes)
ifneq ($(USABLE),yes)
.PHONY: $(RUNTIME)
endif

.DEFAULT_GOAL := help
.PHONY: help demo test check bench fuzz shots schemas clean

help: ## List these commands
	@echo 'Usage: make COMMAND [ARGS="..."] [PYTHON=python3.13]'
	@sed -n 's/^\([a-z]*\): .*## \(.*\)/\1|\2/p' $(firstword $(MAKEFILE_LIST)) \
	  | while IFS='|' read -r name text; do printf '  %-8s%s\n' "$$name" "$$text"; done

demo: $(RUNTIME) ## Open the terminal UI on a workspace with scripted workers
	@echo 'demo: opening the terminal UI on a scripted workspace'
	@$(BIN)/loopx-tui demo $(ARGS)

test: $(READY) ## Run every test, two at a time (ARGS go to pytest)
	@echo 'test: running the tests'
	@$(BIN)/python -m pytest -n 2 $(ARGS)

check: $(READY) ## Check style, format, types and who imports whom
	@echo 'check: style, format, types, imports'
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy --strict
	@$(BIN)/lint-imports

bench: $(READY) ## Measure speed and size against the budgets
	@echo 'bench: measuring; keep the machine quiet'
	@$(BIN)/python bench/run.py $(ARGS)

fuzz: $(READY) ## Feed the parsers of keys and signatures (ARGS: owners -max_total_time=60)
	@echo 'fuzz: looking for bytes that break the parsers of keys and signatures'
	@$(INSTALL) --group fuzz
	@$(BIN)/python -m tests.fuzz_trust $(or $(ARGS),signature -max_total_time=60)

shots: $(READY) ## Make the pictures and the recording in screenshots/ from the demo
	@echo 'shots: making the pictures in screenshots/'
	@$(BIN)/python -m loopx_tui.demo.shots screenshots
	@$(BIN)/python -m tests.terminal.recording screenshots

schemas: $(READY) ## Make the JSON Schemas in kernel/schemas from the models
	@echo 'schemas: writing kernel/schemas'
	@$(BIN)/python -m loopx_kernel.cli.schema_files kernel/schemas

clean: ## Remove .venv, caches and build results
	@echo 'clean: removing .venv, caches and build results'
	@rm -rf $(VENV) dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(RUNTIME): pyproject.toml
	@echo 'setting up $(VENV) (once; needs a package index)'
	@[ '$(USABLE)' = yes ] || { \
	  for candidate in $(PYTHONS); do \
	    "$$candidate" -c '$(NEW_ENOUGH)' 2>/dev/null && python=$$candidate && break; \
	  done; \
	  [ -n "$$python" ] || { \
	    echo 'LoopX needs Python 3.11 or newer; none of these is: $(PYTHONS).' \
	      'Install one, or name it: make PYTHON=/path/to/python3' >&2; exit 1; }; \
	  "$$python" -c 'import ensurepip, venv' 2>/dev/null || { \
	    echo "$$python cannot make virtual environments." \
	      'On Debian and Ubuntu: apt install python3-venv' >&2; exit 1; }; \
	  "$$python" -m venv --clear $(VENV); }
	@$(INSTALL) --editable '.[demo]'
	@pwd -P > $@

# `--group` needs a newer pip than the one a new environment is given.
$(READY): $(RUNTIME)
	@echo 'installing the development tools'
	@$(INSTALL) 'pip>=25.1'
	@$(INSTALL) --group dev
	@touch $@
