# Every target is a verb of `python -m grader`, or of the repository itself.
# PYTHON=python3 uses that interpreter as it is; otherwise .venv is built on first use (grader/venv.py). There TORCH=cpu asks
# for torch without CUDA, TORCH=cuda for the one with it.

.DEFAULT_GOAL := welcome
MAKEFLAGS += --no-print-directory
MAKEFILE := $(lastword $(MAKEFILE_LIST))
VENV := .venv
ifdef PYTHON
  ready :=
else
  PYTHON := $(VENV)/bin/python
  ready := $(VENV)/.ready
endif
READY := $(ready)
READY_DEV := $(ready:%=%-dev)
READY_LINT := $(ready:%=%-lint)
READY_WATCH := $(ready:%=%-watch)
READY_PLOT := $(ready:%=%-plot)
READY_CLASSROOM := $(ready:%=%-classroom)
READY_DOCS := $(ready:%=%-docs)
READY_NOTEBOOK := $(ready:%=%-notebook)
READY_TOKENIZERS := $(ready:%=%-tokenizers)
# The program takes the place of the shell, which would end by Ctrl-C in its own way. GNU's env holds Ctrl-C back until
# the program takes it: a Python that starts would print a traceback.
HOLD = $(shell env --block-signal=INT true 2>/dev/null && echo env --block-signal=INT)
GRADER = exec $(HOLD) "$(PYTHON)" -m grader --make
# The Python that builds .venv: python3, or a newer one beside it.
NEWER := python3.14 python3.13 python3.12 python3.11 python3.10
FOUND = $(firstword $(foreach name,python3 $(NEWER),$(shell $(name) -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null && echo $(name))))
NONE = Python 3.10 or later is needed, and there is no python3 here. On Debian and Ubuntu, type: sudo apt install python3-venv
OLD = $(info python3 here is older than 3.10, so $(FOUND) is used.)
BUILD = $(if $(filter-out python3,$(FOUND)),$(OLD))$(or $(FOUND),$(if $(shell command -v python3),python3,$(error $(NONE))))
ifdef PYTHONPATH
  export KATA_PYTHONPATH := $(PYTHONPATH)
  unexport PYTHONPATH
endif
# A value reaches a program as it was typed: make would run what `$(…)` says, the shell what backquotes say.
quote = '$(subst ','\'',$(1))'
# $(call option,--name,VALUE): the option where VALUE is given.
option = $(if $(value $(2)),$(1) $(call quote,$(value $(2))))
# $(call flag,--name,VALUE): the option without a value.
flag = $(if $(value $(2)),$(1))
# $(call each,VALUE): its words, each quoted; a pattern stands for the files that it fits.
each = $(foreach word,$(value $(1)),$(foreach file,$(or $(wildcard $(word)),$(word)),$(call quote,$(file))))

# What is given to a make that started this one is not meant for it.
given := $(foreach name,$(.VARIABLES),$(if $(filter command,$(firstword $(origin $(name)))),$(name)))
ifneq ($(given),)
  unexport $(given)
endif
ifdef WARM
  export WARM
endif
targets := $(shell sed -n 's/^\([a-z0-9-]*\):.*  \#\# .*/\1/p' $(MAKEFILE))
goal := $(or $(filter $(targets),$(MAKECMDGOALS)),welcome)
others := $(filter-out $(targets) $(VENV)/%,$(MAKECMDGOALS))
taken := $(if $(given)$(others),$(shell for goal in $(goal); do sed -n "/^$$goal:/,/^$$/p" $(MAKEFILE); done \
  | grep -o '[(, ][A-Z_][A-Z_]*)' | tr -cd 'A-Z_\n' | grep -v -e '^GRADER$$' -e READY -e '^TEST$$' -e MAKEFILE | awk '!seen[$$0]++'))
types := $(foreach name,$(filter-out PYTHON,$(taken)),$(name)=…)
# `make check 03` is `make check EX=03`: without this, 03 would be a target of its own, and another exercise graded.
ifneq ($(others),)
  ifeq ($(filter $(targets),$(MAKECMDGOALS)),)
    $(error There is no target $(firstword $(others)). To see all, type: make help)
  else ifneq ($(filter-out 1,$(words $(goal)) $(words $(others)))$(filter EX,$(given))$(if $(filter EX,$(taken)),,no),)
    $(error $(others) does nothing here. Type: make $(goal) $(or $(types),without it))
  endif
  override EX := $(others)
  .PHONY: $(others)
  $(others): $(goal) ; @:
