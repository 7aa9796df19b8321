#!/bin/sh
# Compiles the eBPF programs of a host: build-programs.sh HOST [FOLDER], where HOST is tcp or lab. Needs clang 14 or
# later, and nothing else. Users need none of it: the objects are kept beside the sources.
set -eu

hosts=$(cd "$(dirname "$0")" && pwd)
host=$hosts/$1
out=${2:-$host/objects}
include=$(cd "$hosts/../algorithms/rapid/include" && pwd)

# Names of folders in the objects do not depend on where the tree stands.
for source in "$host"/bpf/*.bpf.c; do
    name=$(basename "$source" .c)
    (cd "$host/bpf" && clang -std=gnu11 -O2 -g -target bpf -mcpu=v3 -Wall -Wextra -Werror -Wno-unused-function \
        -ffile-prefix-map="$host/bpf"=bpf -ffile-prefix-map="$hosts/tcp/bpf"=bpf -ffile-prefix-map="$include"=include \
        -fdebug-compilation-dir=. \
        -I"$hosts/tcp/bpf" -I"$include" -idirafter "/usr/include/$(uname -m)-linux-gnu" -c "$name.c" -o "$out/$name.o")
    echo "$name.o"
done
