#!/bin/sh
# Installs a Debian package into a bare root made by mmdebstrap, runs a scenario there, and purges it: nothing of it is left.
# `deb-test.sh PACKAGE [SUITE]`. Needs root, mmdebstrap and a Debian mirror; else it says so and ends well.
set -eu
package=$(realpath "$1")
suite=${2:-bookworm}
skip() { echo "deb-test: skipped: $1"; exit 0; }
fail() { echo "deb-test: $1" >&2; exit 1; }
command -v mmdebstrap >/dev/null || skip "no mmdebstrap; on Debian, install mmdebstrap"
[ "$(id -u)" = 0 ] || skip "not root"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
mmdebstrap --quiet --variant=apt "$suite" "$root" >"$work/log" 2>&1 ||
    skip "mmdebstrap makes no $suite here: $(tail -1 "$work/log")"
listed() { (cd "$root" && find . -xdev \( -path ./proc -o -path ./var/log -o -path ./var/cache -o -path ./tmp \) -prune -o -print | sort); }
inside() { chroot "$root" env PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C "$@"; }

listed >"$work/before"
cp "$package" "$root/tmp/it.deb"
inside apt-get install -y -qq /tmp/it.deb >"$work/log" 2>&1 || fail "it does not install: $(cat "$work/log")"
inside dpkg --verify packetscale | grep -v '^??5?????? *c' && fail "files differ from those of the package"
inside packetscale --version
inside sh -c 'cd /tmp && packetscale new scenario mine.toml >/dev/null && packetscale run mine.toml --out out >/dev/null \
    --set "run.duration=\"2 s\"" --set "run.warmup=\"1 s\"" --set run.replications=1' || code=$?
# An expectation may be missed in a run that short; what is wrong or impossible has other codes.
[ "${code:-0}" -le 1 ] || fail "the command ended with ${code}"
[ -s "$root/tmp/out/runs.csv" ] || fail "the run has left no runs.csv"
for page in packetscale packetscale-run packetscale-live-serve packetscale-theory-tdqm; do
    [ -e "$root/usr/share/man/man1/$page.1.gz" ] || fail "no page $page(1)"
done
inside apt-get purge -y -qq packetscale >"$work/log" 2>&1 || fail "it does not purge: $(cat "$work/log")"
# dpkg's and apt's own books change.
listed | grep -v -e '^./var/lib/dpkg' -e '^./var/lib/apt' >"$work/after"
grep -v -e '^./var/lib/dpkg' -e '^./var/lib/apt' "$work/before" | diff - "$work/after" >"$work/left" ||
    fail "after the purge the root differs: $(cat "$work/left")"
echo "deb-test: $(basename "$package") installs, runs and purges in $suite"
