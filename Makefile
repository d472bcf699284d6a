PYTHON ?= python3
BIN := .venv/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: demo test test-long test-nojit test-bounds lint format bench docs clean clean-cache

demo: .venv/.demo        ## train on ICD-10-CM and show the results
	$(BIN)/margrove demo

test: .venv/.dev lint    ## the whole suite and the linters, on two cores
	$(BIN)/python -m pytest -n 2 --dist worksteal -q -m "not slow"

test-long: .venv/.dev    ## the long forms of the checks, minutes each
	$(BIN)/python -m pytest -q -m slow

ENGINE := tests/kernels tests/solvers tests/objective -m "not slow" --ignore=tests/kernels/test_modes.py

test-nojit: .venv/.dev   ## the engine as plain Python, with the coverage of its kernels
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -q $(ENGINE) --ignore=tests/solvers/test_conic.py \
		--cov=margrove.kernels --cov-report=term-missing

test-bounds: .venv/.dev  ## the engine with every index checked, compiled anew: a cache does not know checked code
	rm -rf .venv/.bounds
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=.venv/.bounds $(BIN)/python -m pytest -q -W "ignore:Cannot cache" $(ENGINE)

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
