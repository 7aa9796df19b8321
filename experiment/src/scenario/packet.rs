//! The size of packets on the wire.

use crate::scenario::error::ScenarioError;
use crate::scenario::fields::{Fields, Zero};
use packetscale_models::units::Bytes;

/// The sizes a packet may have.
const SMALLEST: Bytes = Bytes::new(40);
const LARGEST: Bytes = Bytes::new(65_535);

/// Bytes of a packet that carry no data: the headers of IP and TCP.
pub const HEADERS: Bytes = Bytes::new(40);

/// Wire size of the packets of a flow or a source.
pub(crate) fn packet(fields: &mut Fields<'_>) -> Result<Bytes, ScenarioError> {
    let packet = fields.quantity_or("packet", "1500 B", Zero::Allowed)?;
    if !(SMALLEST..=LARGEST).contains(&packet) {
        return Err(fields.refuse(
            "packet",
            format!("\"{packet}\""),
            format!("a size from {SMALLEST} to {} B", LARGEST.get()),
        ));
    }
    Ok(packet)
}
