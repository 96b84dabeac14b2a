# Everything below sets up what it needs: python3 (3.11 or later), git and make are enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
SDL_VERSION := 15.26.1
SDL := .cache/github-schema-$(SDL_VERSION).graphql

.PHONY: help setup demo test lint types bench docs sdl schema lock clean
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "%-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(READY) ## make the virtual environment from the lock file

$(READY): requirements/dev.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "lifecycle needs Python 3.11 or later; name one: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -m venv --clear $(VENV) || \
		{ echo "python3 cannot make virtual environments here; on Debian: apt install python3-venv"; exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $(READY)

demo: $(READY) ## claim to close on the embedded GitHub, in a few seconds
	@$(BIN)/lifecycle demo

test: $(READY) ## the whole suite
	$(BIN)/python -m pytest -n auto --dist loadgroup

lint: $(READY) ## ruff: rules and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY) ## mypy, strict
	$(BIN)/mypy

bench: $(READY) ## how fast the hooks are, as ratios in one run
	@$(BIN)/python tests/bench/bench.py

docs: $(READY) ## regenerate the diagrams in README and docs from the phase table
	$(BIN)/python -m tests.docs.regenerate

$(SDL):
	@command -v npm >/dev/null || \
		{ echo "npm is not installed; it fetches GitHub's published schema" >&2; exit 1; }
	@mkdir -p $(@D)
	@cd $(@D) && npm pack --silent @octokit/graphql-schema@$(SDL_VERSION) >/dev/null
	@tar -xzOf $(@D)/octokit-graphql-schema-$(SDL_VERSION).tgz package/schema.graphql >$@.part
	@mv $@.part $@

sdl: $(SDL) ## fetch GitHub's published GraphQL schema from npm, and say where it is
	@echo $(SDL)

schema: $(READY) $(SDL) ## prune that schema to what graphql/*.graphql uses
	$(BIN)/python -m lifecycle.sandbox.graph.prune_schema $(SDL) $(SDL_VERSION) lifecycle/sandbox/schema.graphql

lock: $(READY) ## renew requirements/dev.txt
	$(BIN)/uv pip compile pyproject.toml --group dev --universal --python-version 3.11 --upgrade \
		--generate-hashes --no-emit-index-url --no-emit-find-links --no-header --no-annotate \
		--quiet --output-file requirements/dev.txt

clean: ## remove what the targets made
	rm -rf $(VENV) .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis dist build
