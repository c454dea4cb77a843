# Everything runs in .venv. The first target that needs it creates it.
PYTHON ?= python3
BIN := .venv/bin
# Show progress at once, also through a pipe.
export PYTHONUNBUFFERED := 1
# Packages, Pythons and scripts of the caller's; PIP_USER overrides a pip.conf too.
FOREIGN := PYTHONPATH PYTHONHOME PYTHONUSERBASE PYTHONSTARTUP PIP_USER PIP_TARGET PIP_PREFIX PIP_ROOT PIP_PYTHON BASH_ENV
IGNORED := $(strip $(foreach name,$(FOREIGN),$(if $(filter-out workflow $(CURDIR)/workflow,$($(name))),$(name))))
$(if $(IGNORED),$(info ignored: $(IGNORED); crossover uses the packages in .venv alone))
unexport $(FOREIGN)
# A copy of the project with a link to another's .venv runs its own package.
export PYTHONPATH := $(CURDIR)/workflow
CROSSOVER := $(BIN)/python -P -m crossover
export PIP_USER := 0

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: again help env report quarto publish bundle test test-long test-cluster calibrate lint bench bench-analysis bench-page bench-runs bench-again bench-seconds docs clean

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*##/  make \1 \t/p' $(MAKEFILE_LIST) | expand -t 23

env: .venv/run $(EXTRA:%=.venv/extra-%)  ## set up .venv with the locked versions, checked by hash (WHEELS=folder needs no network; EXTRA=ray or parsl adds a task farm)

report: .venv/run  ## measure this machine and write results/report/index.html (minutes; TIER=standard or paper takes hours)
ifdef FROM
	@$(CROSSOVER) report --from "$(FROM)" --page "$(patsubst %.zip,%,$(FROM:/=)).html"
else
	@$(BIN)/snakemake --profile profiles/local $(if $(TIER),--config tier=$(TIER))
endif

# Not locked: the installer on the package index downloads the release of its version while it installs.
QUARTO := quarto-cli==1.10.18

quarto: .venv/run  ## install Quarto into .venv; without it, the built-in preview renders the report
	@$(BIN)/pip install --disable-pip-version-check $(QUARTO) >.venv/quarto.log 2>&1 || { \
	  echo "$(QUARTO) could not be installed (see .venv/quarto.log); the built-in preview goes on rendering the report" >&2; exit 1; }

publish: .venv/run  ## push the report to the branch gh-pages, after asking (YES=1 does not ask; TO=site/ or TO=site.zip writes files instead)
	@$(CROSSOVER) publish $(if $(TO),--to "$(TO)") $(if $(YES),--yes) $(ARGS)

bundle: .venv/run  ## archive the run in results/bundle.zip (make report FROM=folder or bundle renders results from elsewhere)
	@$(CROSSOVER) bundle $(ARGS)

test: .venv/develop  ## run the tests
	@$(BIN)/python -m pytest -m "not cluster and not calibration and not long" -n 3 --dist loadfile --no-loadscope-reorder -rs

test-long: .venv/develop  ## run the tests that take longest
	@$(BIN)/python -m pytest -m long -n 3

test-cluster: .venv/develop  ## run the tests on a real Slurm, started on this machine (needs root and packages; see CONTRIBUTING.md)
	@$(BIN)/python -m pytest tests/cluster -m "not alone" -n 2 --dist loadfile
	@$(BIN)/python -m pytest tests/cluster -m alone

calibrate: .venv/develop  ## check coverage of intervals and false positives, by simulation (twenty minutes)
	@$(BIN)/python -m pytest -s -m calibration benchmarks/calibration

lint: .venv/develop  ## check style, types, the workflow and the generated pages
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy
	@$(BIN)/snakefmt --check Snakefile workflow/rules
	@$(BIN)/snakemake --lint

bench: .venv/run  ## compare our numbers with those of plain loops and of others' programs
	@$(BIN)/python benchmarks/side_by_side.py

bench-analysis: .venv/run  ## measure how the time of the analysis grows, up to a million rows
	@$(BIN)/python benchmarks/analysis.py

bench-page: .venv/run  ## measure how large each tier's page is, and how long it takes to make
	@$(BIN)/python benchmarks/page.py

bench-runs: .venv/run  ## measure how our ratios, and those of pyzmq's script, vary from run to run (half an hour)
	@$(BIN)/python benchmarks/run_to_run.py

bench-seconds: .venv/run  ## print the time of each phase of runs, and the points that they settle (RUNS="results other-results")
	@$(BIN)/python benchmarks/seconds.py $(or $(RUNS),results)

bench-again: .venv/run  ## run the tier quick twice, and print how well the two agree (half an hour)
	@$(BIN)/python benchmarks/again.py

docs: .venv/run  ## write the generated files config/README.md and reports/references.bib
	@$(CROSSOVER) document

