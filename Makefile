# packetscale. `make demo` does the main job, `make check` passes the tests that need nothing but Rust and a C compiler,
# `make test` passes all of them. Each installs what it needs first.

# Where rustup puts what setup.sh may just have installed.
export PATH := $(HOME)/.cargo/bin:$(PATH)

CARGO ?= cargo
BIN := target/release/packetscale

# The kernel's own tests. A plain `cargo test` leaves them to hosts/virtual/tests/in_a_machine.rs, which runs each of them
# in a machine of its own, in virtual time. Linted for the whole workspace, as the rest is: with other features, all of it
# would be checked anew.
IN_A_MACHINE := lab killed stamps tcp in_real_time probed carried

.PHONY: help demo check test bench fuzz lint setup-build setup-test clean

help:
	@echo "make demo    build, run scenarios/bursty-10g.toml, write out/bursty-10g/report.html"
	@echo "make check   the tests that need Rust and a C compiler, and nothing else"
	@echo "make test    all tests: laws, theory, peers, claims, pages in a browser, real Linux TCP"
	@echo "make bench   cost of a packet, as ratios from one run, beside ns-2 when it is installed"
	@echo "make fuzz    readers of foreign bytes, FUZZ_MINUTES=2 each, from a new seed (or FUZZ_SEED=N); says what to keep"
	@echo "make lint    formatting and lints"

setup-build:
	@./setup.sh build

setup-test:
	@./setup.sh test

$(BIN): setup-build
	$(CARGO) build --release --locked --package packetscale-cli

demo: $(BIN)
	$(BIN) run scenarios/bursty-10g.toml --out out/bursty-10g
	@echo "The page: out/bursty-10g/report.html"

lint: setup-build
	$(CARGO) fmt --all --check
	$(CARGO) clippy --locked --workspace --all-targets -- --deny warnings
	$(CARGO) clippy --locked --workspace $(addprefix --test ,$(IN_A_MACHINE)) -- --deny warnings

# Without the rooms that need libelf or a release build. What needs another tool says so and is skipped.
check:
	$(CARGO) fmt --all --check
	$(CARGO) test --locked --workspace --no-default-features \
		--exclude packetscale-tcp --exclude packetscale-lab --exclude packetscale-conformance
	$(CARGO) test --locked --package packetscale-conformance --test walls

# What runs beside other parts says what it said when it has ended: the claims, which have a build of their own, beside all the rest;
# Python's tests beside the others, whose build they share.
test: setup-test
	@$(MAKE) --no-print-directory --jobs 2 lint-and-tests tests-of-claims-beside

# Each part says how long it took. One that runs beside another must not share its parent's job slots: cargo takes them.
timed = began=$$(date +%s); MAKEFLAGS= $(MAKE) --no-print-directory $(1) && echo "$(1) took $$(( $$(date +%s) - began )) s"
SAID := target/said

.PHONY: lint-and-tests tests-timed tests-built tests tests-of-claims tests-of-python
lint-and-tests:
	@$(call timed,lint)
	@$(call timed,tests-built)
	@MAKEFLAGS= $(MAKE) --no-print-directory --jobs 2 tests-timed tests-of-python-beside

tests-timed:
	@$(call timed,tests)

%-beside:
	@mkdir -p $(SAID)
	@{ $(call timed,$*); } > $(SAID)/$*.txt 2>&1; ended=$$?; cat $(SAID)/$*.txt; exit $$ended

tests-built:
	$(CARGO) test --locked --workspace --exclude packetscale-conformance --no-run

# The unit and property tests, and the kernel's in virtual time, with checks on. None judges how fast this machine is.
tests:
	$(CARGO) test --locked --workspace --exclude packetscale-conformance

# The Python module: its wheel in a virtual environment, beside the command that the tests before it have built.
tests-of-python:
	PACKETSCALE=$(abspath $(or $(CARGO_TARGET_DIR),target))/debug/packetscale python/test.sh

# Laws, theory, peers, claims: they need speed.
tests-of-claims:
	$(CARGO) test --locked --profile claims --package packetscale-conformance

bench: setup-build
	$(CARGO) bench --locked --package packetscale-benches

# Tests called fuzz_ of the crates that read foreign bytes. Each round tries other inputs; the first failure ends it. Memory is
# limited, so that a reader which takes too much fails as well; not where sanitizers reserve it.
FUZZED := traffic scenario runner packets live tcp
FUZZ_MINUTES ?= 2
FUZZ_TIMES ?= 20
FUZZ_KB := 4000000
fuzz: setup-build
	@for name in $(FUZZED); do \
		test="$(CARGO) test --locked --quiet --package packetscale-$$name"; $$test --no-run || exit 1; \
		seed=$${FUZZ_SEED:-$$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}; ends=$$(( $$(date +%s) + 60 * $(FUZZ_MINUTES) )); \
		while echo "$$name: FUZZ_SEED=$$seed"; do \
			( [ $$name = tcp ] || ulimit -v $(FUZZ_KB); FUZZ_SEED=$$seed FUZZ_TIMES=$(FUZZ_TIMES) $$test fuzz_ ) || { \
				echo "$$name: failed with FUZZ_SEED=$$seed FUZZ_TIMES=$(FUZZ_TIMES); keep the input above in a test of its own"; \
				exit 1; }; \
			[ $$(date +%s) -lt $$ends ] && [ -z "$$FUZZ_SEED" ] || break; \
			seed=$$(( (seed + 1) % 4294967296 )); \
		done; \
	done

clean:
	$(CARGO) clean
	rm -rf out
