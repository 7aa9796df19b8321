//! A trace for Perfetto (ui.perfetto.dev), in the JSON of Chrome's Trace Event Format: each flow and each link is a
//! process with counters over time and slices.
//!
//! A counter holds from one value to the next, as Perfetto draws it, so that its integral is that of the curve: values
//! are at the beginning of their intervals of `record.step`. Flows have the curves of the results; links have values
//! that are reported packet by packet.

use crate::packets::{Event, LinkStart, Observer, Start};
use experiment::results::{Run, Series, StreamRecord};
use packetscale_models::units::{Span, Time};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Rows of slices of a process.
const RECOVERIES: u32 = 1;
const STREAMS: u32 = 2;
const OUTAGES: u32 = 1;

const PS_PER_S: f64 = 1e12;

/// Writes a trace.
pub struct Perfetto<W: Write> {
    out: W,
    /// An event was written: a comma precedes the next.
    begun: bool,
    step: Span,
    end: Time,
    /// The link that the results call the bottleneck.
    measured: usize,
    flows: Vec<Episode>,
    links: Vec<LinkBins>,
}

/// Whether a sender repairs a loss, and since when.
#[derive(Clone, Copy, Debug, Default)]
struct Episode {
    since: Option<(Time, &'static str)>,
    timeouts: u64,
}

/// The counters of a link in each interval.
struct LinkBins {
    start: LinkStart,
    bytes: Vec<u64>,
    dropped: Vec<u64>,
    /// Time that packets spent there, waiting or in service.
    spent_ps: Vec<u64>,
    /// When packets came that have not left, and how many did then, where that is not known when they come.
    queued: BTreeMap<Time, u32>,
}

impl<W: Write> Perfetto<W> {
    /// Begins a trace.
    ///
    /// # Errors
    /// An error of writing.
    pub fn new(mut out: W) -> io::Result<Perfetto<W>> {
        write!(out, "{{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
        let (step, end) = (Span::from_picos(1), Time::ZERO);
        Ok(Perfetto { out, begun: false, step, end, measured: 0, flows: Vec::new(), links: Vec::new() })
    }

    fn write(&mut self, event: &Value) -> io::Result<()> {
        let before = if std::mem::replace(&mut self.begun, true) { ",\n" } else { "\n" };
        self.out.write_all(before.as_bytes())?;
        serde_json::to_writer(&mut self.out, event)?;
        Ok(())
    }

    fn process(&mut self, process: usize, name: &str) -> io::Result<()> {
        let name = json!({"ph": "M", "pid": process, "name": "process_name", "args": {"name": name}});
        self.write(&name)?;
        // In the order of flows and links, not of names.
        self.write(&json!({"ph": "M", "pid": process, "name": "process_sort_index", "args": {"sort_index": process}}))
    }

    fn row(&mut self, process: usize, row: u32, name: &str) -> io::Result<()> {
        self.write(&json!({"ph": "M", "pid": process, "tid": row, "name": "thread_name", "args": {"name": name}}))
    }

    fn slice(&mut self, process: usize, row: u32, name: &str, from: f64, to: f64, args: Value) -> io::Result<()> {
        let (ts, dur) = (micros(from), micros(to - from));
        self.write(&json!({"ph": "X", "pid": process, "tid": row, "name": name, "ts": ts, "dur": dur, "args": args}))
    }

    fn counter(&mut self, process: usize, name: &str, unit: &str, at_s: f64, value: f64) -> io::Result<()> {
        let name = format!("{name} ({unit})");
        self.write(&json!({"ph": "C", "pid": process, "name": name, "ts": micros(at_s), "args": {unit: value}}))
    }

    /// The process of a flow, and of a link: from 1, links after flows.
    fn of_flow(&self, flow: usize) -> usize {
        1 + flow
    }

    fn of_link(&self, link: usize) -> usize {
        1 + self.flows.len() + link
    }

    // ---- flows -------------------------------------------------------------------------------------------------

    /// A sender repairs a loss, or does not any more.
    fn recovers(&mut self, flow: usize, at: Time, repairs: bool, timeouts: u64) -> io::Result<()> {
        let Some(episode) = self.flows.get_mut(flow) else { return Ok(()) };
        let timed_out = std::mem::replace(&mut episode.timeouts, timeouts) != timeouts;
        match (episode.since, repairs) {
            (None, true) => episode.since = Some((at, if timed_out { "timeout" } else { "recovery" })),
            (Some((since, name)), false) => {
                episode.since = None;
                let process = self.of_flow(flow);
                return self.slice(process, RECOVERIES, name, since.as_secs_f64(), at.as_secs_f64(), json!({}));
            }
            _ => {}
        }
        Ok(())
    }

    fn curve(&mut self, curve: &Series) -> io::Result<()> {
        let process = match curve.flow {
            Some(flow) => self.of_flow(flow as usize),
            None => self.of_link(self.measured),
        };
        for (number, value) in curve.values.iter().enumerate() {
            // A curve's values are at the middle of their intervals.
            let at_s = curve.start_s - curve.step_s / 2.0 + curve.step_s * number as f64;
            if let Some(value) = value {
                self.counter(process, &curve.metric, &curve.unit, at_s, f64::from(*value))?;
            }
        }
        Ok(())
    }

    fn stream(&mut self, stream: &StreamRecord) -> io::Result<()> {
        let length: f64 = stream.gaps.iter().map(|gap| gap.created_s).sum();
        let args = json!({
            "rate_bps": stream.rate_bps,
            "estimate_bps": stream.estimate_bps,
            "available_bps": stream.available_bps,
        });
        let process = self.of_flow(stream.flow as usize);
        self.slice(process, STREAMS, "probe stream", stream.start_s, stream.start_s + length, args)
    }

    // ---- links -------------------------------------------------------------------------------------------------

    fn link(&mut self, number: usize, link: &LinkBins) -> io::Result<()> {
        let (process, step_s) = (self.of_link(number), self.step.as_secs_f64());
        for bin in 0..link.bytes.len() {
            let from_s = step_s * bin as f64;
            // The last interval may be short.
            let length_s = step_s.min(self.end.as_secs_f64() - from_s);
            let rate = link.bytes[bin] as f64 * 8.0 / length_s;
            self.counter(process, "link throughput", "bit/s", from_s, rate)?;
            let queue = link.spent_ps[bin] as f64 / PS_PER_S / length_s;
            self.counter(process, "link queue", "packet", from_s, queue)?;
            self.counter(process, "link drops", "packet", from_s, link.dropped[bin] as f64)?;
        }
        for (from, to) in &link.start.outages {
            self.slice(process, OUTAGES, "outage", from.as_secs_f64(), to.as_secs_f64(), json!({}))?;
        }
        Ok(())
    }
}

/// Microseconds, to the nanosecond.
fn micros(seconds: f64) -> f64 {
    (seconds * 1e9).round() / 1e3
}

impl LinkBins {
    fn new(start: LinkStart, bins: usize) -> LinkBins {
        LinkBins {
            start,
            bytes: vec![0; bins],
            dropped: vec![0; bins],
            spent_ps: vec![0; bins],
            queued: BTreeMap::new(),
        }
    }

