#!/bin/sh
# Runs groups of tests that take real time: in-real-time.sh GROUP...
#
# A machine that stands still for others' sake can make any of them fail. What failed is run again, twice at most, by
# itself; what fails three times has failed.
set -u

cd "$(dirname "$0")/.."
said=$(mktemp)
trap 'rm -f "$said"' EXIT

for group in "$@"; do
    failed=
    for try in 1 2 3; do
        # Names hold no blanks: each is an argument.
        # shellcheck disable=SC2086
        ${CARGO:-cargo} test --locked --test "$group" -- ${failed:+--exact $failed} >"$said" 2>&1
        status=$?
        cat "$said"
        [ $status = 0 ] && break
        failed=$(sed -n 's/^test \([^ ]*\).* FAILED$/\1/p' "$said")
        if [ "$try" = 3 ] || [ -z "$failed" ]; then
            echo "in-real-time: $group failed" >&2
            exit 1
        fi
        echo "in-real-time: again:" $failed
    done
done
