# The ns-2 side of docs/algorithms/window-based.md: one flow over 100 Mbit/s, 60 ms, 1/4 BDP.
# Usage: ns single.tcl NAME LOSS SEED. Prints Mbit/s.
foreach {name loss seed} $argv break
remove-all-packet-headers
add-packet-header Common Flags IP TCP
set ns [new Simulator]
foreach node {a l r b} { set $node [$ns node] }
$ns duplex-link $a $l 10000Mb 0.01ms DropTail
$ns duplex-link $l $r 100Mb 29.98ms DropTail
$ns duplex-link $r $b 10000Mb 0.01ms DropTail
$ns queue-limit $a $l 100000
$ns queue-limit $l $r 125
$ns queue-limit $r $l 100000
if {$loss > 0} {
    set rng [new RNG]
    $rng seed $seed
    set uniform [new RandomVariable/Uniform]
    $uniform use-rng $rng
    set errors [new ErrorModel]
    $errors unit pkt
    $errors set rate_ $loss
    $errors ranvar $uniform
    $errors drop-target [new Agent/Null]
    $ns lossmodel $errors $l $r
}
set tcp [new Agent/TCP/Linux]
set sink [new Agent/TCPSink/Sack1]
$sink set ts_echo_rfc1323_ true
$tcp set timestamps_ true
$tcp set packetSize_ 1460
$tcp set window_ 1000000
$tcp set windowInit_ 10
$ns attach-agent $a $tcp
$ns attach-agent $b $sink
$ns connect $tcp $sink
set ftp [new Application/FTP]
$ftp attach-agent $tcp
$ns at 0.0 "$tcp select_ca $name; $ftp start"
$ns at 10.0 {set before [$tcp set ack_]}
$ns at 130.0 {puts [expr ([$tcp set ack_] - $before) * 1500 * 8 / 120.0 / 1e6]; exit 0}
$ns run
