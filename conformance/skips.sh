#!/bin/sh
# Names what the tests in these logs skipped, and fails if that could be had: skips.sh FOLDER. `setup.sh test` installs all but
# what is listed here: HyperQueue's own program, which comes from no registry of packages, and what a kernel refuses to root.
set -eu

may_be_missing='no hq (HyperQueue\|this kernel refuses'

found=$(sed -n 's/^\(.*: \)\{0,1\}skipped: //p' "$1"/*.txt | sort | uniq -c)
if [ -z "$found" ]; then
    echo "skipped: nothing"
    exit 0
fi
if echo "$found" | grep -v "$may_be_missing"; then
    echo "skips: the above was skipped, and can be installed: setup.sh test" >&2
    exit 1
fi
echo "skipped, since it cannot be had here:"
echo "$found"
