# Everything below sets up what it needs: python3 (3.11 or later), git and make are enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PRODUCT := $(VENV)/.product
READY := $(VENV)/.ready
SDL_VERSION := 15.26.1
SDL := .cache/github-schema-$(SDL_VERSION).graphql
OPENAPI_VERSION := 23.0.2
OPENAPI := .cache/github-openapi-$(OPENAPI_VERSION).json
RECORDINGS := .cache/pygithub-2.10.0.tar.gz
CLIENTS := .cache/clients
OCTOKIT := $(CLIENTS)/node_modules/.package-lock.json
CLAUDE := .cache/claude/node_modules/.package-lock.json
BD_VERSIONS := $(shell sed -n 's/^[^ ]* v\([0-9.]*\) h1:.*/\1/p' requirements/bd/go.sum)
BD := $(BD_VERSIONS:%=.cache/bd/%/bd)
GITHUBKIT := $(VENV)/.clients
WORKFLOWS := $(wildcard .github/workflows/*.yml docs/examples/*.yml)
ACTIONS := $(wildcard .github/actions/*/action.yml)
SUDO := $(shell [ "$$(id -u)" = 0 ] || command -v sudo)
debian = { $(SUDO) apt-get update -qq && $(SUDO) apt-get install -qq --yes --no-install-recommends $(1); } >/dev/null

# Keep compiled modules; otherwise every worker and every command would compile them again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup demo test soak mutants lint types bench docs sdl schema pages openapi recordings conformance live browser clients claude bd runners lock clean
help: ## list all targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "%-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(READY) ## make .venv from the lock file

# What the product itself needs, and no more: enough for the demo.
$(PRODUCT): requirements/action.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "lifecycle needs Python 3.11 or later; name one: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -m venv --clear $(VENV) || \
		{ echo "python3 cannot make virtual environments here; on Debian: apt install python3-venv"; exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --require-hashes -r requirements/action.txt
	@touch $(PRODUCT)

$(READY): $(PRODUCT) requirements/dev.txt pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $(READY)

demo: $(PRODUCT) ## run one task from claim to close on the embedded GitHub, in a few seconds
	@PYTHONPATH='$(CURDIR)' $(BIN)/python -m lifecycle demo

test: $(READY) ## test each rule once; PYTEST= passes options to pytest; `make soak` runs the other tests
	$(BIN)/python -m pytest -n auto --dist worksteal $(PYTEST)

soak: $(READY) ## run N= random sequences with faults, from SEED= on, for at most MINUTES=; then the tests that `make test` leaves out
	@$(BIN)/python -m tests.soak $(if $(N),--n $(N)) $(if $(SEED),--seed $(SEED)) $(if $(JOBS),--jobs $(JOBS)) \
		$(if $(MINUTES),--minutes $(MINUTES)) $(if $(SHRINK),--shrink) $(if $(STEPS),--steps)
	@$(if $(SEED)$(STEPS),,$(BIN)/python -m pytest -q -n auto --dist worksteal -o timeout=900 \
		-m "soak or hypothesis" --hypothesis-profile soak $(PYTEST))

mutants: $(READY) ## make N= (0: all) small changes to modules that decide, and report those that no test notices; SEED=, MODULES=
	@$(BIN)/python -m tests.mutants $(if $(N),--n $(N)) $(if $(SEED),--seed $(SEED)) $(if $(MODULES),--modules '$(MODULES)')

lint: $(READY) ## check code with ruff; workflows and the Action with zizmor and GitHub's schemas
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/zizmor --offline --quiet --no-progress $(WORKFLOWS) $(ACTIONS)
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-workflows $(WORKFLOWS)
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-actions $(ACTIONS)

types: $(READY) ## check types with mypy, strict
	$(BIN)/mypy

bench: $(READY) ## measure how fast the hooks are (as ratios in one run), and what a sweep costs
	@$(BIN)/python tests/bench/bench.py

docs: $(READY) ## renew the generated parts of the pages, and the picture of the demo
	$(BIN)/python -m tests.docs.regenerate