    /// A packet was there from `arrival` to `departs`, which may be after the end of the run.
    fn served(&mut self, size: u64, arrival: Time, departs: Time, end: Time, step: Span) {
        if departs <= end
            && let Some(bytes) = self.bytes.get_mut(interval(departs, step))
        {
            *bytes += size;
        }
        self.left(arrival);
        self.stayed(arrival, departs.min(end), step);
    }

    /// A packet is dropped.
    fn dropped(&mut self, arrival: Time, at: Time, queued: bool, step: Span) {
        if let Some(dropped) = self.dropped.get_mut(interval(arrival, step)) {
            *dropped += 1;
        }
        if queued {
            self.left(arrival);
            self.stayed(arrival, at, step);
        }
    }

    /// One of those that came then waits no more.
    fn left(&mut self, arrival: Time) {
        if let Some(count) = self.queued.get_mut(&arrival) {
            *count -= 1;
            if *count == 0 {
                self.queued.remove(&arrival);
            }
        }
    }

    /// What waits at the end was there until then.
    fn wait_until(&mut self, end: Time, step: Span) {
        for (arrival, count) in std::mem::take(&mut self.queued) {
            (0..count).for_each(|_| self.stayed(arrival, end, step));
        }
    }

    fn stayed(&mut self, arrival: Time, departs: Time, step: Span) {
        let (from, to) = (arrival.picos(), departs.picos());
        for bin in from / step.picos()..=to / step.picos() {
            let Some(spent) = self.spent_ps.get_mut(bin as usize) else { return };
            let begins = bin * step.picos();
            *spent += to.min(begins + step.picos()) - from.max(begins);
        }
    }
}

/// The interval that a time is in, its end included: a packet that leaves at the end of one counts there.
fn interval(at: Time, step: Span) -> usize {
    (at.picos().saturating_sub(1) / step.picos()) as usize
}

impl<W: Write> Observer for Perfetto<W> {
    fn begin(&mut self, start: &Start) -> io::Result<()> {
        let bins = start.end.picos().div_ceil(start.step.picos()) as usize;
        (self.step, self.end, self.measured) = (start.step, start.end, start.measured);
        self.flows = vec![Episode::default(); start.flows.len()];
        self.links = start.links.iter().map(|link| LinkBins::new(link.clone(), bins)).collect();
        for (number, flow) in start.flows.iter().enumerate() {
            let process = self.of_flow(number);
            self.process(process, &format!("flow {number}: {}", flow.controller))?;
            self.row(process, RECOVERIES, "recoveries")?;
            self.row(process, STREAMS, "probe streams")?;
        }
        for (number, link) in start.links.iter().enumerate() {
            let process = self.of_link(number);
            self.process(process, &format!("link {number}: {}", link.name))?;
            self.row(process, OUTAGES, "outages")?;
        }
        Ok(())
    }

    fn see(&mut self, at: Time, event: &Event) -> io::Result<()> {
        match event {
            Event::Sender { flow, state } => self.recovers(*flow, at, state.in_recovery, state.timeouts)?,
            Event::Served { link, size, arrival, departs } => {
                if let Some(link) = self.links.get_mut(*link) {
                    link.served(size.get(), *arrival, *departs, self.end, self.step);
                }
            }
            Event::Queued { link } => {
                if let Some(link) = self.links.get_mut(*link) {
                    *link.queued.entry(at).or_default() += 1;
                }
            }
            Event::Dropped { link, arrival, queued } => {
                if let Some(link) = self.links.get_mut(*link) {
                    link.dropped(*arrival, at, *queued, self.step);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, run: &Run) -> io::Result<()> {
        for flow in 0..self.flows.len() {
            let timeouts = self.flows[flow].timeouts;
            self.recovers(flow, self.end, false, timeouts)?;
        }
        run.series.iter().try_for_each(|curve| self.curve(curve))?;
        run.streams.iter().try_for_each(|stream| self.stream(stream))?;
        let mut links = std::mem::take(&mut self.links);
        links.iter_mut().for_each(|link| link.wait_until(self.end, self.step));
        links.iter().enumerate().try_for_each(|(number, link)| self.link(number, link))?;
        writeln!(self.out, "\n]}}")?;
        self.out.flush()
    }
}
