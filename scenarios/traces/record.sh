#!/usr/bin/env bash
# Records web-namespaces.pcap: web-like traffic of real servers and clients over the kernel's TCP.
#
#   server namespace          router namespace                 client namespace
#   nginx   10.77.1.2 ------- 10.77.1.1 | 10.77.2.1 ---------- 10.77.2.2  load.py, as many users as USERS
#                  1 Gbit/s tbf ->  450 Mbit/s tbf ->
#
# Everything runs in three network namespaces of its own, which are removed at the end, whatever happens. Nothing
# reaches, or comes from, any network of the machine. The load ends after SECONDS_TO_RUN and two seconds of grace.
#
# Captured: packets from server to client, at the router's client side, as they leave after the rate limit; headers
# only, nanosecond times. Segmentation offloads are off, so that packets are those of the wire.
#
# Needs: root, bash, iproute2 (ip, tc), ethtool, tcpdump, nginx, python3. Usage: record.sh [OUTPUT.pcap]
set -euo pipefail

USERS=${USERS:-22}
SECONDS_TO_RUN=${SECONDS_TO_RUN:-4}
PACKETS=${PACKETS:-45000}
LIMIT=${LIMIT:-450mbit}
CONTROL=${CONTROL:-cubic}
SEED=${SEED:-1}
OUTPUT=$(realpath -m "${1:-web-namespaces.pcap}")
HERE=$(dirname "$(realpath "$0")")

for tool in ip tc ethtool tcpdump nginx python3; do
    command -v "$tool" >/dev/null || { echo "record.sh: $tool is missing" >&2; exit 3; }
done
[ "$(id -u)" = 0 ] || { echo "record.sh: network namespaces need root" >&2; exit 3; }

tag=packetscale$$
server=$tag-server router=$tag-router client=$tag-client
work=$(mktemp -d)
dump_pid=
clean_up() {
    [ -z "$dump_pid" ] || kill "$dump_pid" 2>/dev/null || true
    [ ! -s "$work/nginx.pid" ] || kill "$(cat "$work/nginx.pid")" 2>/dev/null || true
    for namespace in "$server" "$router" "$client"; do
        ip netns del "$namespace" 2>/dev/null || true
    done
    rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

within() { ip netns exec "$@"; }

for namespace in "$server" "$router" "$client"; do
    ip netns add "$namespace"
    ip -n "$namespace" link set lo up
done
ip link add name to-router netns "$server" type veth peer name to-server netns "$router"
ip link add name to-client netns "$router" type veth peer name to-router netns "$client"
ip -n "$server" addr add 10.77.1.2/24 dev to-router
ip -n "$router" addr add 10.77.1.1/24 dev to-server
ip -n "$router" addr add 10.77.2.1/24 dev to-client
ip -n "$client" addr add 10.77.2.2/24 dev to-router
for end in "$server to-router" "$router to-server" "$router to-client" "$client to-router"; do
    set -- $end
    ip -n "$1" link set "$2" up
    within "$1" ethtool -K "$2" tso off gso off gro off tx off rx off >/dev/null
done
# By route: what the machine allows and defaults to is left alone.
ip -n "$server" route add default via 10.77.1.1 congctl "$CONTROL"
ip -n "$client" route add default via 10.77.2.1
within "$router" sysctl -qw net.ipv4.ip_forward=1
within "$server" sysctl -qw net.ipv4.tcp_slow_start_after_idle=1 net.ipv4.tcp_no_metrics_save=1
within "$server" tc qdisc add dev to-router root tbf rate 1gbit burst 15kb limit 1mb
within "$router" tc qdisc add dev to-client root tbf rate "$LIMIT" burst 6kb limit 375kb

# One file, larger than any object: clients ask for ranges of it.
truncate -s 8M "$work/object"
chmod 755 "$work"
cat >"$work/nginx.conf" <<EOF
worker_processes 1;
pid $work/nginx.pid;
error_log stderr crit;
events { worker_connections 512; }
http {
    access_log off;
    sendfile on;
    tcp_nopush on;
    keepalive_requests 100000;
    server { listen 10.77.1.2:80; root $work; location = /object { max_ranges 1; } }
}
EOF
within "$server" nginx -c "$work/nginx.conf"

within "$router" tcpdump -i to-client -Q out -s 64 --time-stamp-precision=nano --time-stamp-type=host -B 32768 \
    -c "$PACKETS" -w "$work/capture.pcap" tcp src port 80 2>"$work/tcpdump.log" &
dump_pid=$!
for _ in $(seq 50); do
    grep -q 'listening on' "$work/tcpdump.log" && break
    sleep 0.1
done

within "$client" timeout $((SECONDS_TO_RUN + 10)) python3 "$HERE/load.py" 10.77.1.2 "$USERS" "$SECONDS_TO_RUN" "$SEED"
sleep 0.3
kill -INT "$dump_pid" 2>/dev/null || true
wait "$dump_pid" || true
dump_pid=
cat "$work/tcpdump.log" >&2
mv "$work/capture.pcap" "$OUTPUT"
chmod 644 "$OUTPUT"
