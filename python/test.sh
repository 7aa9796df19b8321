#!/bin/sh
# Makes the wheel, installs it into an environment of its own, and runs its tests there. Where Python or its packages are
# missing it says so and ends well. The environment, with the packages that tests need, is kept for the next time; only what was
# installed of the module is removed first.
#
# `test.sh` packs the library that the workspace's tests share: maturin would compile all below it anew. That library has the kernel as
# a host, too, which a wheel for users has not; whether maturin packs rightly, only `release/build.sh` tries.
# `test.sh release` has maturin build it, optimised; what follows goes to maturin.
set -eu
cd "$(dirname "$0")"
profile=${1:-dev}
[ $# = 0 ] || shift
target=${CARGO_TARGET_DIR:-$PWD/../target}
work=$target/python
tools=$work/tools
wheels=$work/wheels

skip() {
    echo "python: skipped: $1"
    exit 0
}

python3 -c 'import ensurepip, venv' 2>/dev/null || skip "python3 has no venv; on Debian, install python3-venv"
[ -x "$tools/bin/pip" ] || python3 -m venv "$tools"
"$tools/bin/pip" install --quiet --requirement tests/requirements.txt || skip "packages of tests/requirements.txt cannot be installed"

rm -rf "$wheels"
if [ "$profile" = dev ] && [ $# = 0 ]; then
    # As the tests before it: the same packages with the same features.
    "${CARGO:-cargo}" build --locked --workspace --lib --tests
    inside=$work/inside
    rm -rf "$inside"
    mkdir -p "$inside" "$wheels"
    "$tools/bin/maturin" pep517 write-dist-info --compatibility linux --metadata-directory "$inside"
    cp -r packetscale "$inside/"
    cp "$target/debug/lib_native.so" "$inside/packetscale/_native.abi3.so"
    "$tools/bin/wheel" pack --dest-dir "$wheels" "$inside"
else
    "$tools/bin/maturin" build --locked --profile "$profile" --out "$wheels" "$@"
fi
"$tools/bin/pip" uninstall --quiet --yes packetscale 2>/dev/null
"$tools/bin/pip" install --quiet --no-deps "$wheels"/packetscale-*.whl

# Not from this folder: the package beside this file has no module in it.
here=$PWD
cd "$work"
PATH="$tools/bin:$PATH" "$tools/bin/pytest" -p no:cacheprovider --quiet --numprocesses 2 --rootdir "$here/tests" "$here/tests"
