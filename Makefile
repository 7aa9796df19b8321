# packetscale. `make demo` does the main job, `make check` passes the tests that need nothing but Rust and a C compiler,
# `make test` passes all of them. Each installs what it needs first.

# Where rustup puts what setup.sh may just have installed.
export PATH := $(HOME)/.cargo/bin:$(PATH)

CARGO ?= cargo
BIN := target/release/packetscale

# The tests that wait in real time: a plain `cargo test` leaves them alone.
REAL_TIME := packetscale-lab/lab packetscale-lab/killed packetscale-tcp/stamps packetscale-tcp/tcp packetscale-cli/in_real_time

.PHONY: help demo check test bench lint setup-build setup-test clean

help:
	@echo "make demo    build, run scenarios/bursty-10g.toml, write out/bursty-10g/report.html"
	@echo "make check   the tests that need Rust and a C compiler, and nothing else"
	@echo "make test    all tests: laws, theory, peers, claims, pages in a browser, real Linux TCP"
	@echo "make bench   cost of a packet, as ratios from one run, beside ns-2 when it is installed"
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
	$(CARGO) clippy --locked $(foreach test,$(REAL_TIME),--package $(patsubst %/,%,$(dir $(test)))) \
		$(foreach test,$(REAL_TIME),--test $(notdir $(test))) -- --deny warnings

# Without the rooms that need libelf or a release build. What needs another tool says so and is skipped.
check:
	$(CARGO) fmt --all --check
	$(CARGO) test --locked --workspace --no-default-features \
		--exclude packetscale-tcp --exclude packetscale-lab --exclude packetscale-conformance
	$(CARGO) test --locked --package packetscale-conformance --test walls

# Each part says how long it took.
test: setup-test
	@for part in lint tests-in-virtual-time tests-of-claims tests-in-real-time; do \
		began=$$(date +%s); \
		$(MAKE) --no-print-directory $$part || exit 1; \
		echo "$$part took $$(( $$(date +%s) - began )) s"; \
	done

# The unit and property tests, with checks on. Nothing here waits in real time.
.PHONY: tests-in-virtual-time tests-of-claims tests-in-real-time
tests-in-virtual-time:
	$(CARGO) test --locked --workspace --exclude packetscale-conformance

# Laws, theory, peers, claims: they need speed.
tests-of-claims:
	$(CARGO) test --locked --profile claims --package packetscale-conformance

# Everything that waits in real time. A slow machine fails none of it (hosts/in-real-time.sh).
tests-in-real-time:
	CARGO="$(CARGO)" hosts/in-real-time.sh $(REAL_TIME)

bench: setup-build
	$(CARGO) bench --locked --package packetscale-benches

clean:
	$(CARGO) clean
	rm -rf out
