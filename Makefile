# Every target is a verb of `python -m grader`, or of the repository itself.
# PYTHON=python3 uses that interpreter as it is; otherwise .venv is built on first use.

.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
VENV := .venv
ifdef PYTHON
  READY :=
  READY_DEV :=
else
  PYTHON := $(VENV)/bin/python
  READY := $(VENV)/.ready
  READY_DEV := $(VENV)/.ready-dev
endif
GRADER = "$(PYTHON)" -m grader
# $(call option,--name,VALUE): the option where VALUE is given, quoted for the shell.
option = $(if $(2),$(1) '$(subst ','\'',$(2))')

check: $(READY)  ## grade one exercise: EX=03 [SUBMISSION=file DEVICE=cpu|cuda|auto SEED=n TIMEOUT=s FORMAT=text|json|junit OUTPUT=file]
	@$(GRADER) check $(call option,,$(EX)) $(call option,--submission,$(SUBMISSION)) $(call option,--device,$(DEVICE)) \
	  $(call option,--seed,$(SEED)) $(call option,--timeout,$(TIMEOUT)) $(call option,--format,$(FORMAT)) $(call option,--output,$(OUTPUT))

grade: $(READY)  ## grade others' files behind a sandbox: EX=03 FILES="a.py b.py" [FORMAT=text|json DEVICE SEED TIMEOUT OUTPUT]
	@$(GRADER) grade $(call option,,$(EX)) $(FILES) $(call option,--device,$(DEVICE)) $(call option,--seed,$(SEED)) \
	  $(call option,--timeout,$(TIMEOUT)) $(call option,--format,$(FORMAT)) $(call option,--output,$(OUTPUT))

list: $(READY)  ## all exercises with state and points
	@$(GRADER) list $(call option,--format,$(FORMAT))

progress: $(READY)  ## your progress [FORMAT=text|json|md]
	@$(GRADER) progress $(call option,--format,$(FORMAT))

documented: $(READY)  ## the numbers of the source documents, and the check that grades each [FORMAT=text|json|md]
	@$(GRADER) documented $(call option,--format,$(FORMAT))

doctor: $(READY)  ## what this machine has: sandbox, torch, device, and how to mend what is missing
	@$(GRADER) doctor

verify: $(READY)  ## for authors: prove that the grader judges rightly [EX=03 SEED=n WRITE=1]
	@$(GRADER) verify $(call option,,$(EX)) $(call option,--seed,$(SEED)) $(if $(WRITE),--write)

stub: $(READY)  ## for authors: make the stub of EX from its solution [FORCE=1]
	@$(GRADER) stub $(call option,,$(EX)) $(if $(FORCE),--force)

new: $(READY)  ## for authors: the files of a new exercise, EX=22 NAME=slug
	@$(GRADER) new $(call option,,$(EX)) $(call option,,$(NAME))

test: $(READY_DEV)  ## the whole test suite, with everything it needs
	@"$(PYTHON)" -m pytest $(PYTEST)

lint: $(READY_DEV)  ## ruff's checks and format
	@"$(PYTHON)" -m ruff check . && "$(PYTHON)" -m ruff format --check .

bench: $(READY)  ## the speed claims, as ratios measured in one run
	@"$(PYTHON)" tests/bench.py

help:  ## this list
	@awk -F ':.*  ## ' '/^[a-z0-9-]+:.*  ## / { printf "make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(VENV)/.ready: pyproject.toml constraints.txt
	@echo "Building $(VENV) (once; torch is large) …"
	@python3 -c 'import sys; sys.exit(sys.version_info < (3, 10) and "Python 3.10 or later is needed; python3 here is " + sys.version.split()[0])'
	@test -x $(VENV)/bin/python || python3 -m venv $(VENV)
	@$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	@$(VENV)/bin/python -m compileall -q grader
	@touch $@

$(VENV)/.ready-dev: $(VENV)/.ready
	@$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

.PHONY: check grade list progress documented doctor verify stub new test lint bench help
