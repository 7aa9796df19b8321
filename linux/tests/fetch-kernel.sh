#!/bin/sh
# fetch-kernel.sh FOLDER VERSION [ARCHIVE]: Debian's kernel of this version, as in 6.1, and its modules, into FOLDER, which is left
# alone where it has them. For the tests that boot it. Asks apt for packages by exact names; of ARCHIVE, as trixie-backports, in
# lists of its own.
set -eu

folder=$1
version=$2
archive=${3:-}
[ -e "$folder/vmlinuz" ] && exit 0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
set -- -o APT::Sandbox::User=root
if [ -n "$archive" ]; then
    mkdir -p "$work/lists/partial" "$work/archives/partial"
    keys=/usr/share/keyrings/debian-archive-keyring.gpg
    echo "deb [signed-by=$keys] http://deb.debian.org/debian $archive main" >"$work/sources.list"
    set -- "$@" -o Dir::Etc::sourcelist="$work/sources.list" -o Dir::Etc::sourceparts=/dev/null \
        -o Dir::State::lists="$work/lists" -o Dir::Cache="$work"
    apt-get "$@" -qq update
fi
pattern="^linux-image-$(echo "$version" | sed 's/[.]/[.]/g')[.].*-cloud-amd64\$"
package=$(apt-cache "$@" search --names-only "$pattern" | cut -d' ' -f1 | sort -V | tail -n1)
if [ -z "$package" ]; then
    echo "fetch-kernel.sh: apt knows no linux-image-$version.*-cloud-amd64${archive:+ in $archive}" >&2
    exit 3
fi
# Newer packages are split: the one with the plain name only depends on the others.
parts=$(apt-cache "$@" depends "$package" | sed -n -E 's/^ *Depends: (linux-(binary|modules)-.*)/\1/p')
mkdir "$work/tree"
cd "$work/tree"
# shellcheck disable=SC2086  # a list of packages
apt-get "$@" -qq download "$package" $parts
for deb in ./*.deb; do
    dpkg-deb -x "$deb" .
done
cd - >/dev/null
find "$work/tree" -name '*.ko.xz' -exec xz -d {} +
mkdir -p "$folder"
find "$work/tree" -name '*.ko' -exec cp {} "$folder" \;
find "$work/tree" -type f -name 'vmlinuz*' -exec cp {} "$folder/vmlinuz.part" \;
mv "$folder/vmlinuz.part" "$folder/vmlinuz"
echo "$package"