endif
# A name that the target does not take, as in `ex=03`, would be ignored in silence.
ifeq ($(MAKELEVEL)$(if $(given),given),0given)
  unknown := $(filter-out $(taken) PYTHON TORCH VENV WARM MAKEFLAGS SHELL,$(given))
  capitals := $(filter $(taken),$(shell echo $(unknown) | tr a-z A-Z))
  ifneq ($(unknown),)
    $(error $(unknown) does nothing here. Type: make $(goal) $(or $(foreach name,$(capitals),$(name)=…),$(types),without it))
  endif
  ifneq ($(filter-out cpu cuda,$(value TORCH)),)
    $(error TORCH is cpu or cuda. Type for example: make TORCH=cpu $(goal))
  endif
endif

# The extra that the exercise EX needs, as its exercise.toml says.
tomls = $(patsubst %,grader/checks/%/exercise.toml,$(1) $(1)_* *_$(1))
needs := $(if $(ready),$(if $(value EX),$(shell cat $(call tomls,$(call quote,$(value EX))) 2>/dev/null | sed -n 's/^needs = \["\([a-z]*\)"\]$$/\1/p')))
READY_EX := $(needs:%=$(ready)-%)
# Said before the first build, which takes a minute.
ifneq ($(READY),)
  ifeq ($(goal)$(wildcard $(READY)),welcome)
    $(info Welcome! Before the first exercise, make fetches PyTorch and what else you need into $(VENV).)
  endif
endif

welcome: $(READY)  ## what make alone does: builds what is needed, says hello and what is next
	@$(GRADER) welcome

start: $(READY_WATCH) $(READY_EX)  ## open the watch at your next exercise: the place to work from [EX=03 POLL=1 WHERE=0]
	@$(GRADER) watch $(call option,,EX) $(call flag,--poll,POLL) $(call option,--where,WHERE)

check: $(READY) $(READY_EX)  ## grade one exercise: EX=03 [SUBMISSION=file DEVICE=cpu|cuda|auto SEED=n TIMEOUT=s FORMAT=text|json|junit|github|classroom OUTPUT=file ALL=1 WHERE=0]
	@$(GRADER) check $(call option,,EX) $(call option,--submission,SUBMISSION) $(call option,--device,DEVICE) \
	  $(call option,--seed,SEED) $(call option,--timeout,TIMEOUT) $(call option,--format,FORMAT) $(call option,--output,OUTPUT) \
	  $(call option,--where,WHERE) $(call flag,--all,ALL)

watch: $(READY_WATCH) $(READY_EX)  ## the same as start [EX=03 POLL=1 WHERE=0]
	@$(GRADER) watch $(call option,,EX) $(call flag,--poll,POLL) $(call option,--where,WHERE)

try: $(READY) $(READY_EX)  ## the lesson's example calls on your file, your numbers beside the lesson's: EX=01 [ARGS="a line of your own" SUBMISSION=file]
	@$(GRADER) try $(call option,,EX) $(call option,--args,ARGS) $(call option,--submission,SUBMISSION)

hint: $(READY)  ## the next hint, one more each time: EX=03 [TASK=2 ALL=1]
	@$(GRADER) hint $(call option,,EX) $(call option,--task,TASK) $(call flag,--all,ALL)

review: $(READY)  ## three questions on what you have passed: a day later, a week, a month; no part of any grade [EX=03]
	@$(GRADER) review $(call option,,EX)

reset: $(READY)  ## the fresh stub back, your file kept beside it: EX=03
	@$(GRADER) reset $(call option,,EX)

update: $(READY)  ## the newest exercises and grader; what you have written stays
	@$(GRADER) update

solution: $(READY)  ## the reference beside your own, once passed: EX=03 [FORCE=1]
	@$(GRADER) solution $(call option,,EX) $(call flag,--force,FORCE)

hooks: $(READY_LINT)  ## git hooks: checks before a commit, a grading before a push [LEARNER=1: only the second]
	@"$(PYTHON)" -m pre_commit install $(if $(value LEARNER),,--hook-type pre-commit) --hook-type pre-push
	@git config kata.python "$(PYTHON)"

