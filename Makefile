PYTHON ?= python3
BIN := .venv/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: demo test test-long lint format bench docs clean clean-cache

demo: .venv/.demo        ## train on ICD-10-CM and show the results
	$(BIN)/margrove demo

test: .venv/.dev lint    ## the whole suite and the linters, on two cores
	$(BIN)/python -m pytest -n 2 --dist worksteal -q -m "not slow"

test-long: .venv/.dev    ## the long forms of the checks, minutes each
	$(BIN)/python -m pytest -q -m slow

lint: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

format: .venv/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: .venv/.dev        ## speed against peers, as ratios in one run
	$(BIN)/python -m benchmarks

docs: .venv/.dev         ## check that the documents' code runs and their links resolve
	$(BIN)/python -m pytest -q tests/test_docs.py

clean-cache:             ## drop compiled kernels (they can go stale in a checkout after an edit)
	find src -name '*.nbi' -delete -o -name '*.nbc' -delete

clean: clean-cache
	rm -rf .venv build dist .pytest_cache .mypy_cache .ruff_cache

.venv/.made:
	$(PYTHON) -c 'import sys; sys.exit(None if (3, 11) <= sys.version_info < (3, 14) else "margrove needs Python 3.11, 3.12 or 3.13; set PYTHON=python3.11, say")'
	$(PYTHON) -m venv .venv
	touch $@

.venv/.demo: .venv/.made pyproject.toml constraints.txt
	$(INSTALL) --editable '.[icd]'
	touch $@

.venv/.dev: .venv/.made pyproject.toml constraints.txt
	$(INSTALL) --editable '.[dev]'
	touch $@
