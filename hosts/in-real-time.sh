#!/bin/sh
# Runs the tests that take real time: in-real-time.sh PACKAGE/TEST...
#
# Whatever waits in real time is in one of these groups, and nowhere else. What fails is run again by itself, twice at
# most. A try counts only on a steady machine (hosts/realtime/src/steadiness.rs): one whose processors were neither
# stolen nor busy with other programs. What fails two tries that count has failed. What fails otherwise is not judged:
# that is said, and does not fail the whole.
set -u

cd "$(dirname "$0")/.."
cargo=${CARGO:-cargo}
$cargo build --locked --quiet --package packetscale-realtime --example steady || exit 1
steady=${CARGO_TARGET_DIR:-target}/debug/examples/steady
notes=$(mktemp -d)
trap 'rm -rf "$notes"' EXIT
passed=0 failed=0 unjudged=0

# Runs a group, or the tests of it that are named. Leaves the names of those that fail in $wrong.
try() {
    # Names hold no blanks: each is an argument.
    # shellcheck disable=SC2086
    $cargo test --locked --package "${1%/*}" --test "${1#*/}" -- ${wrong:+--exact $wrong} >"$notes/said" 2>&1
    status=$?
    cat "$notes/said"
    wrong=$(sed -n 's/^test \([^ ]*\).* FAILED$/\1/p' "$notes/said")
    return $status
}

group() {
    wrong="" counted=0
    for number in 1 2 3; do
        "$steady" mark "$notes/mark"
        if try "$1"; then
            passed=$((passed + 1))
            return
        fi
        # No test ran: the build is broken, or the group aborted. The machine's speed does not do that.
        [ -n "$wrong" ] || break
        if found=$("$steady" judge "$notes/mark"); then
            counted=$((counted + 1))
        fi
        echo "in-real-time: $1: try $number failed; $found"
        [ "$counted" -lt 2 ] || break
    done
    if [ -z "$wrong" ] || [ "$counted" -ge 2 ]; then
        failed=$((failed + 1))
        echo "in-real-time: $1 failed:" $wrong
    else
        unjudged=$((unjudged + 1))
        echo "in-real-time: $1 NOT JUDGED: this machine is not steady enough to say whether these work:" $wrong
    fi
}

for name in "$@"; do
    group "$name"
done
echo "in-real-time: $passed groups passed, $failed failed, $unjudged not judged"
[ "$failed" = 0 ]
