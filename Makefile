# Every target sets itself up on a machine that has Python >= 3.11 and make.
PYTHON ?= python3
# Two workers; one file stays on one worker, so that it compiles once.
PYTEST_ARGS ?= -q -n 2 --dist loadfile

# Most of the tests' time is compilation: they compile with less optimisation.
# `make test QUICK=` compiles as users' programs do.
QUICK ?= --xla_backend_optimization_level=0 \
  --xla_llvm_disable_expensive_passes=true

# `.venv` holds the oldest jax that is supported, `.venv-newest` the newest.
OLDEST := jax==0.10.0 jaxlib==0.10.0
PIP := -m pip install -qq --disable-pip-version-check

# The newest Python that runs here and is newer than 3.11, if there is one: a
# pyenv shim that exists but does not run is passed over.
NEWEST = $(shell for p in python3.13 $$HOME/.pyenv/versions/3.13*/bin/python \
  python3.12 $$HOME/.pyenv/versions/3.12*/bin/python; do \
  "$$p" -c 'import venv, ensurepip' 2>/dev/null && { echo "$$p"; break; }; done)

.PHONY: demo test test-oldest test-newest lint bench clean

demo: .venv/stamp
	.venv/bin/python -m experiments.demo --workdir=runs/demo

test: test-oldest test-newest

test-oldest: .venv/stamp
	XLA_FLAGS='$(QUICK)' .venv/bin/python -m pytest $(PYTEST_ARGS)

test-newest:
	@newest='$(NEWEST)'; if [ -z "$$newest" ]; then \
	  echo 'No Python 3.12 or 3.13 here: the newest jax is not tested.'; \
	else \
	  $(MAKE) --no-print-directory .venv-newest/stamp NEWEST="$$newest" && \
	  XLA_FLAGS='$(QUICK)' .venv-newest/bin/python -m pytest $(PYTEST_ARGS) \
	    -m 'not slow'; \
	fi

lint: .venv/stamp
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .

# All suites, or one: make bench SUITE=spd
bench: .venv/stamp
	.venv/bin/python $(PIP) -e '.[bench]' $(OLDEST)
	.venv/bin/python -m benchmarks $(SUITE)

clean:
	rm -rf .venv .venv-newest

.venv/stamp: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and \
	  "Python >= 3.11 is needed: make PYTHON=/path/to/python3.11")'
	$(PYTHON) -m venv --clear .venv
	.venv/bin/python $(PIP) -e '.[test]' $(OLDEST)
	@touch $@

.venv-newest/stamp: pyproject.toml
	$(NEWEST) -m venv --clear .venv-newest
	.venv-newest/bin/python $(PIP) --upgrade -e '.[test]'
	@touch $@
