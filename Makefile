# Every target is a verb of kata: `make check EX=03` is `kata check EX=03`. grader/cli/ declares them, and `make help`
# lists them. PYTHON=python3 uses that interpreter as it is; otherwise .venv is built on first use (grader/venv.py).
# There TORCH=cpu asks for torch without CUDA, TORCH=cuda for the one with it.
.DEFAULT_GOAL := welcome
MAKEFLAGS += --no-print-directory
VENV := .venv
ifdef PYTHON
  ready :=
else
  PYTHON := $(VENV)/bin/python
  ready := $(VENV)/.ready
endif
$(if $(filter-out cpu cuda,$(value TORCH)),$(error TORCH is cpu or cuda. Type for example: make TORCH=cpu $(or $(firstword $(MAKECMDGOALS)),check)))
# The program takes the place of the shell, which would end by Ctrl-C in its own way. GNU's env holds Ctrl-C back until
# the program takes it: a Python that starts would print a traceback.
HOLD = $(shell env --block-signal=INT true 2>/dev/null && echo env --block-signal=INT)
GRADER = exec $(HOLD) "$(PYTHON)" -m grader --make
# The Python that builds .venv: python3, or a newer one beside it.
NEWER := python3.14 python3.13 python3.12 python3.11 python3.10
# Looked for once, and only where it is needed.
FOUND = $(eval FOUND := $(shell for name in python3 $(NEWER); do $$name -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null && echo $$name && break; done))$(FOUND)
NONE = Python 3.10 or later is needed, and there is no python3 here. On Debian and Ubuntu, type: sudo apt install python3-venv
OLD = $(info python3 here is older than 3.10, so $(FOUND) is used.)
BUILD = $(if $(filter-out python3,$(FOUND)),$(OLD))$(or $(FOUND),$(if $(shell command -v python3),python3,$(error $(NONE))))
ifdef PYTHONPATH
  export KATA_PYTHONPATH := $(PYTHONPATH)
  unexport PYTHONPATH
endif
# Extras of pyproject.toml: those that a verb needs, and those of the exercise EX, as its exercise.toml says.
extra_notebook := notebook
extra_docs := docs
extra_nbgrader := classroom
extra_write = $(if $(value MODEL),tokenizers)
exercise = $(call quote,$(or $(value EX),$(firstword $(behind))))
tomls = $(patsubst %,grader/checks/%/exercise.toml,$(1) $(1)_* *_$(1))
of_exercise = $(shell cat $(call tomls,$(exercise)) 2>/dev/null | sed -n 's/^needs = \["\([a-z]*\)"\]$$/\1/p')
needed = $(ready) $(if $(ready),$(addprefix $(ready)-,$(extra_$(goal)) $(of_exercise)))

# Said before the first build, which takes a minute: what comes, or that there is no such verb.
ifneq ($(ready),)
ifeq ($(wildcard $(ready)),)
  ifeq ($(MAKECMDGOALS),)
    $(info Welcome! Before the first exercise, make fetches PyTorch and what else you need into $(VENV).)
  endif
  told = $(if $(FOUND),$(shell $(FOUND) -m grader --make help $(call quote,$(goal)) 2>&1 >/dev/null))
endif
endif

$(VENV)/.ready: pyproject.toml constraints.txt $(VENV)/bin/python $(if $(value TORCH),FORCE)
	@exec $(HOLD) $(BUILD) grader/venv.py $(VENV) "$(value TORCH)"
	@test -e $@

# Its absence alone counts, as after an update of Python.
$(VENV)/bin/python: ;

FORCE:

$(VENV)/.ready-%: $(VENV)/.ready
	@exec $(HOLD) $(BUILD) grader/venv.py $(VENV) "" $*
	@test -e $@

OWN := help $(VENV)/%
.PHONY: help
help:  # also before anything is built
	@$(if $(ready),$(if $(wildcard $(PYTHON)),"$(PYTHON)",$(BUILD)),"$(PYTHON)") -m grader --make help $(typed)

# Of this repository.
OWN += test lint bench
# make help test asks about one, and runs none.
ifneq ($(firstword $(MAKECMDGOALS)),help)
.PHONY: test lint bench
pytest = PYTHONDONTWRITEBYTECODE= "$(PYTHON)" -m pytest -n auto --dist loadfile --no-loadscope-reorder
option = $(if $(value $(2)),$(1) $(call quote,$(value $(2))))

test: $(ready:%=%-dev)  ## Run the tests; QUICK=1 leaves out the long ones [PYTEST="tests/judge -k word"]
	@$(pytest) $(if $(value QUICK),-m "not slow") $(value PYTEST)

lint: $(ready:%=%-lint)  ## Look at form, types and English with ruff, mypy and proselint
	@"$(PYTHON)" -m ruff check . && "$(PYTHON)" -m ruff format --check . && "$(PYTHON)" -m mypy && "$(PYTHON)" .ci/prose.py

bench: $(ready:%=%-dev)  ## Measure WHAT=speed, where, mutants or classroom, as ratios
	@"$(PYTHON)" tests/bench/$(or $(filter mutants,$(WHAT)),bench$(addprefix _,$(filter-out speed,$(WHAT)))).py \
	  $(call option,--ex,EX) $(call option,--most,MOST) $(call option,--seed,SEED)
endif

# One rule: what is typed goes to kata as it is, which knows its verbs and what each takes. Neither make, where a value
# holds a $, nor the shell, where it holds a quote, takes a part of it as its own.
goal := $(or $(firstword $(MAKECMDGOALS)),welcome)
behind := $(wordlist 2,$(words $(MAKECMDGOALS)),$(MAKECMDGOALS))
given := $(foreach name,$(.VARIABLES),$(if $(filter command,$(firstword $(origin $(name)))),$(name)))
named := $(filter-out KATA MAKEFLAGS PYTHON SHELL TORCH VENV WARM,$(given))
quote = '$(subst ','\'',$(1))'
typed = $(foreach word,$(behind),$(call quote,$(word))) $(foreach name,$(named),$(call quote,$(name)=$(value $(name))))
MAKEOVERRIDES :=
ifneq ($(given),)
  unexport $(given)
endif
ifdef WARM
  export WARM
endif
ifeq ($(filter $(OWN),$(goal)),)
$(if $(filter There,$(firstword $(told))),$(error $(told)))
.PHONY: $(goal)
$(goal): $(needed)
	@$(GRADER) $(goal) $(typed)
endif
ifeq ($(filter $(filter-out help,$(OWN)),$(goal)),)
.PHONY: $(behind)
$(filter-out $(goal),$(behind)): $(goal) ; @:
else ifneq ($(filter-out PYTEST QUICK WHAT EX MOST SEED,$(named)),)
  $(error make $(goal) does not take $(filter-out PYTEST QUICK WHAT EX MOST SEED,$(named)). See: make help)
endif
