//! Records events in bounded memory: totals always, curves and distributions on request.
//!
//! Everything is recorded at the measured link, the bottleneck, except what each flow gets: that is recorded at its
//! receiver, wherever the flow runs. A packet counts in the interval in which its last bit leaves, or reaches the receiver.

use crate::measure::arriving::ArrivingFlows;
use crate::measure::bottleneck::Bottleneck;
use crate::measure::completions::Users;
use crate::measure::detail::Detail;
use crate::measure::links::Links;
use crate::measure::owners::{Account, Owners};
use crate::measure::period::Period;
use crate::measure::phases::Phases;
use crate::measure::presence::Presence;
use crate::measure::receivers::Receivers;
use crate::measure::samples::Samples;
use crate::measure::seen::Owner;
use crate::measure::sources::Source;
use crate::measure::tally::Tally;
use experiment::scenario::Experiment;
use packetscale_models::units::{Bytes, Span, Time};

/// The recorder of one run. A host reports packets in order of time (of departure, for served packets), and takes the run
/// at the end ([`Recorder::finish`]). Reports that only some hosts can make go to a part.
#[derive(Clone, Debug)]
pub struct Recorder {
    pub(crate) period: Period,
    owners: Owners,
    pub(crate) bottleneck: Bottleneck,
    pub(crate) receivers: Receivers,
    /// Where the active flows change after the warm-up.
    pub(crate) phases: Option<Box<Phases>>,
    pub(crate) traffic: Vec<Source>,
    other: Tally,
    /// The longest base round-trip time of the flows that are compared.
    pub(crate) base_rtt: Option<Span>,
    /// Curves, and what is sampled for them.
    pub samples: Samples,
    /// Every link, with `record.links`.
    pub links: Links,
    /// Flows that arrive.
    pub arriving: ArrivingFlows,
    /// Browsing users.
    pub users: Users,
}

impl Recorder {
    /// For one experiment, with the start times of its flows. `base_rtt`: the queue-free round-trip time in which figures are
    /// expressed, [`longest`]; `None` where it is undefined or where the host cannot resolve it: such figures stay empty.
    ///
    /// [`longest`]: crate::measure::longest
    pub fn new(experiment: &Experiment, starts: &[Time], base_rtt: Option<Span>) -> Recorder {
        let period = Period::of(experiment);
        let receivers = Receivers::new(experiment, starts);
        let mut bottleneck = Bottleneck::new(experiment, receivers.last_start(), base_rtt);
        let parts = starts.len() + experiment.arrivals.len();
        let contenders = &mut bottleneck.contenders;
        let phases = Phases::of(&receivers.starts, &receivers.lives, period, parts, contenders);
        let record = &experiment.record;
        let detail =
            record.detail.then(|| Box::new(Detail::new(record.step, period, starts.len(), &bottleneck.capacity)));
        Recorder {
            period,
            owners: Owners::new(starts.len()),
            bottleneck,
            receivers,
            phases,
            traffic: experiment.traffic.iter().map(|_| Source::new(period.warm)).collect(),
            other: Tally::default(),
            base_rtt,
            samples: Samples { detail },
            links: Links::of(experiment),
            arriving: ArrivingFlows::of(experiment),
            users: Users::of(experiment),
        }
    }

    // ---- packets -----------------------------------------------------------------------------------------------

    /// A packet of traffic enters the path.
    #[inline]
    pub fn entered(&mut self, owner: Owner, now: Time, size: Bytes) {
        if let Account::Traffic(source) = self.owners.account_of(owner) {
            self.traffic[source].entered(now, size);
            self.bottleneck.entered(now, size.get());
        }
    }

    /// A packet arrives at the bottleneck. Only cross traffic needs this call: packets of flows count when they leave.
    #[inline]
    pub fn arrives(&mut self, owner: Owner, now: Time, size: Bytes) {
        if !matches!(self.owners.account_of(owner), Account::Traffic(_)) {
            return;
        }
        self.bottleneck.arrives(now, size.get());
        if let Some(phases) = &mut self.phases {
            phases.arrives(now, size.get());
        }
        if let Some(detail) = &mut self.samples.detail {
            detail.arrives(now, size.get());
        }
    }

    /// The bottleneck serves a packet: it arrived, its transmission begins, its last bit departs.
    #[inline]
    pub fn served(&mut self, owner: Owner, size: Bytes, arrival: Time, begins: Time, departs: Time) {
        self.bottleneck.present.stays(arrival, departs);
        if departs > self.period.end {
            return;
        }
        let (account, bytes, wait) = (self.owners.account_of(owner), size.get(), begins.since(arrival));
        self.bottleneck.served(account, bytes, wait, departs);
        if let Some(phases) = &mut self.phases {
            phases.served(account, wait, departs);
        }
        if let Some(detail) = &mut self.samples.detail {
            detail.served(account.is_responsive(), bytes, wait, departs);
            if let Owner::Flow(flow) = owner
                && account.is_responsive()
            {
                detail.beside(flow, arrival, bytes);
            }
        }
    }

