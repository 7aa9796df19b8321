# The same dumbbell in ns-2, at its best setting: trimmed headers, splay scheduler, no monitors.
# Usage: ns dumbbell.tcl FLOWS SECONDS sack|cubic. Prints the packets delivered.
if {$argc != 3} { puts stderr "usage: ns dumbbell.tcl FLOWS SECONDS sack|cubic"; exit 2 }
set n [lindex $argv 0]
set seconds [lindex $argv 1]
set variant [lindex $argv 2]

remove-all-packet-headers
add-packet-header Common Flags IP TCP
set ns [new Simulator]
$ns use-scheduler Splay
$ns rtproto Manual

set left [$ns node]
set right [$ns node]
$ns simplex-link $left $right 1000Mb 8ms DropTail
$ns simplex-link $right $left 1000Mb 8ms DropTail
$ns queue-limit $left $right 100
$ns queue-limit $right $left 100000
[$left get-module "Manual"] add-route-to-adj-node -default $right
[$right get-module "Manual"] add-route-to-adj-node -default $left

set rng [new RNG]
$rng seed 1
for {set i 0} {$i < $n} {incr i} {
    set source($i) [$ns node]
    set sink($i) [$ns node]
    $ns duplex-link $source($i) $left 10000Mb 1ms DropTail
    $ns duplex-link $right $sink($i) 10000Mb 1ms DropTail
    $ns queue-limit $source($i) $left 1000000
    $ns queue-limit $right $sink($i) 1000000
    [$source($i) get-module "Manual"] add-route-to-adj-node -default $left
    [$sink($i) get-module "Manual"] add-route-to-adj-node -default $right
    [$left get-module "Manual"] add-route-to-adj-node $source($i)
    [$right get-module "Manual"] add-route-to-adj-node $sink($i)
    if {$variant == "cubic"} {
        set tcp($i) [new Agent/TCP/Linux]
        set receiver [new Agent/TCPSink/Sack1]
        $ns at 0.0 "$tcp($i) select_ca cubic"
    } else {
        set tcp($i) [new Agent/TCP/Sack1]
        set receiver [new Agent/TCPSink/Sack1]
    }
    $tcp($i) set packetSize_ 960
    $tcp($i) set window_ 1000000
    $tcp($i) set windowInit_ 10
    $ns attach-agent $source($i) $tcp($i)
    $ns attach-agent $sink($i) $receiver
    $ns connect $tcp($i) $receiver
    set ftp($i) [new Application/FTP]
    $ftp($i) attach-agent $tcp($i)
    $ns at [$rng uniform 0.0 1.0] "$ftp($i) start"
}
$ns at $seconds "finish"
proc finish {} {
    global tcp n
    set delivered 0
    for {set i 0} {$i < $n} {incr i} { incr delivered [expr int([$tcp($i) set ack_]) + 1] }
    puts $delivered
    exit 0
}
$ns run
