//! Messages between host and guest.

use crate::lab::{Carried, Draws};
use crate::virtual_time::error::VirtualError;
use experiment::scenario::Experiment;
use packetscale_models::units::{Bytes, Time};
use serde::{Deserialize, Serialize};

/// Facts that the guest finds at start, before any run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Facts {
    /// The kernel's release.
    pub release: String,
    /// How late sleeps of 1 ms are: the median, and the largest of 200.
    pub late_median_ns: u64,
    pub late_most_ns: u64,
    /// Congestion controls and queue disciplines.
    pub controllers: Vec<String>,
    pub queues: Vec<String>,
    /// Whether it polices.
    pub polices: bool,
    /// Why Rapid is not among the controllers, if it is not.
    pub no_rapid: Option<String>,
}

/// A job for a machine.
pub(crate) enum Job {
    /// A run.
    Run(Box<Experiment>, Draws),
    /// A program.
    Errand(Errand),
}

/// A program to run in a [bench](crate::virtual_time::Bench).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Errand {
    /// The program, by its place in the machine, and its arguments.
    pub words: Vec<String>,
    /// Environment variables in addition to `PATH` and `TMPDIR`.
    pub environment: Vec<(String, String)>,
    /// Seconds of the machine's time after which it is ended.
    pub limit_s: u64,
    /// Which of many runs it is: they differ in the kernel's random numbers and in when they begin between two of its ticks.
    pub draw: u64,
}

/// How a program ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ended {
    /// Its exit code; `None`: it was ended by a signal, or at its limit.
    pub code: Option<i32>,
    /// Its standard output and error.
    pub output: String,
    /// Seconds of this machine's processor that the emulator took. The guest does not know them.
    #[serde(skip)]
    pub cpu_s: f64,
}

/// First byte of a job.
const RUN: u8 = 0;
const ERRAND: u8 = 1;

/// Serialized form of a run: the text first, then the packets of the traffic, then those of applications.
#[derive(Serialize, Deserialize)]
struct Text {
    experiment: Experiment,
    starts: Vec<Time>,
    /// How many packets each source of traffic sends, and the application of each flow, where it has one.
    packets: Vec<usize>,
    offers: Vec<Option<usize>>,
    /// The bottleneck's capacity over time, which the experiment's text lacks.
    carried: Vec<(Time, Carried)>,
}

/// Bytes of a time in picoseconds, and of a packet of traffic: when, and its size.
const TIME: usize = 8;
const PACKET: usize = TIME + 8;

/// Returns a run to make, with all that chance has decided, as bytes.
pub(crate) fn write_run(experiment: &Experiment, draws: Draws) -> Result<Vec<u8>, VirtualError> {
    let end = Time::ZERO + experiment.duration;
    let of = |source: crate::lab::Packets| source.take_while(|(at, _)| *at <= end).collect::<Vec<(Time, Bytes)>>();
    let traffic: Vec<Vec<(Time, Bytes)>> = draws.traffic.into_iter().map(of).collect();
    let packets = traffic.iter().map(Vec::len).collect();
    let within = |offers: crate::lab::Offers| offers.take_while(|at| *at <= end).collect::<Vec<Time>>();
    let offers: Vec<Option<Vec<Time>>> = draws.offers.into_iter().map(|offers| offers.map(within)).collect();
    let counts = offers.iter().map(|offers| offers.as_ref().map(Vec::len)).collect();
    let text =
        Text { experiment: experiment.clone(), starts: draws.starts, packets, offers: counts, carried: draws.carried };
    let text = serde_json::to_vec(&text).map_err(VirtualError::doing("the experiment cannot be written"))?;
    let mut bytes = vec![RUN];
    bytes.extend((text.len() as u64).to_le_bytes());
    bytes.extend(text);
    for (at, size) in traffic.iter().flatten() {
        bytes.extend(at.picos().to_le_bytes());
        bytes.extend(size.get().to_le_bytes());
    }
    offers.iter().flatten().flatten().for_each(|at| bytes.extend(at.picos().to_le_bytes()));
    Ok(bytes)
}

/// Returns a program to run, as bytes.
pub(crate) fn write_errand(errand: &Errand) -> Result<Vec<u8>, VirtualError> {
    let text = serde_json::to_vec(errand).map_err(VirtualError::doing("cannot encode the program's job"))?;
    Ok([vec![ERRAND], text].concat())
}

/// Reads what [`write_run`] or [`write_errand`] wrote.
pub(crate) fn read(bytes: &[u8]) -> Result<Job, VirtualError> {
    match bytes.split_first() {
        Some((&RUN, rest)) => read_run(rest).map(|(experiment, draws)| Job::Run(Box::new(experiment), draws)),
        Some((&ERRAND, rest)) => serde_json::from_slice(rest).map(Job::Errand).map_err(VirtualError::doing("the job")),
        _ => Err(cut()),
    }
}

fn cut() -> VirtualError {
    VirtualError("the job ends too early".to_string())
}

