# Everything happens in .venv, which `setup` makes; nothing is installed outside this folder.

PYTHON ?= python3
BIN := .venv/bin
SHARE ?= 1
SEED ?= 0
CONFIGS := $(sort $(wildcard configs/*.yaml configs/*/*.yaml))
SAMPLES ?= $(patsubst %/,%,$(dir $(wildcard results/sample/*/runs.sqlite results/sample/*/runs.sqlite.xz)))
# Made only after a complete installation, so that an interrupted one is done again.
PACKAGE := .venv/.installed-package
INSTALLED := .venv/.installed
# Workers and their cells would compile the same kernels, or wait for each other.
KERNELS := .venv/.compiled-kernels
FOR_DOCS := .venv/.installed-docs
LOWEST := .venv-lowest

# Whole files, in the order of tests/conftest.py.
WORKERS = -n 2 --dist loadfile --no-loadscope-reorder
# Every fast test, on two of its repetitions (tests/repetitions.py).
FAST := -m "not slow and not long" --each 2

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
# One run starts hundreds of processes; none of them should compile all modules again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup quickstart kernels test test-long test-processors test-other-kernel test-pythons test-other-python test-lowest test-wheel check check-static check-configs check-style check-types check-fast format maxcut report docs measure samples

help:  ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(KERNELS)  ## make .venv and install the package with its tools (PYTHON=python3.12 picks one)

quickstart: $(PACKAGE)  ## install the package alone, run a small experiment to its table: a minute
	$(BIN)/plab run configs/quickstart.yaml

kernels: $(PACKAGE)  ## compile all kernels now; otherwise each is when it is first called
	@$(BIN)/python -m perceptron_lab.numerics.compiled

test: $(KERNELS)  ## run every test, each on a few of its repetitions
	$(BIN)/python -m pytest $(WORKERS)

test-long: $(KERNELS)  ## run the other repetitions (SHARE=0.05 SEED=123 draws a share of them)
	HYPOTHESIS_PROFILE=long $(BIN)/python -m pytest $(WORKERS) -m "long or hypothesis" \
	  --share $(SHARE) --seed $(SEED)

test-processors: $(KERNELS)  ## run all tests under other kernels (FACTORS="Haswell" TESTS="tests/cones")
	$(BIN)/python -m tests.processors.run $(if $(FACTORS),--factors "$(FACTORS)") -- \
	  $(WORKERS) $(TESTS)

test-other-kernel: $(KERNELS)  ## run the fast tests that compute under a BLAS kernel not the machine's own
	$(BIN)/python -m tests.processors.run --factors other --numerical -- \
	  $(WORKERS) $(FAST)

test-pythons: $(INSTALLED)  ## run the fast tests under every Python here: on PATH, of pyenv, of uv
	$(BIN)/python -m tests.pythons.run -- $(WORKERS) $(TESTS)

test-other-python: $(INSTALLED)  ## run the fast tests under the newest other Python here, if there is one
	$(BIN)/python -m tests.pythons.run --beside -- $(WORKERS)

# Old releases use what newer releases of their own dependencies deprecate: no error of ours.
OLD_WARNINGS := -W default::DeprecationWarning -W default::PendingDeprecationWarning -W default::FutureWarning

test-lowest: $(LOWEST)/.installed  ## run the tests with the oldest releases allowed (PYTHON=python3.11)
	PLAB_TEST_LOWEST=1 $(LOWEST)/bin/python -m pytest $(WORKERS) $(OLD_WARNINGS) $(TESTS)

test-wheel:  ## build both distributions; run the wheel in an empty environment (DIST=dist keeps them)
	$(PYTHON) -m tests.wheel.run $(DIST)

# Without a cache mypy takes half a minute of one processor, so the tests run at the same time.
check: check-style  ## static checks and the fast tests
	@$(MAKE) --no-print-directory -j 2 check-types check-fast

check-static: check-style check-types  ## ruff and mypy

check-configs: $(INSTALLED)  ## check every configuration, without running or downloading anything
	$(BIN)/plab check $(CONFIGS)

check-style: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

check-types: $(INSTALLED)
	$(BIN)/mypy

check-fast: $(KERNELS)
	$(BIN)/python -m pytest $(WORKERS) $(FAST) --each 1

format: $(INSTALLED)  ## format the code with ruff
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

maxcut: $(INSTALLED)  ## reproduce Table 6.1 of the thesis (needs SDPLIB: download or mirror)
	$(BIN)/plab run configs/maxcut.yaml

report: $(INSTALLED)  ## make tables and figures again from the runs in results/
	$(BIN)/plab report

measure: $(INSTALLED)  ## measure the package's structure (BEFORE=PATH: compared with another working tree)
	$(BIN)/python -m scripts.measure $(BEFORE)

# A sample whose rows differ in the rerun stays stale, but is thinned nevertheless.
samples: $(INSTALLED)  ## restamp and thin the samples in results/sample (SAMPLES="results/sample/maxcut")
	-$(BIN)/python -m scripts.restamp_store $(SAMPLES)
	$(BIN)/python -m scripts.thin_samples $(SAMPLES)

docs: $(FOR_DOCS)  ## build the documentation, its examples and pictures run: docs/_build/html/index.html
	$(BIN)/python -m sphinx -W --keep-going -q -d docs/_build/doctrees docs docs/_build/html
	@echo "docs/_build/html/index.html"

# Bytecode is written when a module is first imported: most modules of most packages never are.
$(PACKAGE): pyproject.toml
	@command -v $(PYTHON) >/dev/null || { \
	  echo "$(PYTHON): not found; install Python 3.11 or newer, or name one: make setup PYTHON=..." >&2; exit 2; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "$$($(PYTHON) --version) is too old; name Python 3.11 or newer: make setup PYTHON=python3.12" >&2; exit 2; }
	@echo "Installing into .venv; this takes a minute, and longer where pip has to download ..."
	@$(PYTHON) -m venv --clear .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -e .
	@touch $@

$(INSTALLED): $(PACKAGE)
	@echo "Installing the development tools into .venv ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[dev]"
	@touch $@

$(KERNELS): $(INSTALLED) $(wildcard perceptron_lab/numerics/compiled/*.py)
	@$(BIN)/python -m perceptron_lab.numerics.compiled
	@touch $@

# Into the same .venv: the tests of the pages build them too where this has been done.
$(FOR_DOCS): $(INSTALLED)
	@echo "Installing the tools of the documentation into .venv ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[docs]"
	@touch $@

$(LOWEST)/.installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' || { \
	  echo "the oldest releases need Python 3.11: make test-lowest PYTHON=python3.11" >&2; exit 2; }
	@echo "Installing the oldest releases into $(LOWEST) ..."
	@$(PYTHON) -m venv --clear $(LOWEST)
	@$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check uv
	@$(LOWEST)/bin/uv pip install --quiet --python $(LOWEST)/bin/python \
	  --resolution lowest-direct -e ".[test]"
	@$(LOWEST)/bin/python -m perceptron_lab.numerics.compiled
	@touch $@
