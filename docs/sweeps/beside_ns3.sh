#!/bin/sh
# Ten points of scenarios/buffers.toml in ns-3 and here, one after the other: throughput and processor time of each.
# Usage: docs/sweeps/beside_ns3.sh [PACKETSCALE]. Needs the Debian packages libns3-dev and g++.
set -eu
here=$(cd "$(dirname "$0")/../.." && pwd)
packetscale=${1:-packetscale}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
libraries="-lns3-applications -lns3-core -lns3-internet -lns3-network -lns3-point-to-point"
# shellcheck disable=SC2086
g++ -std=c++17 -O1 "$here/conformance/ns3/flow.cc" -o "$folder/flow" $libraries

echo "controller rate_mbps delay_ms buffer_packets ns3_mbps ns3_cpu_s our_mbps our_cpu_s"
point() {
    rate=$1 delay=$2 buffer=$3 ours=$4 theirs=$5
    shift 5
    /usr/bin/time -f %U -o "$folder/time" \
        "$folder/flow" "$theirs" "$buffer" 0 1 5 20 "RATE=${rate}Mbps" "DELAY=$((delay - 1))ms" "$@" > "$folder/bytes"
    sed '/^\[compare\]/,$d' "$here/scenarios/buffers.toml" > "$folder/point.toml"
    printf '[record]\ndetail = false\n' >> "$folder/point.toml"
    "$packetscale" run "$folder/point.toml" --out "$folder/out" --no-page --replace --set "flow.0.controller=\"$ours\"" \
        --set "path.rate=\"$rate Mbit/s\"" --set "path.delay=\"$delay ms\"" --set "path.buffer=\"$buffer packets\"" > "$folder/table"
    # Payload of 1446 B in packets of 1500 B, in 15 s.
    awk -v c="$ours" -v r="$rate" -v d="$delay" -v b="$buffer" -v t="$(cat "$folder/time")" -v ours="$packetscale" '
        FNR == 1 { file++ }
        file == 1 { bytes = $1 }
        file == 2 && FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
        file == 2 && FNR == 2 { bps = $at["throughput_bps"] }
        file == 3 && FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
        file == 3 && FNR == 2 { cpu = $at["cpu_s"] }
        END { printf "%s %s %s %s %.2f %s %.2f %.4f\n", c, r, d, b, bytes / 1446 * 1500 * 8 / 15e6, t, bps / 1e6, cpu }
    ' FS=, "$folder/bytes" "$folder/out/runs.csv" "$folder/out/timing.csv"
}
for path in "1 10 20" "6 25 20" "15 10 50" "25 40 100" "60 25 200"; do
    # shellcheck disable=SC2086
    point $path newreno LinuxReno
    # shellcheck disable=SC2086
    point $path cubic Cubic
done
