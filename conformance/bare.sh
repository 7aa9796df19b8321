#!/bin/sh
# Runs a command with only Rust, a C compiler, make and the usual tools of a shell available: bare.sh COMMAND. An undeclared
# dependency on a library or program then shows as an error.
set -eu

tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
for name in sh env cc gcc as ld ar make cargo rustc rustdoc rustfmt cargo-fmt cat cp cut date dirname expr false find grep head id ln ls \
    mkdir mkfifo mktemp mv printf pwd readlink rm rmdir sed seq sleep sort tail tee test touch tr true uname uniq wc xargs; do
    place=$(PATH="$HOME/.cargo/bin:$PATH" command -v "$name") && case $place in /*) ln -s "$place" "$tools/$name" ;; esac
done
env -i HOME="$HOME" PATH="$tools" CARGO="${CARGO:-cargo}" ${CARGO_TARGET_DIR:+CARGO_TARGET_DIR="$CARGO_TARGET_DIR"} \
    ${CARGO_INCREMENTAL:+CARGO_INCREMENTAL="$CARGO_INCREMENTAL"} \
    ${CARGO_PROFILE_DEV_DEBUG:+CARGO_PROFILE_DEV_DEBUG="$CARGO_PROFILE_DEV_DEBUG"} "$@"
