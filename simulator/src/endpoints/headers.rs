//! Rate headers of the packets of one flow, stored apart from the packets' records, which are too small for them.
//!
//! Transmissions are numbered without holes and reach the first link in that order, so that a header is found by its
//! number. A packet that arrives frees the headers of those sent before it: they were lost, or it has overtaken them,
//! and an older offer than the one just read is of no use.

use packetscale_models::queueing::RateHeader;
use std::collections::VecDeque;

/// The headers under way.
#[derive(Clone, Debug, Default)]
pub(super) struct Headers {
    /// Transmission of the first.
    first: u64,
    headers: VecDeque<RateHeader>,
}

impl Headers {
    /// The next transmission leaves with this header.
    pub(super) fn push(&mut self, transmission: u64, header: RateHeader) {
        if self.headers.is_empty() {
            self.first = transmission;
        }
        self.headers.push_back(header);
    }

    /// The header of a transmission that is under way.
    pub(super) fn get_mut(&mut self, transmission: u64) -> Option<&mut RateHeader> {
        let at = transmission.checked_sub(self.first)?;
        self.headers.get_mut(at as usize)
    }

    /// The header of a transmission that arrives.
    pub(super) fn take(&mut self, transmission: u64) -> Option<RateHeader> {
        let at = transmission.checked_sub(self.first)? as usize;
        let header = *self.headers.get(at)?;
        self.headers.drain(..=at);
        self.first = transmission + 1;
        Some(header)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packetscale_models::units::{Rate, Span};

    fn header(ms: u64) -> RateHeader {
        RateHeader { rtt: Span::from_millis(ms), offer: None }
    }

    #[test]
    fn each_packet_gets_its_own_header_back() {
        let mut headers = Headers::default();
        (5..9).for_each(|number| headers.push(number, header(number)));
        headers.get_mut(6).unwrap().lower(Rate::from_mbps(3));
        assert_eq!(headers.take(5), Some(header(5)));
        assert_eq!(headers.take(6), Some(RateHeader { offer: Some(Rate::from_mbps(3)), ..header(6) }));
    }

    #[test]
    fn an_arrival_frees_what_was_lost_before_it() {
        let mut headers = Headers::default();
        (0..4).for_each(|number| headers.push(number, header(number)));
        assert_eq!(headers.take(2), Some(header(2)));
        assert_eq!((headers.take(1), headers.get_mut(1)), (None, None));
        assert_eq!(headers.take(3), Some(header(3)));
        headers.push(4, header(4));
        assert_eq!(headers.take(4), Some(header(4)));
    }
}
