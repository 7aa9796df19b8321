# packetscale. `make demo` does the main job, `make check` passes the tests that need nothing but Rust and a C compiler,
# `make test` passes all tests that decide about a change, `make test-long` the rest. Each but `check` installs what it needs.

# Where rustup puts what setup.sh may just have installed.
export PATH := $(HOME)/.cargo/bin:$(PATH)

CARGO ?= cargo
BIN := target/release/packetscale
TARGET := $(or $(CARGO_TARGET_DIR),target)

# Programs of tests that linux/tests/in_a_machine.rs runs on a kernel of its own. A plain `cargo test` leaves them to it.
IN_A_MACHINE := lab killed stamps tcp qdisc in_real_time probed carried paced

.PHONY: help demo check test test-long bench fuzz lint book setup-build setup-test setup-book clean

help:
	@echo "make demo       build, run scenarios/bursty-10g.toml, write out/bursty-10g/report.html"
	@echo "make check      the tests that need Rust and a C compiler, and nothing else"
	@echo "make test       formatting, lints, tests: laws, theory, peers, claims, pages in a browser, real Linux TCP"
	@echo "make test-long  what takes too long for every change: regressions, many seeds, all kills, soaks"
	@echo "make bench      cost of a packet, as ratios from one run, beside ns-2 when it is installed"
	@echo "make fuzz       readers of foreign bytes, FUZZ_MINUTES=2 each, from a new seed or FUZZ_SEED=N; prints what to keep"
	@echo "make lint       formatting and lints"
	@echo "make book       the documents as a site with search: target/book/index.html"

setup-build:
	@./setup.sh build

setup-test:
	@./setup.sh test

setup-book:
	@./setup.sh book

$(BIN): setup-build
	$(CARGO) build --release --locked --package packetscale-cli

demo: $(BIN)
	$(BIN) run scenarios/bursty-10g.toml --out out/bursty-10g

lint:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --locked --workspace --all-targets -- --deny warnings
	$(CARGO) clippy --locked --workspace $(addprefix --test ,$(IN_A_MACHINE)) -- --deny warnings

# Without Linux TCP as a host, which needs libelf, and without what takes minutes. What needs another tool says so and is skipped.
check:
	$(CARGO) fmt --all --check
	$(CARGO) test --locked --workspace --no-default-features --exclude linux --exclude conformance --no-fail-fast

# Each part says how long it took. One that runs beside another must not share its parent's job slots: cargo takes them.
timed = began=$$(date +%s); MAKEFLAGS= $(MAKE) --no-print-directory $(1) && echo "$(1) took $$(( $$(date +%s) - began )) s"
SAID := $(TARGET)/said

test: setup-test
	@rm -rf $(SAID); mkdir -p $(SAID)
	@$(call timed,lint)
	@$(call timed,check-bare)
	@$(call timed,tests-built)
	@MAKEFLAGS= $(MAKE) --no-print-directory --jobs 2 tests-timed tests-of-python-beside
	@./conformance/skips.sh $(SAID)

.PHONY: tests-timed check-bare tests-built tests tests-of-python
# Where there is nothing else, a library or program that somebody needs without saying so is missing.
check-bare:
	./conformance/bare.sh $(MAKE) --no-print-directory check

tests-timed:
	@$(call timed,tests)

# What runs beside other parts prints its output when it has ended.
%-beside:
	@{ $(call timed,$*); } > $(SAID)/$*.txt 2>&1; ended=$$?; cat $(SAID)/$*.txt; exit $$ended

tests-built:
	$(CARGO) test --locked --workspace --no-run

# All tests but those of crates that `check` has passed as they are, the kernel's in virtual time. None judges how fast this machine is.
PASSED := packetscale-law packetscale-controller packetscale-models experiment harness simulator
tests:
	@PACKETSCALE_PYTHON=$(abspath $(TARGET))/python/tools/bin/python $(CARGO) test --locked --workspace \
		$(addprefix --exclude ,$(PASSED)) --no-fail-fast -- --show-output \
		> $(SAID)/tests.txt 2>&1; ended=$$?; cat $(SAID)/tests.txt; exit $$ended

# The Python module: its wheel in a virtual environment, beside the command that the tests before it have built.
tests-of-python:
	PACKETSCALE=$(abspath $(TARGET))/debug/packetscale python/test.sh

test-long: setup-test
	PACKETSCALE_LONG=1 $(CARGO) test --locked --workspace -- --include-ignored

bench: setup-build
	$(CARGO) bench --locked --package simulator

# Tests called fuzz_ of the crates that read foreign bytes. Each round tries other inputs; the first failure ends it. Memory is
# limited, so that a reader which takes too much fails as well; not where sanitizers reserve it.
FUZZED := experiment harness live linux
FUZZ_MINUTES ?= 2
FUZZ_TIMES ?= 20
FUZZ_KB := 4000000
fuzz: setup-build
	@for name in $(FUZZED); do \
		test="$(CARGO) test --locked --quiet --package $$name"; $$test --no-run || exit 1; \
		seed=$${FUZZ_SEED:-$$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}; ends=$$(( $$(date +%s) + 60 * $(FUZZ_MINUTES) )); \
		while echo "$$name: FUZZ_SEED=$$seed"; do \
			( [ $$name = linux ] || ulimit -v $(FUZZ_KB); FUZZ_SEED=$$seed FUZZ_TIMES=$(FUZZ_TIMES) $$test fuzz_ ) || { \
				echo "$$name: failed with FUZZ_SEED=$$seed FUZZ_TIMES=$(FUZZ_TIMES); keep the input above in a test of its own"; \
				exit 1; }; \
			[ $$(date +%s) -lt $$ends ] && [ -z "$$FUZZ_SEED" ] || break; \
			seed=$$(( (seed + 1) % 4294967296 )); \
		done; \
	done

book: setup-book
	python3 docs/book.py $(TARGET)

clean:
	$(CARGO) clean
	rm -rf out
