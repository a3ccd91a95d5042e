# Every command runs in .venv, which the first command makes. Sources of packages are pip's own settings.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
MODEL_VENV := .venv-model
SIZE ?= full
PORT ?= 8321

.PHONY: help demo test check soak mutate bench format lock clean system

help:
	@echo "make demo    the whole product on this machine: http://127.0.0.1:$(PORT)"
	@echo "make test    every test, about five minutes on two cores"
	@echo "make check   format, lint, types, import contracts"
	@echo "make soak    the large sizes of the same tests (SIZE=ci for the short run)"
	@echo "make mutate  how many faults in what decides the tests notice (SIZE=ci for a sample)"
	@echo "make bench   hot paths, as ratios within one run"

$(VENV)/runtime: requirements/runtime.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed; this is " + sys.version.split()[0]) if sys.version_info < (3, 11) else None'
	@echo "preparing .venv (once)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements/runtime.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $@

$(VENV)/dev: requirements/dev.txt $(VENV)/runtime
	@echo "adding what tests and checks need (once)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements/dev.txt
	@touch $@

system: $(VENV)/dev
	@sh tests/system_packages.sh

# llama.cpp is built from source, so it has an environment and a stamp of its own; without a compiler its test skips.
$(MODEL_VENV)/ready: requirements/foreign-model.txt
	@echo "building a foreign model server (once, about four minutes)"
	@test -x $(MODEL_VENV)/bin/python || $(PYTHON) -m venv $(MODEL_VENV)
	@if command -v c++ >/dev/null; then \
		CMAKE_BUILD_PARALLEL_LEVEL=2 $(MODEL_VENV)/bin/python -m pip install --quiet --disable-pip-version-check -r $< && touch $@; \
	else echo "no C++ compiler: the foreign model server is left out"; rm -rf $(MODEL_VENV); fi

demo: $(VENV)/runtime
	@$(BIN)/chatops-bot demo --port $(PORT)

test: system
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest tests -n 4 --dist worksteal

check: $(VENV)/dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	PYTHONPATH=. $(BIN)/lint-imports

soak: system $(MODEL_VENV)/ready
	SOAK_SIZE=$(SIZE) $(BIN)/python -m pytest tests -m soak -n 2 --dist worksteal

mutate: $(VENV)/dev
	$(BIN)/python -m tests.mutation --size $(SIZE)

bench: $(VENV)/dev
	$(BIN)/python -m bench

format: $(VENV)/dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lock: $(VENV)/dev
	$(BIN)/pip-compile -q --strip-extras --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --no-emit-options -o requirements/runtime.txt requirements/runtime.in
	$(BIN)/pip-compile -q --strip-extras --allow-unsafe --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --no-emit-options -c requirements/runtime.txt -o requirements/dev.txt requirements/dev.in
	$(BIN)/pip-compile -q --strip-extras --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --no-emit-options -o requirements/foreign-model.txt requirements/foreign-model.in

clean:
	rm -rf $(VENV) $(MODEL_VENV) .mypy_cache .pytest_cache .ruff_cache
