#!/bin/sh
# Builds all that a release has into FOLDER (default: target/release-VERSION): the static command, the Debian package, the
# wheels, the list of what is inside (SBOM, CycloneDX), and checksums. Publishes nothing. Needs the tools of release/README.md.
# PROFILE=dev builds quickly, to try the script.
set -eu
cd "$(dirname "$0")/.."
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
target=${CARGO_TARGET_DIR:-$PWD/target}
folder=${1:-$target/release-$version}
profile=${PROFILE:-release}
triple=x86_64-unknown-linux-musl
# The other kind of machine that has a wheel. Zig is its C compiler and its linker, and that of the other wheel: its libc is as
# old as the name of the wheel says, this machine's is newer.
other=aarch64-unknown-linux-gnu
libc=manylinux_2_28
fail() { echo "release: $1" >&2; exit 3; }

[ -z "$(git status --porcelain)" ] || fail "found changed files; expected a commit, since the program names it"
for wanted in $triple $other; do
    rustup target list --installed | grep -q "^$wanted$" || fail "found no $wanted; expected it: rustup target add $wanted"
done
command -v musl-gcc >/dev/null || fail "found no musl-gcc; expected it: on Debian, install musl-tools"
command -v readelf >/dev/null && command -v strip >/dev/null ||
    fail "found no readelf or no strip; expected both: on Debian, install binutils"
cargo cyclonedx --version >/dev/null 2>&1 || fail "found no cargo-cyclonedx; expected it: cargo install --locked cargo-cyclonedx"
mkdir -p "$folder"

# Everything but the kernel's hosts, which need libelf.
cargo build --locked --profile "$profile" --target "$triple" --package packetscale-cli --no-default-features
built=$target/$triple/$([ "$profile" = dev ] && echo debug || echo "$profile")/packetscale
# Not ldd: Rust's static programs can be placed anywhere, and with those it succeeds.
sections=$(readelf --wide --dynamic "$built")
case $sections in *"(NEEDED)"*) fail "found a program that loads libraries; expected a static one" ;; esac
name=packetscale-$version-$triple
install -D -m755 "$built" "$folder/$name/packetscale"
strip --strip-unneeded "$folder/$name/packetscale"
cp LICENSE-MIT LICENSE-APACHE README.md CHANGELOG.md "$folder/$name/"
"$built" man --replace --pages "$folder/$name/man"
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$(git log -1 --format=%ct)" -C "$folder" -cJf \
    "$folder/$name.tar.xz" "$name"
rm -r "${folder:?}/$name"

release/deb.sh "$built" "$folder"
tools=$target/python/tools
[ -x "$tools/bin/pip" ] || python3 -m venv "$tools"
"$tools/bin/pip" install --quiet ziglang==0.17.1
export PATH="$tools/bin:$PATH"
python/test.sh "$profile" --zig --compatibility $libc
case $("$tools/bin/packetscale" --version) in *"with kernel"*) fail "found the kernel's hosts in the wheel; expected none" ;; esac
cp "$target"/python/wheels/packetscale-*.whl "$folder/"
maturin build --locked --profile "$profile" --zig --compatibility $libc --target $other \
    --manifest-path python/Cargo.toml --out "$folder"

# One file for each crate; that of the command has all. Its time is the commit's, and folders are named from the top.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) cargo cyclonedx --quiet --format json --spec-version 1.5 --target "$triple" \
    --manifest-path cli/Cargo.toml --no-default-features --override-filename sbom
sed "s,file://$PWD,file://.,g" cli/sbom.json >"$folder/packetscale-$version.cdx.json"
find . -name sbom.json -not -path './target/*' -delete

(cd "$folder" && sha256sum packetscale* >SHA256SUMS)
echo "release: $folder"
cat "$folder/SHA256SUMS"
