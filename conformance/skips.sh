#!/bin/sh
# Names what the tests in these logs skipped, and fails if that could be had: skips.sh FOLDER. `setup.sh test` installs all but
# what is listed here.
set -eu

# HyperQueue's own program comes from no registry of packages.
allowed='no hq (HyperQueue'

found=$(sed -n 's/^\(.*: \)\{0,1\}skipped: //p' "$1"/*.txt | sort | uniq -c)
if [ -z "$found" ]; then
    echo "skipped: nothing"
    exit 0
fi
echo "skipped:"
echo "$found"
! echo "$found" | grep -vF "$allowed"