$(SDL):
	@command -v npm >/dev/null || \
		{ echo "npm is not installed; it fetches GitHub's published schema" >&2; exit 1; }
	@mkdir -p $(@D)
	@cd $(@D) && npm pack --silent @octokit/graphql-schema@$(SDL_VERSION) >/dev/null
	@tar -xzOf $(@D)/octokit-graphql-schema-$(SDL_VERSION).tgz package/schema.graphql >$@.part
	@mv $@.part $@

sdl: $(SDL) ## fetch GitHub's published GraphQL schema from npm, and print its path
	@echo $(SDL)

$(OPENAPI):
	@command -v npm >/dev/null || \
		{ echo "npm is not installed; it fetches GitHub's published OpenAPI description" >&2; exit 1; }
	@mkdir -p $(@D) && folder=$$(mktemp -d $(@D)/openapi.XXXXXX) && trap 'rm -rf "$$folder"' EXIT && \
		(cd "$$folder" && npm pack --silent @octokit/openapi@$(OPENAPI_VERSION) >/dev/null) && \
		tar -xzOf "$$folder"/*.tgz package/generated/api.github.com.json >"$$folder/description" && \
		mv "$$folder/description" $@

openapi: $(OPENAPI) ## fetch GitHub's published OpenAPI description from npm, and print its path
	@echo $(OPENAPI)

$(RECORDINGS): $(READY) requirements/recordings.txt
	@mkdir -p $(@D) && folder=$$(mktemp -d $(@D)/recordings.XXXXXX) && trap 'rm -rf "$$folder"' EXIT && \
		$(BIN)/python -m pip download --quiet --disable-pip-version-check --no-deps \
			--no-binary PyGithub --require-hashes -r requirements/recordings.txt -d "$$folder" && \
		mv "$$folder"/*.tar.gz $@ && touch $@

recordings: $(RECORDINGS) ## fetch recorded traffic with GitHub (in PyGithub's source) from PyPI, and print its path
	@echo $(RECORDINGS)

conformance: $(READY) $(SDL) $(OPENAPI) $(RECORDINGS) ## compare the embedded GitHub with GitHub's published descriptions and recorded traffic
	LIFECYCLE_REQUIRE=all $(BIN)/python -m pytest -n auto --dist loadgroup \
		tests/conformance tests/live tests/github/test_documents.py

live: $(READY) ## run the contract tests on the repository LIFECYCLE_LIVE_REPO, and print its answers as a table
	@LIFECYCLE_LIVE=1 $(BIN)/python -m pytest -p no:cacheprovider -rs tests/live

schema: $(READY) $(SDL) ## reduce the GraphQL schema to the part that the embedded GitHub answers
	$(BIN)/python -m tests.sandbox.wire.graph.prune_schema $(SDL) $(SDL_VERSION) lifecycle/sandbox/wire/graph/schema

pages: $(READY) $(OPENAPI) ## take the addresses of GitHub's documentation from the OpenAPI description
	$(BIN)/python -m tests.sandbox.wire.published_pages $(OPENAPI) lifecycle/sandbox/wire/rest/pages.txt

browser: ## install Chromium and its driver (Debian), for tests of pages
	@{ { command -v chromium || command -v google-chrome || test -x '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome'; } && \
		{ command -v chromedriver || test -x "$$CHROMEWEBDRIVER/chromedriver"; }; } >/dev/null || \
		$(call debian,chromium chromium-driver) || \
		{ echo "Chromium or chromedriver is not installed, and apt-get cannot install it" >&2; exit 1; }

clients: $(GITHUBKIT) $(OCTOKIT) ## install gh (Debian), octokit (npm) and githubkit (PyPI), for tests/clients
	@command -v gh >/dev/null || $(call debian,gh) || \
		{ echo "gh is not installed, and apt-get cannot install it; https://cli.github.com says how" >&2; exit 1; }

$(GITHUBKIT): requirements/clients.txt $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements/clients.txt
	@touch $@

$(OCTOKIT): requirements/clients/package.json requirements/clients/package-lock.json
	@command -v npm >/dev/null || { echo "npm is not installed; it fetches octokit" >&2; exit 1; }
	@mkdir -p $(CLIENTS)
	@cp $^ $(CLIENTS)/
	npm ci --prefix $(CLIENTS) --ignore-scripts --no-audit --no-fund --silent
	@touch $@

claude: $(CLAUDE) ## install Claude Code (npm), for tests/clients/claude_code

$(CLAUDE): requirements/claude/package.json requirements/claude/package-lock.json
	@command -v npm >/dev/null || { echo "npm is not installed; it fetches Claude Code" >&2; exit 1; }
	@mkdir -p .cache/claude
	@cp $^ .cache/claude/
	npm ci --prefix .cache/claude --ignore-scripts --no-audit --no-fund --silent
	@touch $@

bd: $(BD) ## build three versions of bd (needs Go and a C compiler), for tests/trackers/beads

# The module is held to requirements/bd/go.sum, and what it needs to the go.sum in it. Without C, as its
# makers build it, 0.49 keeps tasks in SQLite; the later ones need C for Dolt. Not optimized, it is built
# in half the time, and runs as fast as tests need.
.cache/bd/%/bd: requirements/bd/go.mod requirements/bd/go.sum
	@command -v go >/dev/null || { echo "Go is not installed; it builds bd" >&2; exit 1; }
	@mkdir -p $(@D)
	@source=$$(cd requirements/bd && GOFLAGS= go mod download -json github.com/steveyegge/beads@v$* | \
			sed -n 's/^[[:space:]]*"\(Dir\|Error\)": "\(.*\)",*$$/\1 \2/p') && \
		case "$$source" in "Dir "*) ;; *) echo "bd $* cannot be had: $$source" >&2; exit 1;; esac && \
		cd "$${source#Dir }" && CGO_ENABLED=$(if $(filter 0.%,$*),0,1) GOFLAGS=-mod=readonly GOGC=400 \
			go build -buildvcs=false -trimpath -tags gms_pure_go -gcflags='all=-N -l -dwarf=false' \
			-ldflags='-s -w' -o '$(CURDIR)/$@.part' ./cmd/bd >'$(CURDIR)/$@.log' 2>&1 || { cat '$(CURDIR)/$@.log' >&2; exit 1; }
	@mv $@.part $@

runners: $(READY) ## install real test runners, and compare their output for small projects with recordings; ONLY=, PINNED=1, RECORD=1
	@nice $(BIN)/python -m tests.evidence.runners $(if $(RECORD),--record) $(if $(ONLY),--only $(ONLY)) $(if $(PINNED),--pinned) $(if $(SHOW),--show)

lock: $(READY) ## renew the lock files in requirements/: dev.txt, clients.txt, action.txt and runners/python.txt
	$(BIN)/uv pip compile pyproject.toml --group dev --universal --python-version 3.11 --upgrade \
		--generate-hashes --no-emit-index-url --no-emit-find-links --no-header --no-annotate \
		--quiet --output-file requirements/dev.txt
	$(BIN)/uv pip compile requirements/clients.in --constraint requirements/dev.txt --universal --python-version 3.11 \
		--upgrade --generate-hashes --no-emit-index-url --no-emit-find-links --no-header --no-annotate \
		--quiet --output-file requirements/clients.txt
	$(BIN)/uv pip compile pyproject.toml --constraint requirements/dev.txt --universal --python-version 3.11 \
		--upgrade --generate-hashes --no-emit-index-url --no-emit-find-links --no-header --no-annotate \
		--quiet --output-file requirements/action.txt
	$(BIN)/uv pip compile requirements/runners/python.in --universal --python-version 3.11 --upgrade \
		--generate-hashes --no-emit-index-url --no-emit-find-links --no-header --no-annotate \
		--quiet --output-file requirements/runners/python.txt

clean: ## remove everything that the targets made
	rm -rf $(VENV) .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis dist build
