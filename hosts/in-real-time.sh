#!/bin/sh
# Runs the tests that take real time: in-real-time.sh PACKAGE/TEST...
#
# Whatever waits in real time is in one of these groups, and nowhere else. What fails is run again by itself, twice at
# most. A try counts only on a steady machine (hosts/realtime/src/steadiness.rs): one whose processors were neither
# stolen nor busy with other programs. What fails two tries that count has failed. What fails otherwise is not judged:
# that is said, and does not fail the whole. A group that does not build, ends without its last line, or runs no test has
# failed: a slow machine does none of these.
set -u

cd "$(dirname "$0")/.."
cargo=${CARGO:-cargo}
[ $# -gt 0 ] || { echo "in-real-time: expected the names of groups, as PACKAGE/TEST" >&2; exit 2; }
notes=$(mktemp -d)
trap 'rm -rf "$notes"' EXIT
passed=0 failed=0 unjudged=0

steady() {
    $cargo run --locked --quiet --package packetscale-realtime --example steady -- "$@"
}

# Runs a group, or the tests of it that are named. Leaves the names of those that fail in $wrong.
try() {
    # Names hold no blanks: each is an argument.
    # shellcheck disable=SC2086
    $cargo test --locked --package "${1%/*}" --test "${1#*/}" -- ${wrong:+--exact $wrong} >"$notes/said" 2>&1
    status=$?
    cat "$notes/said"
    wrong=$(sed -n 's/^test \([^ ]*\).* FAILED$/\1/p' "$notes/said")
    # The closing line, with at least one test.
    closed=$(sed -n 's/^test result: [a-zA-Z]*\. \([0-9]*\) passed; \([0-9]*\) failed.*/\1\2/p' "$notes/said" | tr -d '0\n')
    return $status
}

# Returns 0 where the group passed, 1 where it failed, 2 where it was not judged.
group() {
    wrong="" counted=0
    $cargo test --locked --quiet --package "${1%/*}" --test "${1#*/}" --no-run || return 1
    for number in 1 2 3; do
        steady mark "$notes/mark" || return 1
        if try "$1"; then
            [ -n "$closed" ] && return 0
            return 1
        fi
        { [ -n "$closed" ] && [ -n "$wrong" ]; } || return 1
        found=$(steady judge "$notes/mark")
        case $? in
            0) counted=$((counted + 1)) ;;
            1) ;;
            *) return 1 ;;
        esac
        echo "in-real-time: $1: try $number failed; $found"
        [ "$counted" -lt 2 ] || return 1
    done
    return 2
}

for name in "$@"; do
    group "$name"
    case $? in
        0) passed=$((passed + 1)) ;;
        2)
            unjudged=$((unjudged + 1))
            echo "in-real-time: $name NOT JUDGED: this machine is not steady enough to say whether these work:" $wrong
            ;;
        *)
            failed=$((failed + 1))
            echo "in-real-time: $name failed:" $wrong
            ;;
    esac
done
echo "in-real-time: $passed groups passed, $failed failed, $unjudged not judged"
[ "$failed" = 0 ]
