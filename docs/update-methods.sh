#!/bin/sh
# Puts the table of methods into docs/methods.md, from what `spry explain` says: docs/update-methods.sh SPRY
set -eu
spry=$1
page=$(dirname "$0")/methods.md
new=$(mktemp)
trap 'rm -f "$new"' EXIT

# Of an explanation: what the method is and is for, then the figures, fused and statement by statement.
# shellcheck disable=SC2016 # awk's own dollars
row='
NR == 1 { name = $0; sub(/:.*/, "", name); what = $0; sub(/^[^:]*: /, "", what) }
NR == 2 { purpose = $0 }
NR == 3 { reference = $0 }
/^  products / { products = $2 }
/^  reductions / { reductions = $2 + 0 " / " $NF }
/^  vectors / { moved = $2 " / " $NF }
/^  memory / { kept = $2 }
END {
    text = what "; " purpose
    gsub(/\|/, "\\|", text)
    printf "| `%s` | %s | %s | %s | %s | %s | %s |\n", name, text, products, reductions, moved, kept, reference
}'

{
    sed '/<!-- table -->/q' "$page"
    echo "| method | what it is, and for which matrices | products | reductions | vectors moved | kept | reference |"
    echo "|---|---|---|---|---|---|---|"
    "$spry" explain --json | sed -n '/"precons"/q; s/^ *"name": "\(.*\)",$/\1/p' | while read -r name; do
        "$spry" explain "$name" --precon none | awk "$row"
    done
    sed -n '/<!-- end of table -->/,$p' "$page"
} >"$new"
cp "$new" "$page"
