//! Every service of every link, for comparing runs packet by packet.

use packetscale_models::units::Time;

/// One service of one link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Served {
    /// Link number.
    pub link: usize,
    /// Flow or traffic source.
    pub owner: u32,
    /// It is an acknowledgment of that flow.
    pub acknowledgment: bool,
    /// Its transmission, or its number in its traffic source.
    pub transmission: u64,
    /// Arrival at the link.
    pub arrival: Time,
    /// End of transmission; [`Time::MAX`]: dropped.
    pub departure: Time,
}

/// In order of link and departure, drops last.
pub(crate) fn in_order(mut log: Vec<Served>) -> Vec<Served> {
    log.sort_by_key(|served| {
        (served.link, served.departure, served.arrival, served.owner, served.acknowledgment, served.transmission)
    });
    log
}
