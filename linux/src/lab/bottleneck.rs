//! The bottleneck: a token bucket (`tc-tbf`) on the router's device towards the receiver, its queue below, and a policer
//! before it.
//!
//! The bucket is small compared with the buffer but large enough for late timers: it holds `BUCKET` of time at the rate, and at
//! least two packets. A full bucket passes in a burst, so a probe stream whose excess over the link's rate fits into the
//! bucket leaves no trace. With an exact clock the bucket holds one packet and `EXACT_BUCKET` of time. Behind a
//! shaper this is the bucket of the peak rate; the shaper has its own. Sizes are those of frames, Ethernet header included, as
//! the token bucket counts.

use crate::lab::devices::Means;
use crate::lab::disciplines;
use crate::lab::error::LabError;
use crate::lab::rates::Carried;
use crate::lab::steps::Step;
use experiment::scenario::{Buffer, LinkSpec};
use packetscale_models::units::{Bytes, Rate, Span, Time};

/// Its device.
pub(crate) const DEVICE: &str = "r1";

/// Time at the link's rate that the bucket holds.
const BUCKET: Span = Span::from_micros(160);

/// The same, where timers are late by less than 2 us.
const EXACT_BUCKET: Span = Span::from_micros(20);

/// A step of the rate carries at least this number of full buckets: each change fills the bucket, which leaves at once.
pub(crate) const LEAST_BUCKETS: u64 = 10;

/// A bottleneck, as configured with `tc`.
pub(crate) struct Bottleneck<'a> {
    pub link: &'a LinkSpec,
    /// The size of a full packet.
    pub packet: Bytes,
    pub means: Means,
}

