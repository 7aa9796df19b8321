mod bottleneck;
use bottleneck::{Bottleneck, Cross, Path, ms};
use packetscale_rapid::Params;
use units::{Bytes, Rate, Span, Time};

fn report(name: &str, net: &Bottleneck, span: Span) {
    let sent: u64 = net.flows.iter().map(|f| f.sent).sum();
    println!("{name}: util {:.2} jain {:.4} drops {} loss {:.4}% wait p50 {:.0} us p99 {:.0} us; rates {:?}",
        100.0 * net.utilisation(span), net.jain(), net.drops, 100.0 * net.drops as f64 / sent.max(1) as f64,
        net.wait(0.5).as_secs_f64() * 1e6, net.wait(0.99).as_secs_f64() * 1e6,
        net.flows.iter().map(|f| f.law.rate().bps() / 1_000_000).collect::<Vec<_>>());
}

fn flows(rate: Rate, packet: u64, rtts: &[u64], entry_ms: u64, after_ms: u64) { for seed in 1..4 { flows1(seed, rate, packet, rtts, entry_ms, after_ms) } }
fn flows1(seed: u64, rate: Rate, packet: u64, rtts: &[u64], entry_ms: u64, after_ms: u64) {
    let longest = *rtts.iter().max().unwrap();
    let mut net = Bottleneck::new(Path::new(rate, Span::from_millis(longest))).seed(seed);
    for (i, rtt) in rtts.iter().enumerate() {
        net = net.flow(&Params::new(Bytes::new(packet)), Span::from_millis(*rtt), ms(entry_ms * i as u64));
    }
    let last = entry_ms * (rtts.len() as u64 - 1);
    net.run_until(ms(last + after_ms));
    net.clear();
    net.run_until(ms(last + after_ms + 2000));
    report(&format!("{rate} {rtts:?}"), &net, Span::from_secs(2));
}

#[test]
#[ignore]
fn fair() {
    let g = Rate::from_gbps(1);
    flows(g, 1500, &[30, 30], 1000, 5000);
    flows(g, 1500, &[100, 100], 2000, 5000);
    flows(g, 1500, &[30, 30, 30], 1000, 5000);
    flows(Rate::from_gbps(10), 9000, &[30, 30], 1000, 5000);
    flows(Rate::from_gbps(10), 9000, &[100, 100], 2000, 5000);
    flows(g, 1500, &[10, 100], 2000, 5000);
    flows(Rate::from_gbps(10), 9000, &[10, 10, 100, 100], 1000, 5000);
    flows(g, 1500, &[30; 10], 500, 5000);
    flows(g, 1500, &[100; 10], 500, 5000);
}

#[test]
#[ignore]
fn noise() {
    let rtt = Span::from_millis(30);
    let t = Rate::from_gbps(10);
    let run = |name: &str, path: Path, packet: u64| {
        let rtt = rtt;
        let rate = path.rate;
        let mut net = Bottleneck::new(path).flow(&Params::new(Bytes::new(packet)), rtt, Time::ZERO);
        net.run_until(ms(600));
        net.clear();
        net.run_until(ms(2600));
        let f = &net.flows[0];
        report(&format!("{name} {rate} {packet}"), &net, Span::from_secs(2));
        let _ = f;
    };
    for ppm in [1, 10, 100, 1000, 10000, 30000] {
        run(&format!("loss {ppm} ppm"), Path { loss_ppm: ppm, ..Path::new(t, rtt) }, 9000);
    }
    for packet in [9000, 1500] {
        run("coalescing 120 us", Path { coalescing: Span::from_micros(120), ..Path::new(t, rtt) }, packet);
    }
    run("delayed ack", Path { delayed_ack: 2, ..Path::new(t, rtt) }, 9000);
    run("delayed ack", Path { delayed_ack: 2, ..Path::new(Rate::from_mbps(10), rtt) }, 1500);
    run("send noise .4us", Path { lateness: Span::from_nanos(400), ..Path::new(t, rtt) }, 9000);
    run("timer 5us", Path { lateness: Span::from_micros(5), ..Path::new(Rate::from_mbps(200), rtt) }, 1500);
    run("timer 20us", Path { lateness: Span::from_micros(20), ..Path::new(Rate::from_mbps(200), rtt) }, 1500);
    run("all", Path { lateness: Span::from_nanos(400), delayed_ack: 2, coalescing: Span::from_micros(120), ..Path::new(t, rtt) }, 9000);
    for m in [1, 2, 5] {
        run("slow", Path::new(Rate::from_mbps(m), rtt), 1500);
    }
    run("slow9000", Path::new(Rate::from_mbps(10), rtt), 9000);
    run("slow9000", Path::new(Rate::from_mbps(2), rtt), 9000);
    run("buf20 1G", Path { buffer: Bytes::new(30000), ..Path::new(Rate::from_gbps(1), rtt) }, 1500);
}

