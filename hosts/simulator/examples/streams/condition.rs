//! What a run is: drawn, where not fixed.

use crate::receiver::Receiver;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use scenario::{TraceSource, TrafficKind, TrafficSpec};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::path::PathBuf;
use units::{Bytes, Rate, Span, Time};

/// Settings from the command line.
pub struct Fixed {
    values: BTreeMap<String, String>,
    used: RefCell<BTreeSet<String>>,
}

impl Fixed {
    pub fn parse(arguments: impl Iterator<Item = String>) -> Result<Fixed, Box<dyn Error>> {
        let pair = |text: String| match text.split_once('=') {
            Some((key, value)) => Ok((key.to_string(), value.to_string())),
            None => Err(format!("found \"{text}\", expected key=value")),
        };
        let values = arguments.map(pair).collect::<Result<_, _>>()?;
        Ok(Fixed { values, used: RefCell::default() })
    }

    /// The value of `key`, which is known.
    fn get(&self, key: &str) -> Option<&String> {
        self.used.borrow_mut().insert(key.to_string());
        self.values.get(key)
    }

    pub fn take(&mut self, key: &str) -> Option<String> {
        self.values.remove(key)
    }

    pub fn number(&self, key: &str, otherwise: u64) -> Result<u64, Box<dyn Error>> {
        self.get(key).map_or(Ok(otherwise), |text| text.parse().map_err(|_| wrong(key, text, "a whole number")))
    }

    fn real(&self, key: &str, otherwise: f64) -> Result<f64, Box<dyn Error>> {
        self.get(key).map_or(Ok(otherwise), |text| text.parse().map_err(|_| wrong(key, text, "a number")))
    }

    fn rate(&self, key: &str, otherwise: f64) -> Result<f64, Box<dyn Error>> {
        let parse = |text: &String| text.parse::<Rate>().map_err(|error| format!("{key}: {error}").into());
        self.get(key).map_or(Ok(otherwise), |text| parse(text).map(|rate| rate.bps() as f64))
    }

    fn span(&self, key: &str, otherwise: f64) -> Result<f64, Box<dyn Error>> {
        let parse = |text: &String| text.parse::<Span>().map_err(|error| format!("{key}: {error}").into());
        self.get(key).map_or(Ok(otherwise), |text| parse(text).map(|span| span.as_secs_f64()))
    }

    fn word(&self, key: &str, words: &[&'static str], otherwise: usize) -> Result<&'static str, Box<dyn Error>> {
        match self.get(key) {
            None => Ok(words[otherwise]),
            Some(text) => {
                let known = words.iter().find(|word| *word == text).copied();
                known.ok_or_else(|| wrong(key, text, &format!("one of {}", words.join(", "))))
            }
        }
    }

    /// # Errors
    /// A key that means nothing.
    pub fn all_used(&self) -> Result<(), Box<dyn Error>> {
        let used = self.used.borrow();
        match self.values.keys().find(|key| !used.contains(*key)) {
            Some(key) => Err(format!("\"{key}\" is not one of {used:?}").into()),
            None => Ok(()),
        }
    }
}

fn wrong(key: &str, found: &str, expected: &str) -> Box<dyn Error> {
    format!("{key}: found \"{found}\", expected {expected}").into()
}

/// Where in a run its streams lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spacing {
    /// One after the other, as Rapid sends them.
    Together,
    /// With pauses in which queues drain.
    Apart,
}

/// One run.
pub struct Condition {
    pub seed: u64,
    pub capacity_bps: f64,
    /// Of cross traffic, in capacities.
    pub load: f64,
    pub cross: &'static str,
    pub traffic: TrafficSpec,
    pub packet: u64,
    /// Packets in a stream.
    pub length: usize,
    /// Rates in a stream, and the top one over the bottom one.
    pub levels: usize,
    pub range: f64,
    pub spacing: Spacing,
    /// Mean rates of the streams, bit/s.
    pub rates_bps: Vec<f64>,
    /// The sender is late by up to this part of a gap.
    pub lateness: f64,
    pub receiver: Receiver,
    /// Only every so many packets are answered, with their own time.
    pub delayed_ack: usize,
}

const CROSS: [&str; 6] = ["cbr", "poisson", "pareto", "on-off", "trains", "trace"];
const RECEIVERS: [&str; 4] = ["none", "first", "since", "adaptive"];

/// Numbers from chance.
struct Draws(Pcg64);

impl Draws {
    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.0.random_range(0..all.len())]
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.0.random::<f64>()
    }

    /// Equal ratios are equally likely.
    fn geometric(&mut self, low: f64, high: f64) -> f64 {
        self.between(low.ln(), high.ln()).exp()
    }
}

