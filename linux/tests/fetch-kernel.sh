#!/bin/sh
# fetch-kernel.sh FOLDER: Debian's kernel 6.1 and its modules, into FOLDER, which is left alone where it has them. For the
# tests that boot it; asks apt for one package by its exact name.
set -eu

folder=$1
[ -e "$folder/vmlinuz" ] && exit 0
package=$(apt-cache search --names-only '^linux-image-6\.1\.0-[0-9]+-cloud-amd64$' | cut -d' ' -f1 | sort -V | tail -n1)
if [ -z "$package" ]; then
    echo "fetch-kernel.sh: apt knows no linux-image-6.1.0-N-cloud-amd64 (Debian 12 has it)" >&2
    exit 3
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$work" && apt-get download -qq -o APT::Sandbox::User=root "$package" && dpkg-deb -x ./*.deb .)
mkdir -p "$folder"
find "$work/lib" -name '*.ko' -exec cp {} "$folder" \;
cp "$work"/boot/vmlinuz-* "$folder/vmlinuz.part"
mv "$folder/vmlinuz.part" "$folder/vmlinuz"
echo "$package"