    /// A packet was dropped at a queue.
    pub fn dropped(&mut self, owner: Owner, now: Time) {
        self.tally(owner).dropped += 1;
        self.count_loss(owner, now);
    }

    /// The queue that dropped it was the bottleneck's.
    pub fn refused(&mut self, owner: Owner, now: Time, size: Bytes) {
        if let (Some(detail), Owner::Flow(flow)) = (&mut self.samples.detail, owner) {
            detail.refused_bytes.add(now, size.get());
            detail.beside(flow, now, size.get());
        }
    }

    /// A wire loses a packet that leaves its link then. A host may know it ahead of time: what leaves after the end of the
    /// run is not lost in it.
    pub fn lost(&mut self, owner: Owner, now: Time) {
        if now > self.period.end {
            return;
        }
        self.tally(owner).lost += 1;
        self.count_loss(owner, now);
    }

    /// A packet of this flow reaches its receiver; what carries traffic does not count. Between flows the order of time does not matter.
    #[inline]
    pub fn delivered(&mut self, flow: usize, size: Bytes, at: Time) {
        if at > self.period.end {
            return;
        }
        if flow >= self.receivers.flows.len() {
            return self.delivered_beyond(flow, size, at);
        }
        let ends = self.receivers.delivered(flow, size.get(), at);
        if let Some(phases) = &mut self.phases {
            phases.delivered(flow, size.get(), at);
            if ends {
                phases.ends(at);
            }
        }
        if let Some(detail) = &mut self.samples.detail {
            detail.delivered(flow, size.get(), at);
        }
    }

    /// The same for a flow beyond those of the scenario.
    fn delivered_beyond(&mut self, flow: usize, size: Bytes, at: Time) {
        let Account::Arrived(table) = self.owners.account_of(Owner::Flow(flow)) else { return };
        if self.receivers.delivered_to_arrived(at) {
            self.arriving.tables[table].tally.received_bytes += size.get();
            if let Some(phases) = &mut self.phases {
                phases.delivered(self.receivers.flows.len() + table, size.get(), at);
            }
        }
    }

    fn count_loss(&mut self, owner: Owner, now: Time) {
        if now > self.period.warm {
            self.tally(owner).lost_warm += 1;
        }
        if let (Some(detail), Owner::Flow(flow)) = (&mut self.samples.detail, owner)
            && let Some(bins) = detail.losses.get_mut(flow)
        {
            bins.add(now, 1);
        }
    }

    #[inline]
    fn tally(&mut self, owner: Owner) -> &mut Tally {
        match self.owners.account_of(owner) {
            Account::Flow(flow) => &mut self.receivers.flows[flow],
            Account::Arrived(table) => &mut self.arriving.tables[table].tally,
            Account::Traffic(source) => &mut self.traffic[source].tally,
            Account::Other => &mut self.other,
        }
    }

    // ---- packets with a departure that is unknown at arrival ---------------------------------------------------

    /// A link takes a packet, with a departure that is not known yet.
    pub fn queued(&mut self, link: usize, at: Time) {
        self.presences(link).for_each(|present| present.comes(at));
    }

    /// The fate of a packet queued at `arrival` is now known: [`Recorder::served`] or [`Recorder::stayed`] follows.
    pub fn unqueued(&mut self, link: usize, arrival: Time) {
        self.presences(link).for_each(|present| present.settles(arrival));
    }

    /// A packet waited at a link until it was dropped.
    pub fn stayed(&mut self, link: usize, arrival: Time, until: Time) {
        self.presences(link).for_each(|present| present.stays(arrival, until));
    }

    fn presences(&mut self, link: usize) -> impl Iterator<Item = &mut Presence> {
        let measured = (link == self.bottleneck.link).then_some(&mut self.bottleneck.present);
        measured.into_iter().chain(self.links.present(link))
    }

    // ---- flows beyond those of the scenario --------------------------------------------------------------------

    /// A flow beyond those of the scenario carries packets of this traffic source from now on.
    pub fn belongs(&mut self, flow: usize, source: usize) {
        self.owners.carry(flow, Account::Traffic(source));
    }

    /// A flow of this entry of the experiment's arrivals begins. Its number is beyond those of the scenario's flows.
    pub fn arrived(&mut self, flow: usize, entry: usize, now: Time, size: Bytes) {
        self.owners.carry(flow, Account::Arrived(entry));
        self.arriving.begins(entry, now, size);
    }
}
