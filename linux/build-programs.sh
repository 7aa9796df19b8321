#!/bin/sh
# Compiles the eBPF programs: build-programs.sh [FOLDER]. Needs clang 14 or later, and nothing else. Users need none of it:
# the objects are kept beside the sources.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here/objects}
include=$(cd "$here/../law/include" && pwd)

# Names of folders in the objects do not depend on where the tree stands.
for source in "$here"/bpf/*.bpf.c; do
    name=$(basename "$source" .c)
    (cd "$here/bpf" && clang -std=gnu11 -O2 -g -target bpf -mcpu=v3 -Wall -Wextra -Werror -Wno-unused-function \
        -ffile-prefix-map="$here/bpf"=bpf -ffile-prefix-map="$include"=include -fdebug-compilation-dir=. \
        -I"$here/bpf" -I"$include" -idirafter "/usr/include/$(uname -m)-linux-gnu" -c "$name.c" -o "$out/$name.o")
    echo "$name.o"
done
