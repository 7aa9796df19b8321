//! A path in words, for titles and tables.

use crate::attack::genes::{Id, Kind, rounded};
use crate::attack::genome::Genome;
use crate::attack::written::{outage, pulse_ms};

/// Description of a path's causes, in one line.
pub fn causes(genome: &Genome) -> String {
    let each: Vec<String> = genome.causes().into_iter().map(|kind| cause(kind, genome)).collect();
    if each.is_empty() { "nothing else happens".to_string() } else { each.join(", and ") }
}

/// The path itself, in one line.
pub fn path(genome: &Genome) -> String {
    let of = |id: Id| genome.get(id).unwrap_or(id.gene().usual);
    format!("{} Mbit/s, {} ms, {} BDP of buffer", of(Id::PathRate), of(Id::RoundTrip), of(Id::Buffer))
}

fn cause(kind: Kind, genome: &Genome) -> String {
    let of = |id: Id| genome.get(id).unwrap_or(id.gene().usual);
    let percent = |id: Id| rounded(of(id) * 100.0, 3);
    match kind {
        Kind::Path | Kind::Size | Kind::Second => path(genome),
        Kind::Start => "the queue is full when the flow begins".to_string(),
        Kind::Rate => {
            let low_s = rounded(of(Id::RatePeriod) * (1.0 - of(Id::RateDuty)), 3);
            format!("the rate falls to {} % for {low_s} s of every {} s", percent(Id::RateLow), of(Id::RatePeriod))
        }
        Kind::Frames => {
            format!("frames of {} packets have {} ms between them", of(Id::FramePackets), of(Id::FrameOverhead))
        }
        Kind::Policer => {
            let (rate, bucket) = (percent(Id::PolicerRate), of(Id::PolicerBucket));
            format!("a policer lets {rate} % of the rate pass, with a bucket of {bucket} packets")
        }
        Kind::Delay => {
            let (at, hold) = (of(Id::DelayAt), of(Id::DelayHold));
            let again =
                if at + hold < genome.duration_s { format!(", and changes every {hold} s") } else { String::new() };
            format!("the delay grows by {} ms at {at} s{again}", of(Id::DelayExtra))
        }
        Kind::Loss => format!("{} % of the packets are lost at random", percent(Id::LossShare)),
        Kind::Outages => {
            let (length_s, every_s) = outage(genome).unwrap_or_default();
            format!("nothing comes through for {} ms of every {every_s} s", rounded(length_s * 1e3, 3))
        }
        Kind::Reorder => {
            format!("{} packets overtake {} % of the packets", of(Id::ReorderPackets), percent(Id::ReorderShare))
        }
        Kind::Pulses => {
            let (width, rate, period) =
                (pulse_ms(genome).unwrap_or_default(), percent(Id::PulseRate), of(Id::PulsePeriod));
            format!("others send pulses of {width} ms at {rate} % of the rate, every {period} s")
        }
        Kind::Bursts => {
            let (load, length) = (percent(Id::BurstLoad), of(Id::BurstLength));
            format!("others send random bursts of {length} ms, {load} % of the rate")
        }
        Kind::Receiver => receiver(genome),
    }
}

fn receiver(genome: &Genome) -> String {
    let of = |id: Id| genome.get(id).filter(|value| *value != id.gene().usual);
    let parts = [
        of(Id::AckLoss).map(|share| format!("{} % of the acknowledgments are lost", rounded(share * 100.0, 3))),
        of(Id::AckBunching).map(|time| format!("acknowledgments come every {time} ms")),
        of(Id::AckEvery).map(|packets| format!("one comes for {packets} packets")),
        of(Id::Interrupts).map(|time| format!("interrupts wait {time} ms")),
        of(Id::ClockPace).map(|pace| format!("the receiver's clock has a pace of {pace}")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() { "nothing unusual happens at the receiver".to_string() } else { parts.join(", ") }
}

/// Text as a comment of a scenario's file, in lines of at most 120 characters.
pub fn comment(text: &str) -> String {
    const WIDTH: usize = 118;
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let room = lines.last().is_none_or(|line| line.chars().count() + word.chars().count() < WIDTH);
        match lines.last_mut() {
            Some(line) if room || line.is_empty() => {
                if !line.is_empty() {
                    line.push(' ');
                }
                line.push_str(word);
            }
            _ => lines.push(word.to_string()),
        }
    }
    lines.iter().map(|line| format!("# {line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_follow_order_of_table() {
        let genome = Genome::usual(&[Kind::Path, Kind::Loss, Kind::Delay]);
        let expected = "the delay grows by 100 ms at 10 s, and 1 % of the packets are lost at random";
        assert_eq!(causes(&genome), expected);
        assert_eq!(path(&genome), "10 Mbit/s, 40 ms, 1 BDP of buffer");
        assert_eq!(causes(&Genome::usual(&[Kind::Path])), "nothing else happens");
        // The table's bounds leave half of 1.4 s, and half of 0.3 s at twice the rate, by half.
        let genome = Genome::usual(&[Kind::Outages, Kind::Pulses]);
        let genome = genome.with(Id::OutageLength, 900.0).with(Id::OutageEvery, 1.4).with(Id::PulsePeriod, 0.3);
        let expected = "nothing comes through for 700 ms of every 1.4 s, and others send pulses of 75 ms at 200 % of the rate, \
                        every 0.3 s";
        assert_eq!(causes(&genome), expected);
    }

    #[test]
    fn comment_lines_are_wrapped() {
        let text = comment(&"word ".repeat(60));
        assert!(text.lines().count() == 3 && text.lines().all(|line| line.starts_with("# ") && line.len() <= 120));
    }
}
