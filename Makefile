# Two commands carry a newcomer: `make demo` and `make test`. Both install what is missing, and are quick the second time.
# JOBS=n limits the parallel compile jobs.
JOBS ?= $(shell nproc)
BUILD = cmake --build build/$(1) --parallel $(JOBS)
.DELETE_ON_ERROR:

.PHONY: demo test test-slow test-gpu package reproducible newcomer release-check release dev tsan clang19 format formats goldens page site clean help

help:
	@echo 'make demo     install what is missing, build, analyse the bundled sample trace'
	@echo 'make test     build with sanitizers, run the tests, fuzz (without the slow ones)'
	@echo 'make test-slow  the tests that make test leaves out (CI runs both and the demo: .ci/run)'
	@echo 'make test-gpu  on a machine with an AMD GPU: the real commands on programs of our own (under ten minutes)'
	@echo 'make release  the optimised program: build/release/src/cli/rocm-perf; cmake --install build/release installs it'
	@echo 'make package  the Debian package: build/release/package/'
	@echo 'make reproducible  build the package twice, elsewhere, and compare (some 25 minutes)'
	@echo 'make newcomer  a fresh Debian 12 (debootstrap): clone, demo, package, tutorial (root; some 20 minutes; docs/PACKAGES.md)'
	@echo 'make release-check  version, changelog, package, reproducible, newcomer, with one table at the end (an hour)'
	@echo 'make goldens  write the golden files of the tests anew (then read the diff)'
	@echo 'make formats  write docs/FORMATS.md from the schemas, and every field as a table to build/formats/'
	@echo 'make format   clang-format over the sources'
	@echo 'make page     the report page anew from web/ (needs npm): web/dist/index.html'
	@echo 'make site     the documents as a site with a search: build/site (needs mkdocs, which it installs)'
	@echo 'make clang19  build with clang 19 and clang-tidy (slow; by hand)'

# What the demonstration runs; `make release` builds all that is installed.
demo: build/.deps-build build/release/build.ninja
	@$(call BUILD,release) --target rocm-perf sample_trace
	@scripts/demo

test: dev
	@scripts/test

test-slow: dev build/tsan/build.ninja
	@$(call BUILD,dev) --target web_built
	@JOBS=$(JOBS) scripts/test slow

# Options for it: make test-gpu SELF_TEST='--only module --json'
test-gpu: release
	@build/release/src/cli/rocm-perf doctor --self-test $(SELF_TEST)

build/.deps-%: scripts/bootstrap
	@scripts/bootstrap $*
	@mkdir -p build && touch $@

# cmake writes build.ninja last: a half-done configure is done again.
build/%/build.ninja: CMakePresets.json CMakeLists.txt
	@cmake --preset $* >/dev/null && touch $@

release: build/.deps-build build/release/build.ninja
	@$(call BUILD,release) --target installed

package: build/.deps-package release
	@scripts/package

reproducible: build/.deps-package
	@scripts/reproducible

# make release-check PARTS='version changelog'
release-check:
	@scripts/release-check $(PARTS)

newcomer:
	@scripts/bootstrap newcomer || echo 'newcomer: no debootstrap: a clean clone then' >&2
	@scripts/newcomer

dev: build/.deps-test build/dev/build.ninja
	@$(call BUILD,dev)

tsan: build/.deps-test build/tsan/build.ninja
	@$(call BUILD,tsan) --target test_threads

clang19: build/.deps-test build/clang19/build.ninja
	@$(call BUILD,clang19)

goldens: dev
	@PERFLAB_UPDATE_GOLDENS=1 ctest --preset dev -L golden --output-on-failure
	@git diff --stat -- tests

page: build/.deps-test build/dev/build.ninja
	@$(call BUILD,dev) --target web_page

site: build/.deps-site release
	@scripts/site

format: build/.deps-test
	@git ls-files '*.h' '*.cpp' | xargs clang-format-19 -i

formats:
	@scripts/formats

clean:
	rm -rf build
