#!/bin/sh
# Installs a wheel into a bare root made by mmdebstrap, which has Python and no compiler, and runs the demo scenario there by
# `ps.run`: it gives the tables that COMMAND gives here, byte for byte. COMMAND must be of the same commit.
# `wheel-test.sh WHEEL COMMAND [SUITE]`. Needs root, mmdebstrap and a Debian mirror; else it says so and ends well.
set -eu
wheel=$(realpath "$1")
command=$(realpath "$2")
suite=${3:-bookworm}
top=$(cd "$(dirname "$0")/.." && pwd)
scenario=bursty-10g.toml
skip() { echo "wheel-test: skipped: $1"; exit 0; }
fail() { echo "wheel-test: $1" >&2; exit 1; }
command -v mmdebstrap >/dev/null || skip "no mmdebstrap; on Debian, install mmdebstrap"
[ "$(id -u)" = 0 ] || skip "not root"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
mmdebstrap --quiet --variant=apt --include=python3-venv "$suite" "$root" >"$work/log" 2>&1 ||
    skip "mmdebstrap makes no $suite here: $(tail -1 "$work/log")"
inside() { chroot "$root" env PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C "$@"; }
for compiler in cc gcc clang rustc cargo; do
    inside sh -c "command -v $compiler" >/dev/null && fail "found $compiler in the root; expected none"
done

cp "$wheel" "$root/tmp/"
cp -r "$top/scenarios" "$root/tmp/"
inside python3 -m venv /tmp/own
inside /tmp/own/bin/pip install --quiet --no-index "/tmp/$(basename "$wheel")" || fail "the wheel does not install"
inside /tmp/own/bin/packetscale --version >/dev/null || fail "the wheel's command does not start"
inside sh -c "cd /tmp && own/bin/python - there scenarios/$scenario" <<'PYTHON' || fail "the module fails"
import sys

import packetscale as ps

print("wheel-test: Python", sys.version.split()[0], "packetscale", ps.__version__, ps.__commit__)
ps.run(ps.Scenario.load(sys.argv[2]), out=sys.argv[1])
PYTHON
(cd "$top" && "$command" run "scenarios/$scenario" --out "$work/here" --no-page) >/dev/null || [ $? = 1 ] || fail "$command fails"

tables=$("$top/release/same-tables.sh" "$work/here" "$root/tmp/there") || fail "the tables are not those of $command"
echo "wheel-test: $(basename "$wheel") in $suite: $tables tables of $scenario are those of the command"
