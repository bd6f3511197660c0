GO ?= go

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
