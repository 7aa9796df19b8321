//! Links and lanes, built from an experiment.

use super::detour::Detour;
use super::link::{Frames, Fused, Server, Stepped};
use super::policer::Policer;
use super::transmitter::{AnyTransmitter, Constant};
use super::wire::Wire;
use super::{Hop, Link, LinkLane, Topology};
use crate::ring::Ring;
use crate::transit::Transit;
use crate::{Mode, RunError};
use experiment::scenario::{Aggregation, Experiment, FlowSpec, HEADERS};
use experiment::traffic::chance::{Purpose, seed};
use packetscale_models::queueing::AnyQueue;
use packetscale_models::units::Bytes;
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;

impl Topology {
    /// `routes`: those in use, as packets name them.
    pub(crate) fn new(experiment: &Experiment, mode: Mode, routes: Vec<Vec<u32>>) -> Result<Topology, RunError> {
        let count = experiment.links.len();
        let links: Result<_, RunError> = (0..count).map(|index| link(experiment, index, mode)).collect();
        let (routes, link_lanes) = joined(routes);
        Ok(Topology {
            links: links?,
            bottleneck: experiment.bottleneck,
            routes,
            link_lanes,
            deliveries: vec![Ring::new(); count],
            detours: vec![Detour::default(); count],
        })
    }
}

fn link(experiment: &Experiment, index: usize, mode: Mode) -> Result<Link, RunError> {
    let spec = &experiment.links[index];
    let limit = spec.buffer.limit();
    let frames = match spec.service.aggregation {
        Some(Aggregation::Frames { packets, overhead }) => Some(Frames { packets, overhead }),
        Some(Aggregation::Period(_)) | None => None,
    };
    let fused = mode == Mode::Fused && spec.queue.kind == "fifo" && frames.is_none();
    let server = match AnyTransmitter::of(spec) {
        AnyTransmitter::Constant(_) if fused => Server::Fused(Fused::new(Constant::new(spec.rate), limit)),
        wire if fused => Server::Varying(Box::new(Fused::new(wire, limit))),
        wire => {
            let queue = queue(experiment, index)?;
            Server::Stepped(Box::new(Stepped::new(wire, frames.unwrap_or(Frames::NONE), queue)))
        }
    };
    let policer = spec.service.policer.map(|bucket| Box::new(Policer::new(bucket)));
    let random = Pcg64Mcg::seed_from_u64(seed(experiment.seed, Purpose::LinkLoss, index));
    let wire = Wire::new(experiment, index, largest_packet(experiment, index));
    Ok(Link { server, policer, delay: spec.delay, loss_below: spec.loss.q32(), random, wire })
}

/// All responsive flows: those of the whole run, and what those have in common that arrive.
fn flows(experiment: &Experiment) -> impl Iterator<Item = &FlowSpec> {
    experiment.flows.iter().map(|flow| &**flow).chain(experiment.arrivals.iter().map(|arrivals| &arrivals.flow))
}

/// The largest packet that crosses a link.
fn largest_packet(experiment: &Experiment, index: usize) -> Bytes {
    let flows = flows(experiment).filter(|flow| flow.route.contains(&index)).map(|flow| flow.packet);
    let back = self::flows(experiment).filter(|flow| flow.back.contains(&index)).map(|_| HEADERS);
    let traffic = experiment.traffic.iter().filter(|source| source.crosses(index)).map(|source| source.packet);
    flows.chain(back).chain(traffic).max().unwrap_or(Bytes::ZERO)
}

fn queue(experiment: &Experiment, index: usize) -> Result<AnyQueue<Transit>, RunError> {
    let spec = &experiment.links[index];
    let setup = packetscale_models::queueing::Setup {
        rate: spec.rate,
        limit: spec.buffer.limit(),
        packet: largest_packet(experiment, index),
        seed: seed(experiment.seed, Purpose::Queue, index),
    };
    let name = &spec.queue.kind;
    let built = AnyQueue::build(name, &setup, &spec.queue.settings);
    let built = built.ok_or_else(|| RunError::UnknownQueue(name.clone()))?;
    built.map_err(|error| RunError::Queue { name: name.clone(), error })
}

/// One ring for each pair of links that some route joins, and the routes with the numbers of their rings.
fn joined(routes: Vec<Vec<u32>>) -> (Vec<Vec<Hop>>, Vec<LinkLane>) {
    let mut pairs: Vec<(u32, u32)> =
        routes.iter().flat_map(|route| route.windows(2)).map(|pair| (pair[0], pair[1])).collect();
    // Numbered by upstream link, so that ties at a link are broken by the packets' origin, not by time of creation.
    pairs.sort_unstable();
    pairs.dedup();
    let lane = |pair: &[u32]| pairs.binary_search(&(pair[0], pair[1])).map_or(NO_LANE, |number| number as u32);
    let hops = |route: Vec<u32>| {
        let lanes = std::iter::once(NO_LANE).chain(route.windows(2).map(lane));
        route.iter().zip(lanes).map(|(link, lane)| Hop { link: *link, lane }).collect()
    };
    let routes = routes.into_iter().map(hops).collect();
    let lanes = pairs.iter().map(|(_, to)| LinkLane { to: *to as usize, packets: Ring::new() }).collect();
    (routes, lanes)
}

/// Before the first link of a route.
const NO_LANE: u32 = u32::MAX;
