//! An experiment, built: topology, endpoints, traffic, and the agenda that moves them.

mod departures;
mod engine;
mod sampler;

pub(crate) use departures::{alone, departures};

use crate::agenda::{Agenda, SourceCounts};
use crate::background::{Background, Completions};
use crate::cross_traffic::{CrossSource, CrossTraffic};
use crate::endpoints::{Cards, Endpoints, Flow, FlowBuilder};
use crate::recorder::{Recorder, Served};
use crate::topology::Topology;
use crate::windows::Windows;
use crate::{Mode, RunError};
use departures::Tap;
use queueing::Readings;
use sampler::Sampler;
use scenario::Experiment;
use units::{Span, Time};

/// Everything that exists in one run.
pub(crate) struct Network<'e> {
    agenda: Agenda,
    topology: Topology,
    endpoints: Endpoints,
    cross: CrossTraffic,
    background: Background<'e>,
    pub(crate) recorder: Recorder,
    sampler: Sampler,
    end: Time,
    /// Services are noted one by one, by the recorder's log or the tap.
    logging: bool,
    tap: Option<Tap>,
}

impl<'e> Network<'e> {
    pub(crate) fn new(experiment: &'e Experiment, mode: Mode) -> Result<Network<'e>, RunError> {
        let end = Time::ZERO + experiment.duration;
        let warm = Time::ZERO + experiment.warmup;
        let starts = traffic::starts(experiment);
        let mut builder = FlowBuilder::new(experiment, mode);
        let mut cross = CrossTraffic::new(warm, end);
        for (index, spec) in experiment.traffic.iter().enumerate() {
            cross.add(traffic::packets(experiment, index, alone)?, builder.route(&spec.route));
        }
        let mut cards = Cards::default();
        let flows = builder.of_scenario(&starts, &mut cards)?;
        let background = Background::open(builder, &mut cards)?;
        let topology = Topology::new(experiment, mode, background.routes().to_vec())?;
        let agenda = Agenda::new(SourceCounts {
            links: experiment.links.len(),
            flows: flows.len() + background.most_flows(),
            ack_lanes: background.ack_lanes(),
            link_lanes: topology.link_lanes(),
            traffic: experiment.traffic.len(),
            users: background.users(),
        });
        let endpoints = Endpoints::new(experiment, flows, cards, background.ack_lanes())?;
        let mut network = Network {
            agenda,
            topology,
            endpoints,
            cross,
            background,
            recorder: recorder(experiment, &starts),
            sampler: Sampler::new(experiment),
            end,
            logging: false,
            tap: None,
        };
        network.first_events(experiment.record.detail);
        Ok(network)
    }

    fn first_events(&mut self, sampled: bool) {
        self.endpoints.first_events(&mut self.agenda);
        self.background.first_events(&mut self.agenda);
        self.cross.first_events(&mut self.agenda);
        if sampled {
            self.sampler.first_event(&mut self.agenda);
        }
    }

    /// Makes the run and returns every service of every link up to its end, and every drop, as they happened.
    pub(crate) fn log(mut self) -> Vec<Served> {
        self.logging = true;
        self.recorder.log = Some(Vec::new());
        self.run();
        let mut log = self.recorder.log.take().unwrap_or_default();
        log.retain(|served| served.departure <= self.end || served.departure == Time::MAX);
        log
    }

    /// Errors: a source of traffic could not be read to the end of the run, or found no place for a connection.
    pub(crate) fn check(&self) -> Result<(), RunError> {
        self.cross.check()?;
        self.background.check()
    }

    /// The flows of the scenario.
    pub(crate) fn flows(&self) -> &[Flow] {
        self.endpoints.flows()
    }

    /// The sources of traffic, one per table of the scenario.
    pub(crate) fn cross_sources(&self) -> &[CrossSource] {
        self.cross.sources()
    }

    /// What became of the files of a traffic source.
    pub(crate) fn completions(&self, source: usize) -> Option<&Completions> {
        self.background.completions(source)
    }

    /// What the bottleneck's discipline measures.
    pub(crate) fn readings(&self) -> Readings {
        self.topology.readings()
    }

    /// Events so far.
    pub(crate) fn events(&self) -> u64 {
        self.agenda.events()
    }
}

fn recorder(experiment: &Experiment, starts: &[Time]) -> Recorder {
    let (warm, end) = (Time::ZERO + experiment.warmup, Time::ZERO + experiment.duration);
    let base_rtt = experiment.flows.first().map_or(Span::from_millis(1), |flow| flow.rtt);
    let mut recorder = Recorder::new(warm, end, starts, experiment.traffic.len(), base_rtt);
    recorder.windows = Windows::new(&experiment.record.windows, warm, end);
    if experiment.record.detail {
        recorder.keep_detail(experiment.record.step);
    }
    recorder
}