fn read_run(bytes: &[u8]) -> Result<(Experiment, Draws), VirtualError> {
    let (length, rest) = bytes.split_first_chunk().ok_or_else(cut)?;
    let (text, rest) = rest.split_at_checked(u64::from_le_bytes(*length) as usize).ok_or_else(cut)?;
    let text: Text = serde_json::from_slice(text).map_err(VirtualError::doing("the job"))?;
    let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap_or_default());
    let (packets, times) = rest.split_at_checked(PACKET * text.packets.iter().sum::<usize>()).ok_or_else(cut)?;
    let mut packets = packets.chunks_exact(PACKET).map(|packet| {
        let (at, size) = packet.split_at(TIME);
        (Time::from_picos(word(at)), Bytes::new(word(size)))
    });
    let traffic = text.packets.iter().map(|count| {
        let packets: Vec<(Time, Bytes)> = packets.by_ref().take(*count).collect();
        Box::new(packets.into_iter()) as crate::lab::Packets
    });
    let traffic = traffic.collect();
    let mut times = times.chunks_exact(TIME).map(|time| Time::from_picos(word(time)));
    let offers = text.offers.iter().map(|count| {
        let times: Vec<Time> = times.by_ref().take((*count)?).collect();
        Some(Box::new(times.into_iter()) as crate::lab::Offers)
    });
    let offers = offers.collect();
    Ok((text.experiment, Draws { starts: text.starts, offers, traffic, carried: text.carried }))
}

/// The guest's reply: the first byte marks an error's text.
pub(crate) fn answer(result: Result<Vec<u8>, VirtualError>) -> Vec<u8> {
    match result {
        Ok(bytes) => [vec![0], bytes].concat(),
        Err(error) => [vec![1], error.to_string().into_bytes()].concat(),
    }
}

/// Parses the output of [`answer`]; empty output is an error, too.
pub(crate) fn answered(bytes: &[u8]) -> Result<&[u8], VirtualError> {
    match bytes.split_first() {
        Some((0, result)) => Ok(result),
        Some((_, text)) => Err(VirtualError(String::from_utf8_lossy(text).into_owned())),
        None => Err(VirtualError("the machine ended without an answer".to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::scenario::Scenario;
    use std::path::Path;

    #[test]
    fn job_round_trips_and_traffic_ends_with_run() {
        let text = r#"
            run = { duration = "3 s", warmup = "1 s" }
            path = { rate = "10 Mbit/s", delay = "5 ms", buffer = "40 packets" }
            flow = [{ controller = "cubic" }]
        "#;
        let experiment = Scenario::parse(text, Path::new("test.toml"), &[]).expect("a scenario").plan().remove(0);
        let packet = |ms: u64| (Time::from_nanos(ms * 1_000_000), Bytes::new(100 + ms));
        let traffic = || -> Vec<crate::lab::Packets> {
            vec![Box::new([packet(1), packet(2)].into_iter()), Box::new([packet(3_000), packet(3_001)].into_iter())]
        };
        let starts = vec![Time::from_nanos(7)];
        let handed = [1, 1, 2_999, 3_001].map(Time::from_nanos).map(|at| Time::from_picos(at.picos() * 1_000_000));
        let offers: Vec<Option<crate::lab::Offers>> = vec![None, Some(Box::new(handed.into_iter()))];
        let carried = vec![(Time::from_nanos(3), Carried::AtOnce(Bytes::new(1_500)))];
        let draws = Draws { starts: starts.clone(), offers, traffic: traffic(), carried: carried.clone() };
        let bytes = write_run(&experiment, draws).expect("written");
        let Ok(Job::Run(read, draws)) = read(&bytes) else { panic!("it is a run") };
        assert_eq!((*read, draws.starts, draws.carried), (experiment, starts, carried));
        let traffic: Vec<Vec<_>> = draws.traffic.into_iter().map(Iterator::collect).collect();
        assert_eq!(traffic, [vec![packet(1), packet(2)], vec![packet(3_000)]]);
        let offers: Vec<Option<Vec<_>>> =
            draws.offers.into_iter().map(|offers| offers.map(Iterator::collect)).collect();
        assert_eq!(offers, [None, Some(handed[..3].to_vec())]);
    }

    #[test]
    fn errand_round_trips_and_garbage_is_refused() {
        let errand = Errand { words: vec!["/a".into(), "b".into()], environment: Vec::new(), limit_s: 3, draw: 5 };
        let bytes = write_errand(&errand).expect("written");
        let Ok(Job::Errand(read)) = read(&bytes) else { panic!("it is an errand") };
        assert_eq!((read.words, read.limit_s, read.draw), (errand.words, 3, 5));
        assert!(super::read(&[]).is_err() && super::read(&[7]).is_err());
    }

    #[test]
    fn answer_is_result_or_reason() {
        assert_eq!(answered(&answer(Ok(vec![1, 2]))).expect("a result"), [1, 2]);
        let error = answered(&answer(Err(VirtualError("no".to_string())))).expect_err("a reason").to_string();
        assert_eq!(error, "no");
        assert!(answered(&[]).is_err());
    }
}