grade: $(READY)  ## grade what a class handed in: SUBMISSIONS=download [EX=03,07 STUDENTS=list.csv NAMES=names.csv OUT=results COLUMN="id=Matrikelnummer" JOBS=n DASK=address FEEDBACK=full|names SEED=n DEVICE TIMEOUT]; SUBMISSIONS=course ASSIGNMENT=NN_slug; a few files: EX=03 FILES="a.py b.py" [FORMAT=text|json OUTPUT=file]
	@$(GRADER) grade $(call option,--submissions,SUBMISSIONS) $(call option,--assignment,ASSIGNMENT) $(call option,--ex,EX) $(call flag,--files,FILES) $(call each,FILES) \
	  $(call option,--students,STUDENTS) $(call option,--names,NAMES) $(call option,--column,COLUMN) $(call option,--out,OUT) \
	  $(call option,--jobs,JOBS) $(call option,--dask,DASK) $(call option,--feedback,FEEDBACK) $(call option,--device,DEVICE) \
	  $(call option,--seed,SEED) $(call option,--timeout,TIMEOUT) $(call option,--format,FORMAT) $(call option,--output,OUTPUT)

explain: $(READY)  ## why a mark is what it is, call by call: STUDENT="id or name" [EX=03 OUT=results]
	@$(GRADER) explain $(call option,,STUDENT) $(call option,,EX) $(call option,--out,OUT)

fill: $(READY)  ## a platform's own CSV with the points in it: GRADEBOOK=file.csv MARKS=results/marks.csv [COLUMN="03=Homework 3" OUTPUT=file.csv]
	@$(GRADER) fill $(call option,,GRADEBOOK) $(call each,MARKS) $(call option,--column,COLUMN) $(call option,--output,OUTPUT)

nbgrader: $(READY_CLASSROOM)  ## a course for nbgrader: [COURSE=dir EX=03,07 EXCHANGE=dir]
	@$(GRADER) nbgrader $(call option,,COURSE) $(call option,--ex,EX) $(call option,--exchange,EXCHANGE)

bundle: $(READY)  ## the zip that learners get: no solutions, no hidden checks [OUTPUT=attention-kata.zip]
	@$(GRADER) bundle $(call option,--output,OUTPUT)

notebooks: $(READY_NOTEBOOK)  ## every exercise as a notebook: CI puts them into a branch, where Colab opens them [OUTPUT=notebooks]
	@$(GRADER) notebooks $(call option,--output,OUTPUT)

wheel: $(READY)  ## what pipx and uv install: the grader with exercises and solutions inside [OUTPUT=dist]
	@rm -rf build/lib
	@"$(PYTHON)" -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir $(or $(call option,,OUTPUT),dist) .
	@ls $(or $(call option,,OUTPUT),dist)/attention_kata-*.whl

gradescope: $(READY)  ## the autograder zip for Gradescope [EX=03,07 HIDDEN=visible OUTPUT=gradescope.zip]
	@$(GRADER) gradescope $(call option,,EX) $(call option,--hidden,HIDDEN) $(call option,--output,OUTPUT)

classroom50: $(READY)  ## the autograder for CS50's Classroom 50 [EX=03,07 OUTPUT=classroom50]
	@$(GRADER) classroom50 $(call option,,EX) $(call option,--output,OUTPUT)

list: $(READY)  ## all exercises with state and points
	@$(GRADER) list $(call option,--format,FORMAT)

progress: $(READY)  ## your progress [FORMAT=text|json|md]
	@$(GRADER) progress $(call option,--format,FORMAT)

plot: $(READY) $(if $(value OUTPUT),$(READY_PLOT))  ## your attention weights beside the expected ones: EX=06 [OUTPUT=file.png|.svg|.pdf SUBMISSION=file]
	@$(GRADER) plot $(call option,,EX) $(call option,--submission,SUBMISSION) $(call option,--output,OUTPUT)

figure: $(READY)  ## the lesson as a page with its figure and your own numbers, which each check writes again: EX=06 [SUBMISSION=file]
	@$(GRADER) figure $(call option,,EX) $(call option,--submission,SUBMISSION)

experiment: $(READY)  ## what the lesson claims, measured: a table with bars: EX=02 [FORMAT=text|json|md; ARGS=NAME runs measure_NAME.py beside the lesson]
	@$(GRADER) experiment $(call option,,EX) $(call option,--format,FORMAT) $(call option,--args,ARGS)