impl Bottleneck<'_> {
    /// The lines that make it, with the rate of its link.
    pub fn made(&self) -> Result<Vec<String>, LabError> {
        let mut lines = vec![self.bucket("add", Carried::AtRate(self.link.rate))];
        let queue = disciplines::lines(self.link, self.packet, DEVICE);
        let queue = queue.map_err(|unfit| LabError(unfit.to_string()))?;
        match self.link.buffer {
            Buffer::Packets(packets) if queue.is_empty() => {
                lines.push(format!("qdisc add dev {DEVICE} parent 1:1 handle 10: pfifo limit {}", packets.get()));
            }
            _ => lines.extend(queue),
        }
        Ok(lines)
    }

    /// The steps that make it carry this, in a run that begins at `zero_ns`.
    pub fn steps(&self, carried: &[(Time, Carried)], zero_ns: u64) -> Vec<Step> {
        let step = |(at, carried): &(Time, Carried)| (zero_ns + at.nanos(), vec![self.bucket("change", *carried)]);
        carried.iter().map(step).collect()
    }

    /// The first step of these that carries less than [`LEAST_BUCKETS`]: how long it lasts, its rate, and the bytes that
    /// the change to it lets through at once.
    pub fn too_short(&self, carried: &[(Time, Carried)]) -> Option<(Span, Rate, Bytes)> {
        carried.windows(2).find_map(|pair| match pair {
            [(from, Carried::AtRate(rate)), (to, _)] if *rate > Rate::ZERO => {
                let (lasts, held) = (to.saturating_since(*from), Bytes::new(self.held(*rate)));
                (lasts < rate.time_for(held * LEAST_BUCKETS)).then_some((lasts, *rate, held))
            }
            _ => None,
        })
    }

    /// The part of the `amount` of a run that changes of the rate let through at once, at most.
    pub fn let_through(&self, carried: &[(Time, Carried)], amount: Bytes) -> f64 {
        let held = |(_, carried): &(Time, Carried)| match carried {
            Carried::AtRate(rate) => self.held(*rate),
            Carried::AtOnce(_) => 0,
        };
        carried.iter().skip(1).map(held).sum::<u64>() as f64 / amount.get().max(1) as f64
    }

    /// The largest bucket of these.
    pub fn largest_bucket(&self, carried: &[(Time, Carried)]) -> u64 {
        carried.iter().map(|(_, carried)| carried.bucket(|rate| self.held(rate)).1).max().unwrap_or(0)
    }

    /// The line that adds or changes the token bucket.
    fn bucket(&self, order: &str, carried: Carried) -> String {
        let (rate, bucket) = carried.bucket(|rate| self.held(rate));
        let words = match self.link.service.shaper {
            Some(shaper) if shaper.rate < self.link.rate => {
                format!("rate {}bit burst {} peakrate {rate}bit mtu {bucket}", shaper.rate.bps(), shaper.bucket.get())
            }
            _ => format!("rate {rate}bit burst {bucket}"),
        };
        format!("qdisc {order} dev {DEVICE} root handle 1: tbf {words} limit {}", self.limit())
    }

    /// Size of the bucket at a rate.
    fn held(&self, rate: Rate) -> u64 {
        match self.means {
            Means::DelayLine => rate.amount_in(BUCKET).get().max(self.packet.get() * 2),
            Means::Qdiscs => rate.amount_in(EXACT_BUCKET).get() + self.packet.get(),
        }
    }

    /// The limit of a FIFO below the bucket, which the bucket hands on whenever it is changed, whatever the FIFO counts in
    /// (`fifo_set_limit`). The packet in service counts: it stays in the FIFO until the bucket has its tokens.
    fn limit(&self) -> u64 {
        match self.link.buffer {
            Buffer::Bytes(bytes) => bytes.get(),
            Buffer::Packets(packets) => packets.get(),
            Buffer::Unlimited => u64::from(u32::MAX / 2),
        }
    }

    /// The lines that put the policer before it, on a device that has the hooks of programs already. It drops IPv4 only.
    pub fn policed(&self) -> Vec<String> {
        let police = |bucket: experiment::scenario::Shaper| {
            let (rate, burst) = (bucket.rate.bps(), bucket.bucket.get());
            let largest = self.packet.get();
            let action = format!("police rate {rate}bit burst {burst} mtu {largest} conform-exceed drop/ok");
            format!("filter add dev {DEVICE} egress prio 2 protocol ip u32 match u32 0 0 {action}")
        };
        self.link.service.policer.map(police).into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::scenario::Scenario;
    use std::path::Path;

    fn link(path: &str) -> LinkSpec {
        let text = format!(
            "run = {{ duration = \"2 s\" }}\nflow = [{{ controller = \"cubic\", packet = \"1500 B\" }}]\n\
             path = {{ rate = \"10 Mbit/s\", delay = \"5 ms\", {path} }}\n"
        );
        Scenario::parse(&text, Path::new("test.toml"), &[]).expect("a scenario").plan().remove(0).links.remove(0)
    }

    fn bottleneck(link: &LinkSpec) -> Bottleneck<'_> {
        Bottleneck { link, packet: Bytes::new(1_500), means: Means::Qdiscs }
    }

    /// From tc-tbf(8): 10 Mbit/s in 20 us are 25 bytes.
    #[test]
    fn shaper_peak_is_link_rate() {
        for (path, words, limit) in [
            ("buffer = \"60 kB\"", "rate 10000000bit burst 1525", "60000"),
            ("buffer = \"7 packets\"", "rate 10000000bit burst 1525", "7"),
            (
                "buffer = \"60 kB\", shaper = { rate = \"4 Mbit/s\", bucket = \"30 kB\" }",
                "rate 4000000bit burst 30000 peakrate 10000000bit mtu 1525",
                "60000",
            ),
            (
                "buffer = \"60 kB\", shaper = { rate = \"20 Mbit/s\", bucket = \"30 kB\" }",
                "rate 10000000bit burst 1525",
                "60000",
            ),
        ] {
            let lines = bottleneck(&link(path)).made().expect("made");
            assert_eq!(lines[0], format!("qdisc add dev r1 root handle 1: tbf {words} limit {limit}"));
        }
    }

    #[test]
    fn step_changes_bucket_and_opportunity_fills_it() {
        let link = link("buffer = \"7 packets\"");
        let at = |ms: u64| Time::from_nanos(ms * 1_000_000);
        let carried = [
            (at(1), Carried::AtRate(Rate::from_mbps(1))),
            (at(2), Carried::AtRate(Rate::ZERO)),
            (at(3), Carried::AtOnce(Bytes::new(3_000))),
        ];
        let line = |words: &str| vec![format!("qdisc change dev r1 root handle 1: tbf {words} limit 7")];
        let expected = [
            (1_000_005, line("rate 1000000bit burst 1502")),
            (2_000_005, line("rate 64bit burst 1500")),
            (3_000_005, line("rate 64bit burst 3000")),
        ];
        assert_eq!(bottleneck(&link).steps(&carried, 5), expected);
    }

    /// At 12 Mbit/s a packet takes 1 ms, and the bucket holds 20 us more: 1530 B, ten of which take 10.2 ms.
    #[test]
    fn rate_step_lasts_ten_buckets() {
        let link = link("buffer = \"7 packets\"");
        let step = |us: u64, rate| (Time::from_nanos(us * 1_000), Carried::AtRate(rate));
        let rate = Rate::from_mbps(12);
        let lasting = |us: u64| [step(0, Rate::from_mbps(6)), step(50_000, rate), step(50_000 + us, Rate::ZERO)];
        let short = Some((Span::from_micros(10_100), rate, Bytes::new(1_530)));
        assert_eq!(bottleneck(&link).too_short(&lasting(10_100)), short);
        assert_eq!(bottleneck(&link).too_short(&lasting(10_200)), None);
        // The last step lasts to the end of the run, and a step without a rate sends nothing.
        assert_eq!(bottleneck(&link).too_short(&[step(0, Rate::ZERO), step(1, rate)]), None);
        // A change to 12 Mbit/s and one to zero: 1530 B and 1500 B.
        assert_eq!(bottleneck(&link).let_through(&lasting(10_200), Bytes::new(303_000)), 0.01);
    }

    /// From tc-police(8).
    #[test]
    fn policer_is_filter_before_queue() {
        let link = link("buffer = \"7 packets\", policer = { rate = \"5 Mbit/s\", bucket = \"15 kB\" }");
        let police = "police rate 5000000bit burst 15000 mtu 1500 conform-exceed drop/ok";
        let line = format!("filter add dev r1 egress prio 2 protocol ip u32 match u32 0 0 {police}");
        assert_eq!(bottleneck(&link).policed(), [line]);
    }
}
