#!/bin/sh
# Compiles the programs: build.sh [FOLDER]. Needs clang 14 or later, and nothing else; users need none of it, since the
# objects are kept beside the sources.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here/../objects}
include=$(cd "$here/../../../algorithms/rapid/include" && pwd)

for source in "$here"/*.bpf.c; do
    name=$(basename "$source" .c)
    (cd "$here" && clang -std=gnu11 -O2 -g -target bpf -mcpu=v3 -Wall -Wextra -Werror -Wno-unused-function \
        -ffile-prefix-map="$here"=bpf -ffile-prefix-map="$include"=include -fdebug-compilation-dir=. \
        -I"$include" -idirafter "/usr/include/$(uname -m)-linux-gnu" -c "$name.c" -o "$out/$name.o")
    echo "$name.o"
done
