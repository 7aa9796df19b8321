#!/bin/sh
# wheel-test.sh for the wheel of AArch64 where there is no such machine: QEMU emulates its instructions, and the demo scenario is
# cut to 1 s. Nothing is registered with the kernel, so a program of the root can start no other one of it.
# `wheel-test-aarch64.sh WHEEL COMMAND [SUITE]`. Needs root, mmdebstrap, qemu-user-static and a Debian mirror; else it says so
# and ends well.
set -eu
wheel=$(realpath "$1")
command=$(realpath "$2")
suite=${3:-bookworm}
top=$(cd "$(dirname "$0")/.." && pwd)
scenario=bursty-10g.toml
emulator=qemu-aarch64-static
skip() { echo "wheel-test-aarch64: skipped: $1"; exit 0; }
fail() { echo "wheel-test-aarch64: $1" >&2; exit 1; }
for program in mmdebstrap $emulator; do
    command -v $program >/dev/null || skip "no $program; on Debian, install mmdebstrap and qemu-user-static"
done
[ "$(id -u)" = 0 ] || skip "not root"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
# Unpacked only: to configure packages, their programs would start others.
mmdebstrap --quiet --arch=arm64 --variant=extract --include=python3-venv,python3-pip-whl "$suite" "$root" >"$work/log" 2>&1 ||
    skip "mmdebstrap makes no $suite for arm64 here: $(tail -1 "$work/log")"
cp "$(command -v $emulator)" "$root/usr/bin/"
inside() { chroot "$root" /usr/bin/$emulator -E LC_ALL=C "$@"; }

cp "$wheel" "$root/tmp/"
cp -r "$top/scenarios" "$root/tmp/"
python=/tmp/own/bin/python3
inside /usr/bin/python3 -m venv --without-pip /tmp/own
pip=$(cd "$root" && echo usr/share/python-wheels/pip-*.whl)
inside $python "/$pip/pip" install --quiet --no-index "/tmp/$(basename "$wheel")" || fail "the wheel does not install"
inside $python -m packetscale --version || fail "the wheel's command does not start"
inside $python - /tmp/there "/tmp/scenarios/$scenario" <<'PYTHON' || fail "the module fails"
import platform
import sys

import packetscale as ps

print("wheel-test-aarch64: Python", sys.version.split()[0], platform.machine(), "packetscale", ps.__version__, ps.__commit__)
short = {"run.duration": "1 s", "run.warmup": "500 ms", "run.replications": 1}
ps.run(ps.Scenario.load(sys.argv[2]).set(short), out=sys.argv[1])
PYTHON
(cd "$top" && "$command" run "scenarios/$scenario" --out "$work/here" --no-page --set 'run.duration="1 s"' \
    --set 'run.warmup="500 ms"' --set run.replications=1) >/dev/null || [ $? = 1 ] || fail "$command fails"

tables=$("$top/release/same-tables.sh" "$work/here" "$root/tmp/there") || fail "the tables are not those of $command"
echo "wheel-test-aarch64: $(basename "$wheel") in $suite, emulated: $tables tables of $scenario, 1 s, are those of the command"
