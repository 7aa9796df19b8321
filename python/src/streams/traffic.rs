//! Cross traffic with a given mean rate.

use crate::streams::draws::{Draws, Scale, span};
use crate::streams::fixed::Fixed;
use experiment::scenario::{Shaper, TraceSource, TrafficKind, TrafficSpec};
use packetscale_models::units::{Bytes, Rate, Time};
use std::error::Error;

pub const CROSS: [&str; 6] = ["cbr", "poisson", "pareto", "on-off", "trains", "trace"];

/// Tokens of a shaper, as for SCT in table 3.1.
const BUCKET: Bytes = Bytes::new(300_000);

/// Cross traffic of the kind `cross`. Bursts last from a tenth of a stream to twenty streams; trains are
/// packets back to back; a trace is the capture that `trace` names. Traffic is shaped only with `shaper`.
pub fn spec(cross: &str, scale: &Scale, fixed: &Fixed, draws: &mut Draws) -> Result<TrafficSpec, Box<dyn Error>> {
    let bps = scale.capacity_bps * scale.load;
    let (copies, size) = (draws.one_of(&[1, 3, 9, 25]), draws.one_of(&[500, 1500, 1500, 9000]));
    let (peak, on_s) = (draws.between(1.5, 6.0), scale.stream_s * draws.geometric(0.1, 20.0));
    let (shape, train) = (draws.between(1.2, 1.9), draws.geometric(2.0, 20.0));
    let web_copies = draws.one_of(&[4, 9, 9, 16]);
    let size = fixed.number("cross-packet", size)?;
    // Read for every kind, so that the setting counts as known.
    let file = fixed.file("trace");
    let copies = match cross {
        "trains" => 1,
        "trace" => web_copies,
        _ => copies,
    };
    let copies = fixed.number("copies", copies)? as u32;
    let each = Rate::from_bps((bps / f64::from(copies)) as u64);
    let burst = Rate::from_bps((bps * peak / f64::from(copies)) as u64);
    let (on, off) = (span(on_s), span(on_s * (peak - 1.0)));
    let kind = match cross {
        "cbr" => TrafficKind::Cbr { rate: each },
        "poisson" => TrafficKind::Poisson { rate: each },
        "pareto" => TrafficKind::ParetoOnOff { on, off, rate: burst, shape },
        "on-off" => TrafficKind::ExponentialOnOff { on, off, rate: burst },
        "trains" => {
            let on_s = train * size as f64 * 8.0 / scale.capacity_bps;
            let (on, off) = (span(on_s), span(on_s * (1.0 / scale.load - 1.0)));
            TrafficKind::ExponentialOnOff { on, off, rate: Rate::from_bps(scale.capacity_bps as u64) }
        }
        _ => TrafficKind::Trace { file: file?, source: TraceSource::Pcap, rate: Some(Rate::from_bps(bps as u64)) },
    };
    let packet = Bytes::new(size);
    let shaping = fixed.rate("shaper", 0.0)? as u64;
    let shaper = (shaping > 0).then(|| Shaper { rate: Rate::from_bps(shaping), bucket: BUCKET });
    Ok(TrafficSpec { kind, packet, start: Time::ZERO, stop: Time::MAX, route: vec![0], copies, shaper })
}
