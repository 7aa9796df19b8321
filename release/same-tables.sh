#!/bin/sh
# Says how many tables two folders of results have, which must be the same bytes: `same-tables.sh HERE THERE`. Of what HERE has
# THERE must have each; what runs cost (`timing`) is left out. Ends with 1 where one differs, or where there are fewer than ten.
set -eu
fail() { echo "same-tables: $1" >&2; exit 1; }
tables=0
for table in "$1"/*.csv "$1"/*.parquet; do
    name=$(basename "$table")
    case $name in timing.*) continue ;; esac
    cmp "$table" "$2/$name" >&2 || fail "$2/$name differs from $table"
    tables=$((tables + 1))
done
[ "$tables" -ge 10 ] || fail "found $tables tables in $1; expected at least 10"
echo "$tables"