impl Condition {
    /// Draws run number `run`. Every number is drawn, fixed or not, so that fixing one leaves the others as they are.
    pub fn draw(seed: u64, run: u64, fixed: &Fixed) -> Result<Condition, Box<dyn Error>> {
        let mut draws = Draws(Pcg64::seed_from_u64(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ run));
        // A third of the runs are the testbed's path.
        let testbed = draws.between(0.0, 1.0) < 0.33;
        let (capacity, packet) = (draws.geometric(1e8, 1e11), draws.one_of(&[1500, 9000]));
        let capacity_bps = fixed.rate("capacity", if testbed { 1e10 } else { capacity })?;
        let packet = fixed.number("packet", if testbed { 9000 } else { packet })?;
        let length = draws.one_of(&[16, 32, 48, 64]);
        let length = fixed.number("length", length)? as usize;
        let load = draws.between(0.1, 0.7);
        let load = fixed.real("load", load)?;
        let mean_bps = capacity_bps * (1.0 - load);
        let stream_s = length as f64 * packet as f64 * 8.0 / mean_bps;
        let kind = draws.one_of(&[0, 1, 2, 2, 3, 4, 4, 5, 5, 5]);
        let cross = fixed.word("cross", &CROSS, kind)?;
        let traffic = traffic(cross, (capacity_bps, load), stream_s, &mut draws);
        let range = draws.one_of(&[0.5, 0.5, 0.3]);
        let levels = fixed.number("levels", 4)? as usize;
        let range = fixed.real("range", range)?;
        let range = if levels == 1 { 0.0 } else { range };
        let spacing = draws.one_of(&[Spacing::Together, Spacing::Apart]);
        let spacing = match fixed.word("spacing", &["together", "apart"], usize::from(spacing == Spacing::Apart))? {
            "together" => Spacing::Together,
            _ => Spacing::Apart,
        };
        // Some runs aim at what is available, some are far off.
        let aim = draws.one_of(&[0.02, 0.15, 0.3, 0.6]);
        let (aim, centre) = (fixed.real("aim", aim)?, fixed.real("centre", 1.0)?);
        let streams = fixed.number("streams", 60)?;
        let rates_bps = (0..streams).map(|_| mean_bps * centre * draws.between(-aim, aim).exp()).collect();
        let lateness = draws.one_of(&[0.0, 0.0, 0.1]);
        let lateness = fixed.real("lateness", lateness)?;
        let delayed_ack = draws.one_of(&[1, 1, 2]);
        let delayed_ack = fixed.number("delayed_ack", delayed_ack)?.max(1) as usize;
        let kind = draws.one_of(&[0, 1, 1, 1, 2, 3]);
        let time_s = (stream_s * draws.between(0.01, 0.4)).clamp(1e-6, 300e-6);
        let time_s = fixed.span("time", time_s)?;
        let frames = draws.one_of(&[2, 4, 8, 12, 20]).min(length as u32 / 4);
        let frames = fixed.number("frames", u64::from(frames))? as u32;
        let time = Span::from_picos((time_s * 1e12) as u64);
        let receiver = match fixed.word("receiver", &RECEIVERS, kind)? {
            "none" => Receiver::None,
            "first" => Receiver::First { time },
            "since" => Receiver::Since { time },
            _ => Receiver::Adaptive { time: Span::from_micros(100), frames },
        };
        Ok(Condition {
            seed: draws.0.random(),
            capacity_bps,
            load,
            cross,
            traffic,
            packet,
            length,
            levels,
            range,
            spacing,
            rates_bps,
            lateness,
            receiver,
            delayed_ack,
        })
    }
}

/// Cross traffic of a mean rate. Bursts last from a tenth of a stream to twenty streams; trains are packets back to back.
fn traffic(cross: &str, (capacity_bps, load): (f64, f64), stream_s: f64, draws: &mut Draws) -> TrafficSpec {
    let bps = capacity_bps * load;
    let (copies, packet) = (draws.one_of(&[1, 3, 9, 25]), draws.one_of(&[500, 1500, 1500, 9000]));
    let (peak, on_s) = (draws.between(1.5, 6.0), stream_s * draws.geometric(0.1, 20.0));
    let (shape, train) = (draws.between(1.2, 1.9), draws.geometric(2.0, 20.0));
    let each = Rate::from_bps((bps / f64::from(copies)) as u64);
    let burst = Rate::from_bps((bps * peak / f64::from(copies)) as u64);
    let span = |s: f64| Span::from_picos((s * 1e12) as u64);
    let (on, off) = (span(on_s), span(on_s * (peak - 1.0)));
    let (kind, copies) = match cross {
        "cbr" => (TrafficKind::Cbr { rate: each }, copies),
        "poisson" => (TrafficKind::Poisson { rate: each }, copies),
        "pareto" => (TrafficKind::ParetoOnOff { on, off, rate: burst, shape }, copies),
        "on-off" => (TrafficKind::ExponentialOnOff { on, off, rate: burst }, copies),
        "trains" => {
            let on_s = train * packet as f64 * 8.0 / capacity_bps;
            let (on, off) = (span(on_s), span(on_s * (1.0 / load - 1.0)));
            (TrafficKind::ExponentialOnOff { on, off, rate: Rate::from_bps(capacity_bps as u64) }, 1)
        }
        _ => {
            let file =
                PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/traces/web-namespaces.pcap"));
            let rate = Some(Rate::from_bps(bps as u64));
            (TrafficKind::Trace { file, source: TraceSource::Pcap, rate }, 9)
        }
    };
    let size = Bytes::new(packet);
    TrafficSpec { kind, packet: size, start: Time::ZERO, stop: Time::MAX, route: vec![0], copies, shaper: None }
}