train: $(READY)  ## train what you wrote, and look on: EX=13 (11, 17, 19, 23) [STEPS=n LAYERS=1 SEED=n SUBMISSION=file OUTPUT=file.pt FORCE=1]
	@$(GRADER) train $(call option,,EX) $(call option,--steps,STEPS) $(call option,--layers,LAYERS) \
	  $(call option,--seed,SEED) $(call option,--submission,SUBMISSION) $(call option,--output,OUTPUT) $(call flag,--force,FORCE)

write: $(READY) $(if $(value MODEL),$(READY_TOKENIZERS))  ## your own model writes, without and with caches: [PROMPT="Once upon a time" MODEL=folder TOKENS=n TEMPERATURE=0.7 SEED=n SUBMISSION=file FORCE=1]
	@$(GRADER) write $(call option,--prompt,PROMPT) $(call option,--model,MODEL) $(call option,--tokens,TOKENS) \
	  $(call option,--temperature,TEMPERATURE) $(call option,--seed,SEED) $(call option,--submission,SUBMISSION) $(call flag,--force,FORCE)

portfolio: $(READY)  ## a page worth keeping: what you have built, measured with your own code, and a section for a README [OUTPUT=portfolio.html]
	@$(GRADER) portfolio $(call option,--output,OUTPUT)

report: $(READY)  ## one HTML page of all your exercises: state, verdicts, pictures, hints left [OUTPUT=report.html]
	@$(GRADER) report $(call option,--output,OUTPUT)

notebook: $(READY_NOTEBOOK)  ## the exercise as a notebook, opened in JupyterLab if it is installed: EX=03
	@$(GRADER) notebook $(call option,,EX)

docs: $(READY_DOCS)  ## the lessons as a site of static pages [OUTPUT=site]
	@$(GRADER) docs $(call option,--output,OUTPUT)

documented: $(READY)  ## the numbers of the source documents, and the check that grades each [FORMAT=text|json|md]
	@$(GRADER) documented $(call option,--format,FORMAT)

mistakes: $(READY)  ## the known mistakes: sentence, change, misconception, checks that fail: EX=11 [NAME=mistake FORMAT=text|json|md]
	@$(GRADER) mistakes $(call option,,EX) $(call option,,NAME) $(call option,--format,FORMAT)

doctor: $(READY)  ## what this machine has: sandbox, torch, device, and how to fix what is missing
	@$(GRADER) doctor

stop: $(READY)  ## end the process that keeps torch ready between commands; it ends by itself after WARM=10 idle minutes, WARM=0 does without
	@$(GRADER) stop

verify: $(READY) $(READY_EX)  ## for authors: prove that the grader judges rightly [EX=03 SEED=n JOBS=n; EVERY=4 runs one of four mistakes, and one for each check; WRITE=1 writes down which checks each mistake fails; THOROUGH=1 measures the memory of every mistake; DEVICE=cuda: there, with a report OUTPUT=file.md to send in]
	@$(GRADER) verify $(call option,,EX) $(call option,--seed,SEED) $(call option,--jobs,JOBS) $(call flag,--write,WRITE) \
	  $(call flag,--thorough,THOROUGH) $(call option,--every,EVERY) $(call option,--device,DEVICE) $(call option,--output,OUTPUT)

stub: $(READY)  ## for authors: make the stub of EX from its solution [FORCE=1]
	@$(GRADER) stub $(call option,,EX) $(call flag,--force,FORCE)

new: $(READY)  ## for authors: the files of a new exercise, EX=22 NAME=slug
	@$(GRADER) new $(call option,,EX) $(call option,,NAME)

test: $(READY_DEV)  ## the whole test suite, with everything it needs [PYTEST="tests/judge/test_where.py -k word"]
	@$(TEST) $(value PYTEST)
# Some hundred processes are started: what one has compiled, the next one need not.
TEST = PYTHONDONTWRITEBYTECODE= "$(PYTHON)" -m pytest -n auto --dist loadfile --no-loadscope-reorder

