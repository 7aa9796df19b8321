# One flow over 100 Mbit/s with a base round trip of 60 ms, packets of 1500 B on the wire.
# Usage: ns flow.tcl VARIANT BUFFER_PACKETS LOSS_RATE SEED WARMUP_S SECONDS ?FRIENDLY? ?STAMPS? ?EVERY_S?
# VARIANT: sack1, or a congestion control of Linux that Agent/TCP/Linux has: reno, cubic, bic, ...
# FRIENDLY: 1 lets CUBIC be as fast as Reno where that is faster; default 0.
# STAMPS: 1 turns timestamps on, from which the delay-based ones read round-trip times; default 0.
# EVERY_S: prints "window TIME PACKETS" so often; default never.
# Prints the packets acknowledged after the warm-up.
if {$argc < 6} { puts stderr "usage: ns flow.tcl VARIANT BUFFER LOSS SEED WARMUP SECONDS ?FRIENDLY? ?STAMPS? ?EVERY_S?"; exit 2 }
set friendly 0
foreach {variant buffer loss seed warmup seconds} $argv {break}
if {$argc > 6} { set friendly [lindex $argv 6] }
set stamps [expr {$argc > 7 ? int([lindex $argv 7]) : 0}]

remove-all-packet-headers
add-packet-header Common Flags IP TCP
set ns [new Simulator]
$ns use-scheduler Splay

set source [$ns node]
set left [$ns node]
set right [$ns node]
set sink [$ns node]
$ns duplex-link $source $left 10000Mb 1ms DropTail
$ns simplex-link $left $right 100Mb 28ms DropTail
$ns simplex-link $right $left 10000Mb 28ms DropTail
$ns duplex-link $right $sink 10000Mb 1ms DropTail
foreach {from to} [list $source $left $left $source $right $left $right $sink $sink $right] {
    $ns queue-limit $from $to 1000000
}
# A DropTail holds one packet fewer than its limit, and the packet in service: as many as its limit in all.
$ns queue-limit $left $right $buffer

if {$loss > 0} {
    set generator [new RNG]
    $generator seed $seed
    set draw [new RandomVariable/Uniform]
    $draw use-rng $generator
    set errors [new ErrorModel]
    $errors unit pkt
    $errors set rate_ $loss
    $errors ranvar $draw
    $errors drop-target [new Agent/Null]
    $ns link-lossmodel $errors $left $right
}

if {$variant == "sack1"} {
    set tcp [new Agent/TCP/Sack1]
} else {
    set tcp [new Agent/TCP/Linux]
    $ns at 0.0 "$tcp select_ca $variant"
    if {$variant == "cubic"} {
        # beta is in 1/1024.
        $ns at 0.0 "$tcp set_ca_param cubic beta 717"
        $ns at 0.0 "$tcp set_ca_param cubic tcp_friendliness $friendly"
    }
}
$tcp set packetSize_ 1460
$tcp set window_ 1000000
$tcp set windowInit_ 10
set receiver [new Agent/TCPSink/Sack1]
if {$stamps} {
    $tcp set timestamps_ true
    $receiver set ts_echo_rfc1323_ true
}
$ns attach-agent $source $tcp
$ns attach-agent $sink $receiver
$ns connect $tcp $receiver
set ftp [new Application/FTP]
$ftp attach-agent $tcp
$ns at 0.0 "$ftp start"
if {$argc > 8} {
    proc sample {every} {
        global ns tcp
        puts "window [$ns now] [$tcp set cwnd_]"
        $ns at [expr {[$ns now] + $every}] "sample $every"
    }
    $ns at 0.0 "sample [lindex $argv 8]"
}
$ns at $warmup {set before [expr int([$tcp set ack_])]}
$ns at $seconds {puts [expr int([$tcp set ack_]) - $before]; exit 0}
$ns run
