# The targets a person uses; "make help" lists those that have a comment.
GO ?= go

# How long each fuzz target runs, which benchmarks run, and for how long.
FUZZTIME ?= 10s
BENCH ?= .
BENCHTIME ?= 1s

.DEFAULT_GOAL := help

.PHONY: help build test race bench bench-doc fuzz hammer crash contend check demo clean conformance
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# The go command tracks what the program is made of better than a list here would. Version control is asked only where it
# answers: in a copy without .git, or in somebody else's checkout, the build would fail.
BUILDVCS = $(if $(shell git rev-parse --verify --quiet HEAD 2>/dev/null),true,false)

build: ## Build bin/chela
	$(GO) build -trimpath -ldflags='-s -w' -buildvcs=$(BUILDVCS) -o bin/chela ./cmd/chela

test: wasm ## Run all tests
	$(GO) test ./...

race: wasm ## Run all tests under the race detector (needs a C compiler)
	CGO_ENABLED=1 $(GO) test -race -timeout 30m ./...

bench: wasm ## Run the benchmarks; BENCH=REGEXP picks some, BENCHTIME=TIME is how long each runs
	$(GO) test -p 1 -run '^$$' -bench '$(BENCH)' -benchtime '$(BENCHTIME)' ./...

bench-doc: wasm ## Measure, and put the figures into docs/benchmarks.md
	@mkdir -p build
	$(GO) test -p 1 -run '^$$' -bench '$(BENCH)' -benchtime '$(BENCHTIME)' ./... > build/bench.txt
	scripts/bench-doc docs/benchmarks.md < build/bench.txt

fuzz: wasm ## Run each fuzz target for FUZZTIME (10s)
	GO='$(GO)' scripts/fuzz '$(FUZZTIME)'

HAMMER ?= 20s
hammer: wasm ## Suspend, resume, abort and expire cells at random for HAMMER (20s), under the race detector
	CHELA_HAMMER='$(HAMMER)' CGO_ENABLED=1 $(GO) test -race -count=1 -v -run Hammer ./host

CRASH ?= 200
crash: ## Kill a process CRASH (200) times while it changes a store
	CHELA_CRASH='$(CRASH)' $(GO) test -count=1 -timeout 30m -v -run Crash ./host/store

CONTEND ?= 200
contend: ## Let eight processes make CONTEND (200) changes each to one store
	CHELA_CONTEND='$(CONTEND)' $(GO) test -count=1 -timeout 30m -v -run Contend ./host/store

conformance: wasm ## Count the lines of the contract that tests assert, and write docs/conformance.md
	$(GO) run ./internal/conformance -go '$(GO)'

check: ## Format, vet (natively and for the guests), staticcheck, go.mod and a clean tree
	@files=$$("$$($(GO) env GOROOT)/bin/gofmt" -l $(filter-out bin bin/ build build/,$(wildcard */))) || exit 1; \
		test -z "$$files" || { echo "gofmt these files:"; echo "$$files"; exit 1; }
	$(GO) vet ./...
	GOOS=wasip1 GOARCH=wasm $(GO) vet $(addprefix ./,$(COMPILED))
	$(GO) tool staticcheck ./...
	$(GO) mod tidy -diff
	@for module in $$($(GO) list -m -f '{{if not (or .Indirect .Main)}}{{.Path}}{{end}}' all); do \
		grep -q "$$module" docs/dependencies.md || { echo "docs/dependencies.md does not name $$module"; exit 1; }; done
	@changes=$$(git status --porcelain); \
		test -z "$$changes" || { echo "the tree is not clean: commit these, or add them to .gitignore"; echo "$$changes"; exit 1; }

demo: build wasm ## Find the five largest Go files of this repository with one program
	bin/chela exec --plugin build/plugins/files --grant-dir /repo=. docs/demo.js

clean: ## Remove what was built
	rm -rf bin build

# Guests: the WebAssembly plugins that are built with the stock Go toolchain, and those that a program beside them encodes.
PLUGINS := $(patsubst %/manifest.json,%,$(wildcard plugins/*/manifest.json))
TESTPLUGINS := $(patsubst %/manifest.json,%,$(wildcard testplugins/*/manifest.json))
ENCODED := testplugins/raw
COMPILED := $(filter-out $(ENCODED),$(PLUGINS) $(TESTPLUGINS))

# The result depends on the sources and the toolchain alone: no paths, no version control, no build id.
GUESTBUILD := GOOS=wasip1 GOARCH=wasm CGO_ENABLED=0 GOWASM= GOFLAGS= $(GO) build \
	-buildmode=c-shared -trimpath -ldflags='-s -w -buildid=' -buildvcs=false

.PHONY: wasm
wasm: $(patsubst %,build/%/manifest.json,$(COMPILED) $(ENCODED)) ## Build the WebAssembly plugins into build/

# A module is written beside its place and then renamed, so that an interrupted build leaves nothing that looks finished.
.SECONDEXPANSION:
$(patsubst %,build/%/plugin.wasm,$(COMPILED)): build/%/plugin.wasm: $$(filter-out %_test.go,$$(wildcard $$*/*.go)) go.mod go.sum
	@mkdir -p $(@D)
	$(GUESTBUILD) -o $@.new ./$*
	@mv $@.new $@

$(patsubst %,build/%/plugin.wasm,$(ENCODED)): build/%/plugin.wasm: $$(wildcard $$*/*.go) $(wildcard internal/wasmenc/*.go)
	@mkdir -p $(@D)
	$(GO) run ./$* $@.new
	@mv $@.new $@

# The manifest comes last: a directory that has one is complete.
build/%/manifest.json: %/manifest.json build/%/plugin.wasm $(wildcard internal/wasmpack/*.go)
	$(GO) run ./internal/wasmpack $*/manifest.json build/$*/plugin.wasm
