# Everything runs in .venv, which the first target that needs it makes. Nothing is done twice.
PYTHON ?= python3
BIN := .venv/bin
# Progress must come as it happens, also through a pipe.
export PYTHONUNBUFFERED := 1

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help env report publish bundle test test-cluster calibrate lint bench bench-analysis bench-page bench-runs bench-blocks docs clean

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*##/  make \1 \t/p' $(MAKEFILE_LIST) | expand -t 21

env: .venv/run  ## set up .venv, from the locked versions, each checked against its hash

report: .venv/run  ## measure this machine (minutes; TIER=smoke, standard or paper) and write results/report/index.html
ifdef FROM
	@PYTHONPATH=workflow $(BIN)/python -m crossover report --from "$(FROM)" --page "$(FROM:.zip=.html)"
else
	@$(BIN)/snakemake --profile profiles/local $(if $(TIER),--config tier=$(TIER))
	@echo "The report: results/report/index.html"
endif

publish: .venv/run  ## push the report to the branch gh-pages, after asking (YES=1: do not), or write TO=site/ or TO=site.zip
	@PYTHONPATH=workflow $(BIN)/python -m crossover publish $(if $(TO),--to "$(TO)") $(if $(YES),--yes) $(ARGS)

bundle: .venv/run  ## archive the run for others: results/bundle.zip, which make report FROM=bundle.zip renders again
	@PYTHONPATH=workflow $(BIN)/python -m crossover bundle $(ARGS)

test: .venv/develop  ## run the tests
	@$(BIN)/python -m pytest -m "not cluster and not calibration" -n 2 --dist loadfile --no-loadscope-reorder

test-cluster: .venv/develop  ## run the tests on a real Slurm that they bring up here (needs root and Slurm's packages)
	@$(BIN)/python -m pytest tests/cluster -m "not alone" -n 2 --dist loadfile
	@$(BIN)/python -m pytest tests/cluster -m alone

calibrate: .venv/develop  ## simulate thousands of campaigns: is the analysis as sure as it says (twenty minutes)
	@$(BIN)/python -m pytest -s -m calibration tests/calibration

lint: .venv/develop  ## check style, types, the workflow and the generated pages
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy
	@$(BIN)/snakefmt --check Snakefile workflow/rules
	@$(BIN)/snakemake --lint

bench: .venv/run  ## our numbers beside those of plain loops and of others' programs, measured in turn
	@PYTHONPATH=workflow $(BIN)/python tests/benchmarks/side_by_side.py

bench-analysis: .venv/run  ## how long the analysis takes and how it grows, up to a million rows
	@PYTHONPATH=workflow $(BIN)/python tests/benchmarks/analysis.py

bench-page: .venv/run  ## how large the page of each tier is, and how long it takes to derive it
	@PYTHONPATH=workflow $(BIN)/python tests/benchmarks/page.py

bench-runs: .venv/run  ## how far our ratios and those of pyzmq's script vary from run to run (half an hour)
	@PYTHONPATH=workflow $(BIN)/python tests/benchmarks/run_to_run.py

bench-blocks: .venv/run  ## hold blocks against blocks of half a second (EXPERIMENT=zmq_throughput)
	@PYTHONPATH=workflow $(BIN)/python tests/benchmarks/block_length.py $(or $(EXPERIMENT),zmq_throughput) $(ARGS)

docs: .venv/run  ## write the generated files: config/README.md, reports/references.bib
	@PYTHONPATH=workflow $(BIN)/python -m crossover document

clean:  ## remove .venv and caches; results/ and what Snakemake knows of it stay
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A stamp is made last, so that a set-up that was cut off is done again.
.venv/bin/uv: requirements-uv.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and \
	  "crossover needs Python 3.11 or newer, this is %d.%d; choose another: make PYTHON=python3.12" % sys.version_info[:2])'
	@echo "Setting up .venv ..."
	@$(PYTHON) -m venv --clear .venv || \
	  { echo "Python's venv is missing; on Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }
	@$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements-uv.lock
	@touch $@

.venv/run: requirements.lock | .venv/bin/uv
	@$(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python --require-hashes -r requirements.lock
	@touch $@

# requirements-dev.lock holds all of requirements.lock and what the tests need.
.venv/develop: requirements-dev.lock .venv/run | .venv/bin/uv
	@$(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python --require-hashes -r requirements-dev.lock
	@touch $@