#[test]
#[ignore]
fn steps() {
    for rtt_ms in [5, 30, 100] {
        let rtt = Span::from_millis(rtt_ms);
        let c = Rate::from_gbps(10);
        let (from, until) = (rtt_ms * 40, rtt_ms * 100);
        let mut net = Bottleneck::new(Path::new(c, rtt))
            .flow(&Params::new(Bytes::new(9000)), rtt, Time::ZERO)
            .cross(Cross::steady(Rate::from_gbps(3), Bytes::new(9000), ms(from), ms(until)));
        net.run_until(ms(from));
        print!("{rtt_ms} ms down:");
        for k in 1..60 {
            net.run_until(ms(from) + rtt / 4 * k);
            if k % 2 == 0 && k < 50 { print!(" {:.2}", net.flows[0].law.rate().bps() as f64 / 7e9); }
        }
        println!();
        net.run_until(ms(until));
        print!("  up:");
        for k in 1..40 {
            net.run_until(ms(until) + rtt / 4 * k);
            if k % 2 == 0 { print!(" {:.2}", net.flows[0].law.rate().bps() as f64 / 10e9); }
        }
        println!(" drops {}", net.drops);
    }
    // standing queue: a burst of cross traffic at twice the rate for q, then nothing
    for q_ms in [3, 10, 30] {
        let rtt = Span::from_millis(30);
        let c = Rate::from_gbps(1);
        let mut path = Path::new(c, rtt);
        path.buffer = c.amount_in(Span::from_millis(100));
        let mut net = Bottleneck::new(path).flow(&Params::new(Bytes::new(1500)), rtt, Time::ZERO)
            .cross(Cross::steady(Rate::from_gbps(100), Bytes::new(1500), ms(1000), ms(1000) + Span::from_micros(q_ms * 10)));
        net.run_until(ms(1001));
        let mut t = ms(1001);
        loop {
            net.clear();
            t += Span::from_millis(2);
            net.run_until(t);
            if net.waits.is_empty() || net.wait(0.5) < Span::from_micros(500) || t > ms(5000) { break; }
        }
        println!("standing {q_ms} ms: below .5 ms after {} ms", t.since(ms(1000)));
    }
}
#[test]
#[ignore]
fn bursts() {
    for (rtt_ms, packet) in [(5, 9000), (30, 9000), (30, 1500), (100, 9000)] {
        let rtt = Span::from_millis(rtt_ms);
        let mut path = Path::new(Rate::from_gbps(10), rtt);
        path.buffer = Bytes::new(1_000_000);
        let mut net = Bottleneck::new(path).flow(&Params::new(Bytes::new(packet)), rtt, Time::ZERO);
        for i in 0..10 {
            net = net.cross(Cross { rate: Rate::from_mbps(1000), packet: Bytes::new(1500), from: ms(0) + Span::from_micros(137 * i * i + 10*i),
                until: Time::MAX, on: Span::from_micros(1000), off: Span::from_micros(3000 + 113 * i) });
        }
        net.run_until(ms(40 * rtt_ms));
        net.clear();
        net.run_until(ms(40 * rtt_ms + 2000));
        report(&format!("bursts {rtt_ms} {packet} (of ~{:.1} left)", 10.0), &net, Span::from_secs(2));
    }
}

#[test]
#[ignore]
fn ten() {
    let g = Rate::from_gbps(1);
    flows(g, 1500, &[30; 10], 1000, 5000);
    flows(g, 1500, &[100; 10], 1000, 5000);
    flows(g, 1500, &[100; 10], 1000, 15000);
    flows(Rate::from_gbps(10), 9000, &[30; 10], 1000, 5000);
}
#[test]
#[ignore]
fn delack() {
    let rtt = Span::from_millis(30);
    let t = Rate::from_gbps(10);
    let mut net = Bottleneck::new(Path { delayed_ack: 2, ..Path::new(t, rtt) }).flow(&Params::new(Bytes::new(9000)), rtt, Time::ZERO);
    for k in 1..60 {
        net.clear();
        net.run_until(ms(5 * k));
        let p = net.flows[0].law.probe();
        println!("{k}: rate {:.3} avail {:.3} cap {:.3} q {} startup {} streams {} unusable {} wait50 {:.0} us 99 {:.0} us batch {}", p.rate.bps() as f64 / 1e10,
          p.available.bps() as f64 / 1e10, p.capacity.bps() as f64/1e10, p.queue, p.startup, p.streams, p.unusable, net.wait(0.5).as_secs_f64()*1e6, net.wait(0.99).as_secs_f64()*1e6, p.batch);
    }
}
#[test]
#[ignore]
fn thesis() {
    let rtt = Span::from_millis(30);
    let t = Rate::from_gbps(10);
    for (name, path, cross) in [
        ("idle", Path::new(t, rtt), 0), ("cbr 3", Path::new(t, rtt), 3),
        ("1G", Path::new(Rate::from_gbps(1), rtt), 0),
        ("coalescing", Path { coalescing: Span::from_micros(120), ..Path::new(t, rtt) }, 0),
        ("coalescing cbr 3", Path { coalescing: Span::from_micros(120), ..Path::new(t, rtt) }, 3),
        ("delack", Path { delayed_ack: 2, ..Path::new(t, rtt) }, 3),
    ] {
        let mut net = Bottleneck::new(path.clone()).flow(&Params::thesis(Bytes::new(9000)), rtt, Time::ZERO);
        if cross > 0 { net = net.cross(Cross::steady(Rate::from_gbps(cross), Bytes::new(9000), ms(0), Time::MAX)); }
        let mut at = 0;
        while net.flows[0].law.rate().bps() < (path.rate.bps() - cross * 1_000_000_000) * 9 / 10 && at < 4000 { at += 10; net.run_until(ms(at)); }
        net.run_until(ms(4000));
        net.clear();
        let mut est = vec![];
        for k in 1..=200 { net.run_until(ms(4000 + k * 10)); est.push(net.flows[0].law.probe().available.bps() / 10_000_000); }
        est.sort();
        report(&format!("{name} 90 % at {at} ms est p5 {} p50 {} p95 {} unusable {}", est[10], est[100], est[190], net.flows[0].law.probe().unusable), &net, Span::from_secs(2));
        println!("     memory {}", net.flows[0].law.memory_in_use());
    }
}