test-ex: $(READY_DEV)  ## the tests that concern one exercise: EX=03
	@THOROUGH=1 $(TEST) $(wildcard tests/exercises/test_$(EX)_*.py) tests/authors/test_exercises.py tests/authors/test_mistakes.py \
	  tests/lessons/test_lessons.py tests/lessons/test_experiments.py tests/desk/test_try.py tests/figures -k "$(EX)_ or $(EX)-"

test-quick: $(READY_DEV)  ## the tests without browsers, nbgrader, databases, Dask, classes: a minute at most
	@$(TEST) -m "not slow" $(value PYTEST)

lint: $(READY_LINT)  ## ruff's checks and format, the types, and the English
	@"$(PYTHON)" -m ruff check . && "$(PYTHON)" -m ruff format --check . && "$(PYTHON)" -m mypy && "$(PYTHON)" .ci/prose.py

fuzz: $(READY_DEV)  ## made-up names, archives, notebooks and sources of strangers, for a time [SECONDS=60 SEED=n]
	@"$(PYTHON)" tests/intake/fuzz.py $(or $(call option,,SECONDS),60) $(call option,,SEED)

bench: $(READY_DEV)  ## the speed claims, as ratios measured in one run
	@"$(PYTHON)" tests/bench/bench.py

bench-where: $(READY_DEV)  ## how often the reported line is the true one [EX=06,13 MOST=cases of each kind SEED=which cases]
	@"$(PYTHON)" tests/bench/bench_where.py $(call option,--ex,EX) $(call option,--most,MOST) $(call option,--seed,SEED)

mutants: $(READY_DEV)  ## files with one change each of the solution: those that are accepted, and sentences to be read [EX=06,13 MOST=changes of each exercise SEED=which changes]
	@"$(PYTHON)" tests/bench/mutants.py $(call option,--ex,EX) $(call option,--most,MOST) $(call option,--seed,SEED)

bench-nbgrader: $(READY_CLASSROOM)  ## nbgrader's autograde alone, and after kata grade, on one course [N=notebooks]
	@"$(PYTHON)" tests/bench/bench_nbgrader.py $(call option,,N)

bench-classroom: $(READY_DEV)  ## a class of 200, two jobs against one, nbgrader's stock autograde beside it [WHAT="speed jobs nbgrader memory hostile proof"]
	@"$(PYTHON)" tests/bench/bench_classroom.py $(call each,WHAT)

# A target in neither list is a learner's.
TEACHERS := grade explain fill nbgrader bundle gradescope classroom50 help-teacher
AUTHORS := verify stub new mistakes wheel notebooks hooks test test-ex test-quick lint fuzz mutants bench bench-where bench-nbgrader bench-classroom help-author

help: TITLE := Type make alone to see what is next for you$(if $(filter help-teacher,$(targets)),. For teachers: make help-teacher. For authors: make help-author)
help: LISTED := $(filter-out $(TEACHERS) $(AUTHORS),$(targets))
help:  ## this list
	@$(LIST)

help-teacher: TITLE := To grade a class. Read docs/classroom.md first
help-teacher: LISTED := $(filter $(TEACHERS),$(targets))
help-teacher:  ## what teachers need: a class, platforms, bundles
	@$(LIST)

help-author: TITLE := To write exercises, and to work on the grader. Read docs/authors.md first
help-author: LISTED := $(filter $(AUTHORS),$(targets))
help-author:  ## what authors of exercises need, and developers of the grader
	@$(LIST)

LIST = echo '$(TITLE).' && awk -v listed=' $(LISTED) ' -F ':.*  \#\# ' '/^[a-z0-9-]+:.*  \#\# / && index(listed, " " $$1 " ") { \
	  line = sprintf("make %-15s", $$1); n = split($$2, word, " "); \
	  for (i = 1; i <= n; i++) { if (length(line word[i]) > 78) { print line; line = sprintf("%20s", "") } line = line " " word[i] } \
	  print line }' $(MAKEFILE)

$(VENV)/.ready: pyproject.toml constraints.txt $(VENV)/bin/python $(if $(value TORCH),FORCE)
	@exec $(HOLD) $(BUILD) grader/venv.py $(VENV) "$(value TORCH)"
	@test -e $@

# Its absence alone counts, as after an update of Python.
$(VENV)/bin/python: ;

FORCE:

$(VENV)/.ready-%: $(VENV)/.ready
	@exec $(HOLD) $(BUILD) grader/venv.py $(VENV) "" $*
	@test -e $@

.PHONY: $(targets)
