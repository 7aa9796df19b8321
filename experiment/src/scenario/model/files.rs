//! The files that an experiment reads.

use super::{
    Arrivals, ConnectionSource, ControllerSpec, Experiment, JitterLaw, LinkSpec, RateSource, Shared, TrafficKind,
};
use std::path::Path;

impl Experiment {
    /// The controllers of flows, of flows that arrive, and of traffic; one that flows in a row share once.
    pub fn controllers(&self) -> impl Iterator<Item = &ControllerSpec> {
        let lasting = self.flows.chunk_by(Shared::is).map(|alike| &alike[0].controller);
        let arriving = self.arrivals.iter().map(|arrivals| &arrivals.flow.controller);
        let served = self.traffic.iter().filter_map(|traffic| traffic.kind.controller());
        lasting.chain(arriving).chain(served)
    }

    /// The files that the run reads, in the order in which the experiment mentions them; a file as often as it is
    /// mentioned.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        let controllers = self.controllers().filter_map(|controller| controller.file.as_deref());
        let wires = self.links.iter().flat_map(LinkSpec::files);
        let offered = self.flows.iter().filter_map(|flow| flow.application.as_ref());
        let sources = offered.chain(self.traffic.iter().map(|traffic| &traffic.kind));
        let arrivals = self.arrivals.iter().flat_map(Arrivals::files).map(AsRef::as_ref);
        wires.chain(sources.filter_map(TrafficKind::file)).chain(arrivals).chain(controllers)
    }
}

impl LinkSpec {
    fn files(&self) -> impl Iterator<Item = &Path> {
        let rate = self.service.variation.as_ref().and_then(|variation| match &variation.source {
            RateSource::Trace { file, .. } => Some(file.as_path()),
            RateSource::Steps { .. } => None,
        });
        let jitter = self.impairments.jitter.as_ref().and_then(|jitter| match &jitter.law {
            JitterLaw::File { file, .. } => Some(file.as_path()),
            JitterLaw::Uniform(_) | JitterLaw::Normal { .. } => None,
        });
        rate.into_iter().chain(jitter)
    }
}

impl TrafficKind {
    /// The controller of the answering side, if any.
    fn controller(&self) -> Option<&ControllerSpec> {
        match self {
            TrafficKind::Connections(connections) => Some(&connections.flow.controller),
            TrafficKind::Web(web) => Some(&web.flow.controller),
            _ => None,
        }
    }

    fn file(&self) -> Option<&Path> {
        match self {
            TrafficKind::Trace { file, .. } => Some(file),
            TrafficKind::Connections(connections) => match &connections.source {
                ConnectionSource::Vectors(file) => Some(file),
                ConnectionSource::Drawn(_) => None,
            },
            TrafficKind::Cbr { .. }
            | TrafficKind::OnOff { .. }
            | TrafficKind::ExponentialOnOff { .. }
            | TrafficKind::ParetoOnOff { .. }
            | TrafficKind::Poisson { .. }
            | TrafficKind::Web(_) => None,
        }
    }
}
