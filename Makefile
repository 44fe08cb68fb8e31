# Two commands do all the set-up: `make demo` and `make test`. Needs Python 3.11+, make and a package registry.
PYTHON ?= python3
UV := $(shell command -v uv 2>/dev/null)
BIN := .venv/bin
PRODUCT := .venv/.product
DEV := .venv/.dev
DEMO_DIR ?= lamplighter-demo

.PHONY: help demo test check proof incident simulate bench lock format wheel clean
help:
	@echo "make demo    the main job, offline, in $(DEMO_DIR)/"
	@echo "make test    every test, in random order (COVERAGE=1 also measures coverage and holds it to its budget)"
	@echo "make check   ruff, mypy, import contracts, budgets"
	@echo "make proof   the whole crash matrices"
	@echo "make incident  the story of the lock, played with real processes"
	@echo "make simulate  sixty days of a workspace under misfortune, on a virtual clock (SEED=N for another, SEED=0 draws one)"
	@echo "make bench   what we measure"
	@echo "make wheel   a wheel in dist/"
	@echo "make lock    resolve requirements again (needs uv)"

.venv/bin/python:
ifdef UV
	uv venv --quiet --python "$$($(PYTHON) -c 'import sys; print(sys.executable)')" .venv
else
	$(PYTHON) -m venv .venv
endif

ifdef UV
INSTALL := uv pip install --quiet --python $(BIN)/python
else
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
endif

$(PRODUCT): requirements/product.txt requirements/build.txt pyproject.toml | .venv/bin/python
	$(INSTALL) --require-hashes -r requirements/product.txt -r requirements/build.txt
	$(INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

$(DEV): requirements/dev.txt $(PRODUCT)
	$(INSTALL) --require-hashes -r requirements/dev.txt
	@touch $@

demo: $(PRODUCT)
	@$(BIN)/lamplighter demo $(DEMO_DIR)

test: $(DEV)
ifdef COVERAGE
	@rm -f .coverage .coverage.*
	PYTHONPATH=$(CURDIR)/tests/guarded COVERAGE_PROCESS_START=$(CURDIR)/pyproject.toml COVERAGE_FILE=$(CURDIR)/.coverage \
		$(BIN)/pytest -n 2 $(TESTS)
	@$(BIN)/coverage combine --quiet && $(BIN)/python tools/coverage_budget.py
else
	$(BIN)/pytest -n 2 $(TESTS)
endif

proof: $(DEV)
	LAMPLIGHTER_PROOF=all $(BIN)/pytest -n 2 -m crash tests

check: $(DEV)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/mypy --platform darwin src
	$(BIN)/lint-imports
	$(BIN)/python tools/budgets.py
	$(BIN)/python tools/reference.py --check
	$(BIN)/python -m tools.make_sample --check

incident: $(PRODUCT)
	@$(BIN)/python -m tools.incident

simulate: $(DEV)
	@$(BIN)/python -m tools.simulate $(if $(SEED),--seed $(SEED))

bench: $(DEV)
	@missed=0; for bench in bench/*.py; do env -u PYTHONDONTWRITEBYTECODE $(BIN)/python $$bench || missed=1; done; exit $$missed

format: $(DEV)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/python tools/reference.py

wheel: $(DEV)
	rm -rf dist
	$(BIN)/python -m hatchling build

COMPILE = uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	--no-emit-find-links --no-header --no-annotate --quiet
lock:
	$(COMPILE) --output-file requirements/product.txt
	$(COMPILE) --group dev --output-file requirements/dev.txt
	uv pip compile --group build --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
		--no-emit-find-links --no-header --no-annotate --quiet --output-file requirements/build.txt

clean:
	rm -rf .venv dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage .coverage.*
