//! An experiment, built: topology, endpoints, traffic, and the agenda that moves them.

mod departures;
mod engine;
mod finish;
mod observed;
mod sampler;

pub(crate) use departures::{alone, departures};

use crate::agenda::Agenda;
use crate::background::Background;
use crate::cross_traffic::CrossTraffic;
use crate::endpoints::{Cards, Endpoints, FlowBuilder};
use crate::held::Held;
use crate::services::Served;
use crate::topology::Topology;
use crate::{Mode, RunError};
use departures::Tap;
use experiment::scenario::Experiment;
use harness::measure::Recorder;
use harness::packets::Event;
use packetscale_models::units::Time;
use sampler::Sampler;

/// Everything that exists in one run.
pub(crate) struct Network<'e> {
    agenda: Agenda,
    topology: Topology,
    endpoints: Endpoints,
    cross: CrossTraffic,
    background: Background<'e>,
    recorder: Recorder,
    sampler: Sampler,
    end: Time,
    /// Why it ended early: a controller refused its handshake's round trip.
    failed: Option<RunError>,
    /// Until when it goes on before somebody may look at it.
    pause: Time,
    /// Link crossings of all packets.
    hops: u64,
    /// Services are noted one by one: in the log, by the tap, or for every link's account.
    logging: bool,
    /// Every service of every link, for comparing runs packet by packet.
    log: Option<Vec<Served>>,
    tap: Option<Tap>,
    /// What links did in the event at hand; `None`: nobody asks.
    noted: Option<Vec<(Time, Event)>>,
}

impl<'e> Network<'e> {
    pub(crate) fn new(held: Held<'e>, mode: Mode) -> Result<Network<'e>, RunError> {
        let experiment: &Experiment = &held;
        let end = Time::ZERO + experiment.duration;
        let starts = experiment::traffic::starts(experiment);
        let mut builder = FlowBuilder::new(held.clone(), mode);
        let mut cross = CrossTraffic::new(end);
        for (index, spec) in experiment.traffic.iter().enumerate() {
            cross.add(experiment::traffic::packets(experiment, index, alone)?, builder.route(&spec.route));
        }
        let mut cards = Cards::default();
        let flows = builder.of_scenario(&starts, &mut cards)?;
        let background = Background::open(builder, &mut cards)?;
        let topology = Topology::new(experiment, mode, background.routes().to_vec())?;
        let endpoints = Endpoints::new(experiment, flows, cards, background.ack_lanes())?;
        let recorder = Recorder::new(
            experiment,
            &starts,
            harness::measure::longest(experiment, |flow| Some(experiment.flows[flow].rtt)),
        );
        let mut network = Network {
            agenda: Agenda::default(),
            topology,
            endpoints,
            cross,
            background,
            logging: recorder.links.are_kept(),
            recorder,
            sampler: Sampler::new(experiment),
            end,
            failed: None,
            pause: Time::ZERO,
            hops: 0,
            log: None,
            tap: None,
            noted: None,
        };
        network.first_events(experiment);
        Ok(network)
    }

    fn first_events(&mut self, experiment: &Experiment) {
        self.endpoints.first_events(&mut self.agenda, experiment);
        self.background.first_events(&mut self.agenda);
        self.cross.first_events(&mut self.agenda);
        if experiment.record.detail {
            self.sampler.first_event(&mut self.agenda);
        }
    }

    /// Makes the run and returns every service of every link up to its end, and every drop, as they happened.
    pub(crate) fn log(mut self) -> Vec<Served> {
        self.logging = true;
        self.log = Some(Vec::new());
        self.run(&|_| {});
        let mut log = self.log.take().unwrap_or_default();
        log.retain(|served| served.departure <= self.end || served.departure == Time::MAX);
        log
    }

    /// Errors: a source of traffic could not be read to the end of the run, or found no place for a connection; or a controller
    /// refused to begin.
    pub(crate) fn check(&mut self) -> Result<(), RunError> {
        self.failed.take().map_or(Ok(()), Err)?;
        self.cross.check()?;
        self.background.check()
    }
}
