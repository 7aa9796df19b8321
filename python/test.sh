#!/bin/sh
# Builds the wheel, installs it into an environment of its own, and runs its tests there. `test.sh release`: optimised.
# What follows goes to maturin. The environment, with the packages that tests need, is kept for the next time; only what was installed of the
# module is removed first. Where Python or its packages are missing it says so and ends well.
set -eu
cd "$(dirname "$0")"
profile=${1:-dev}
[ $# = 0 ] || shift
work=${CARGO_TARGET_DIR:-$PWD/../target}/python
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
"$tools/bin/maturin" build --locked --profile "$profile" --out "$wheels" "$@"
"$tools/bin/pip" uninstall --quiet --yes packetscale 2>/dev/null
"$tools/bin/pip" install --quiet --no-deps "$wheels"/packetscale-*.whl

# Not from this folder: the package beside this file has no module in it.
here=$PWD
cd "$work"
PATH="$tools/bin:$PATH" "$tools/bin/pytest" -p no:cacheprovider --quiet --numprocesses 2 --rootdir "$here/tests" "$here/tests"
