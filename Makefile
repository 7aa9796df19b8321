# packetscale. `make demo` does the main job, `make test` passes the tests; each installs what it needs first.

# Where rustup puts what setup.sh may just have installed.
export PATH := $(HOME)/.cargo/bin:$(PATH)

CARGO ?= cargo
BIN := target/release/packetscale

.PHONY: help demo test bench lint setup-build setup-test clean

help:
	@echo "make demo    build, run scenarios/bursty-10g.toml, write out/bursty-10g/report.html"
	@echo "make test    all tests: laws, theory, peers, claims, pages in a browser"
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

# The unit and property tests run with checks on; the claims need the speed of a release build. The kernel's tests run in
# real time.
REAL_TIME := lab lab_killed stamps tcp
test: setup-test lint
	$(CARGO) test --locked --workspace --exclude packetscale-conformance --exclude packetscale-tcp --exclude packetscale-lab
	$(CARGO) test --locked --package packetscale-tcp --package packetscale-lab --lib
	CARGO="$(CARGO)" hosts/in-real-time.sh $(REAL_TIME)
	$(CARGO) test --locked --release --package packetscale-conformance

bench: setup-build
	$(CARGO) bench --locked --package packetscale-benches

clean:
	$(CARGO) clean
	rm -rf out