clean:  ## remove .venv and caches, but not results/ or Snakemake's record of it
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# pip alone installs, so that a site's index, certificates and proxies need to be in pip's configuration only.
# It ends with the recipe's shell, for which the kernel sends SIGTERM (PR_SET_PDEATHSIG).
PIP := import ctypes, sys; ctypes.CDLL(None).prctl(1, 15, 0, 0, 0); from pip._internal.cli.main import main; sys.exit(main())
INSTALL := >>.venv/pip.log CROSSOVER_SETUP=1 $(BIN)/python -P -c "$(PIP)" install --disable-pip-version-check --no-compile --use-pep517 --no-build-isolation \
  --progress-bar off $(if $(WHEELS),--no-index --find-links "$(WHEELS)")
# Compiles what ranks import, because they write no bytecode. Python compiles the packages below when another process imports
# them: most of their modules are never used. Nor are the libraries' own tests, a third of all files.
LATER := tests?|pip|setuptools|debugpy|sqlalchemy|pygments|docutils|narwhals|wcwidth|altair|scipy|pandas|prompt_toolkit|jedi|git
COMPILE := { echo Compiling >>.venv/pip.log; \
  CROSSOVER_SETUP=1 $(BIN)/python -I -W ignore -m compileall -qq -j 0 -x '/($(LATER))/' .venv/lib || true; }
# These programs ignore the caller's PYTHONPATH, PYTHONHOME and packages. A long path is in their second line.
ISOLATE := find $(BIN) \( -name snakemake -o -name crossover \) -exec \
  sed -i -E '1,2s,(/bin/python[0-9.]*"?)( "\$$0"|$$),\1 -Iu\2,' {} +
# Prints the set-up's progress every 15 seconds, until the recipe's shell ends. If make is killed, ends the shell.
SPEAK := ( exec 9>&-; at=0; while sleep 1 >/dev/null && kill -0 $$$$ 2>/dev/null; do \
    kill -0 $$PPID 2>/dev/null || kill $$$$; at=$$((at + 1)); test $$((at % 15)) = 0 || continue; \
    echo "  still setting up: $$(grep -o 'Collecting [^ ]*\|Installing collected packages\|Compiling' .venv/pip.log | tail -n 1)"; \
  done ) & trap "kill $$!" EXIT; set -e

# The programs of .venv contain its path, and its packages are of one version of Python: set up again if either has changed.
USABLE = [ "$$(cat .venv/made)" = "$(CURDIR)" ] && $(BIN)/python -I -c "import pip"
# One set-up at a time; another waits, and finds it done.
LOCK := exec 9>.venv.lock; flock 9
# Until the set-up has ended, Python in .venv says so and ends, because packages are missing: a line in a .pth file runs
# at each start.
# Each stamp comes last, so that an interrupted set-up is repeated.
.venv/made: $(shell { $(USABLE); } 2>/dev/null || echo again)
	@test "$$(uname -s)" = Linux || { echo "crossover measures on Linux, and this is $$(uname -s): on macOS use a virtual \
	  machine or a container with Linux, on Windows WSL 2" >&2; exit 1; }
	@$(PYTHON) -I -c 'import sys; sys.exit(sys.version_info < (3, 11) and \
	  "crossover needs Python 3.11 or newer, but this is %d.%d; name another: make PYTHON=python3.12" % sys.version_info[:2])'
	@test -w . || { echo "$(CURDIR): cannot be written to; clone the project into a folder of your own" >&2; exit 1; }
	@$(LOCK); if { $(USABLE); } 2>/dev/null; then exit 0; fi; \
	  test ! -e $@ || { [ "$$(cat $@)" = "$(CURDIR)" ] && echo "The Python of .venv has changed, or its set-up was ended." || \
	    echo "This .venv belongs to $$(cat $@), and its programs contain that path."; }; \
	  echo "Setting up .venv (about a minute) ..."; \
	  $(PYTHON) -I -m venv --clear .venv || \
	  { echo "Python's venv module is missing; on Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }; \
	  printf '%s\n' 'import os; "CROSSOVER_SETUP" in os.environ or (os.write(2, b".venv is being set up; repeat the command when make has ended\n"), os._exit(1))' \
	    >"$$(echo .venv/lib/python*/site-packages)/being-set-up.pth"; \
	  echo "$(CURDIR)" >$@

# setuptools comes first: one locked package has no wheel, and pip would otherwise build it with an unlocked setuptools.
# The package itself is installed from this folder, so that changes of its code need no new set-up.
.venv/run: requirements.lock pyproject.toml .venv/made
	@$(LOCK); test -e $@ && test -z "$$(find $^ -newer $@)" && exit 0; \
	  sed -n '/^setuptools==/,/^ *#/p' requirements.lock >.venv/setuptools.lock; \
	  $(SPEAK); \
	  $(INSTALL) --require-hashes -r .venv/setuptools.lock; \
	  $(INSTALL) --require-hashes -r requirements.lock; \
	  $(INSTALL) --no-deps -e .; \
	  $(ISOLATE); \
	  $(COMPILE); \
	  rm -f .venv/lib/python*/site-packages/being-set-up.pth; \
	  touch $@

.venv/extra-%: envs/%.lock .venv/run
	@$(SPEAK); $(INSTALL) --require-hashes -r $<
	@touch $@

# requirements-dev.lock holds all of requirements.lock and the tests' tools.
.venv/develop: requirements-dev.lock .venv/run
	@$(SPEAK); $(INSTALL) --require-hashes -r requirements-dev.lock; $(COMPILE)
	@touch $@
