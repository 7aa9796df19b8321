#!/bin/sh
# Installs what is missing on a Debian machine. `setup.sh build`: to build and run. `setup.sh test`: to test, too.
# `setup.sh book`: to build the documents as a site.
# Does nothing where everything is there; says what is missing where it may not install.
set -eu

need() { # command package
    command -v "$1" >/dev/null 2>&1 || missing="$missing $2"
}

missing=""
need cc gcc
need make make
need git git
need curl curl
need pkg-config pkg-config
[ -e /usr/include/gelf.h ] || missing="$missing libelf-dev"
[ -e /usr/include/zlib.h ] || missing="$missing zlib1g-dev"
if [ "${1:-build}" = test ]; then
    need clang clang
    need chromium chromium
    need ns ns2
    need g++ g++
    [ -e /usr/include/ns3 ] || missing="$missing libns3-dev"
    need ip iproute2
    need qemu-system-x86_64 qemu-system-x86
    need qemu-img qemu-utils
    need tshark tshark
    need tcptrace tcptrace
    need sysctl procps
    need ethtool ethtool
    need iperf3 iperf3
    need slurmctld slurm-wlm
    need python3 python3
    python3 -c 'import ensurepip, venv' >/dev/null 2>&1 || missing="$missing python3-venv"
fi
if [ "${1:-build}" = book ]; then
    need python3 python3
fi
if [ -n "$missing" ]; then
    if [ "$(id -u)" = 0 ]; then root=""; elif command -v sudo >/dev/null 2>&1; then root="sudo"; else
        echo "setup: these Debian packages are missing, and only root can install them:$missing" >&2
        exit 3
    fi
    command -v apt-get >/dev/null 2>&1 || {
        echo "setup: install these first (names as in Debian):$missing" >&2
        exit 3
    }
    echo "setup: installing$missing"
    $root apt-get update -qq
    # shellcheck disable=SC2086  # a list of packages
    $root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq ca-certificates libc6-dev $missing >/dev/null
fi

# Python's packages for tests: those of the module, and two engines for sweeps.
if [ "${1:-build}" = test ]; then
    tools=${CARGO_TARGET_DIR:-$(dirname "$0")/target}/python/tools
    [ -x "$tools/bin/pip" ] || python3 -m venv "$tools"
    "$tools/bin/pip" install --quiet --requirement "$(dirname "$0")/python/tests/requirements.txt" || {
        echo "setup: packages of python/tests/requirements.txt cannot be installed" >&2
        exit 3
    }
fi

# Kernels of Debian's, for the tests that boot one. Where one cannot be had they skip, and say so.
if [ "${1:-build}" = test ]; then
    here=$(dirname "$0")
    "$here/linux/tests/fetch-kernel.sh" "$here/target/debian-6.1" 6.1 ||
        echo "setup: no Debian kernel 6.1; the tests that boot it will be skipped" >&2
    "$here/linux/tests/fetch-kernel.sh" "$here/target/debian-7.3" 7.3 trixie-backports ||
        echo "setup: no Debian kernel 7.3; the tests of queue disciplines in Linux will be skipped" >&2
fi

# Rust, if there is none or it is too old: rustup from Debian where it is packaged (13 and later), else from its makers.
wanted=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' "$(dirname "$0")/Cargo.toml")
new_enough() {
    PATH="$HOME/.cargo/bin:$PATH"
    command -v cargo >/dev/null 2>&1 || return 1
    found=$(rustc --version | cut -d' ' -f2)
    [ "$(printf '%s\n%s\n' "$wanted" "$found" | sort -V | head -n1)" = "$wanted" ]
}
if ! new_enough; then
    echo "setup: installing Rust $wanted or newer with rustup"
    if ${root:-} apt-get install -y -qq rustup >/dev/null 2>&1; then
        rustup toolchain install stable --profile minimal --component rustfmt --component clippy
        rustup default stable
    else
        curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs |
            sh -s -- -y --quiet --profile minimal --component rustfmt --component clippy
        echo "setup: in other shells: . \"\$HOME/.cargo/env\""
    fi
fi

# mdBook, without its server.
if [ "${1:-build}" = book ]; then
    tools=${CARGO_TARGET_DIR:-$(dirname "$0")/target}/tools
    version=0.5.4
    [ "$("$tools/bin/mdbook" --version 2>/dev/null)" = "mdbook v$version" ] ||
        PATH="$HOME/.cargo/bin:$PATH" env -u CARGO_TARGET_DIR cargo install --quiet --locked mdbook --version "$version" \
            --no-default-features --features search --root "$tools" || {
        echo "setup: mdbook $version cannot be installed" >&2
        exit 3
    }
fi
