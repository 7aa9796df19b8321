//! Rates that change, service in bursts and token buckets: what is read, and what is refused with its place.

use crate::support::assert_refused;
use experiment::scenario::{Aggregation, Buffer, LinkSpec, Scenario, Shaper};
use packetscale_models::units::{Bytes, Rate, Span, Time};
use std::fs;
use tempfile::TempDir;

/// Reads a path with these lines, beside files.
fn path(lines: &str, files: &[(&str, &str)]) -> Result<LinkSpec, String> {
    let folder: TempDir = tempfile::tempdir().expect("a temporary folder");
    for (name, text) in files {
        fs::write(folder.path().join(name), text).expect("written");
    }
    let text =
        format!("run.duration = \"30 s\"\n[path]\ndelay = \"5 ms\"\n{lines}\n[[flow]]\ncontroller = \"cubic\"\n");
    let scenario = Scenario::parse(&text, &folder.path().join("small.toml"), &[]);
    let read = scenario.map(|scenario| scenario.plan().remove(0).links.remove(0));
    let folder = format!("{}/", folder.path().display());
    read.map_err(|error| error.to_string().replace(&folder, ""))
}

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

#[test]
fn steps_change_the_rate_and_the_buffer_counts_the_first() {
    let link = path("rate = \"8 Mbit/s\"\nrate_steps = [[\"1 s\", \"4 Mbit/s\"]]\nrate_repeat = \"2 s\"", &[]).unwrap();
    assert_eq!(link.buffer, Buffer::Bytes(Bytes::new(10_000)));
    let capacity = link.capacity().unwrap();
    assert_eq!(capacity.mean(at(500), at(1500)), Rate::from_mbps(6));
    assert_eq!(capacity.mean(at(2000), at(3000)), Rate::from_mbps(8));
}

#[test]
fn the_rate_of_a_trace_is_its_mean_unless_one_is_stated() {
    let files = [("cell.mahi", "1\n3\n3\n4\n"), ("wifi.csv", "time_s,rate_bps\n0,6e6\n1,2e6\n2,0\n")];
    let cell = path("rate_trace = { file = \"cell.mahi\" }", &files).unwrap();
    // Four opportunities of 12 000 bits in 4 ms; twice 5 ms of it.
    assert_eq!((cell.rate, cell.buffer), (Rate::from_mbps(12), Buffer::Bytes(Bytes::new(15_000))));
    let stated = path("rate = \"2 Mbit/s\"\nrate_trace = { file = \"cell.mahi\", repeat = false }", &files).unwrap();
    assert_eq!((stated.rate, stated.buffer), (Rate::from_mbps(2), Buffer::Bytes(Bytes::new(2_500))));
    assert_eq!(stated.capacity().unwrap().amount(at(0), at(9)), Bytes::new(6_000));
    let wifi = path("rate_trace = { file = \"wifi.csv\", format = \"csv\" }", &files).unwrap();
    assert_eq!(wifi.rate, Rate::from_mbps(4));
    assert_eq!(wifi.capacity().unwrap().mean(at(2000), at(2500)), Rate::from_mbps(6));
}

#[test]
fn bursts_and_buckets_are_read() {
    let docsis = path("rate = \"12 Mbit/s\"\naggregation = { period = \"2 ms\" }", &[]).unwrap();
    assert_eq!(docsis.service.aggregation, Some(Aggregation::Period(Span::from_millis(2))));
    // 3000 B leave at the end of every period.
    let amounts = [1, 2, 3, 4].map(|ms| docsis.capacity().unwrap().amount(at(0), at(ms)).get());
    assert_eq!(amounts, [0, 3000, 3000, 6000]);
    let buckets = "rate = \"12 Mbit/s\"\npolicer = { rate = \"5 Mbit/s\", bucket = \"15 kB\" }\n\
        shaper = { rate = \"4 Mbit/s\", bucket = \"3 kB\" }\naggregation = { packets = 8, overhead = \"100 us\" }";
    let refused = path(buckets, &[]).unwrap_err();
    assert!(refused.contains("path.aggregation: found service in bursts beside a shaper"), "{refused}");
    let link = path(buckets.rsplit_once('\n').unwrap().0, &[]).unwrap();
    let bucket = |mbps, bytes| Some(Shaper { rate: Rate::from_mbps(mbps), bucket: Bytes::new(bytes) });
    assert_eq!((link.service.policer, link.service.shaper), (bucket(5, 15_000), bucket(4, 3_000)));
    // In the long run the link carries what the smallest of the three rates allows.
    assert_eq!(link.within_buckets(link.rate), Rate::from_mbps(4));
    let frames = path("rate = \"12 Mbit/s\"\naggregation = { packets = 8, overhead = \"100 us\" }", &[]).unwrap();
    let expected = Aggregation::Frames { packets: 8, overhead: Span::from_micros(100) };
    assert_eq!((frames.service.aggregation, frames.capacity()), (Some(expected), None));
    let slower = "rate = \"12 Mbit/s\"\nrate_steps = [[\"1 s\", \"6 Mbit/s\"]]\naggregation = ";
    let changing = path(&format!("{slower}{{ packets = 8, overhead = \"100 us\" }}"), &[]).unwrap();
    assert_eq!(changing.service.aggregation, Some(expected));
    let cell = "rate_trace = { file = \"cell.mahi\" }\naggregation = { packets = 8, overhead = \"100 us\" }";
    let frames = path(cell, &[("cell.mahi", "1\n")]).unwrap_err();
    assert!(frames.contains("path.aggregation: found frames beside opportunities"), "{frames}");
}

#[test]
fn a_grant_has_what_the_changing_rate_carries_in_its_period() {
    // 12 Mbit/s is 1500 B per ms: 4500 B in the first 3 ms; the second period has 1 ms of it and 2 ms of 750 B.
    let link =
        path("rate = \"12 Mbit/s\"\nrate_steps = [[\"4 ms\", \"6 Mbit/s\"]]\naggregation = { period = \"3 ms\" }", &[]);
    let capacity = link.unwrap().capacity().unwrap();
    let amounts = [2, 3, 5, 6, 8, 9].map(|ms| capacity.amount(at(0), at(ms)).get());
    assert_eq!(amounts, [0, 4500, 4500, 7500, 7500, 9750]);
    // Opportunities at 1, 3, 3, 4, 5, 7, ... ms: three by 3 ms, two more by 6.
    let cell = "rate_trace = { file = \"cell.mahi\" }\naggregation = { period = \"3 ms\" }";
    let capacity = path(cell, &[("cell.mahi", "1\n3\n3\n4\n")]).unwrap().capacity().unwrap();
    let opportunities = [2, 3, 5, 6, 8].map(|ms| capacity.amount(at(0), at(ms)).get() / 1500);
    assert_eq!(opportunities, [0, 3, 3, 5, 5]);
}

#[test]
fn refuses_invalid_service_with_place() {
    let files = [("bad.mahi", "1\n7\nx\n"), ("idle.csv", "time_s,rate_bps\n0,0\n9,1\n"), ("cell.mahi", "1\n")];
    assert_refused("service", |row| {
        path(&row["lines"], &files).map(drop).map_err(|said| said.replace("small.toml:", ""))
    });
}
