# Captures a transfer of iperf3 between two network namespaces: sender.pcap and receiver.pcap in the current folder.
# Exit code 3: this machine cannot (no root, no namespaces, a program is missing).
set -eu
for program in ip ethtool tcpdump iperf3; do command -v $program > /dev/null || { echo "no $program"; exit 3; }; done
[ "$(id -u)" = 0 ] || { echo "not root"; exit 3; }
a=packetscale-a-$$ b=packetscale-b-$$ pids=
trap 'kill $pids 2> /dev/null || true; ip netns del $a 2> /dev/null || true; ip netns del $b 2> /dev/null || true' EXIT
ip netns add $a && ip netns add $b || { echo "no network namespaces"; exit 3; }
ip link add va netns $a type veth peer name vb netns $b || { echo "no pairs of virtual links"; exit 3; }
ip -n $a addr add 10.99.0.1/24 dev va; ip -n $b addr add 10.99.0.2/24 dev vb
ip -n $a link set va up; ip -n $b link set vb up
# Single packets, as on a wire.
ip netns exec $a ethtool -K va tso off gso off gro off > /dev/null
ip netns exec $b ethtool -K vb tso off gso off gro off > /dev/null
ip netns exec $a tcpdump --time-stamp-precision=nano -Z root -i va -s 128 -U -w sender.pcap tcp 2> sender.log & pids="$pids $!"
ip netns exec $b tcpdump --time-stamp-precision=nano -Z root -i vb -s 128 -U -w receiver.pcap tcp 2> receiver.log & pids="$pids $!"
ip netns exec $b iperf3 -s -1 > /dev/null & pids="$pids $!"
until grep -q listening sender.log && grep -q listening receiver.log; do sleep 0.1; done
until ip netns exec $a iperf3 -c 10.99.0.2 -n 1M > /dev/null 2>&1; do sleep 0.1; done
sleep 1
