#!/bin/sh
# Packs a command into a Debian package: the command, a page of the manual for each subcommand, completions, and the units
# of systemd. `deb.sh BINARY FOLDER` writes FOLDER/packetscale_VERSION_ARCHITECTURE.deb and prints its name. No root.
set -eu
binary=$1
folder=$2
top=$(cd "$(dirname "$0")/.." && pwd)
fail() { echo "deb.sh: $1" >&2; exit 2; }
command -v dpkg-deb >/dev/null || fail "found no dpkg-deb; expected Debian's dpkg"
command -v readelf >/dev/null && command -v objdump >/dev/null ||
    fail "found no readelf or no objdump, which say what the program needs; expected Debian's binutils"
[ -x "$binary" ] || fail "found no program $binary; expected the command, as cargo or release/build.sh builds it"
machine=$(LC_ALL=C readelf --file-header "$binary" | sed -n 's/^ *Machine: *//p')
case $machine in
    *X86-64) architecture=amd64 ;;
    AArch64) architecture=arm64 ;;
    *) fail "found a program for \"$machine\"; expected one for X86-64 or AArch64" ;;
esac

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
version=$("$binary" -V | cut -d' ' -f2)
install -D -m755 "$binary" "$root/usr/bin/packetscale"
strip --strip-unneeded "$root/usr/bin/packetscale" 2>/dev/null || echo "deb.sh: not stripped: no strip for it" >&2
"$binary" man --pages "$root/usr/share/man/man1"
install -D -m644 "$top/docs/man/packetscale-tcp.8" "$root/usr/share/man/man8/packetscale-tcp.8"
find "$root/usr/share/man" -name '*.[18]' -exec gzip -9n {} +
mkdir -p "$root/usr/share/bash-completion/completions" "$root/usr/share/zsh/vendor-completions" \
    "$root/usr/share/fish/vendor_completions.d"
"$binary" completions bash >"$root/usr/share/bash-completion/completions/packetscale"
"$binary" completions zsh >"$root/usr/share/zsh/vendor-completions/_packetscale"
"$binary" completions fish >"$root/usr/share/fish/vendor_completions.d/packetscale.fish"
# The units are there and not enabled. That of `tcp` is for a command built with the kernel.
for unit in "$top"/linux/systemd/*.service "$top"/live/systemd/*.service; do
    name=$(basename "$unit")
    subcommand=$(sed -n 's,^ExecStart=/usr/local/bin/packetscale \([a-z ]*\).*,\1,p' "$unit")
    # shellcheck disable=SC2086  # one or two words
    "$binary" $subcommand --help >/dev/null 2>&1 || continue
    mkdir -p "$root/usr/lib/systemd/system"
    sed 's,/usr/local/bin/packetscale,/usr/bin/packetscale,' "$unit" >"$root/usr/lib/systemd/system/$name"
done
[ -e "$root/usr/lib/systemd/system/packetscale-tcp.service" ] || rm -r "$root/usr/share/man/man8"
documents=$root/usr/share/doc/packetscale
mkdir -p "$documents"
{
    echo "packetscale: MIT or Apache-2.0, at your choice. The C headers of Rapid's law and its eBPF programs: GPL-2.0-only or"
    echo "BSD-2-Clause."
    echo
    cat "$top/LICENSE-MIT"
    echo
    echo "Apache-2.0: /usr/share/common-licenses/Apache-2.0. GPL-2.0: /usr/share/common-licenses/GPL-2."
} >"$documents/copyright"
gzip -9nc "$top/CHANGELOG.md" >"$documents/changelog.gz"

# What it is linked with: of a static program nothing.
needs=""
dynamic=$(objdump -p "$binary")
libraries=$(echo "$dynamic" | sed -n 's/^ *NEEDED *//p')
for library in $libraries; do
    case $library in
        libelf.so.1) needs="$needs, libelf1 | libelf1t64" ;;
        libz.so.1) needs="$needs, zlib1g" ;;
        libgcc_s.so.1) needs="$needs, libgcc-s1" ;;
        libc.so.6)
            least=$(objdump -T "$binary" | sed -n 's/.*GLIBC_\([0-9.]*\).*/\1/p' | sort -V | tail -1)
            needs="$needs, libc6 (>= $least)"
            ;;
        libm.so.6 | libpthread.so.0 | libdl.so.2 | ld-linux*) ;;
        *) fail "found a program that needs $library; expected one of the libraries that deb.sh knows" ;;
    esac
done
mkdir "$root/DEBIAN"
{
    echo "Package: packetscale"
    echo "Version: $version"
    echo "Architecture: $architecture"
    echo "Maintainer: The packetscale authors <packetscale@example.invalid>"
    echo "Section: net"
    echo "Priority: optional"
    [ -z "$needs" ] || echo "Depends: ${needs#, }"
    echo "Installed-Size: $(du -sk "$root/usr" | cut -f1)"
    echo "Description: congestion control at the scale of single packets"
    echo " Develops and compares congestion controllers: a packet simulator, scenarios in TOML, tables and interactive"
    echo " reports, theory, and estimation of available bandwidth."
} >"$root/DEBIAN/control"
(cd "$root" && find usr -type f -exec md5sum {} +) >"$root/DEBIAN/md5sums"
chmod -R u=rwX,go=rX "$root"
mkdir -p "$folder"
package=$folder/packetscale_${version}_$architecture.deb
# The same bytes from the same commit: the commit's own time.
SOURCE_DATE_EPOCH=$(git -C "$top" log -1 --format=%ct 2>/dev/null || stat -c %Y "$top/CHANGELOG.md")
export SOURCE_DATE_EPOCH
dpkg-deb --root-owner-group --build -Zxz "$root" "$package" >/dev/null
echo "$package"
